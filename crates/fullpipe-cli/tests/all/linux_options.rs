//! Effects of socket options on a real kernel, seen in a run's tables; without one these tests are skipped, unless
//! FULLPIPE_REQUIRE_KERNEL is set.

use crate::common::Desk;
use crate::common::linux::{arguments, desk, number, run, scenario, trace};
use fullpipe::base::trace::{EventKind, FlowSample};
use fullpipe::trace::recording::Recording;
use serde_json::Value;

/// Both hosts have fq, which keeps the times that packets have.
const FQ: [&str; 4] = [
    "--set",
    "hosts.sender.qdisc={ kind = \"fq\", flow_limit = \"10000 packets\" }",
    "--set",
    "hosts.receiver.qdisc={ kind = \"fq\", flow_limit = \"10000 packets\" }",
];

/// A flow for two seconds over 100 Mb/s and 20 ms, with a window of 1 MB.
fn plain() -> Option<Desk> {
    desk(&scenario("100Mbit", 1500, "1MB", 2.0))
}

/// A run with these options of the sender's and the receiver's socket.
fn with(desk: &Desk, [sender, receiver]: [&str; 2], more: &[&str]) -> (Value, Recording) {
    let sets = [
        format!("flow.bulk.sockopt={{ {sender} }}"),
        format!("flow.bulk.receiver_sockopt={{ {receiver} }}"),
    ];
    let out = format!("out{}", desk.names(".").len());
    let own = ["--set", &sets[0], "--set", &sets[1], "--set", "report.sample=1ms"];
    let document = run(desk, &out, &[&own[..], more].concat());
    (document["runs"][0]["flows"][0].clone(), trace(desk, &out))
}

/// Settings of writes of `bytes` each, at a rate.
fn writes(bytes: u32, rate: &str) -> [String; 4] {
    let app = format!("flow.bulk.app={{ kind = \"rate\", rate = \"{rate}\" }}");
    ["--set".into(), app, "--set".into(), format!("flow.bulk.write={bytes}B")]
}

fn last_srtt_ms(flow: &Value) -> f64 {
    let intervals = flow["intervals"].as_array().expect("intervals");
    number(intervals.last().expect("one"), "srtt_us") / 1e3
}

fn last(trace: &Recording) -> &FlowSample {
    trace.flows.last().expect("samples")
}

/// Writes that are no whole segments: Nagle's rule gathers them while something is in flight, TCP_NODELAY sends each at
/// once, TCP_CORK sends full segments alone.
#[test]
fn small_writes_are_gathered_or_not() {
    let Some(desk) = plain() else { return };
    let small = writes(500, "4Mbit");
    let small: Vec<&str> = small.iter().map(String::as_str).collect();
    let segments = |option: &str| {
        let (_, trace) = with(&desk, [option, ""], &small);
        let last = last(&trace);
        (last.segments_sent, last.bytes_acked)
    };
    let ((nagle, _), (each, of_each), (full, of_full)) =
        (segments(""), segments("TCP_NODELAY = 1"), segments("TCP_CORK = 1"));
    // A few segments are still in flight at the end.
    assert!((each.abs_diff(of_each / 500)) <= 25, "{each} segments of {of_each} bytes");
    assert!(full.abs_diff(of_full / 1448) <= 15, "{full} segments of {of_full} bytes");
    assert!(full < nagle && nagle < each / 2, "{full} {nagle} {each}");
}

#[test]
fn without_quick_acks_the_first_ones_are_delayed() {
    let Some(desk) = plain() else { return };
    let lone = writes(1448, "144800bit");
    let lone: Vec<&str> = lone.iter().map(String::as_str).collect();
    let longest = |option: &str| {
        let (_, trace) = with(&desk, ["", option], &lone);
        trace.flows.iter().map(|sample| sample.srtt_us).max().expect("samples")
    };
    let (quick, delayed) = (longest("TCP_QUICKACK = 1"), longest("TCP_QUICKACK = 0"));
    // A delayed ACK of 40 ms counts an eighth.
    assert!(quick < 20_500 && delayed > 22_500, "{quick} {delayed} us");
}

#[test]
fn no_more_waits_unsent_than_was_allowed() {
    let Some(desk) = plain() else { return };
    let most = |option: &str| {
        let (_, trace) = with(&desk, [option, ""], &["--set", "flow.bulk.write=10kB"]);
        assert!(last(&trace).bytes_delivered > 20_000_000);
        trace.flows.iter().map(|sample| sample.unsent).max().expect("samples")
    };
    // The last write fills one more skb.
    for bytes in [20_000, 200_000] {
        let unsent = most(&format!("TCP_NOTSENT_LOWAT = {bytes}"));
        assert!((bytes..bytes + 65_536).contains(&unsent), "{unsent} of {bytes}");
    }
    assert!(most("") > 1_000_000);
}

/// A reader that is woken only when its buffer is half full leaves the sender a smaller window.
#[test]
fn a_reader_that_waits_for_much_slows_the_sender() {
    let Some(desk) = plain() else { return };
    let bytes = |option: &str| {
        let (_, trace) = with(&desk, ["", option], &["--set", "flow.bulk.socket_buffer=100kB"]);
        last(&trace).bytes_delivered as f64
    };
    let (usual, waits) = (bytes(""), bytes("SO_RCVLOWAT = 300000"));
    assert!(waits < 0.8 * usual && waits > 0.4 * usual, "{waits} {usual}");
}

#[test]
fn a_clamp_bounds_what_is_in_flight() {
    let Some(desk) = plain() else { return };
    let more = ["--set", "hosts.receiver.sysctl.net.ipv4.tcp_app_win=31"];
    let most = |option: &str| {
        let (_, trace) = with(&desk, ["", option], &more);
        let most = |of: fn(&FlowSample) -> u64| trace.flows.iter().map(of).max().expect("samples");
        (most(|sample| sample.snd_wnd), most(|sample| u64::from(sample.in_flight)))
    };
    // Linux 6.12 forgets the clamp with the first full segment (tcp_measure_rcv_mss); the scale of the window, which was
    // chosen by it, bounds it on.
    let (window, in_flight) = most("TCP_WINDOW_CLAMP = 100000");
    assert!(
        (100_000..=131_070).contains(&window) && in_flight * 1448 <= window + 1448,
        "{window} {in_flight}"
    );
    let (window, in_flight) = most("");
    assert!(window > 500_000 && in_flight > 172, "{window} {in_flight}");
}

/// fq holds packets until they are due.
#[test]
fn delays_and_paces_of_sockets_are_kept_by_fq() {
    let Some(desk) = plain() else { return };
    let lone = writes(1448, "144800bit");
    let lone: Vec<&str> = lone.iter().map(String::as_str).collect();
    for (options, expected) in [
        (["", ""], 20.0),
        (["TCP_TX_DELAY = 30000", ""], 50.0),
        (["", "TCP_TX_DELAY = 10000"], 30.0),
    ] {
        let (flow, _) = with(&desk, options, &[&FQ[..], &lone].concat());
        let srtt = last_srtt_ms(&flow);
        // And 0.12 ms on the wire.
        assert!((srtt - expected - 0.12).abs() < 0.05, "{options:?}: {srtt} ms");
    }
    let (flow, _) = with(&desk, ["SO_MAX_PACING_RATE = 2500000", ""], &FQ);
    // 20 Mb/s of packets with their headers of Ethernet, 14 of 1514 bytes, fq does not count.
    let (rate, expected) = (number(&flow["intervals"][1], "throughput_mbit"), 20.0);
    assert!((rate / expected - 1.0).abs() < 0.05, "{rate} Mb/s");
}

/// Two flows at a card that is the limit. The first one has another priority: bands of fq have 9, 3 and 1 parts.
#[test]
fn priorities_share_the_card_as_the_bands_of_fq_do() {
    let Some(desk) = plain() else { return };
    let other = "[[flow]]\nname = \"other\"\ncongestion = \"reno\"\nsocket_buffer = \"1MB\"\nduration = \"2s\"\n";
    desk.write("my.toml", &(desk.read("my.toml") + other));
    let card = ["--set", "hosts.sender.nic_rate=50Mbit", "--without", "hosts.*"];
    for (option, expected) in [
        ("SO_PRIORITY = 0", 1.0),
        ("SO_PRIORITY = 6", 3.0),
        ("SO_PRIORITY = 2", 1.0 / 3.0),
        // Low delay, and throughput.
        ("IP_TOS = 16", 3.0),
        ("IP_TOS = 8", 1.0 / 3.0),
    ] {
        let (_, trace) = with(&desk, [option, ""], &[&FQ[..], &card].concat());
        // In the second half, when both have long filled their windows.
        let bytes = |flow: u16, at: u64| {
            let mut of = trace.flows.iter().filter(|s| s.flow == flow && s.time.0 >= at);
            of.next().expect("a sample").bytes_delivered
        };
        let [first, second] =
            [0, 1].map(|flow| (bytes(flow, 1_900_000_000) - bytes(flow, 1_000_000_000)) as f64);
        let share = first / second;
        assert!((share / expected - 1.0).abs() < 0.25, "{option}: {share} for {expected}");
    }
}

/// A run with an option of the sender's.
fn sending(desk: &Desk, option: &str, more: &[&str]) -> Recording {
    let set = format!("flow.bulk.sockopt={{ {option} }}");
    let out = format!("out{}", desk.names(".").len());
    desk.call(&arguments(&[&["--set", &set, "-q", "--out", &out], more].concat())).ends_with(0);
    trace(desk, &out)
}

/// Whether the connection was given up.
fn aborted(trace: &Recording) -> bool {
    trace.events.iter().any(|event| event.kind == EventKind::Aborted)
}

#[test]
fn timeouts_of_a_thin_flow_are_as_asked() {
    let list = "[{ kind = \"drop\", name = \"list\", flow = \"bulk\", \
                segments = [20, 21, 22, 23, 24, 25, 26, 27] },";
    let text = scenario("100Mbit", 1500, "1MB", 20.0);
    let Some(desk) = desk(&text.replace("forward = [", &format!("forward = {list}"))) else {
        return;
    };
    let lone = writes(1448, "144800bit");
    let lone: Vec<&str> = lone.iter().map(String::as_str).collect();
    // Time of the last retransmission of a lost segment, s.
    let mended = |option: &str| {
        let trace = sending(&desk, option, &lone);
        let pairs = trace.flows.windows(2);
        let mut resent =
            pairs.filter(|w| w[0].segments_retransmitted < w[1].segments_retransmitted);
        resent.next_back().expect("retransmissions")[1].time.0 as f64 / 1e9
    };
    // Each timeout is twice the last one, of 0.23 s, or as long.
    let (doubled, linear) = (mended(""), mended("TCP_THIN_LINEAR_TIMEOUTS = 1"));
    assert!(doubled > 7.0 && linear < 4.0, "{doubled} {linear}");
    // More than this passes without an ACK.
    let delivered = |trace: &Recording| last(trace).bytes_delivered;
    let ended = sending(&desk, "TCP_USER_TIMEOUT = 1000", &lone);
    assert!(aborted(&ended) && delivered(&ended) < 100_000);
    let lasts = sending(&desk, "TCP_USER_TIMEOUT = 60000", &lone);
    assert!(!aborted(&lasts) && delivered(&lasts) > 100_000);
}

/// A path that loses everything.
#[test]
fn a_connection_is_asked_for_as_often_as_was_said() {
    let noise = "[{ kind = \"loss\", name = \"noise\", probability = 1 },";
    let text = scenario("100Mbit", 1500, "1MB", 20.0);
    let Some(desk) = desk(&text) else { return };
    desk.write("my.toml", &text.replace("forward = [", &format!("forward = {noise}")));
    let asked = |option: &str| {
        let trace = sending(&desk, option, &[]);
        let mut rows = trace.counters.iter().filter(|row| &*row.name == "TcpExt.TCPSynRetrans");
        (aborted(&trace), rows.next_back().map_or(0, |row| row.value))
    };
    // It is given up after the time that two repeats would take, each after twice the time: 1, 2 and 4 s. From 6.5 on
    // the first ones come each second (tcp_syn_linear_timeouts): five by then.
    assert_eq!(asked("TCP_SYNCNT = 2"), (true, 5));
    let (given_up, count) = asked("TCP_SYNCNT = 9");
    assert!(!given_up && count > 2, "{count}");
}
