//! Path MTU discovery: senders with an MSS that changes while segments are out.

use crate::conversation::{flow, host, written};
use crate::plain_path;
use crate::record::Record;
use fullpipe_sim::cc::Congestion;
use fullpipe_sim::config::{Config, Distribution, Element, Flow, Host, Jitter, Loss, Mtu, Unit};
use fullpipe_sim::ranges::SeqRange;
use fullpipe_sim::tcp::profile::find;
use fullpipe_sim::tcp::skb::SendQueue;
use fullpipe_sim::trace::FlowSample;
use fullpipe_sim::units::{Rate, Time};

/// MTU of the hosts, and of the tunnel.
const WIDE: u32 = 1500;
const NARROW: u32 = 1400;
/// Segments in these.
const LARGE: u32 = WIDE - 40;
const SMALL: u32 = NARROW - 40;

/// Means by which the sender learns of the tunnel.
#[derive(Clone, Copy, Debug)]
enum Discovery {
    Nobody,
    ByIcmp,
    /// The tunnel's router clamps the MSS to so many bytes.
    ByClamp(u32),
    /// The sender's own probes: tcp_mtu_probing.
    Searches(u32),
}

/// A flow of so many bytes through a tunnel, 10 ms there and 10 ms back.
fn config(bytes: u64, discovery: Discovery, kernel: &str) -> Config {
    let mut host = Host { kernel: kernel.into(), nic_rate: Rate::gbit(1), ..host() };
    if let Discovery::Searches(level) = discovery {
        host.sysctl.tcp_mtu_probing = Some(level);
    }
    let flow = Flow { bytes: Some(bytes), ..flow("bulk", 65_536) };
    let plain = plain_path::config(Time::ms(10), [host.clone(), host], flow);
    let mut config = Config { mtu: WIDE, end: Time::secs(600), sample: Time::ms(10), ..plain };
    let icmp = matches!(discovery, Discovery::ByIcmp);
    let mss_clamp = if let Discovery::ByClamp(mss) = discovery { Some(mss) } else { None };
    config
        .forward
        .insert(0, Element::Mtu(Mtu { name: "tunnel".into(), mtu: NARROW, icmp, mss_clamp }));
    config
}

fn last(record: &Record) -> FlowSample {
    record.flows().last().expect("a sample").clone()
}

/// A message reaches the sender 10 ms after its first data. Each of its eight segments is sent again as two packets.
/// cwnd allows ten of these at once and the others a round later: it stays as large as it was.
#[test]
fn a_message_lowers_the_mss_and_leaves_cwnd() {
    let bytes = 8 * u64::from(LARGE);
    let short = config(bytes, Discovery::ByIcmp, "6.12");
    let config = Config { end: Time::ms(80), sample: Time::ms(1), ..short };
    let record = plain_path::run(&config);
    let at = |ms| record.flows().find(|own| own.time == Time::ms(ms)).expect("a sample").clone();

    // The SYN-ACK arrives after 20 ms, the message after 30 ms.
    assert_eq!((at(29).sender.snd_mss, at(31).sender.snd_mss), (LARGE, SMALL));
    assert_eq!((at(29).cwnd, at(31).cwnd), (10, 10));
    let delivered = [29, 42, 64].map(|ms| at(ms).bytes_delivered);
    assert_eq!(delivered, [0, 5 * u64::from(LARGE), bytes]);
    assert_eq!(last(&record).sender.pmtu, NARROW);
}

/// 3,000 bytes are two full segments, which the tunnel drops, and 80 bytes, which pass. The two are sent again in segments of
/// 1,360 bytes. The last 200 of them are a segment that has room for the 80 bytes (`tcp_retrans_try_collapse`, with page fragments
/// since 4.10).
#[test]
fn a_small_segment_that_is_sent_again_takes_the_next_one() {
    for (kernel, again) in [("3.14", 2920), ("6.1", 3000), ("6.12", 3000)] {
        let short = config(3000, Discovery::ByIcmp, kernel);
        let record = plain_path::run(&Config { end: Time::ms(200), ..short });
        let last = last(&record);
        assert_eq!((last.bytes_acked, last.bytes_retransmitted), (3000, again), "{kernel}");
    }
}

/// The message reaches the first flow after 30 ms. The second one connects then: its SYN-ACK arrives after 35 ms, and its data
/// has small segments from the beginning.
#[test]
fn a_flow_that_connects_learns_from_another_flows_message() {
    let first = config(8 * u64::from(LARGE), Discovery::ByIcmp, "6.12");
    let mut later = first.flows[0].clone();
    (later.name, later.start) = ("later".into(), Time::ms(15));
    let flows = vec![first.flows[0].clone(), later];
    let config = Config { flows, end: Time::ms(200), sample: Time::ms(1), ..first };
    let record = plain_path::run(&config);
    let later = |ms| record.flows().find(|own| own.time == Time::ms(ms) && own.flow == 1);

    let at = |ms| later(ms).expect("a sample").clone();
    assert_eq!(at(40).sender.snd_mss, SMALL);
    assert_eq!((at(190).segments_retransmitted, at(190).bytes_acked), (0, 8 * u64::from(LARGE)));
}

/// A message does not make TCP read the clock since 4.20: what it sends again has the time of the first flight. RACK
/// takes that time, so the SACK of a later segment of that flight shows retransmissions lost.
#[test]
fn what_a_message_sends_again_has_the_time_of_the_first_flight() {
    for (kernel, rests) in [("2.6.20", false), ("3.14", false), ("6.1", true), ("6.12", true)] {
        let host = Host { kernel: kernel.into(), timestamps: true, ..host() };
        let profile = find(kernel).expect("it is known");
        let reno = Congestion::new("reno", &[], kernel, host.hz, 1).expect("a control");
        let (mut tcp, mut wire) = written(profile, &host, reno, 20);
        let first = wire.sent.first().expect("data").tsval;

        wire.sent.clear();
        wire.now = Time::ms(500);
        tcp.on_fragmentation_needed(0, 700, &mut wire);
        let again: Vec<u32> = wire.sent.iter().map(|skb| skb.tsval).collect();
        let now = tcp.tsval(Time::ms(500));
        assert_ne!(first, now, "{kernel}");
        assert!(!again.is_empty() && wire.sent[0].retransmission, "{kernel}");
        let expected = if rests { first } else { now };
        assert!(again.iter().all(|tsval| *tsval == expected), "{again:?} of {expected}: {kernel}");
    }
}

/// No router answers, and no segment of full size ever arrives.
#[test]
fn a_black_hole_passes_nothing() {
    let config = Config { end: Time::secs(20), ..config(100_000, Discovery::Nobody, "6.12") };
    assert_eq!(last(&plain_path::run(&config)).bytes_delivered, 0);
}

/// Bytes of a flow that arrived, and the segments of its sender.
fn delivered(config: &Config) -> (u64, u32) {
    let own = last(&plain_path::run(config));
    (own.bytes_delivered, own.sender.snd_mss)
}

/// The first segment already fits, on whichever way the router's element stands, and nothing is sent twice.
#[test]
fn a_clamp_lets_a_tunnel_be_passed() {
    let bytes = 2_000_000;
    let there = Config { end: Time::secs(20), ..config(bytes, Discovery::ByClamp(SMALL), "6.12") };
    let mut back = there.clone();
    let router = Mtu { name: "router".into(), mtu: WIDE, icmp: false, mss_clamp: Some(SMALL) };
    back.back.push(Element::Mtu(router));
    if let Element::Mtu(tunnel) = &mut back.forward[0] {
        tunnel.mss_clamp = None;
    }

    for config in [there, back] {
        let own = last(&plain_path::run(&config));
        assert_eq!((own.bytes_delivered, own.sender.snd_mss), (bytes, SMALL));
        assert_eq!(own.segments_retransmitted, 0);
        // The route's MTU is unchanged: no message arrived.
        assert_eq!(own.sender.pmtu, WIDE);
    }
}

/// A router lowers the option and never raises it; a byte too many is too much.
#[test]
fn a_clamp_that_is_too_large_changes_nothing() {
    for (clamp, mss) in [(SMALL + 1, SMALL + 1), (LARGE, LARGE), (9000, LARGE)] {
        let config =
            Config { end: Time::secs(5), ..config(50_000, Discovery::ByClamp(clamp), "6.12") };
        assert_eq!(delivered(&config), (0, mss), "a clamp of {clamp}");
    }
}

/// Probes are no larger than what the peer said that it takes.
#[test]
fn a_clamp_ends_the_search() {
    let clamp = SMALL - 200;
    let mut config = config(20_000_000, Discovery::ByClamp(clamp), "6.12");
    config.sender.sysctl.tcp_mtu_probing = Some(2);
    let (bytes, found) = delivered(&config);
    assert_eq!(bytes, 20_000_000);
    assert!(found <= clamp && found + 8 > clamp, "{found} for {clamp}");
}

/// A message that comes during the search ends it there: no probe is larger.
#[test]
fn a_message_ends_the_search() {
    let mut config = config(20_000_000, Discovery::ByIcmp, "6.12");
    config.sender.sysctl.tcp_mtu_probing = Some(2);
    let own = last(&plain_path::run(&config));
    assert_eq!(own.bytes_delivered, 20_000_000);
    let found = own.sender.snd_mss;
    assert!(found <= SMALL && found + 8 > SMALL, "{found} for {SMALL}");
    // The first probe that is too large reveals the route's MTU. It is sent again as two segments, of which the first
    // one counts as lost again: both have the time of the probe's last skb.
    assert_eq!((own.sender.pmtu, own.segments_retransmitted), (NARROW, 3));
}

/// The search ends with a segment that the tunnel passes, and less than tcp_probe_threshold below it.
#[test]
fn a_search_ends_below_the_mtu_of_the_tunnel() {
    for (level, kernel) in [(1, "6.12"), (2, "6.12"), (1, "6.1"), (2, "6.1")] {
        let own = last(&plain_path::run(&config(20_000_000, Discovery::Searches(level), kernel)));
        assert_eq!(own.bytes_delivered, 20_000_000, "{level} on {kernel}");
        let found = own.sender.snd_mss;
        assert!(found <= SMALL && found + 8 > SMALL, "{found} for {SMALL}: {level} on {kernel}");
    }
}

/// Losses and packets that overtake each other meet an MSS that changes: everything arrives, and counts never part.
#[test]
fn everything_arrives_whatever_is_lost_meanwhile() {
    for seed in 0..48 {
        let kernel = if seed % 2 == 0 { "6.12" } else { "6.1" };
        let discovery = [Discovery::ByIcmp, Discovery::Searches(1), Discovery::Searches(2)]
            [seed as usize / 2 % 3];
        let mut config = Config { seed, ..config(400_000, discovery, kernel) };
        let probability = 0.004 * (seed % 8) as f64;
        let lost = Loss { name: "noise".into(), probability, unit: Unit::Segment };
        config.forward.push(Element::Loss(lost));
        let late = Jitter {
            name: "late".into(),
            delay: Time::ms(3),
            jitter: Time::us(300 * (seed % 5)),
            correlation: 0.0,
            distribution: Distribution::Uniform,
            keep_order: false,
        };
        config.forward.push(Element::Jitter(late));
        let sack = seed % 7 != 0;
        config.sender.sysctl.tcp_sack = sack;
        config.sender.tso = seed % 3 != 0;
        // Ends of short writes pass the tunnel, so data cut anew overlaps data that arrived.
        config.flows[0].write = [65_536, 7_000, 2_900, 1_000][seed as usize % 4];
        let own = last(&plain_path::run(&config));
        assert_eq!(own.bytes_delivered, 400_000, "seed {seed}, {discovery:?} on {kernel}: {own:?}");
        assert_eq!((own.sender.unacked, own.sender.lost, own.in_flight), (0, 0, 0), "seed {seed}");
    }
}

/// Segments keep their bounds when the MSS changes; an skb that is cut anew has segments of the new size.
#[test]
fn segments_are_cut_anew_skb_by_skb() {
    let mut queue = SendQueue::new(0);
    for at in [0, 3000] {
        queue.write(3000, false, true);
        queue.send(at, Time::ms(at), 1000);
    }
    assert_eq!(queue.segments(0, 6000, 1000), 6);
    queue.change_mss(1000, 800, SeqRange::new(0, 6000));
    assert_eq!(queue.segments(0, 6000, 800), 6);
    assert_eq!(queue.segment_end(2000, 800, 6000), 3000);

    // 800 + 800 + 800 + 600, and three of 1000.
    queue.resegment(SeqRange::new(0, 3000), 800, 800);
    let ends: Vec<u64> = std::iter::successors(Some(0), |at| {
        (*at < 6000).then(|| queue.segment_end(*at, 800, 6000))
    })
    .collect();
    assert_eq!(ends, [0, 800, 1600, 2400, 3000, 4000, 5000, 6000]);
    assert_eq!(queue.segments(0, 6000, 800), 7);
    assert_eq!(queue.segments(1600, 4000, 800), 3);
    assert_eq!(queue.segment_start(6000, 5, 800), 1600);

    // Data sent from now on has the new size.
    queue.write(1600, false, true);
    queue.send(6000, Time::ms(9), 800);
    assert_eq!(queue.segments(2400, 7600, 800), 6);
    queue.acknowledge(6000, 800);
    assert_eq!(queue.segments(6000, 7600, 800), 2);
}

/// Memory that a probe's head adds is free with the ACK of its last byte.
#[test]
fn memory_of_a_probe_is_free_with_its_ack() {
    let mut queue = SendQueue::new(768);
    queue.write(1236, false, true);
    queue.send_in_segments(0, Time::ZERO, 1024, 1236);
    // An allocation of 2048 bytes and sk_buff, as Linux 6.1 counts them.
    queue.add_memory(1236, 2048 + 256 - 1236 - 768);
    assert_eq!(queue.wmem_queued, 2304);
    queue.acknowledge(1000, 1024);
    assert_eq!(queue.wmem_queued, 1304);
    queue.acknowledge(1236, 1024);
    assert_eq!(queue.wmem_queued, 0);
}
