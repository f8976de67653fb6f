//! `fullpipe diagnose --advise` on connections of this test over the emulated path of engine `host`: the twin acts like the
//! connection or is called off, and settings that were advised are set and measured.

use crate::common::{Call, Desk};
use crate::diagnose::guest;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A path of 50 Mb/s and 60 ms with QUEUE packets, on which a flow of its own sends next to nothing.
const ROAD: &str = r#"
title = "A path"

[path]
forward = [
    { kind = "link", name = "link", rate = "50Mbit", queue = { limit = "QUEUE packets" } },
    { kind = "delay", name = "there", delay = "30ms" },
]
back = [{ kind = "delay", name = "back", delay = "30ms" }]

[hosts]
sender = { kernel = "6.12" }
receiver = { kernel = "6.12" }

[[flow]]
name = "idle"
duration = "180s"
app = { kind = "rate", rate = "8kbit" }
write = "1kB"
"#;
/// Payload that the path carries, Mb/s: 1,448 bytes of 1,538 on its wire.
const ALLOWED: f64 = 50.0 * 1448.0 / 1538.0;
const ADDRESSES: [&str; 2] = ["10.0.0.1:0", "10.0.1.2:0"];
/// Part of a figure by which a twin may be off.
const BOUND: f64 = 0.15;

/// The path, until it is dropped.
struct Road {
    desk: Desk,
    engine: Child,
    /// Network namespaces of the sending and the receiving host.
    ends: [PathBuf; 2],
}

impl Road {
    /// A path with a queue of so many packets; none, and says so, where there can be none.
    fn new(queue: u32) -> Option<Road> {
        let desk = Desk::new();
        desk.write("road.toml", &ROAD.replace("QUEUE", &queue.to_string()));
        let mut command =
            desk.command(&["run", "road.toml", "--engine", "host", "-q", "--out", "out"]);
        let command = command.env("TMPDIR", desk.path("")).stdout(Stdio::null());
        let mut engine = command.spawn().expect("the program starts");
        let begun = Instant::now();
        loop {
            if let Some(status) = engine.try_wait().expect("a state") {
                assert_eq!(status.code(), Some(3), "engine host failed");
                eprintln!("skipped: engine host cannot run here");
                return None;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "there are no hosts");
            thread::sleep(Duration::from_millis(500));
            let Some(ends) = guest(&desk.path("")).and_then(ends) else { continue };
            return Some(Road { desk, engine, ends });
        }
    }

    /// Sets a sysctl of the host of that number.
    fn set(&self, end: usize, name: &str, value: &str) {
        let file = format!("/proc/sys/{}", name.replace('.', "/"));
        let value = value.to_string();
        within(&self.ends[end], move || fs::write(&file, value).expect("a sysctl of the host"));
    }

    /// The diagnosis of a transfer's sender, after it has grown for some seconds.
    fn diagnosed(&self, port: u16) -> Option<Value> {
        thread::sleep(Duration::from_secs(3));
        let (end, port) = (self.ends[0].display().to_string(), port.to_string());
        let call = ["diagnose", "--netns", &end, "--port", &port, "--for", "5s", "--json", "-q"];
        let call = [&call[..], &["--advise", "--rate", "50Mbit"]].concat();
        let call: Call = self.desk.call(&call);
        if call.code == Some(3) {
            eprintln!("skipped: {}", call.stderr.trim());
            return None;
        }
        let document = call.ends_with(0).json();
        crate::diagnose::judged(&document)?;
        Some(document)
    }
}

impl Drop for Road {
    fn drop(&mut self) {
        let _ = (self.engine.kill(), self.engine.wait());
    }
}

/// The namespaces of a process in which the addresses of sender and receiver are; none before both are there.
fn ends(pid: u32) -> Option<[PathBuf; 2]> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let all: Vec<PathBuf> = tasks.flatten().map(|task| task.path().join("ns/net")).collect();
    let found = ADDRESSES.map(|address| {
        let has = |end: &&PathBuf| {
            File::open(end).is_ok() && within(end, move || TcpListener::bind(address).is_ok())
        };
        all.iter().find(has).cloned()
    });
    let [Some(sender), Some(receiver)] = found else { return None };
    Some([sender, receiver])
}

/// Result of some work in a network namespace.
fn within<T: Send + 'static>(end: &Path, work: impl FnOnce() -> T + Send + 'static) -> T {
    let end = File::open(end).expect("a namespace");
    let inside = thread::spawn(move || {
        // SAFETY: it takes no pointers; only this thread enters.
        let entered = unsafe { libc::setns(end.as_raw_fd(), libc::CLONE_NEWNET) };
        assert_eq!(entered, 0, "{}", std::io::Error::last_os_error());
        work()
    });
    inside.join().expect("work in the namespace")
}

/// Manner of a transfer.
#[derive(Clone, Copy, Default)]
struct Manner {
    sndbuf: Option<u32>,
    rcvbuf: Option<u32>,
    pace: Option<u32>,
    /// Pause of the reader after each read of 64 KiB.
    pause: Duration,
}

/// A transfer of bulk data, until it is dropped.
struct Transfer {
    port: u16,
    received: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

fn option(socket: &impl AsRawFd, [level, name]: [libc::c_int; 2], value: &[u8]) {
    let length = value.len() as libc::socklen_t;
    // SAFETY: the value lives and has the length that is given.
    let set =
        unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, value.as_ptr().cast(), length) };
    assert_eq!(set, 0, "{}", std::io::Error::last_os_error());
}

impl Transfer {
    fn new(road: &Road, manner: Manner) -> Transfer {
        let listener = within(&road.ends[1], || TcpListener::bind(ADDRESSES[1]).expect("a port"));
        let to = listener.local_addr().expect("an address");
        if let Some(bytes) = manner.rcvbuf {
            let own = [libc::SOL_SOCKET, libc::SO_RCVBUF];
            option(&listener, own, &bytes.to_ne_bytes());
        }
        let stop = Arc::new(AtomicBool::new(false));
        let received = Arc::new(AtomicU64::new(0));
        let (ends, count) = (stop.clone(), received.clone());
        let read = thread::spawn(move || {
            let mut socket = listener.accept().expect("a connection").0;
            let mut room = vec![0; 64 << 10];
            while let Ok(bytes) = socket.read(&mut room)
                && bytes > 0
                && !ends.load(Ordering::SeqCst)
            {
                count.fetch_add(bytes as u64, Ordering::SeqCst);
                thread::sleep(manner.pause);
            }
        });
        let mut socket = within(&road.ends[0], move || TcpStream::connect(to).expect("a path"));
        option(&socket, [libc::IPPROTO_TCP, libc::TCP_CONGESTION], b"cubic");
        if let Some(bytes) = manner.sndbuf {
            option(&socket, [libc::SOL_SOCKET, libc::SO_SNDBUF], &bytes.to_ne_bytes());
        }
        if let Some(pace) = manner.pace {
            let own = [libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE];
            option(&socket, own, &pace.to_ne_bytes());
        }
        let ends = stop.clone();
        let write = thread::spawn(move || {
            let timeout = Some(Duration::from_millis(500));
            socket.set_write_timeout(timeout).expect("a timeout");
            while !ends.load(Ordering::SeqCst) {
                // A write that times out has filled the window.
                let _ = socket.write(&[7; 64 << 10]);
            }
        });
        Transfer { port: to.port(), received, stop, threads: vec![read, write] }
    }

    /// Rate of a transfer that has grown for some seconds, Mb/s.
    fn mbit(&self) -> f64 {
        thread::sleep(Duration::from_secs(4));
        let (begun, before) = (Instant::now(), self.received.load(Ordering::SeqCst));
        thread::sleep(Duration::from_secs(5));
        let bytes = self.received.load(Ordering::SeqCst) - before;
        bytes as f64 * 8.0 / 1e6 / begun.elapsed().as_secs_f64()
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        self.threads.drain(..).for_each(|own| own.join().expect("a thread"));
    }
}

/// Checks that advice is there exactly where each figure of the twin is near; says whether it is.
#[track_caller]
fn stands(document: &Value) -> bool {
    let twin = &document["twin"];
    let rows = twin["compared"].as_array().expect("figures");
    let number = |row: &Value, name: &str| row[name].as_f64().expect("a number");
    for row in rows.iter().filter(|row| row["what"] != "segments sent again") {
        let (seen, own) = (number(row, "seen"), number(row, "twin"));
        let is_off = row["decides"] == true && (own - seen).abs() > BOUND * seen;
        assert_eq!(row["is_off"], is_off, "{row}");
    }
    let off = rows.iter().any(|row| row["is_off"] == true);
    assert_eq!(twin["stands"], !off, "{twin}");
    assert_eq!(document["advice"].is_object(), !off, "a wrong twin gives no advice");
    assert_eq!(document["no_advice"].is_string(), off);
    if off {
        eprintln!("off: {}: {rows:?}", document["no_advice"]);
    }
    !off
}

/// Sets what was printed: sysctls of the hosts, and options of the program, which are the result.
fn set(road: &Road, advice: &Value, manner: Manner) -> Manner {
    for file in advice["files"]["enough"].as_array().expect("files") {
        assert!(
            file["path"].as_str().is_some_and(|own| own.starts_with("/etc/sysctl.d/")),
            "{file}"
        );
        let end = usize::from(file["host"] == "receiver");
        let lines = file["text"].as_str().expect("a text").lines();
        for (name, value) in lines.filter_map(|line| line.split_once(" = ")) {
            road.set(end, name.trim(), value);
        }
    }
    let mut manner = manner;
    for line in advice["files"]["program"].as_array().expect("lines") {
        let line = line.as_str().expect("a line");
        match line.split_once("SO_MAX_PACING_RATE, ") {
            Some((_, rest)) => {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                manner.pace = Some(digits.parse().expect("a pace"));
            }
            None if line.contains("do not set SO_SNDBUF") => manner.sndbuf = None,
            None if line.contains("do not set SO_RCVBUF") => manner.rcvbuf = None,
            None => panic!("an unknown change: {line}"),
        }
    }
    manner
}

/// Whether the twin of a transfer stands, its document, and its path; none where it cannot be seen.
fn twin(queue: u32, prepare: impl FnOnce(&Road), manner: Manner) -> Option<(Road, Value)> {
    let road = Road::new(queue)?;
    prepare(&road);
    let transfer = Transfer::new(&road, manner);
    let document = road.diagnosed(transfer.port)?;
    drop(transfer);
    Some((road, document))
}

/// Sets what is advised for a transfer, and checks that it has nine tenths of the path then.
fn cured(prepare: impl FnOnce(&Road), manner: Manner) {
    let Some((road, document)) = twin(250, prepare, manner) else { return };
    if !stands(&document) {
        return;
    }
    let manner = set(&road, &document["advice"], manner);
    let mbit = Transfer::new(&road, manner).mbit();
    assert!(mbit >= 0.9 * ALLOWED, "{mbit} Mb/s with {}", document["advice"]["answer"]);
}

#[test]
fn a_small_so_sndbuf_is_cured() {
    cured(|_| {}, Manner { sndbuf: Some(60_000), ..Manner::default() });
}

#[test]
fn a_small_tcp_wmem_is_cured() {
    cured(|road| road.set(0, "net.ipv4.tcp_wmem", "4096 16384 300000"), Manner::default());
}

#[test]
fn a_small_tcp_rmem_of_the_other_host_is_cured() {
    cured(|road| road.set(1, "net.ipv4.tcp_rmem", "4096 131072 200000"), Manner::default());
}

#[test]
fn a_small_so_rcvbuf_of_the_other_host_is_cured() {
    cured(|_| {}, Manner { rcvbuf: Some(40_000), ..Manner::default() });
}

#[test]
fn nothing_is_advised_on_a_full_path() {
    for queue in [250, 1000] {
        let Some((_, document)) = twin(queue, |_| {}, Manner::default()) else { return };
        if stands(&document) {
            let changes = document["advice"]["changes"].as_array().expect("changes");
            assert!(changes.is_empty(), "{}", document["advice"]["answer"]);
        }
    }
}

#[test]
fn no_setting_helps_a_slow_reader() {
    let manner = Manner { pause: Duration::from_millis(100), ..Manner::default() };
    let Some((_, document)) = twin(250, |_| {}, manner) else { return };
    if stands(&document) {
        let changes = document["advice"]["changes"].as_array().expect("changes");
        assert!(changes.is_empty(), "{}", document["advice"]["answer"]);
    }
}
