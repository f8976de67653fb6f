//! `fullpipe watch` on connections over the loopback.

use crate::common::{Call, Desk};
use crate::diagnose::{Busy, is_shown};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::Child;
use std::time::{Duration, Instant};

const NOW_AND_THEN: Duration = Duration::from_millis(10);

fn lines(call: &Call) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).expect("an object");
    call.stdout.lines().map(parse).collect()
}

fn interrupt(child: &Child) {
    // SAFETY: the child is not waited for yet, so the number is its.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
}

#[test]
fn a_table_shows_both_ends_and_what_limits_them() {
    let (desk, busy) = (Desk::new(), Busy::new(NOW_AND_THEN, Duration::ZERO));
    let call = desk.call(&["watch", "--port", &busy.port(), "--every", "500ms", "--for", "2s"]);
    if !is_shown(&call) {
        return;
    }
    let text = call.ends_with(0).stdout;
    assert!(text.starts_with("0.5 s: 2 connections, 2 new; "), "{text}");
    assert_eq!(text.matches("connection  ").count(), 4, "{text}");
    let row = format!("{} > 127.0.0.1:{}", busy.client, busy.port);
    let row = text.lines().rfind(|line| line.starts_with(&row)).expect("the sending end");
    let rate: f64 = row.split_whitespace().nth(3).and_then(|own| own.parse().ok()).expect("a rate");

    // 64 KiB at most each 10 ms.
    assert!(rate > 1.0 && rate < 53.0, "{row}");
    assert!(row.ends_with(" application"), "{row}");
    let other = format!("{} < 127.0.0.1:{}", busy.port, busy.client);
    assert!(text.contains(&other), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn one_object_a_line_counts_in_base_units() {
    let (desk, busy) = (Desk::new(), Busy::new(NOW_AND_THEN, Duration::ZERO));
    let process = std::process::id().to_string();
    let ends = [format!("127.0.0.1:{}", busy.client), format!("127.0.0.1:{}", busy.port)];
    let call = ["watch", &ends[0], &ends[1], "--pid", &process, "--json", "--for", "3s"];
    let call = desk.call(&call);
    if !is_shown(&call) {
        return;
    }
    let pictures = lines(&call.ends_with(0));
    assert_eq!(pictures.len(), 3);
    let [first, last] = [&pictures[0], &pictures[2]].map(|own| &own["connections"][0]);
    assert_eq!([&last["here"], &last["there"]], [&ends[0], &ends[1]], "{last}");
    assert_eq!((&last["pid"], &last["limit"]), (&std::process::id().into(), &"application".into()));

    // The rate is the growth of the counter.
    let number = |value: &Value| value.as_f64().expect("a number");
    let bytes = [last, first].map(|own| number(&own["acknowledged_bytes_total"]));
    let seconds = [&pictures[2], &pictures[0]].map(|own| number(&own["time_seconds"]));
    let counted = (bytes[0] - bytes[1]) / (seconds[0] - seconds[1]);
    let said = (1..3).map(|at| number(&pictures[at]["sent_bytes_per_second"])).sum::<f64>() / 2.0;
    assert!((said / counted - 1.0).abs() < 0.05, "{said} {counted}");
}

#[test]
fn connections_come_and_go_and_a_signal_ends_the_watch() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    let desk = Desk::new();
    let words = ["watch", "--port", &port.to_string(), "--every", "200ms", "-q"];
    let mut child = desk.start(&words);
    let mut pictures = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut next = || pictures.next().and_then(Result::ok).unwrap_or_default();
    let first = next();
    if first.is_empty() {
        return assert!(!is_shown(&Call::wait(child)));
    }
    let nothing = format!("there is no connection with port {port} yet; waiting");
    assert!(first.ends_with(&nothing), "{first}");

    // A new connection is seen within 2 s, though it is idle.
    let begun = Instant::now();
    let client = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    let server = listener.accept().expect("a connection").0;
    let seen = next();
    assert!(seen.contains(" s: 2 connections, 2 new;"), "{seen}");
    assert!(begun.elapsed() < Duration::from_millis(2_300), "{:?}", begun.elapsed());
    drop((client, server));
    let closed = (0..50).map(|_| next()).find(|line| line.contains(" closed;"));
    assert!(closed.is_some_and(|line| line.contains(" s: 0 connections, 2 closed")));
    interrupt(&child);
    assert_eq!(child.wait().expect("an end").code(), Some(0));
}

#[test]
fn wrong_words_are_refused() {
    let desk = Desk::new();
    desk.call(&["watch", "somewhere"]).ends_with(2).complains(&["is no address"]);
    let twice = desk.call(&["watch", "192.0.2.1:1", "--port", "2"]);
    twice.ends_with(2).complains(&["say nothing more"]);
    desk.call(&["watch", "--sort", "beauty"]).ends_with(2).complains(&["in-flight"]);
    desk.call(&["watch", "--every", "1ms"]).ends_with(2).complains(&["at least 50 ms"]);
    desk.call(&["watch", "--pid", "4194999"]).ends_with(2).complains(&["no process"]);
}
