//! Hosts that are not Linux: a fixed receive window, and what is published of Windows. Each test has a run that the end
//! holds, and one near it that it does not.

use crate::made::{loaded, made};
use fullpipe::analysis::document::Run;

/// A path of 200 Mb/s and 40 ms, which takes a window of 1 MB, with this receiver and these keys of the flow.
fn scenario(sender: &str, receiver: &str, flow: &str) -> String {
    format!(
        "[path]\nrate = \"200Mbit\"\ndelay = {{ forward = \"20ms\", back = \"20ms\" }}\n\
         queue = {{ limit = \"2MB\" }}\n[hosts]\nsender = {{ {sender} }}\nreceiver = {{ {receiver} }}\n\
         [[flow]]\nname = \"bulk\"\nduration = \"6s\"\n{flow}\n"
    )
}

fn run(receiver: &str, flow: &str) -> Run {
    run_from("kernel = \"6.12\"", receiver, flow)
}

fn run_from(sender: &str, receiver: &str, flow: &str) -> Run {
    let scenario = loaded(&scenario(sender, receiver, flow));
    made(&scenario, &scenario.plans()[0]).0
}

/// Rate that a window allows, Mb/s: it goes once in a round trip.
fn allowed(window: u64) -> f64 {
    window as f64 * 8.0 / 0.04 / 1e6
}

/// The run is held by its end: the rate is that of the window, and the headline has these words.
fn is_held(run: &Run, window: u64, words: &[&str]) {
    let rate = run.flows[0].plateau_mbit.expect("it has settled");
    let allowed = allowed(window);
    assert!((0.95..=1.0).contains(&(rate / allowed)), "{rate} of {allowed}");
    let headline = run.headline.as_ref().expect("a run has a headline");
    assert_eq!(headline.rule.as_deref(), Some("own-window"), "{}", headline.text);
    for word in words {
        assert!(headline.text.contains(word), "no \"{word}\" in: {}", headline.text);
    }
}

fn is_not_held(run: &Run) {
    let headline = run.headline.as_ref().expect("a run has a headline");
    assert_ne!(headline.rule.as_deref(), Some("own-window"), "{}", headline.text);
    assert_eq!(headline.limit.as_deref(), Some("link"), "{}", headline.text);
}

#[test]
fn a_fixed_window_holds_a_longer_path() {
    let own = run("window = \"256KiB\"", "");
    is_held(&own, 256 << 10, &["announces 256 KiB and tunes nothing", "announce 1."]);
    let setting = own.headline.and_then(|own| own.setting).expect("a setting");
    assert_eq!((setting.name.as_str(), setting.host.as_str()), ("window", "receiver"));
    is_not_held(&run("window = \"2MiB\"", ""));
}

/// Without window scaling 65,535 bytes are the most, whatever the system has.
#[test]
fn a_fixed_window_is_no_more_than_a_header_can_announce() {
    let sysctl = "sysctl = { \"net.ipv4.tcp_window_scaling\" = 0 }";
    let own = run_from(&format!("kernel = \"6.12\", {sysctl}"), "window = \"2MiB\"", "");
    let rate = own.flows[0].plateau_mbit.expect("it has settled");
    assert!((0.93..=1.0).contains(&(rate / allowed(65_535))), "{rate}");
}

/// A window of 64 KiB is what ends it, with scaling or without.
#[test]
fn a_window_that_needs_no_scaling_is_not_held_by_its_lack() {
    let rule = |window: &str| {
        let sysctl = "sysctl = { \"net.ipv4.tcp_window_scaling\" = 0 }";
        let own = run_from(&format!("kernel = \"6.12\", {sysctl}"), window, "");
        own.headline.and_then(|own| own.rule).expect("a rule")
    };
    assert_eq!(rule("window = \"64KiB\""), "own-window");
    assert_eq!(rule("window = \"256KiB\""), "without-scaling");
}

/// The levels end at their published windows, the default one suffices.
#[test]
fn a_level_of_windows_holds_a_longer_path() {
    let level = |name: &str| run(&format!("system = \"windows\", autotuning = \"{name}\""), "");
    let cure = "netsh int tcp set global autotuninglevel=normal";
    for (name, window) in [("disabled", 65_535_u64), ("highlyrestricted", 65_535 << 2)] {
        let ends = format!("autotuninglevel {name} ends at");
        is_held(&level(name), window, &[&ends, cure]);
    }
    is_not_held(&level("normal"));
    is_not_held(&run("system = \"windows\"", ""));
}

/// Winsock's buffer is the window, and is not doubled.
#[test]
fn a_program_on_windows_stops_autotuning() {
    let own = run("system = \"windows\"", "rcvbuf = \"208KiB\"");
    is_held(&own, 208 << 10, &["asks for 208 KiB by SO_RCVBUF", "autotuninglevel normal"]);
    is_not_held(&run("system = \"windows\"", "rcvbuf = \"2MiB\""));
}

/// A write that begins below the buffer is taken whole: so much and one write are out at most.
#[test]
fn winsock_counts_the_writes_that_it_takes_whole() {
    let windows = "system = \"windows\"";
    let own = run_from(windows, "kernel = \"6.12\"", "sndbuf = \"64KiB\"\nwrite = \"64KiB\"");
    let rate = own.flows[0].plateau_mbit.expect("it has settled");
    assert!((allowed(64 << 10)..=allowed(128 << 10)).contains(&rate), "{rate}");
    let headline = own.headline.expect("a run has a headline");
    assert_eq!(headline.limit.as_deref(), Some("send_buffer"), "{}", headline.text);
    assert!(headline.text.contains("so dynamic send buffering does not act"), "{}", headline.text);

    let longer = run_from(windows, "kernel = \"6.12\"", "sndbuf = \"64KiB\"\nwrite = \"256KiB\"");
    let faster = longer.flows[0].plateau_mbit.expect("it has settled");
    assert!(faster > 1.9 * rate, "{faster} and {rate}");
    is_not_held(&run_from(windows, "kernel = \"6.12\"", ""));
}

/// What is published is marked as compared with nothing.
#[test]
fn other_systems_are_marked_as_unvalidated() {
    let text = scenario("kernel = \"6.12\"", "system = \"windows\"", "");
    let notes = fullpipe::scenario::notes(&loaded(&text));
    assert!(notes.iter().any(|note| note.starts_with("Windows is unvalidated")), "{notes:?}");
    let own = made(&loaded(&text), &loaded(&text).plans()[0]).0;
    assert_eq!(own.unvalidated, ["Windows"]);
}
