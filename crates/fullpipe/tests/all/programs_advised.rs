//! Advice and reliefs for programs that hold themselves back.

use crate::advice_method;
use crate::field_advice::of_first_run;
use crate::made::{loaded, made};
use crate::programs_named::ticks;
use crate::relieve::relieved;
use fullpipe::advice::Advice;
use fullpipe::advice::method::Allowance;

const HOSTS: &str =
    "hosts = { sender = { kernel = \"6.12\" }, receiver = { kernel = \"6.12\" } }\n";
/// 100 Mb/s x 40 ms: default buffers hold it.
const PATH: &str =
    "path = { rate = \"100Mbit\", delay = { forward = \"20ms\", back = \"20ms\" } }\n";

fn advised(flows: &str) -> Advice {
    advice_method::advised(&format!("{HOSTS}{PATH}{flows}"))
}

/// Settings of the changes, each with its owner and its advised value.
fn changes(advice: &Advice) -> Vec<[&str; 3]> {
    let changes = advice.changes.iter().map(|own| &own.change);
    changes.map(|own| [&own.setting[..], &own.whose, &own.advised]).collect()
}

fn share(own: &fullpipe::advice::document::Result) -> f64 {
    own.share.expect("a path with a rate")
}

/// A program with so many messages of 10 kB without an answer.
fn asks(in_flight: u32, count: u32) -> String {
    let messages = |size: &str, more: &str| {
        format!(
            "sockopt = {{ TCP_NODELAY = 1 }}\napp = {{ kind = \"messages\", size = \"{size}\"{more} }}\n"
        )
    };
    let produce = messages("10kB", &format!(", in_flight = {in_flight}"));
    let answer = messages("60B", "");
    format!(
        "[[flow]]\nname = \"produce\"\nduration = \"6s\"\ncount = {count}\n{produce}\
         [[flow]]\nname = \"done\"\nreply_to = \"produce\"\n{answer}"
    )
}

/// The host that asks sets the number of its requests, and several flows share the path. By hand: 94.1 Mb/s x 40 ms hold
/// 47.1 messages of 10 kB, and a quarter more is advised.
#[test]
fn a_program_that_asks_gets_more_requests_in_flight() {
    for (flows, whose) in [(1, "sender"), (2, "2 flows")] {
        let advice = advised(&asks(5, flows));
        let [["requests in flight", of, count]] = changes(&advice)[..] else {
            panic!("{}", advice.answer)
        };
        assert_eq!(of, whose, "{}", advice.answer);
        let (count, part): (f64, f64) = (count.parse().expect("a number"), 47.1 / f64::from(flows));
        assert!((part..=1.25 * part + 2.0).contains(&count), "{count}");
        assert!(share(&advice.today) < 0.3 && share(&advice.advised) > 0.95, "{}", advice.answer);
    }
}

/// A program that waits for each answer has chosen so: the verdict says it, and no setting is advised.
#[test]
fn a_program_that_waits_for_each_answer_keeps_to_that() {
    let advice = advised(&asks(1, 1));
    assert!(advice.changes.is_empty(), "{}", advice.answer);
    assert!(advice.answer.contains("each waits for the one before"), "{}", advice.answer);
}

/// A window of the reader: a larger one is advised, and the same number of connections is tried in its place.
#[test]
fn connections_are_tried_in_the_place_of_a_window() {
    let flow = "[[flow]]\nname = \"copy\"\nduration = \"6s\"\napp = { window = \"100kB\" }\n";
    let advice = advised(flow);
    let first = changes(&advice)[0];
    assert_eq!(first[..2], ["the program's window", "receiver"], "{}", advice.answer);
    assert!(share(&advice.today) < 0.25 && share(&advice.advised) > 0.95, "{}", advice.answer);
    // By hand: 471 kB hold the path; six windows of 100 kB hold a quarter more.
    let tried = |own: &String| {
        own.contains("In the place of the program's window: connections 6 gives")
            && own.contains("as good")
    };
    assert!(advice.notes.iter().any(tried), "{:?}", advice.notes);
}

/// A reader that is slow for it reads little at a time: larger reads are tried.
#[test]
fn a_slow_reader_with_small_reads_gets_larger_ones() {
    let text = "hosts = { sender = { kernel = \"6.12\" }, receiver = { kernel = \"6.12\", cpu = { read = \"1500ns/call\" } } }\n\
                path = { rate = \"10Gbit\", delay = { forward = \"500us\", back = \"500us\" } }\n\
                [[flow]]\nname = \"pull\"\nduration = \"1s\"\nreader = { rate = \"10Gbit\", read = \"1KiB\" }\n";
    let scenario = loaded(text);
    let (run, _) = made(&scenario, &scenario.plans()[0]);
    let headline = run.headline.expect("a verdict").text;
    assert!(headline.contains("(128 KiB at a time instead of 1 KiB)"), "{headline}");

    let advice = of_first_run(&scenario, &Allowance::default());
    let is_larger = |own: &[&str; 3]| own == &["size of a read", "receiver", "128 KiB"];
    assert!(changes(&advice).iter().any(is_larger), "{}", advice.answer);
    assert!(advice.advised.mbit > 2.0 * advice.today.mbit, "{}", advice.answer);
}

/// Keystrokes behind an upload: a short queue brings them sooner, and a longer run is no relief.
#[test]
fn messages_in_a_standing_queue_gain_by_a_short_one() {
    let text = format!(
        "{HOSTS}duration = \"12s\"\n\
         path = {{ rate = \"10Mbit\", delay = {{ forward = \"15ms\", back = \"15ms\" }}, queue = {{ limit = \"1MB\" }} }}\n\
         [[flow]]\nname = \"keys\"\nduration = \"10s\"\nwrite = \"48B\"\nsockopt = {{ TCP_NODELAY = 1 }}\n\
         app = {{ kind = \"messages\", size = \"48B\", period = \"100ms\" }}\n\
         [[flow]]\nname = \"photos\"\nduration = \"10s\"\n"
    );
    let gains = relieved(&text);
    assert_eq!(gains.flows, ["keys"]);
    assert!(gains.gain("short-queue").expect("a gain") > 5.0, "{}", gains.answer);
    assert!(gains.reliefs.iter().all(|own| own.name != "longer"), "{}", gains.answer);
    let bulk = relieved(&text.replace("name = \"keys\"", "name = \"zkeys\"\ncount = 0"));
    assert!(bulk.reliefs.iter().all(|own| own.name != "short-queue"), "{}", bulk.answer);
}

/// A clamp that is 18 bytes too high lets full packets of 1,440 bytes meet an MTU of 1,422.
#[test]
fn a_clamp_that_is_too_high_is_said() {
    let verdict = |clamp: &str| {
        let text = format!(
            "{HOSTS}[path]\nforward = [{{ kind = \"link\", name = \"wan\", rate = \"200Mbit\" }}, \
             {{ kind = \"mtu\", name = \"ipsec\", mtu = 1422{clamp} }}, {{ kind = \"delay\", name = \"way\", delay = \"20ms\" }}]\n\
             back = [{{ kind = \"delay\", name = \"home\", delay = \"20ms\" }}]\n[[flow]]\nname = \"backup\"\nduration = \"4s\"\n"
        );
        let scenario = loaded(&text);
        let (run, _) = made(&scenario, &scenario.plans()[0]);
        run.headline.expect("a verdict").text
    };
    let (high, none) = (verdict(", mss_clamp = 1400"), verdict(""));
    let clamped = "the MSS is clamped today, but not far enough";
    assert!(high.contains(clamped) && high.contains("clamp the MSS there to 1,382"), "{high}");
    assert!(!none.contains(clamped) && none.contains("clamp the MSS there to 1,382"), "{none}");
    assert!(!verdict(", mss_clamp = 1382").contains("clamp"), "a clamp that fits");
}

/// Ticks by the clock keep their rate, whatever delays them: their time is what advice is about.
#[test]
fn messages_are_judged_by_their_times() {
    let of = |more: &str| of_first_run(&loaded(&ticks(more)), &Allowance::default());
    let late = of("");
    let said = ["half of the messages within 25", " instead of 3", ", 95 % within "];
    assert!(said.iter().all(|own| late.answer.contains(own)), "{}", late.answer);

    let good = of("sockopt = { TCP_NODELAY = 1 }\n");
    assert!(good.changes.is_empty(), "{}", good.answer);
    assert!(good.answer.contains("half of the messages come within 25"), "{}", good.answer);
    assert!(good.advised.message_p95_ms >= good.advised.message_ms, "{good:?}");
}

/// A larger buffer of the backup builds a queue, in which the messages beside it wait.
#[test]
fn messages_that_become_later_are_a_cost() {
    let advice = advice_method::advised(
        r#"
        duration = "10s"
        [path]
        rate = "100Mbit"
        delay = { forward = "20ms", back = "20ms" }
        queue = { limit = "2MB" }
        [hosts]
        sender = { kernel = "6.12" }
        receiver = { kernel = "6.12" }
        [[flow]]
        name = "keys"
        duration = "8s"
        write = "300B"
        app = { kind = "messages", size = "600B", period = "100ms" }
        [[flow]]
        name = "backup"
        duration = "8s"
        sndbuf = "64KiB"
        "#,
    );
    let [before, after] =
        [&advice.today, &advice.advised].map(|own| own.message_p95_ms.expect("messages"));
    assert!(after > 1.5 * before, "{}", advice.answer);
    let is_said = |own: &String| own.starts_with("Slow messages become slower: a twentieth");
    assert!(advice.notes.iter().any(is_said), "{:?}", advice.notes);
    assert!(advice.has_turns, "ACKs of messages may be delayed");
}

/// Large messages by the clock begin slowly after each pause: half of them come in less than half of the time without that.
#[test]
fn messages_after_pauses_keep_their_window() {
    let path = "path = { rate = \"200Mbit\", delay = { forward = \"50ms\", back = \"50ms\" } }\n";
    let tile = "[[flow]]\nname = \"tile\"\nduration = \"20s\"\nwrite = \"2MiB\"\n\
                app = { kind = \"messages\", size = \"2MiB\", period = \"2s\" }\n";
    let advice = advice_method::advised(&format!("{HOSTS}{path}{tile}"));
    let all = changes(&advice);
    assert!(all.contains(&["net.ipv4.tcp_slow_start_after_idle", "sender", "0"]), "{all:?}");
    let [today, advised] = [&advice.today, &advice.advised].map(|own| own.message_ms);
    assert!(advised.expect("messages") < 0.5 * today.expect("messages"), "{}", advice.answer);
}
