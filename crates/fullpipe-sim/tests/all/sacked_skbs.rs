//! Effect of SACK blocks on the skbs of the send queue, seen by its memory. Heads by hand from Linux 6.12
//! `tcp_sacktag_walk`, `tcp_shift_skb_data` and `tcp_match_skb_to_sack`.

use crate::conversation::{SEGMENT, Wire, ack, host};
use fullpipe_sim::cc::Congestion;
use fullpipe_sim::config::Host;
use fullpipe_sim::tcp::CaState;
use fullpipe_sim::tcp::profile::find;
use fullpipe_sim::tcp::sender::Sender;
use fullpipe_sim::tcp::{Ack, Transmission};
use fullpipe_sim::units::Time;

/// Ten segments on their way, in skbs of five, half of cwnd (two of 3.14).
fn sent(kernel: &str) -> (Sender, Wire) {
    let profile = find(kernel).expect("it is known");
    let cc = Congestion::new("reno", &[], kernel, 1000, 1).expect("a control");
    let mut host = host();
    (host.kernel, host.tso) = (kernel.into(), true);
    host.sysctl.tcp_early_retrans = 3;
    let mut tcp = Sender::new(profile, &host, cc, SEGMENT, Some(1 << 22));
    let mut wire = Wire { now: Time::ms(100), ..Wire::default() };
    tcp.established(Time::ms(100), 1 << 20, Some(Time::ms(99)), None);
    tcp.copied(10 * SEGMENT, 10 * SEGMENT, false, &mut wire);
    tcp.end_write(&mut wire);
    assert_eq!(tcp.in_flight(), 10);
    (tcp, wire)
}

/// Heads that the queue has more than at first, after each ACK of nothing new with this SACK block.
fn heads<const N: usize>(kernel: &str, blocks: [(u64, u64); N]) -> [i64; N] {
    let (mut tcp, mut wire) = sent(kernel);
    let before = tcp.wmem_queued() as i64;
    let overhead = find(kernel).expect("it is known").skb_overhead as i64;
    blocks.map(|block| {
        wire.now += Time::us(10);
        tcp.on_ack(&ack(0, &[block]), &mut wire);
        let more = tcp.wmem_queued() as i64 - before;
        assert_eq!(more % overhead, 0, "heads alone");
        more / overhead
    })
}

/// A block that ends inside an skb cuts it, at both ends if it begins there, too. As it grows, what it covers goes into
/// what is SACKed before it.
#[test]
fn a_block_that_grows_takes_what_it_covers() {
    assert_eq!(heads("6.12", [(5, 6), (5, 7)]), [1, 1]);
    assert_eq!(heads("6.12", [(5, 10)]), [0]);
    assert_eq!(heads("6.12", [(8, 10)]), [1]);
    assert_eq!(heads("6.12", [(8, 9), (8, 10)]), [2, 1]);
    assert_eq!(heads("6.12", [(2, 3), (2, 4)]), [2, 2]);
}

/// The walk ends where a block begins before one of the last ACK's: the two are not joined. What the block covers
/// behind it goes into it (6.12 `tcp_sacktag_write_queue`).
#[test]
fn a_walk_ends_where_a_known_block_begins() {
    assert_eq!(heads("6.12", [(6, 7), (5, 7)]), [2, 2]);
    assert_eq!(heads("6.12", [(6, 7), (6, 8)]), [2, 2]);
}

/// Older profiles leave skbs as they were sent.
#[test]
fn older_kernels_leave_skbs_as_they_are() {
    assert_eq!(heads("3.14", [(5, 6), (5, 7)]), [0, 0]);
}

/// New blocks are processed in the order of their numbers (6.12 `tcp_sacktag_write_queue`), whichever is first in the
/// ACK. The RTT that measures losses is that of the last transmission.
#[test]
fn blocks_are_processed_in_the_order_of_their_numbers() {
    for blocks in [[(8, 9), (2, 3)], [(2, 3), (8, 9)]] {
        let (mut tcp, mut wire) = sent("6.12");
        wire.now = Time::ms(110);
        tcp.on_ack(&ack(5, &[]), &mut wire);
        tcp.copied(5 * SEGMENT, 10 * SEGMENT, false, &mut wire);
        tcp.end_write(&mut wire);
        wire.now = Time::ms(300);
        let blocks = blocks.map(|(from, to)| (from + 4, to + 4));
        tcp.on_ack(&ack(5, &blocks), &mut wire);
        // Packets sent 10 ms before the newest block are lost, without waiting.
        assert_eq!(tcp.ca_state(), CaState::Recovery, "{blocks:?}");
    }
}

/// A tail loss probe of new data exceeds a full cwnd by one segment: 6.12 fills it up from the next skb
/// (`tcp_write_xmit`, `tcp_grow_skb`).
#[test]
fn a_tail_loss_probe_is_filled_up() {
    let probe = |kernel| {
        let (mut tcp, mut wire) = sent(kernel);
        // Two skbs: the first has its full size.
        for len in [SEGMENT / 2, SEGMENT] {
            tcp.copied(len, SEGMENT / 2, false, &mut wire);
            tcp.end_write(&mut wire);
        }
        assert_eq!(tcp.unsent(), u64::from(SEGMENT + SEGMENT / 2), "cwnd is full");
        wire.sent.clear();
        wire.now = tcp.timer().expect("a probe's timer");
        tcp.on_timer(&mut wire);
        wire.sent.iter().map(|skb| skb.len).collect::<Vec<_>>()
    };
    assert_eq!(probe("6.12"), [SEGMENT]);
}

/// A retransmission ends with PSH where the written skb did (6.12 `tcp_fragment`, `tcp_retransmit_skb`): a whole skb
/// does, its first segment alone does not. Receivers use it for the time of their ACKs.
#[test]
fn what_is_sent_again_bears_psh_where_the_skb_did() {
    let again = |block| {
        let cc = Congestion::new("reno", &[], "6.12", 1000, 1).expect("a control");
        let host = Host { kernel: "6.12".into(), tso: true, ..host() };
        let profile = find("6.12").expect("it is known");
        let mut tcp = Sender::new(profile, &host, cc, SEGMENT, Some(1 << 22));
        let mut wire = Wire { now: Time::ms(100), ..Wire::default() };
        tcp.established(Time::ms(100), 1 << 20, Some(Time::ms(99)), None);
        for segments in [2, 1, 3] {
            tcp.copied(segments * SEGMENT, 5 * SEGMENT, false, &mut wire);
            tcp.end_write(&mut wire);
        }
        wire.sent.clear();
        wire.now = Time::ms(110);
        tcp.on_ack(&ack(0, &[block]), &mut wire);
        let again = wire.sent.iter().filter(|skb| skb.retransmission);
        let described =
            |skb: &Transmission| (skb.seq / u64::from(SEGMENT), skb.len / SEGMENT, skb.push);
        again.map(described).collect::<Vec<_>>()
    };
    assert_eq!(again((3, 6)), [(0, 2, true), (2, 1, true)]);
    assert_eq!(again((1, 6)), [(0, 1, false)]);
}

/// Four skbs in flight, of two, three, three and two segments, which fill the window, and `unsent` more in the queue.
fn short_of_memory(unsent: u32) -> (Sender, Wire) {
    let cc = Congestion::new("reno", &[], "6.12", 1000, 1).expect("a control");
    let host = Host { kernel: "6.12".into(), tso: true, ..host() };
    let mut tcp = Sender::new(find("6.12").expect("it is known"), &host, cc, SEGMENT, Some(1024));
    let mut wire = Wire { now: Time::ms(100), ..Wire::default() };
    tcp.established(Time::ms(100), WINDOW, Some(Time::ms(99)), None);
    for segments in [2, 3, 3, 2, unsent] {
        tcp.copied(segments * SEGMENT, segments * SEGMENT, false, &mut wire);
        tcp.end_write(&mut wire);
    }
    assert_eq!(tcp.in_flight(), 10);
    (tcp, wire)
}

/// Ten segments.
const WINDOW: u64 = 10 * SEGMENT as u64;

/// Segments in flight and the state after each ACK of nothing new with this SACK block.
fn after_blocks(unsent: u32, blocks: &[(u64, u64)]) -> Vec<(u32, CaState)> {
    let (mut tcp, mut wire) = short_of_memory(unsent);
    let mut sack = |block| {
        wire.now += Time::us(10);
        tcp.on_ack(&Ack { window: WINDOW, ..ack(0, &[block]) }, &mut wire);
        (tcp.in_flight(), tcp.ca_state())
    };
    blocks.iter().map(|&block| sack(block)).collect()
}

/// Once the queue takes more than twice the memory of the send buffer and of two large skbs, only its first and last
/// skb are cut. A block that covers another skb in part is ignored. A block that covers all of it is taken (6.12
/// `tcp_fragment`, `tcp_match_skb_to_sack`).
#[test]
fn an_skb_that_may_not_be_cut_is_not_sacked_in_part() {
    let largest = (65_536 + 256 + 320) / SEGMENT;
    let (some, many) = (largest, 5 * largest);
    let (open, disorder) = (CaState::Open, CaState::Disorder);
    // The last one is cut.
    assert_eq!(after_blocks(many, &[(9, 10)]), [(9, disorder)]);
    assert_eq!(after_blocks(some, &[(2, 4)]), [(8, disorder)]);
    assert_eq!(after_blocks(many, &[(2, 4)]), [(10, open)]);
    assert_eq!(after_blocks(many, &[(3, 5)]), [(10, open)]);
    // Of the second and third skb only the second is taken.
    assert_eq!(after_blocks(many, &[(2, 7)])[0].1, CaState::Recovery);
    assert_eq!(after_blocks(many, &[(2, 4), (2, 5)])[1].1, CaState::Recovery);
}
