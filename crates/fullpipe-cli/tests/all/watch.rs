//! `fullpipe watch` on connections over the loopback.

use crate::common::{Call, Desk};
use crate::diagnose::{Busy, is_shown};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Child, Stdio};
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
    assert!((2..=3).contains(&pictures.len()), "{pictures:?}");
    let last = &pictures[pictures.len() - 1]["connections"][0];
    assert_eq!([&last["here"], &last["there"]], [&ends[0], &ends[1]], "{last}");
    assert_eq!((&last["pid"], &last["limit"]), (&std::process::id().into(), &"application".into()));

    // The rate is the growth of the counter.
    let number = |value: &Value| value.as_f64().expect("a number");
    let at = |own: &Value| number(&own["time_seconds"]);
    let bytes = |own: &Value| number(&own["connections"][0]["acknowledged_bytes_total"]);
    let mut compared = 0;
    for pair in pictures.windows(2) {
        let seconds = at(&pair[1]) - at(&pair[0]);

        // A busy machine takes a look too late, and its rate is that of another interval.
        if (seconds - 1.0).abs() < 0.02 {
            let counted = (bytes(&pair[1]) - bytes(&pair[0])) / seconds;
            let said = number(&pair[1]["sent_bytes_per_second"]);
            assert!((said / counted - 1.0).abs() < 0.05, "{said} {counted}");
            compared += 1;
        }
    }
    if compared == 0 {
        eprintln!("skipped: the machine is too busy for pictures in time");
    }
}

#[test]
fn connections_come_and_go_and_a_signal_ends_the_watch() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    let desk = Desk::new();
    let words = ["watch", "--port", &port.to_string(), "--every", "200ms"];
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
fn a_reader_that_has_seen_enough_ends_the_watch() {
    let (desk, busy) = (Desk::new(), Busy::new(NOW_AND_THEN, Duration::ZERO));
    let mut child = desk.start(&["watch", "--port", &busy.port(), "--every", "100ms"]);
    let mut pictures = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut first = String::new();
    if pictures.read_line(&mut first).expect("text") == 0 {
        return assert!(!is_shown(&Call::wait(child)));
    }
    drop(pictures);
    let begun = Instant::now();
    while child.try_wait().expect("a state").is_none() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
    Call::wait(child).ends_with(0);
}

#[test]
fn wrong_words_are_refused() {
    let desk = Desk::new();
    desk.call(&["watch", "somewhere"]).ends_with(2).complains(&["is no address"]);
    let twice = desk.call(&["watch", "192.0.2.1:1", "--port", "2"]);
    twice.ends_with(2).complains(&["say nothing more"]);
    desk.call(&["watch", "--sort", "beauty"]).ends_with(2).complains(&["in-flight"]);
    desk.call(&["watch", "--every", "1ms"]).ends_with(2).complains(&["at least 50 ms"]);
    let early = desk.call(&["watch", "--for", "1s", "--every", "2s"]);
    early.ends_with(2).complains(&["--for is shorter than --every"]);
    desk.call(&["watch", "--pid", "4194999"]).ends_with(2).complains(&["no process"]);
}

/// The program on a terminal of 80 columns and 24 lines, and this side of the terminal.
fn on_terminal(desk: &Desk, words: &[&str]) -> (Child, std::fs::File) {
    let (mut ours, mut theirs) = (0, 0);
    let size = libc::winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    let (name, settings) = (std::ptr::null_mut(), std::ptr::null());
    // SAFETY: both numbers and the size are there as long as the call lasts.
    let opened = unsafe { libc::openpty(&mut ours, &mut theirs, name, settings, &size) };
    assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: the two descriptors are new, and nothing else has them.
    let (ours, theirs) = unsafe { (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) };
    let end = || Stdio::from(theirs.try_clone().expect("a descriptor"));
    let mut command = desk.command(words);
    command.env("TERM", "xterm").stdin(end()).stdout(end()).stderr(end());
    (command.spawn().expect("the program starts"), ours.into())
}

/// Text of the terminal as far as `part`; whatever there is, where it ends before or nothing comes for 20 s. Blanks that
/// were blank before are not written.
fn read_to(terminal: &mut std::fs::File, part: &str) -> String {
    let (mut text, mut room) = (String::new(), [0; 4096]);
    let mut ready = libc::pollfd { fd: terminal.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: the structure is there as long as the call lasts.
    while !text.contains(part) && unsafe { libc::poll(&mut ready, 1, 20_000) } > 0 {
        match terminal.read(&mut room) {
            Ok(read) if read > 0 => text += &String::from_utf8_lossy(&room[..read]),
            _ => break,
        }
    }
    text
}

const ENTERS: &str = "\x1b[?1049h";
const LEAVES: &str = "\x1b[?1049l";

#[test]
fn a_terminal_is_as_it_was_after_each_end() {
    let (desk, busy) = (Desk::new(), Busy::new(NOW_AND_THEN, Duration::ZERO));
    let words = ["watch", "--port", &busy.port()];
    for end in ["q", "\x03", "signal"] {
        let (mut child, mut terminal) = on_terminal(&desk, &words);
        let shown = read_to(&mut terminal, "quit");
        if shown.contains("does not show its sockets") {
            return eprintln!("skipped: {shown}");
        }
        assert!(shown.contains(ENTERS) && shown.contains("connections;"), "{shown:?}");
        match end {
            "signal" => {
                // SAFETY: the child is not waited for yet, so the number is its.
                assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGTERM) }, 0);
            }
            keys => {
                let detail = terminal.write_all(b"\r").map(|()| read_to(&mut terminal, "Esc"));
                assert!(detail.expect("written").contains("Esc"));
                terminal.write_all(keys.as_bytes()).expect("written");
            }
        }
        let rest = read_to(&mut terminal, LEAVES);
        assert!(rest.contains(LEAVES), "{end:?}: {rest:?}");
        assert_eq!(child.wait().expect("an end").code(), Some(0), "{end:?}");
    }
}

#[test]
fn a_watch_is_kept_as_a_result() {
    let (desk, busy) = (Desk::new(), Busy::new(Duration::ZERO, Duration::from_millis(20)));
    let words = ["watch", "--port", &busy.port(), "--for", "3s", "--top", "1", "--save", "kept"];
    let call = desk.call(&words);
    if !is_shown(&call) {
        return;
    }
    call.ends_with(0).complains(&["kept: kept; `fullpipe report` shows it again"]);
    let report = desk.call(&["report", "kept", "--brief"]).ends_with(0).stdout;
    assert!(report.contains("receiving program"), "{report}");
    let names = desk.names("kept");
    for name in ["summary.json", "report.html"] {
        assert!(names.iter().any(|own| own == name), "{names:?}");
    }
    let again = desk.call(&["watch", "--for", "1s", "--save", "kept"]);
    again.ends_with(2).complains(&["is there already and not empty"]);
    let none = desk.call(&["watch", "--port", "1", "--for", "1s", "--save", "none"]).ends_with(0);
    none.complains(&["nothing is kept"]);
}

/// Answer of the exporter.
fn scraped(port: u16, path: &str) -> String {
    let begun = Instant::now();
    let mut stream = loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => break stream,
            Err(why) => assert!(begun.elapsed() < Duration::from_secs(10), "{why}"),
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    write!(stream, "GET {path} HTTP/1.1\r\nHost: here\r\n\r\n").expect("written");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    text
}

/// A port that is free now.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    listener.local_addr().expect("an address").port()
}

#[test]
fn prometheus_gets_base_units_and_a_taken_port_is_refused() {
    let (desk, busy) = (Desk::new(), Busy::new(NOW_AND_THEN, Duration::ZERO));
    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    let own = busy.port();
    let words = ["watch", "--port", &own, "--every", "200ms", "--prometheus", &address];
    let mut child = desk.start(&words);
    let mut pictures = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    if pictures.next().is_none() {
        return assert!(!is_shown(&Call::wait(child)));
    }
    let text = scraped(port, "/metrics");
    let (head, body) = text.split_once("\r\n\r\n").expect("a body");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
    let labels = format!(
        "local_address=\"127.0.0.1\",local_port=\"{}\",peer_address=\"127.0.0.1\",peer_port=\"{own}\"",
        busy.client
    );
    let value = |name: &str| -> f64 {
        let start = format!("fullpipe_tcp_{name}{{{labels}}} ");
        let line = body.lines().find_map(|line| line.strip_prefix(&start));
        line.unwrap_or_else(|| panic!("no {start} in {body}")).parse().expect("a number")
    };
    assert!(value("cwnd_segments") >= 1.0 && value("rtt_seconds") < 1.0, "{body}");
    let bytes = value("acknowledged_bytes_total");
    assert!(bytes > 10_000.0, "{body}");
    assert!(body.contains("# TYPE fullpipe_tcp_acknowledged_bytes_total counter\n"), "{body}");
    assert!(body.contains("\nfullpipe_tcp_connections 2\n"), "{body}");

    // Each sample belongs to a metric that is described once.
    let metrics: Vec<&str> = body.lines().filter_map(|own| own.strip_prefix("# TYPE ")).collect();
    let names: std::collections::BTreeSet<&str> =
        metrics.iter().filter_map(|own| own.split(' ').next()).collect();
    assert_eq!(names.len(), metrics.len());
    for line in body.lines().filter(|line| !line.starts_with('#')) {
        assert!(line.split(['{', ' ']).next().is_some_and(|own| names.contains(own)), "{line}");
    }
    assert!(scraped(port, "/").starts_with("HTTP/1.1 404 "));

    let taken = desk.call(&["watch", "--for", "1s", "--prometheus", &address]);
    taken.ends_with(3).complains(&[&address, "another program has this port"]);
    interrupt(&child);
    assert_eq!(child.wait().expect("an end").code(), Some(0));
}
