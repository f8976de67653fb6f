//! Visits of the CPU to the send queue when SACKs arrive, counted by hand: the walks of Linux 2.6.20, skb by skb, in
//! conversations of a few packets (see `tcp/sender/walks.rs`).
//!
//! An skb is written `[3,5)`: it holds the segments 3 and 4. A walk is written as the skbs that it visits. The last one
//! is where it stops, and where the next one starts if its hint is kept.

use crate::conversation::{SEGMENT, ack, host, profile};
use fullpipe_sim::cc::Congestion;
use fullpipe_sim::tcp::profile::{InitialCwnd, Profile};
use fullpipe_sim::tcp::sender::Sender;
use fullpipe_sim::tcp::{Output, Transmission};
use fullpipe_sim::units::Time;

/// Takes everything, and counts what the CPU looks at.
#[derive(Default)]
struct Wire {
    now: Time,
    walked: u32,
    again: Vec<u64>,
}

impl Output for Wire {
    fn transmit(&mut self, skb: Transmission) -> bool {
        if skb.retransmission {
            self.again.push(skb.seq / u64::from(SEGMENT));
        }
        true
    }
    fn now(&self) -> Time {
        self.now
    }
    fn walked(&mut self, skbs: u32) {
        self.walked += skbs;
    }
}

/// Profile of 2.6.20, with room for ten packets, which the counts by hand suppose.
fn ten(walks: bool) -> &'static Profile {
    profile(|p| (p.walks_queue, p.initial_cwnd) = (walks, InitialCwnd::Ten))
}

/// A connection that has sent `skbs` of `segments` segments each, at once, and has no more to send.
fn sent(profile: &'static Profile, skbs: u32, segments: u32) -> (Sender, Wire) {
    sent_by("reno", profile, skbs, segments)
}

fn sent_by(
    congestion: &str,
    profile: &'static Profile,
    skbs: u32,
    segments: u32,
) -> (Sender, Wire) {
    let mut host = host();
    host.tso = segments > 1;
    let cc = Congestion::new(congestion, &[], profile.name, host.hz, 1).expect("a control");
    let mut tcp = Sender::new(profile, &host, cc, SEGMENT, Some(1 << 22));
    let mut wire = Wire::default();
    tcp.established(Time::ms(100), 1 << 20, Some(Time::ZERO), None);
    wire.now = Time::ms(100);
    // The first ACK behind a SYN-ACK sets the window, so it is no duplicate.
    tcp.on_ack(&ack(0, &[]), &mut wire);
    for left in (0..skbs).rev() {
        tcp.copied(segments * SEGMENT, segments * SEGMENT, left > 0, &mut wire);
    }
    tcp.end_write(&mut wire);
    wire.now = Time::ms(200);
    (tcp, wire)
}

/// An ACK with SACK blocks, what is looked at for them, to mark and to send again, and what is sent again.
type Step = (u64, &'static [(u64, u64)], [u64; 3], &'static [u64]);

fn walked(tcp: &Sender) -> [u64; 3] {
    let walked = tcp.counters.walked;
    [walked.for_sacks, walked.to_mark, walked.to_resend]
}

fn follow(mut tcp: Sender, mut wire: Wire, steps: &[Step]) {
    for &(segments, sacks, looked, again) in steps {
        (wire.walked, wire.again) = (0, Vec::new());
        let before = walked(&tcp);
        tcp.on_ack(&ack(segments, sacks), &mut wire);
        let after = walked(&tcp);
        let found = ([0, 1, 2].map(|i| after[i] - before[i]), wire.again.as_slice());
        assert_eq!(found, (looked, again), "ACK {segments} with SACKs {sacks:?}");
        assert_eq!(u64::from(wire.walked), looked.iter().sum(), "what the CPU is charged");
    }
}

/// Ten skbs of one segment: hints are kept but for a new block and for what is freed.
#[test]
fn of_single_segments() {
    let steps: [Step; 6] = [
        // A new block: sack 0 1 2 3 4 5 6. Recovery begins; 6 - 3 packets are lost: mark 0 1 2 3.
        // In flight 10 - 1 - 3 = 6, cwnd 7: again 0, and 1, where cwnd is full.
        (0, &[(5, 6)], [7, 4, 2], &[0]),
        // The block has grown: sack 6 7. One more is lost: mark 3 4. Again 1 2.
        (0, &[(5, 7)], [2, 2, 2], &[1]),
        // A new block: sack 0 to 7 for the lower one, 7 8 9 for the upper. Mark 4 5 6. Again 2 3.
        (0, &[(8, 9), (5, 7)], [8 + 3, 3, 2], &[2]),
        // It has grown to the queue's end: sack 9. Mark 6 7. In flight 4 = cwnd: again 3.
        (0, &[(8, 10), (5, 7)], [1, 2, 1], &[]),
        // 0 arrives: sack as before, 9. It is freed: all hints go. Mark 1 to 7, where 10 - 3 end.
        // In flight 9 - 4 - 4 + 2 = 3, cwnd 4: again 1 2 3, and 4, where cwnd is full.
        (1, &[(8, 10), (5, 7)], [1, 7, 4], &[3]),
        // 1 arrives: sack 1 to 9, for there is no hint; it is the first block alone. Mark 2 to 7.
        // In flight 8 - 4 - 3 + 2 = 3, cwnd 3 (each second ACK takes one): again 2.
        (2, &[(8, 10), (5, 7)], [9, 6, 1], &[]),
    ];
    let (tcp, wire) = sent(ten(true), 10, 1);
    follow(tcp, wire, &steps);
    let (tcp, wire) = sent(ten(false), 10, 1);
    follow(tcp, wire, &steps.map(|(ack, sacks, _, again)| (ack, sacks, [0; 3], again)));
}

/// Three skbs of three segments: where SACKs or retransmissions end inside an skb it is split, which
/// clears the hints.
#[test]
fn of_split_skbs() {
    let steps: [Step; 2] = [
        // Sack [0,3) [3,5) [5,6) [6,9). Mark [0,3) [3,5). Again [0,3), which is split, and [1,3).
        (0, &[(5, 6)], [4, 2, 2], &[0]),
        // The block has grown, but there is no hint: sack [0,1) [1,3) [3,5) [5,6) [6,8) [8,9).
        // Mark [0,1) [1,3) [3,5) [5,6). Again [0,1) [1,3), which is split, and [2,3).
        (0, &[(5, 8)], [6, 4, 3], &[1]),
    ];
    let (tcp, wire) = sent(ten(true), 3, 3);
    follow(tcp, wire, &steps);
}

/// A timeout looks at the whole queue to mark it; the first packet is sent again without a walk.
#[test]
fn of_a_timeout() {
    let (mut tcp, mut wire) = sent(ten(true), 10, 1);
    wire.now = tcp.timer().expect("it runs");
    tcp.on_timer(&mut wire);
    assert_eq!((walked(&tcp), wire.again), ([0, 10, 0], vec![0]));
}

/// SACKs that arrive after the timeout. After the marks by FACK (0 1 2 3) all packets of that age are marked, 0 to 9.
#[test]
fn of_packets_out_for_too_long() {
    let (tcp, mut wire) = sent(ten(true), 10, 1);
    wire.now = tcp.timer().expect("it runs") + Time::ms(50);
    let sack: Step = (0, &[(5, 6)], [7, 4 + 10, 2], &[0]);
    follow(tcp, wire, &[sack]);
}

/// Retransmissions are lost if a SACK covers data sent after them.
#[test]
fn of_a_lost_retransmission() {
    let (mut tcp, mut wire) = sent_by("cubic", ten(true), 16, 1);
    // 0 to 4 are lost and sent again. 0 arrives, 10 is sent.
    for end in 6..=10 {
        tcp.on_ack(&ack(0, &[(5, end)]), &mut wire);
    }
    tcp.on_ack(&ack(1, &[(5, 10)]), &mut wire);
    assert_eq!((&wire.again[..], tcp.counters.segments_sent), (&[0, 1, 2, 3, 4][..], 16));
    // Sack 1 to 10, for 0 was freed; for the lost retransmissions 1 to 10 once more. Mark 7 8, because
    // 10 was sent after recovery began, and 8. In flight nothing is left: again 1, and 2, where cwnd is
    // full.
    let sack: Step = (1, &[(5, 11)], [10 + 10, 2 + 1, 2], &[1]);
    follow(tcp, wire, &[sack]);
}
