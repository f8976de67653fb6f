//! `fullpipe measure` over the loopback: with itself, and with iperf3 at either end.

use crate::common::{Call, Desk};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A server of this program at a free port.
struct Server {
    port: String,
    child: Option<Child>,
    rest: Option<JoinHandle<String>>,
}

impl Drop for Server {
    /// A test that fails leaves no server behind.
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Server {
    fn new(desk: &Desk, more: &[&str]) -> Server {
        let all = [&["measure", "--server", "-p", "0"], more].concat();
        let mut child = desk.start(&all);
        let mut lines = BufReader::new(child.stderr.take().expect("standard error"));
        let mut first = String::new();
        lines.read_line(&mut first).expect("a line");
        let port = first.trim().strip_prefix("waiting for clients at port ").expect(&first).into();
        let rest = thread::spawn(move || {
            let mut text = String::new();
            lines.read_to_string(&mut text).expect("text");
            text
        });
        Server { port, child: Some(child), rest: Some(rest) }
    }

    /// Waits for the end.
    fn wait(mut self) -> Call {
        let (child, rest) = (self.child.take().expect("a child"), self.rest.take());
        let mut call = Call::wait(child);
        call.stderr = rest.expect("a thread").join().expect("standard error");
        call
    }

    fn interrupt(&self) {
        self.child.iter().for_each(interrupt);
    }

    /// Ends the server by a signal.
    fn stop(self) -> Call {
        self.interrupt();
        self.wait()
    }
}

fn interrupt(child: &Child) {
    // SAFETY: it takes no pointers; the process is a child that has not been waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
}

/// Whether iperf3 is installed; says so where it is not.
fn has_iperf3() -> bool {
    let has =
        Command::new("iperf3").arg("--version").output().is_ok_and(|own| own.status.success());
    let required = std::env::var("FULLPIPE_REQUIRE_IPERF3").is_ok_and(|value| value == "1");
    assert!(has || !required, "iperf3 is not installed");
    if !has {
        eprintln!("skipped: iperf3 is not installed");
    }
    has
}

/// Calls iperf3.
fn iperf3(arguments: &[&str]) -> Call {
    let mut command = Command::new("iperf3");
    Call::of(command.args(arguments).stdin(Stdio::null()).output().expect("iperf3"))
}

/// A server of iperf3 for one test, at a port that was free.
fn iperf3_server() -> (String, Child) {
    let free = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = free.local_addr().expect("an address").port().to_string();
    drop(free);
    let mut command = Command::new("iperf3");
    command.args(["-s", "-1", "-p", &port]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("iperf3");

    // A client that comes too early finds no listener.
    let listens = format!(":{:04X} ", port.parse::<u16>().expect("a port"));
    for _ in 0..500 {
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(std::fs::read_to_string);
        let mut lines = tables.iter().flatten().flat_map(|own| own.lines());
        if lines.any(|line| line.contains(&listens) && line.contains(" 0A ")) {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    (port, child)
}

#[test]
fn a_test_has_its_answer_first_and_its_rows_on_standard_error() {
    let desk = Desk::new();
    let server = Server::new(&desk, &["-1"]);
    let client = desk.call(&["measure", "127.0.0.1", "-p", &server.port, "-t", "1", "-i", "0.5"]);
    let (client, server) = (client.ends_with(0), server.wait().ends_with(0));
    let kept = ["received", "CPU: this end"];
    let client = client.says(&["Mb/s to 127.0.0.1"]).complains(&["interval", "0.0-0.5 s"]);
    let server = server.says(&["Mb/s from 127.0.0.1"]).complains(&["interval", "sends for 1 s"]);
    let [client, server] = [client, server].map(|call| call.says(&kept));
    for call in [&client, &server] {
        let first = call.stdout.lines().next().expect("an answer");
        assert!(first.contains("Mb/s"), "{}", call.stdout);
    }
    let measured = |call: &Call| {
        let line = call.stdout.lines().find(|line| line.starts_with(" 1 ")).expect("a stream");
        line.split_whitespace().skip(4).map(String::from).collect::<Vec<_>>()
    };
    assert!(measured(&client).len() > 6, "{}", client.stdout);
    assert_eq!(measured(&client), measured(&server));
}

#[test]
fn bytes_and_window_are_kept_in_both_directions() {
    let desk = Desk::new();
    let server = Server::new(&desk, &["-q"]);
    let to = ["measure", "127.0.0.1", "-q", "-p", &server.port];
    for more in [&["-n", "3M", "-l", "10K"][..], &["-t", "1", "-w", "64K", "-R"]] {
        let way = if more.contains(&"-R") { "from" } else { "to" };
        let way = format!("Mb/s {way} 127.0.0.1");
        let call = desk.call(&[&to, more].concat()).ends_with(0).says(&[&way]);
        assert!(call.stderr.is_empty(), "{}", call.stderr);
        if more.contains(&"-n") {
            assert_eq!(call.stdout.matches("3.15 MB").count(), 2, "{}", call.stdout);
        }
        // A server with another window listens anew.
        thread::sleep(Duration::from_millis(300));
    }
    let call = server.stop().ends_with(0);
    assert_eq!(call.stdout.matches("CPU: this end").count(), 2, "{}", call.stdout);
}

#[test]
fn iperf3_is_a_client_in_both_directions() {
    if !has_iperf3() {
        return;
    }
    let desk = Desk::new();
    let server = Server::new(&desk, &[]);
    let cases: [&[&str]; 6] = [
        &["-t", "1"],
        &["-t", "1", "-R", "-O", "1"],
        &["-n", "3M"],
        &["-t", "1", "-P", "2", "--bidir", "-b", "10M"],
        &["-t", "1", "-w", "64K", "-l", "16K"],
        &["-t", "1", "-M", "1000", "-N", "-S", "8"],
    ];
    for case in cases {
        let all = [&["-c", "127.0.0.1", "-J", "-p", &server.port], case].concat();
        let call = iperf3(&all).ends_with(0);
        let document = call.json();
        let end = &document["end"];
        let rate = end["sum_received"]["bits_per_second"].as_f64().expect("a rate");
        assert!(rate > 1e6, "{case:?}: {end}");
        assert_eq!(document.get("error"), None, "{case:?}");
        if case.contains(&"-n") {
            let bytes = ["sum_sent", "sum_received"].map(|sum| end[sum]["bytes"].as_u64());
            assert_eq!(bytes, [Some(3 << 20); 2], "{end}");
        }
        if case.contains(&"-R") {
            assert!(end["sum_sent"]["retransmits"].is_u64(), "{end}");
        }
        thread::sleep(Duration::from_millis(300));
    }

    // Refusals are said, and the server goes on.
    let busy = Server::new(&desk, &["-1"]);
    let first = desk.start(&["measure", "127.0.0.1", "-p", &busy.port, "-t", "2", "-q"]);
    thread::sleep(Duration::from_millis(1000));
    let call = iperf3(&["-c", "127.0.0.1", "-p", &busy.port]);
    assert!(call.stderr.contains("the server is busy running a test"), "{}", call.stderr);
    Call::wait(first).ends_with(0);
    busy.wait().ends_with(0);
    let call = server.stop().ends_with(0);
    assert!(!call.stderr.contains("error"), "{}", call.stderr);
}

#[test]
fn iperf3_is_a_server_in_both_directions() {
    if !has_iperf3() {
        return;
    }
    let desk = Desk::new();
    for case in [&["-t", "1"][..], &["-t", "1", "-R", "-O", "1"], &["-n", "3M"]] {
        let (port, child) = iperf3_server();
        let call = desk.call(&[&["measure", "127.0.0.1", "-p", &port], case].concat());
        let call = call.ends_with(0).says(&["the other end"]);
        assert!(!call.stdout.contains("not known"), "{case:?}: {}", call.stdout);
        if case.contains(&"-n") {
            // Its server does not read on behind the end.
            call.says(&["3.15 MB"]);
        }
        let server = Call::wait(child).ends_with(0);
        assert!(server.stdout.contains("Mbits/sec") || server.stdout.contains("Gbits/sec"));
        assert!(!server.stderr.contains("error"), "{}", server.stderr);
    }
}

#[test]
fn a_server_outlives_its_clients() {
    let desk = Desk::new();
    let server = Server::new(&desk, &["-q"]);
    let to = ["measure", "127.0.0.1", "-q", "-p", &server.port];
    let mut killed = desk.start(&[&to[..], &["-t", "30"]].concat());
    thread::sleep(Duration::from_millis(1000));
    killed.kill().expect("killed");
    killed.wait().expect("ended");
    drop(TcpStream::connect(format!("127.0.0.1:{}", server.port)));
    thread::sleep(Duration::from_millis(500));
    desk.call(&[&to[..], &["-t", "1"]].concat()).ends_with(0);
    let call = server.stop().ends_with(0).complains(&["error: the client is lost"]);
    call.says(&["then it broke"]);
}

#[test]
fn a_signal_ends_either_end_and_both_say_what_there_is() {
    let desk = Desk::new();
    for stops_server in [false, true] {
        let server = Server::new(&desk, &["-1"]);
        let begun = Instant::now();
        let client = desk.start(&["measure", "127.0.0.1", "-p", &server.port, "-t", "30"]);
        thread::sleep(Duration::from_millis(1500));
        match stops_server {
            true => server.interrupt(),
            false => interrupt(&client),
        }
        let ends = [Call::wait(client), server.wait()];
        assert!(begun.elapsed() < Duration::from_secs(10));
        let [client, server] = ends.map(|call| call.says(&["then it was stopped"]));
        let (stopped, other) = if stops_server { (server, client) } else { (client, server) };
        stopped.ends_with(0);
        other.ends_with(3).complains(&["was stopped: the result is from what there is"]);
    }
}

#[test]
fn wrong_requests_say_what_to_do() {
    let desk = Desk::new();
    let call = desk.call(&["measure", "127.0.0.1", "-p", "1"]);
    call.ends_with(3).complains(&["127.0.0.1:1 refuses", "start `fullpipe measure --server`"]);
    desk.call(&["measure", "no.such.host.invalid"]).ends_with(2).complains(&["is not known"]);
    desk.call(&["measure", "a", "--server"]).ends_with(2);
    desk.call(&["measure"]).ends_with(2);
    desk.call(&["measure", "a", "-l", "2M"]).ends_with(2).complains(&["-l 2097152", "1 to"]);
    desk.call(&["measure", "a", "-t", "1.5"]).ends_with(2).complains(&["whole seconds"]);
    let taken = TcpListener::bind("[::]:0").or_else(|_| TcpListener::bind("0.0.0.0:0"));
    let taken = taken.expect("a listener").local_addr().expect("an address").port().to_string();
    let held = TcpListener::bind(format!("0.0.0.0:{taken}"));
    desk.call(&["measure", "-s", "-p", &taken]).ends_with(3).complains(&["is taken"]);
    drop(held);
}

#[test]
fn the_document_is_that_of_iperf3_with_a_verdict() {
    let desk = Desk::new();
    let server = Server::new(&desk, &["-1", "--json"]);
    let call = ["measure", "127.0.0.1", "-J", "-p", &server.port, "-t", "2", "--save", "kept"];
    let client = desk.call(&call).ends_with(0);
    let server = server.wait().ends_with(0);
    let [client_says, server_says] = [client.json(), server.json()];
    let start = &client_says["start"];
    assert_eq!(start["test_start"]["protocol"], "TCP");
    assert_eq!(start["connecting_to"]["host"], "127.0.0.1");
    assert!(server_says["start"].get("accepted_connection").is_some());
    assert_eq!(start["cookie"], server_says["start"]["cookie"]);

    // Intervals add up to the end, and both ends know the same.
    let intervals = client_says["intervals"].as_array().expect("intervals");
    let bytes = |own: &Value| own["bytes"].as_u64().expect("bytes");
    let sum: u64 = intervals.iter().map(|own| bytes(&own["sum"])).sum();
    assert_eq!(sum, bytes(&client_says["end"]["sum_sent"]));
    for sum in ["sum_sent", "sum_received"] {
        assert_eq!(bytes(&client_says["end"][sum]), bytes(&server_says["end"][sum]), "{sum}");
    }
    let stream = &intervals[0]["streams"][0];
    assert!(stream["snd_cwnd"].as_u64() > Some(1000) && stream["rtt"].is_u64(), "{stream}");
    assert!(client_says["end"]["cpu_utilization_percent"]["remote_total"].is_number());
    let own = &client_says["fullpipe"];
    if !own["no_verdict"].is_string() {
        assert!(own["headline"]["text"].is_string(), "{own}");
        assert_eq!(own["streams"][0]["socket"], 1);
        assert_eq!(own["streams"][0]["view"], "sender-sockets");
        assert!(client.stderr.contains("kept: kept"), "{}", client.stderr);
        desk.call(&["report", "kept", "--brief"]).ends_with(0);
        let view = &server_says["fullpipe"]["streams"][0]["view"];
        assert_eq!(view, "receiver-sockets");
    }

    // What reads pasted texts reads this one.
    desk.write("own.json", &client.stdout);
    let read = desk.call(&["diagnose", "own.json"]).ends_with(0);
    assert!(read.stdout.contains("Mb/s"), "{}", read.stdout);
}

#[test]
fn the_verdict_is_first_and_names_a_limit_of_the_program() {
    let desk = Desk::new();
    let server = Server::new(&desk, &["-1", "-q"]);
    let call = ["measure", "127.0.0.1", "-p", &server.port, "-t", "3", "-b", "20M"];
    let client = desk.call(&call).ends_with(0);
    server.wait().ends_with(0);
    if client.stdout.contains("No verdict") {
        return eprintln!("skipped: {}", client.stdout);
    }
    let text = client.stdout.replace('\n', " ");
    let [answer, measured] = ["sending program", "Measured: "].map(|it| text.find(it));
    assert!(answer.is_some() && answer < measured, "{}", client.stdout);
    let first = rate(&client);
    assert!((15.0..25.0).contains(&first), "{}", client.stdout);
}

/// Rate in the first line of an answer, Mb/s.
fn rate(call: &Call) -> f64 {
    let word = call.stdout.split_whitespace().next().expect("an answer").replace(',', "");
    word.parse().unwrap_or_else(|_| panic!("{}", call.stdout))
}

#[test]
fn parallel_streams_rates_and_algorithms_are_kept_with_iperf3_at_either_end() {
    let desk = Desk::new();
    let cases: [&[&str]; 3] = [
        &["-P", "3", "-b", "8M"],
        &["-P", "2", "--bidir", "-b", "8M"],
        &["-R", "-P", "2", "-b", "8M", "-C", "reno"],
    ];
    for case in cases {
        for other in [false, true] {
            if other && !has_iperf3() {
                continue;
            }
            let (port, own, child) = match other {
                false => {
                    let own = Server::new(&desk, &["-1", "-q"]);
                    (own.port.clone(), Some(own), None)
                }
                true => {
                    let (port, child) = iperf3_server();
                    (port, None, Some(child))
                }
            };
            let all = [&["measure", "127.0.0.1", "-q", "-J", "-t", "2", "-p", &port], case];
            let document = desk.call(&all.concat()).ends_with(0).json();
            own.into_iter().for_each(|own| _ = own.wait().ends_with(0));
            child.into_iter().for_each(|own| _ = Call::wait(own).ends_with(0));

            let end = &document["end"];
            let streams = if case.contains(&"3") { 3.0 } else { 2.0 };
            let sums: &[&str] = match case.contains(&"--bidir") {
                true => &["sum_sent", "sum_sent_bidir_reverse"],
                false => &["sum_sent"],
            };
            for sum in sums {
                let rate = end[sum]["bits_per_second"].as_f64().expect("a rate") / 1e6;
                let range = 8.0 * streams * 0.9..8.0 * streams * 1.1;
                assert!(range.contains(&rate), "{case:?}, iperf3 {other}, {sum}: {rate} Mb/s");
            }
            if case.contains(&"-C") {
                assert_eq!(end["sender_tcp_congestion"], "reno", "iperf3 {other}: {end}");
            }
        }
    }
    let call = desk.call(&["measure", "127.0.0.1", "-p", "1", "-C", "none-such"]);
    call.ends_with(2).complains(&["-C none-such", "it has"]);
}

#[test]
fn datagrams_have_loss_order_and_jitter_with_iperf3_at_either_end() {
    let desk = Desk::new();
    let (bits, iperf3_there) = (8e6, has_iperf3());
    let check = |document: &Value, who: &str| {
        let end = &document["end"];
        let streams = end["streams"].as_array().expect("streams");
        assert_eq!(streams.len(), 2, "{who}: {end}");
        let packets: u64 = streams.iter().filter_map(|own| own["udp"]["packets"].as_u64()).sum();
        assert_eq!(end["sum"]["packets"].as_u64(), Some(packets), "{who}: {end}");
        assert!(end["sum"]["lost_percent"].is_number(), "{who}: {end}");
        for own in streams {
            let own = &own["udp"];
            let rate = own["bits_per_second"].as_f64().expect("a rate");
            assert!((bits * 0.9..bits * 1.1).contains(&rate), "{who}: {own}");
            assert!(own["lost_percent"].as_f64() < Some(50.0), "{who}: {own}");
            assert!(
                own["packets"].as_u64() > Some(10) && own["jitter_ms"].is_f64(),
                "{who}: {own}"
            );
        }
    };
    for more in [&[][..], &["-R"]] {
        let options = [&["-u", "-b", "8M", "-P", "2", "-t", "2", "-J"][..], more].concat();
        let server = Server::new(&desk, &["-1", "-q"]);
        let call = [&["measure", "127.0.0.1", "-p", &server.port][..], &options].concat();
        check(&desk.call(&call).ends_with(0).json(), "alone");
        let text = server.wait().ends_with(0).stdout;
        assert!(text.contains("datagrams lost"), "{text}");
        assert!(text.contains("No verdict: streams of TCP alone have one."), "{text}");
        if !iperf3_there {
            continue;
        }
        let server = Server::new(&desk, &["-1", "-q"]);
        let call = [&["-c", "127.0.0.1", "-p", &server.port][..], &options].concat();
        check(&iperf3(&call).ends_with(0).json(), "iperf3 is the client");
        server.wait().ends_with(0);
        let (port, child) = iperf3_server();
        let call = [&["measure", "127.0.0.1", "-p", &port][..], &options].concat();
        check(&desk.call(&call).ends_with(0).json(), "iperf3 is the server");
        Call::wait(child).ends_with(0);
    }
    desk.call(&["measure", "a", "-u", "-l", "8"]).ends_with(2).complains(&["-l 8", "16 to"]);
    desk.call(&["measure", "a", "-u", "-w", "1M"]).ends_with(2);
}
