//! `fullpipe relieve`: the answer, the document, refusals, and a signal.

use crate::common::guests::signal;
use crate::common::{Call, Desk};
use std::time::Duration;

#[test]
fn the_first_line_is_the_answer() {
    let desk = Desk::with_short();
    let call = desk.call(&["relieve", "short.toml", "--set", "flow.bulk.sndbuf=20kB"]).ends_with(0);
    let first = call.stdout.lines().next().expect("a line");
    assert!(first.starts_with("A larger send buffer alone gives "), "{first}");
    assert!(call.stdout.contains("none, as it is"), "{}", call.stdout);
}

#[test]
fn the_document_ranks_reliefs() {
    let desk = Desk::with_short();
    let asked = ["relieve", "short.toml", "--set", "flow.bulk.sndbuf=20kB", "--json", "--quiet"];
    let call = desk.call(&asked).ends_with(0);
    assert_eq!(call.stderr, "");
    let document = call.json();
    let run = &document["runs"][0];
    let gains = run["reliefs"].as_array().expect("reliefs").iter().map(|own| &own["gain"]);
    let gains: Vec<f64> = gains.map(|gain| gain.as_f64().expect("a gain")).collect();
    assert!(gains.is_sorted_by(|a, b| a >= b) && gains[0] > 1.2, "{gains:?}");
    assert_eq!(run["reliefs"][0]["cause"], "sndbuf");
    assert!(run["answer"].as_str().is_some_and(|text| text.contains("send buffer")), "{run}");
}

#[test]
fn wrong_keys_have_their_place() {
    let desk = Desk::with_short();
    desk.call(&["relieve", "short.toml", "--set", "path.speed=1Gbit"])
        .ends_with(2)
        .complains(&["path.speed", "--set #1"]);
    desk.call(&["relieve", "nothing.toml"]).ends_with(2);
    desk.call(&["relieve", "short.toml", "--variant", "none"]).ends_with(2);
}

#[test]
fn a_signal_ends_the_trials() {
    let desk = Desk::with_short();
    let long = "flow.bulk.duration=864000s";
    let child = desk.start(&["relieve", "short.toml", "--set", long]);
    std::thread::sleep(Duration::from_millis(1500));
    signal(child.id(), "INT");
    let call = Call::wait(child).ends_with(130).complains(&["stopping"]);
    assert!(call.stdout.starts_with("Nothing is known"), "{}", call.stdout);
}

#[test]
fn the_document_of_stopped_trials_says_so() {
    let desk = Desk::with_short();
    let long = "flow.bulk.duration=864000s";
    let child = desk.start(&["relieve", "short.toml", "--set", long, "--json"]);
    std::thread::sleep(Duration::from_millis(1500));
    signal(child.id(), "INT");
    assert_eq!(Call::wait(child).ends_with(130).json()["partial"], true);
}

#[test]
fn options_make_a_path() {
    let desk = Desk::with_short();
    let path = ["relieve", "--rate", "200Mbit", "--rtt", "100ms", "--set", "flow.bulk.sndbuf=20kB"];
    let call = desk.call(&path).ends_with(0);
    assert!(call.stdout.starts_with("A larger send buffer alone gives "), "{}", call.stdout);
    let half = desk.call(&["relieve", "--rate", "1Gbit"]).ends_with(2);
    half.complains(&["--rtt", "fullpipe relieve --rate"]);
    let both = desk.call(&["relieve", "short.toml", "--rate", "1Gbit"]).ends_with(2);
    both.complains(&["fullpipe relieve short.toml --set path.rate=1Gbit"]);
}
