//! `fullpipe diagnose` on connections that exist: over the loopback, and over the emulated path of engine `host`, of which each
//! end is observed in its own network namespace.

use crate::common::{Call, Desk};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A connection over the loopback, until it is dropped.
pub struct Busy {
    /// Port of the end that receives.
    pub port: u16,
    /// Port of the end that sends.
    pub client: u16,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Busy {
    /// A connection with ends that pause for so long after each write or read.
    pub fn new(writes: Duration, reads: Duration) -> Busy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let address = listener.local_addr().expect("an address");
        let stop = Arc::new(AtomicBool::new(false));
        let (reader, writer) = (stop.clone(), stop.clone());
        let read = thread::spawn(move || {
            let mut socket = listener.accept().expect("a connection").0;
            let mut room = vec![0; 64 << 10];
            while !reader.load(Ordering::SeqCst) && socket.read(&mut room).is_ok_and(|n| n > 0) {
                thread::sleep(reads);
            }
        });
        let mut socket = TcpStream::connect(address).expect("a connection");
        let client = socket.local_addr().expect("an address").port();
        let write = thread::spawn(move || {
            let timeout = Some(Duration::from_millis(200));
            socket.set_write_timeout(timeout).expect("a timeout");
            while !writer.load(Ordering::SeqCst) {
                // A write that times out has filled the window.
                let _ = socket.write(&[7; 64 << 10]);
                thread::sleep(writes);
            }
        });
        thread::sleep(Duration::from_millis(300));
        Busy { port: address.port(), client, stop, threads: vec![read, write] }
    }

    pub fn port(&self) -> String {
        self.port.to_string()
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        self.threads.drain(..).for_each(|own| own.join().expect("a thread"));
    }
}

const NOT_AT_ALL: Duration = Duration::ZERO;

/// Whether the kernel shows its sockets; prints why the test is skipped if not.
pub fn is_shown(call: &Call) -> bool {
    let hidden = call.code == Some(3) && call.stderr.contains("does not show its sockets");
    if hidden {
        eprintln!("skipped: {}", call.stderr.trim());
    }
    !hidden
}

/// The only run of a document; none, and says so, where the machine was too busy for looks in time.
pub fn judged(document: &Value) -> Option<&Value> {
    let run = &document["runs"][0];
    let counters = run["counters"].as_array().expect("counters");
    let late = counters.iter().find(|own| own["name"] == "observer.late_p99_ns");
    let late = late.expect("the lateness")["value"].as_u64().expect("a number");
    if late > 20_000_000 {
        eprintln!("skipped: the machine is too busy: a look was {} ms late", late / 1_000_000);
        return None;
    }
    Some(run)
}

#[test]
fn a_slow_reader_is_found_and_its_result_is_kept() {
    let (desk, busy) = (Desk::new(), Busy::new(NOT_AT_ALL, Duration::from_millis(20)));
    let call = desk.call(&["diagnose", "--port", &busy.port(), "--for", "3s", "--save", "slow"]);
    if !is_shown(&call) {
        return;
    }
    let call = call.ends_with(0).complains(&["watching 1 connection for 3 s", "kept: slow"]);
    let first = call.stdout.split("\n\n").next().expect("an answer").replace('\n', " ");
    assert!(first.contains("receiving program"), "{first}");
    let call = call.says(&["not seen from here"]);

    // The sending end stands for the connection, and its process is this one.
    let own = format!("> 127.0.0.1:{} ", busy.port);
    let process = format!("(pid {})", std::process::id());
    assert!(call.stdout.contains(&own) && call.stdout.contains(&process), "{}", call.stdout);

    // The directory is a result as any other one, and is never overwritten.
    desk.call(&["report", "slow", "--brief"]).ends_with(0).says(&["receiving program"]);
    assert_eq!(desk.names("slow").iter().filter(|own| *own == "summary.json").count(), 1);
    // The kernel of the other end is not known, and nothing is said of it.
    let whole = desk.call(&["report", "slow"]).ends_with(0).stdout;
    assert!(!whole.contains("on Linux ,") && !whole.contains("on Linux \n"), "{whole}");
    let other = desk.call(&["diagnose", "--port", "1", "--save", "slow"]).ends_with(2);
    other.complains(&["is there already and not empty"]);
    let model = desk.call(&["report", "slow", "--view", "receiver-sockets"]).ends_with(2);
    model.complains(&["scenario.resolved.toml"]);
}

#[test]
fn the_other_end_decides_between_causes_that_look_the_same() {
    let (desk, busy) = (Desk::new(), Busy::new(NOT_AT_ALL, Duration::from_millis(20)));
    let [here, there] = [busy.port, busy.client].map(|port| format!("127.0.0.1:{port}"));
    let call = desk.call(&["diagnose", &here, &there, "--for", "2s", "--save", "other", "-q"]);
    if !is_shown(&call) {
        return;
    }
    assert!(call.ends_with(0).stdout.contains("receives"));
    let call =
        ["diagnose", "--port", &busy.port(), "--for", "2s", "--with", "other", "--json", "-q"];
    let document = desk.call(&call).ends_with(0).json();
    let Some(run) = judged(&document) else { return };
    let headline = &run["headline"];
    assert_eq!(headline["group"], "reader", "{headline}");
    assert_eq!([&headline["confidence"], &headline["place"]], ["sure", "the other host"]);
    assert_eq!(headline["twins"], Value::Null, "{headline}");
    let missing = desk.call(&["diagnose", "--port", &busy.port(), "--with", "nowhere"]);
    missing.ends_with(2).complains(&["nowhere"]);
}

#[test]
fn a_program_that_writes_little_is_found() {
    let (desk, busy) = (Desk::new(), Busy::new(Duration::from_millis(15), NOT_AT_ALL));
    let port = busy.port();
    let call = desk.call(&["diagnose", "--port", &port, "--for", "3s", "--json", "-q"]);
    if !is_shown(&call) {
        return;
    }
    let document = call.ends_with(0).json();
    let Some(run) = judged(&document) else { return };
    assert_eq!(run["engine"], "live");
    assert_eq!(run["view"], "sender-sockets");
    let group = &run["headline"]["group"];
    assert!(["source", "pauses"].iter().any(|own| group == own), "{}", run["headline"]);

    // The rate is that of bytes acknowledged: 64 KiB in 15 ms and a little.
    let rate = run["headline"]["rate_mbit"].as_f64().expect("a rate");
    assert!((10.0..36.0).contains(&rate), "{rate}");
}

#[test]
fn a_connection_that_closes_has_an_answer() {
    let (desk, busy) = (Desk::new(), Busy::new(Duration::from_millis(5), NOT_AT_ALL));
    let begun = Instant::now();
    let child = desk.start(&["diagnose", "--port", &busy.port(), "--for", "60s"]);
    thread::sleep(Duration::from_millis(2500));
    drop(busy);
    let call = Call::wait(child);
    if !is_shown(&call) {
        return;
    }
    call.ends_with(0).says(&["note: the connection closed after", "Mb/s"]);
    assert!(begun.elapsed() < Duration::from_secs(20), "it waits for a closed connection");
}

#[test]
fn a_signal_ends_the_observation_and_the_answer_is_there() {
    let (desk, busy) = (Desk::new(), Busy::new(Duration::from_millis(5), NOT_AT_ALL));
    let begun = Instant::now();
    let child = desk.start(&["diagnose", "--port", &busy.port(), "--for", "60s"]);
    thread::sleep(Duration::from_millis(2500));
    // SAFETY: it takes no pointers; the process is a child that has not been waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    let call = Call::wait(child);
    if !is_shown(&call) {
        return;
    }
    call.ends_with(0).complains(&["the answer is from what was seen so far"]).says(&["Mb/s"]);
    assert!(begun.elapsed() < Duration::from_secs(20), "it goes on after a signal");
}

#[test]
fn an_idle_connection_is_no_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = listener.local_addr().expect("an address").port().to_string();
    let client = TcpStream::connect(("127.0.0.1", port.parse().expect("a port")));
    let both = (client.expect("a connection"), listener.accept().expect("a connection").0);
    let call = Desk::new().call(&["diagnose", "--port", &port, "--for", "1s", "--json", "-q"]);
    if !is_shown(&call) {
        return;
    }
    let document = call.ends_with(0).json();
    let headline = &document["runs"][0]["headline"];
    assert_eq!(headline["grade"], "no_traffic", "{headline}");
    assert!(headline["text"].as_str().is_some_and(|own| own.contains("writes nothing")));
    drop(both);
}

/// A socket with a SYN that a full listener drops, and its own port.
fn unanswered(listener: &TcpListener) -> (OwnedFd, u16) {
    let there = listener.local_addr().expect("an address").port();
    let address = |port: u16| libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes([127, 0, 0, 1]) },
        sin_zero: [0; 8],
    };
    let (mut own, to) = (address(0), address(there));
    let mut size = size_of::<libc::sockaddr_in>() as libc::socklen_t;

    // SAFETY: the addresses live and have the size that is given; the descriptor is new.
    unsafe {
        let fd = libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_NONBLOCK, 0);
        let socket = OwnedFd::from_raw_fd(fd);
        assert_eq!(libc::bind(fd, (&raw const own).cast(), size), 0);
        assert_eq!(libc::getsockname(fd, (&raw mut own).cast(), &raw mut size), 0);
        libc::connect(fd, (&raw const to).cast(), size);
        (socket, u16::from_be(own.sin_port))
    }
}

#[test]
fn a_handshake_without_an_answer_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    // SAFETY: it takes no pointers. The queue of connections gets room for one.
    assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 0) }, 0);
    let address = listener.local_addr().expect("an address");
    let first = TcpStream::connect_timeout(&address, Duration::from_secs(1)).expect("room");
    let (socket, port) = unanswered(&listener);
    thread::sleep(Duration::from_millis(1200));
    let call = Desk::new().call(&["diagnose", "--port", &port.to_string(), "--for", "1s", "-q"]);
    if is_shown(&call) {
        call.ends_with(2).complains(&["is not established", "its SYN was sent 2 times"]);
    }
    drop((first, socket));
}

#[test]
fn without_a_match_the_busiest_are_listed() {
    let (desk, busy) = (Desk::new(), Busy::new(NOT_AT_ALL, NOT_AT_ALL));
    let call = desk.call(&["diagnose", "--dst", "192.0.2.7:9", "--for", "1s"]);
    if !is_shown(&call) {
        return;
    }
    let call = call.ends_with(2);
    let port = format!(":{}", busy.port);
    call.complains(&["there is no connection to 192.0.2.7 port 9", "The busiest are:", &port]);
    desk.call(&["diagnose", "--for", "100ms"]).ends_with(2).complains(&["at least 500 ms"]);
    let none = desk.call(&["diagnose", "--pid", "4194305"]).ends_with(2);
    none.complains(&["there is no process 4194305"]);
    desk.call(&["diagnose", "--netns", "nowhere"]).ends_with(3).complains(&["nowhere"]);
}

#[test]
fn looks_that_ss_has_printed_are_judged() {
    let desk = Desk::new();
    let look = |number: u64| {
        let (acked, busy) = (200_000 * number, 100 * number);
        let unread = 60_000 - 20_000 * (number % 3);
        format!(
            "ESTAB 0 900000 10.0.0.1:4000 10.0.0.2:80\n\t skmem:(r0,rb131072,t0,tb4194304,f0,w1200000,o0,bl0,d0) \
             ts sack cubic wscale:7,7 rto:240 rtt:40.2/0.5 mss:1448 pmtu:1500 cwnd:200 bytes_sent:{acked} \
             bytes_acked:{acked} segs_out:{number} segs_in:{number} data_segs_out:{number} busy:{busy}ms \
             rwnd_limited:{busy}ms(100.0%) unacked:{} notsent:800000 minrtt:40 snd_wnd:{unread}\n",
            unread / 1448
        )
    };
    desk.write("ss.txt", &(1..=40).map(look).collect::<String>());
    let document = desk.call(&["diagnose", "ss.txt", "--json"]).ends_with(0).json();
    let headline = &document["runs"][0]["headline"];
    assert_eq!(headline["code"], "app_read", "{headline}");

    // 200 kB in 100 ms are 16 Mb/s; looks that are twice as far apart are half as fast.
    let rate = |own: &Value| own["headline"]["rate_mbit"].as_f64().expect("a rate");
    assert!((rate(&document["runs"][0]) - 16.0).abs() < 0.01, "{headline}");
    let slower = desk.call(&["diagnose", "ss.txt", "--every", "200ms", "--json"]).ends_with(0);
    assert!((rate(&slower.json()["runs"][0]) - 8.0).abs() < 0.01);

    desk.write("one.txt", &look(1));
    let once = desk.call(&["diagnose", "one.txt"]).ends_with(0).stdout;
    assert!(
        once.contains("The receive window holds the flow") && once.contains("ss -tinmH"),
        "{once}"
    );
    let none = desk.call(&["diagnose", "ss.txt", "--port", "99"]).ends_with(2);
    none.complains(&["there is no connection with port 99"]);
    desk.call(&["diagnose", "nowhere.txt"]).ends_with(2).complains(&["nowhere.txt"]);
    desk.call(&["diagnose", "10.0.0.1:1", "x"]).ends_with(2).complains(&["no address with a port"]);
}

/// A transfer of 12 s over a path of 50 Mb/s and 60 ms with a queue of one product; ELEMENTS stand in front of its link, KEYS are the flow's.
const PATH: &str = r#"
title = "A path"

[path]
forward = [
    ELEMENTS
    { kind = "link", name = "link", rate = "50Mbit", queue = { limit = "250 packets" } },
    { kind = "delay", name = "there", delay = "30ms" },
]
back = [{ kind = "delay", name = "back", delay = "30ms" }]

[hosts]
sender = { kernel = "6.12" }
receiver = { kernel = "6.12" }

[[flow]]
name = "bulk"
congestion = "cubic"
duration = "12s"
KEYS
"#;

/// Headline of a diagnosis of that path's sender in the middle of its transfer; none, and says so, where it cannot be.
fn headline(elements: &str, keys: &str) -> Option<Value> {
    let desk = Desk::new();
    desk.write("path.toml", &PATH.replace("ELEMENTS", elements).replace("KEYS", keys));
    let run = ["run", "path.toml", "--engine", "host", "-q", "--json", "--out", "out"];
    let mut command = desk.command(&run);
    let command = command.env("TMPDIR", desk.path("")).stdout(Stdio::null());
    let mut engine = command.spawn().expect("the program starts");

    // The guest's last process has the connections, once there are some.
    let begun = Instant::now();
    let document = loop {
        if let Some(status) = engine.try_wait().expect("a state") {
            assert_eq!(status.code(), Some(3), "engine host failed");
            eprintln!("skipped: engine host cannot run here");
            return None;
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "there is no connection");
        thread::sleep(Duration::from_millis(500));
        let Some(pid) = guest(&desk.path("")).filter(|_| begun.elapsed().as_secs() >= 3) else {
            continue;
        };
        let call =
            desk.call(&["diagnose", "--pid", &pid.to_string(), "--for", "5s", "--json", "-q"]);
        match call.code {
            Some(0) => break call.json(),
            Some(3) => {
                eprintln!("skipped: {}", call.stderr.trim());
                let _ = (engine.kill(), engine.wait());
                return None;
            }
            _ => {}
        }
    };
    assert!(engine.wait().expect("its end").success());
    if let Some(late) = disturbed(&desk) {
        eprintln!("skipped: the machine is too busy: packets were {late} us late");
        return None;
    }
    let run = judged(&document)?;
    assert_eq!(run["view"], "sender-sockets", "the sender is in another namespace");
    Some(run["headline"].clone())
}

/// How late packets left the path, us, where engine `host` itself calls its run disturbed: programs are late as well then.
fn disturbed(desk: &Desk) -> Option<u64> {
    const LATE_NS: u64 = 1_000_000;
    let document: Value = serde_json::from_str(&desk.read("out/summary.json")).expect("JSON");
    let counters = document["runs"][0]["counters"].as_array().expect("counters");
    let own = counters.iter().find(|own| own["name"] == "emulator.late_p99_ns");
    let late = own.expect("the lateness")["value"].as_u64().expect("a number");
    (late > LATE_NS).then_some(late / 1000)
}

/// The youngest process with its root or its working directory below `place`.
pub fn guest(place: &Path) -> Option<u32> {
    let place = place.canonicalize().expect("a directory");
    let mut found = Vec::new();
    for own in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let links = ["root", "cwd"].map(|name| std::fs::read_link(own.path().join(name)));
        let below = |link: &Path| link.starts_with(&place) && link != place;
        if links.iter().flatten().any(|link| below(link)) {
            found.extend(own.file_name().to_str().and_then(|name| name.parse::<u32>().ok()));
        }
    }
    found.into_iter().max()
}

/// Checks code and certainty of a cause.
#[track_caller]
fn is(headline: Option<Value>, code: &str) {
    let Some(own) = headline else { return };
    assert_eq!(own["code"], code, "{own}");
    assert_ne!(own["confidence"], "cannot_tell", "{own}");
}

#[test]
fn a_full_path_is_healthy() {
    let Some(own) = headline("", "") else { return };
    assert_eq!([&own["code"], &own["grade"]], ["none", "full"], "{own}");
    let rate = own["rate_mbit"].as_f64().expect("a rate");
    assert!(rate > 0.9 * 50.0 * 1448.0 / 1538.0, "{rate}");
}

#[test]
fn a_small_send_buffer_is_found() {
    is(headline("", r#"sndbuf = "100kB""#), "sndbuf");
}

#[test]
fn a_small_receive_buffer_is_found() {
    is(headline("", r#"rcvbuf = "40kB""#), "rwnd_fixed");
}

#[test]
fn a_reader_at_a_tenth_of_the_rate_is_found() {
    is(headline("", r#"reader = { rate = "5Mbit", read = "64KiB" }"#), "app_read");
}

#[test]
fn a_writer_at_a_tenth_of_the_rate_is_found() {
    let Some(own) = headline("", r#"app = { kind = "rate", rate = "5Mbit" }"#) else { return };
    let group = &own["group"];
    assert!(["source", "pauses"].iter().any(|known| group == known), "{own}");
}

#[test]
fn losses_by_chance_are_found() {
    let lossy = r#"{ kind = "loss", name = "lossy", probability = 0.005 },"#;
    let Some(own) = headline(lossy, "") else { return };

    // A few seconds have few losses, which a very short queue explains as well (docs/views.md).
    let group = &own["group"];
    assert!(["loss", "shallow drop"].iter().any(|known| group == known), "{own}");
}
