//! Programs that read datagrams late: the verdict on them, and advice for them.

use crate::common::Desk;
use serde_json::Value;

/// 1 Gb/s of datagrams for 300 ms to a program that pauses for 20 ms in 120.
const SCENARIO: &str = r#"
duration = "1s"
[path]
rate = "10Gbit"
delay = { forward = "100us", back = "100us" }
[hosts]
sender = { kernel = "6.12" }
receiver = { kernel = "6.12", sysctl = { "net.core.rmem_max" = "1MiB" } }
[[flow]]
name = "none"
bytes = "1kB"
[[datagrams]]
name = "stream"
kind = "udp"
size = "1452B"
rate = "1Gbit"
duration = "300ms"
reader = { on = "100ms", off = "20ms" }
"#;
const SLOW: &str = "datagrams.stream.reader={rate=\"600Mbit\"}";

fn call(command: &str, sets: &[&str]) -> Value {
    let desk = Desk::new();
    desk.write("my.toml", SCENARIO);
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    let arguments: Vec<&str> =
        [command, "my.toml", "--json", "-q"].into_iter().chain(sets).collect();
    desk.call(&arguments).ends_with(0).json()
}

/// The first line of the verdict, and how the program read.
fn verdict(sets: &[&str]) -> (String, Value) {
    let document = call("run", sets);
    let run = &document["runs"][0];
    let text = run["headline"]["text"].as_str().expect("a headline").to_string();
    (text, run["datagrams"][0]["reading"].clone())
}

#[track_caller]
fn has(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "no {word:?} in: {text}");
    }
}

/// A pause of 20 ms has 1,722 datagrams of 2,304 bytes, 4 MB, which an SO_RCVBUF of 2 MiB holds.
#[test]
fn a_pause_needs_a_buffer_for_what_comes_meanwhile() {
    let (text, reading) = verdict(&[]);
    has(&text, &["does not read for 19 ms or more", "its CPU rests", "SO_RCVBUF of 2 MiB"]);
    assert_eq!(reading["pause_rcvbuf"], 2 << 20);

    let large = ["datagrams.stream.rcvbuf=2MiB", "hosts.receiver.sysctl.net.core.rmem_max=2MiB"];
    let (text, reading) = verdict(&large);
    has(&text, &["All 25,827 datagrams of stream arrive"]);
    assert!(reading.is_null(), "{reading}");
}

/// A program that reads less than arrives loses with any buffer; a pause of a program that catches up does not count as
/// such.
#[test]
fn a_program_that_reads_less_than_comes_is_too_slow() {
    let (text, reading) = verdict(&[SLOW]);
    has(&text, &["reads 600 of the 997 Mb/s that come", "its CPU rests", "read faster"]);
    assert!(reading["pause_rcvbuf"].is_null(), "{reading}");

    let catches_up = "datagrams.stream.reader={rate=\"1500Mbit\",on=\"100ms\",off=\"20ms\"}";
    has(&verdict(&[catches_up]).0, &["does not read for", "SO_RCVBUF of 2 MiB"]);
}

#[test]
fn a_busy_cpu_is_no_idle_program() {
    let busy = ["datagrams.stream.reader={rate=\"100Gbit\"}", "hosts.receiver.cpu.copy=12ns/byte"];
    let (text, _) = verdict(&busy);
    has(&text, &["the CPU of receiver is busy", "more CPU"]);
    assert!(!text.contains("rests"), "{text}");
}

#[test]
fn advice_sizes_the_buffer_for_the_pause() {
    let document = call("advise", &[]);
    let text = document.to_string();
    has(&text, &["SO_RCVBUF of stream to 2 MiB", "net.core.rmem_max", "2097152"]);
}

#[test]
fn advice_has_no_buffer_for_a_program_that_is_too_slow() {
    let document = call("advise", &[SLOW]);
    let text = document.to_string();
    has(&text, &["Let the program of stream read faster", "No SO_RCVBUF helps"]);
}
