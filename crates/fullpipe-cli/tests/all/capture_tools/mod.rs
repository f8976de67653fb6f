//! Captures, read by other tools: tshark and tcptrace get the simulator's counts.
//!
//! Without these tools the tests say that they are skipped, unless FULLPIPE_REQUIRE_CAPTURE_TOOLS=1.
//!
//! tshark sorts a repeated segment into one of several classes. A class depends on earlier packets: retransmission, or
//! out of order soon after a duplicate ACK and in front of the place where the original was lost. So the tests add the
//! classes up: all other segments are new to tshark. tcptrace calls a retransmission "out of order" where it has not
//! seen the original, so the tests add up both.

mod tools;
mod truth;

use crate::common::Desk;
use tools::{Tcptrace, Tshark};
use truth::{LostAgain, Truth};

const POINTS: [&str; 4] = ["sender-qdisc", "sender-wire", "link", "receiver"];

/// A path on which packets get lost, for flows that end.
fn scenario(path: &str, mtu: u32, timestamps: bool, flows: &[&str]) -> String {
    let host = format!("kernel = \"2.6.20\"\ntimestamps = {timestamps}\n");
    let mut text = format!(
        "title = \"Captured\"\nseed = 3\nduration = \"60s\"\n[report]\nsample = \"1s\"\n\
         [path]\nmtu = {mtu}\n{path}\n[hosts.sender]\n{host}[hosts.receiver]\n{host}"
    );
    for flow in flows {
        text += &format!("[[flow]]\ncongestion = \"reno\"\n{flow}\n");
    }
    text
}

const ONE: &[&str] = &["name = \"one\"\nbytes = \"9MB\""];
const TWO: &[&str] =
    &["name = \"one\"\nbytes = \"5MB\"", "name = \"two\"\nbytes = \"4MB\"\nstart = \"30ms\""];
const CLEAN: &str = "rate = \"200Mbit\"\ndelay = { forward = \"5ms\", back = \"5ms\" }";
const LOSSY: &str = "rate = \"200Mbit\"\ndelay = { forward = \"5ms\", back = \"5ms\" }\n\
    loss = { forward = \"0.2%\", back = \"0.2%\" }";
const SHALLOW: &str = "rate = \"100Mbit\"\ndelay = { forward = \"10ms\", back = \"10ms\" }\n\
    queue = { limit = \"30 packets\" }";

/// Captures at each point, with whole packets, and compares.
fn compare(text: &str) {
    if !tools::are_there() {
        return;
    }
    let desk = Desk::new();
    desk.write("s.toml", text);
    // Retransmissions of the sender and their fate: known at its cable.
    let mut lost_again = Vec::new();
    for at in ["sender-wire", "sender-qdisc", "link", "receiver"] {
        let file = format!("{at}.pcapng");
        let run =
            ["run", "s.toml", "--out", at, "--json", "--pcap", &file, "--at", at, "--snap", "0"];
        let document = desk.call(&run).ends_with(0).json();
        let truth = Truth::new(&document, at);
        let seen = Tshark::read(&desk.path(&file), true);
        if at == "sender-wire" {
            lost_again = seen.lost_again(&truth);
        }
        truth.holds_for_tshark(&seen, &lost_again);
        let traced = Tcptrace::read(&desk.path(&file));
        truth.holds_for_tcptrace(&traced, &lost_again);
    }
}

#[test]
fn one_flow_without_loss() {
    compare(&scenario(CLEAN, 1500, false, ONE));
    compare(&scenario(CLEAN, 9000, true, ONE));
}

#[test]
fn two_flows_with_random_loss() {
    compare(&scenario(LOSSY, 1500, true, TWO));
    compare(&scenario(LOSSY, 9000, false, TWO));
}

#[test]
fn a_queue_that_overflows() {
    compare(&scenario(SHALLOW, 1500, false, ONE));
    compare(&scenario(SHALLOW, 1500, true, TWO));
}

#[test]
#[ignore = "a study: make studies"]
fn study_sequence_numbers_that_wrap() {
    if !tools::are_there() {
        return;
    }
    let path = "rate = \"10Gbit\"\ndelay = { forward = \"1ms\", back = \"1ms\" }\n\
        loss = { forward = 1e-4, back = 0 }";
    let desk = Desk::new();
    desk.write("s.toml", &scenario(path, 9000, true, &["name = \"one\"\nbytes = \"4300MB\""]));
    let run = ["run", "s.toml", "--json", "--pcap", "a.pcapng", "--at", "sender-qdisc"];
    let document = desk.call(&run).ends_with(0).json();
    let truth = Truth::new(&document, "sender-qdisc");
    truth.holds_for_tshark(&Tshark::read(&desk.path("a.pcapng"), false), &[LostAgain::default()]);
    truth.holds_for_tcptrace(&Tcptrace::read(&desk.path("a.pcapng")), &[LostAgain::default()]);
}

#[test]
fn classic_pcap_has_the_same_packets() {
    if !tools::are_there() {
        return;
    }
    let desk = Desk::new();
    desk.write("s.toml", &scenario(LOSSY, 1500, true, TWO));
    for at in POINTS {
        let files = [format!("{at}.pcapng"), format!("{at}.pcap")];
        for file in &files {
            let run = ["run", "s.toml", "--out", &format!("{file}.d"), "--pcap", file, "--at", at];
            desk.call(&run).ends_with(0);
        }
        let [a, b] = files.map(|file| Tshark::read(&desk.path(&file), false));
        let headers = |seen: &Tshark| {
            seen.packets.iter().map(|p| (p.time.clone(), p.port, p.len)).collect::<Vec<_>>()
        };
        assert!(headers(&a) == headers(&b), "{at}");
    }
}
