//! Advice on equal parts, where only one end's settings may change.

use crate::field_advice::of_first_run;
use crate::made::loaded;
use fullpipe::advice::Scope;
use fullpipe::advice::document::Advice;
use fullpipe::advice::method::{Allowance, Goal};

/// Two unequal flows over 100 Mb/s x 40 ms: keys of the first and of the second one.
fn unequal(first: &str, second: &str) -> String {
    format!(
        "duration = \"45s\"\n[path]\nrate = \"100Mbit\"\ndelay = {{ forward = \"20ms\", back = \"20ms\" }}\n\
         queue = {{ limit = \"500kB\" }}\n[hosts]\nsender = {{ kernel = \"6.1\" }}\nreceiver = {{ kernel = \"6.1\" }}\n\
         [[flow]]\nname = \"one\"\nduration = \"35s\"\n{first}[[flow]]\nname = \"two\"\nduration = \"35s\"\n{second}"
    )
}

/// Advice on equal parts that changes these settings alone.
fn advised(text: &str, scopes: Vec<Scope>) -> Advice {
    of_first_run(&loaded(text), &Allowance { goal: Goal::Fair, scopes })
}

/// A smaller maximum of the send buffer keeps the large flow from filling the queue, whatever the receiver has.
#[test]
fn the_sending_host_alone_bounds_a_large_flow() {
    let text = unequal("congestion = \"reno\"\n", "congestion = \"bbr\"\n");
    let advice = advised(&text, vec![Scope::Sender]);
    let settings: Vec<&str> = advice.changes.iter().map(|own| &own.change.setting[..]).collect();
    assert_eq!(settings, ["net.ipv4.tcp_wmem"], "{}", advice.answer);
    let [today, then] = [&advice.today, &advice.advised]
        .map(|own| own.slowest.as_ref().expect("a slowest flow").share());
    assert!(today < 0.5 && then > 0.9, "{today} {then}");
    assert!(advice.advised.mbit >= 0.95 * advice.today.mbit, "{}", advice.answer);
    let bounds = |own: &String| own.contains("The smaller tcp_wmem bounds every connection");
    assert!(advice.notes.iter().any(bounds), "{:?}", advice.notes);
}

/// No setting of the sending host gives a small window of the receiving program its part, and the answer says that others
/// were not tried.
#[test]
fn an_answer_says_that_settings_were_left_out() {
    let text = unequal("", "rcvbuf = \"64KiB\"\n");
    let left_out = "Settings that --change leaves out were not tried";
    let advice = advised(&text, vec![Scope::Sender]);
    let words = [std::slice::from_ref(&advice.answer), &advice.notes[..]].concat().join("\n");
    assert!(words.contains(left_out), "{words}");
    assert!(advice.changes.iter().all(|own| own.change.scope == Scope::Sender), "{words}");

    let advice = advised(&text, Allowance::default().scopes);
    let words = [std::slice::from_ref(&advice.answer), &advice.notes[..]].concat().join("\n");
    assert!(!words.contains(left_out), "{words}");
    assert!(words.contains("not set SO_RCVBUF"), "{words}");
}
