//! Samples of the delivery rate: the data that arrived since the newest acknowledged packet was sent, and the time
//! since then.
//!
//! Linux keeps a snapshot on each skb. Here successive skbs share a snapshot while it stays equal, so there are about
//! as many as ACKs per round trip.
//!
//! Source: draft-cheng-iccrg-delivery-rate-estimation; Linux 6.12 `tcp_rate_skb_sent`, `tcp_rate_skb_delivered`, `tcp_rate_gen`,
//! `tcp_rate_check_app_limited`.

use crate::cc::RateSample;
use alloc::collections::{BTreeMap, VecDeque};

/// Snapshot of the connection when an skb is sent. Times are us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Snapshot {
    /// Packets delivered so far.
    delivered: u32,
    /// Time of the last delivery.
    delivered_us: u64,
    /// Transmission time of the first packet of the flight.
    first_tx_us: u64,
    /// Whether the application limits the flow.
    app_limited: bool,
}

/// Newest packet that an ACK acknowledges or SACKs.
#[derive(Clone, Copy, Debug)]
struct Newest {
    end_seq: u64,
    sent: Snapshot,
    /// Time between the first packet of its flight and this one, us.
    send_us: u64,
}

/// Effect of an ACK on the connection, for its sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckResult {
    /// Packets delivered since the connection began.
    pub(super) delivered: u32,
    /// Packets that this ACK delivered.
    pub(super) acked_sacked: u32,
    /// Packets that this ACK marked lost.
    pub(super) losses: u32,
    /// Packets in flight before the ACK.
    pub(super) prior_in_flight: u32,
    /// Arrival of the ACK, us.
    pub(super) now_us: u64,
    /// Least RTT, us.
    pub(super) min_rtt_us: u32,
    /// Whether the receiver has revoked SACKs.
    pub(super) is_reneging: bool,
}

/// Samples of one connection. Fields keep Linux's names.
#[derive(Clone, Debug, Default)]
pub struct Rate {
    /// Transmission time of the newest packet that has arrived, us.
    first_tx_us: u64,
    /// Time at which `delivered` last grew, us.
    pub(super) delivered_us: u64,
    /// Value of `delivered` beyond which the application no longer limits the flow; 0: it does not limit the flow.
    pub(super) app_limited: u32,
    /// Whether the receiver has revoked SACKs, and Loss has not ended.
    pub(super) is_reneging: bool,
    /// Snapshots of first transmissions, each from a sequence number on.
    sent: VecDeque<(u64, Snapshot)>,
    /// Snapshots of last retransmissions, by the start of the segment.
    resent: BTreeMap<u64, Snapshot>,
    newest: Option<Newest>,
    /// RTT of the ACK in hand, us.
    pub(super) rtt_us: Option<u32>,
    /// Whether the receiver may have delayed the ACK in hand.
    pub(super) is_ack_delayed: bool,
}

impl Rate {
    /// Begins an ACK.
    pub(super) fn begin(&mut self) {
        (self.newest, self.rtt_us, self.is_ack_delayed) = (None, None, false);
    }

    /// Snapshot for data that leaves at `when_us`; `first`: no packet is in flight before it.
    fn snapshot(&mut self, when_us: u64, delivered: u32, first: bool) -> Snapshot {
        if first {
            (self.first_tx_us, self.delivered_us) = (when_us, when_us);
        }
        Snapshot {
            delivered,
            delivered_us: self.delivered_us,
            first_tx_us: self.first_tx_us,
            app_limited: self.app_limited != 0,
        }
    }

    /// Notes the first transmission of data from `seq` on.
    pub(super) fn note_sent(&mut self, seq: u64, when_us: u64, delivered: u32, first: bool) {
        let snapshot = self.snapshot(when_us, delivered, first);
        if self.sent.back().is_none_or(|(_, last)| *last != snapshot) {
            self.sent.push_back((seq, snapshot));
        }
    }

    /// Notes a retransmission of the segment at `start`.
    pub(super) fn note_resent(&mut self, start: u64, when_us: u64, delivered: u32) {
        let snapshot = self.snapshot(when_us, delivered, false);
        self.resent.insert(start, snapshot);
    }

    /// Notes the arrival of a packet that ends at `end_seq` and was sent once, at `sent_us`.
    pub(super) fn deliver(&mut self, sent_us: u64, end_seq: u64) {
        let after = self.sent.partition_point(|(seq, _)| *seq < end_seq);
        let Some((_, sent)) = after.checked_sub(1).and_then(|at| self.sent.get(at)) else { return };
        self.take(sent_us, end_seq, *sent);
    }

    /// Notes the arrival of the segment `[start, end_seq)`, last sent again at `sent_us`.
    pub(super) fn deliver_resent(&mut self, sent_us: u64, start: u64, end_seq: u64) {
        match self.resent.get(&start) {
            Some(&sent) => self.take(sent_us, end_seq, sent),
            // The host refused the retransmission.
            None => self.deliver(sent_us, end_seq),
        }
    }

    fn take(&mut self, sent_us: u64, end_seq: u64, sent: Snapshot) {
        if self.newest.is_none_or(|known| (sent_us, end_seq) > (self.first_tx_us, known.end_seq)) {
            let send_us = sent_us.saturating_sub(sent.first_tx_us);
            self.first_tx_us = sent_us;
            self.newest = Some(Newest { end_seq, sent, send_us });
        }
    }

    /// Packets delivered when the newest packet of the ACK in hand was sent.
    pub(super) fn prior_delivered(&self) -> Option<u32> {
        self.newest.map(|newest| newest.sent.delivered)
    }

    /// Forgets snapshots of data below `una`, which is acknowledged.
    pub(super) fn forget(&mut self, una: u64) {
        while self.sent.get(1).is_some_and(|(seq, _)| *seq <= una) {
            self.sent.pop_front();
        }
        while let Some(first) = self.resent.first_entry().filter(|first| *first.key() < una) {
            first.remove();
        }
    }

    /// Moves the start of the segment at `start`, which was sent again, up to `una`.
    pub(super) fn trim(&mut self, start: u64, una: u64) {
        if let Some(sent) = self.resent.remove(&start) {
            self.resent.insert(una, sent);
        }
    }

    /// Marks the flow as limited by the application until `delivered` and `in_flight` packets have arrived.
    pub(super) fn limit_by_app(&mut self, delivered: u32, in_flight: u32) {
        self.app_limited = delivered.wrapping_add(in_flight).max(1);
    }

    /// Sample of the ACK in hand (tcp_rate_gen).
    pub(super) fn sample(&mut self, ack: AckResult) -> RateSample {
        let past = ack.delivered.wrapping_sub(self.app_limited) as i32 > 0;
        if self.app_limited != 0 && past {
            self.app_limited = 0;
        }
        if ack.acked_sacked > 0 {
            self.delivered_us = ack.now_us;
        }

        let mut sample = RateSample {
            interval_us: -1,
            prior_delivered: self.prior_delivered().unwrap_or(0),
            delivered: -1,
            rtt_us: self.rtt_us.map_or(-1, |us| us.min(i32::MAX as u32) as i32),
            losses: ack.losses,
            acked_sacked: ack.acked_sacked,
            prior_in_flight: ack.prior_in_flight,
            is_app_limited: u32::from(self.newest.is_some_and(|newest| newest.sent.app_limited)),
            is_ack_delayed: self.is_ack_delayed.into(),
        };
        let Some(Newest { sent, send_us, .. }) = self.newest.filter(|_| !ack.is_reneging) else {
            return sample;
        };

        sample.delivered = ack.delivered.wrapping_sub(sent.delivered) as i32;
        let interval_us = send_us.max(ack.now_us.saturating_sub(sent.delivered_us));
        // An interval shorter than any RTT does not cover a whole flight.
        if interval_us >= u64::from(ack.min_rtt_us) {
            sample.interval_us = interval_us as i64;
        }
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(delivered: u32, acked_sacked: u32, now_us: u64) -> AckResult {
        AckResult {
            delivered,
            acked_sacked,
            losses: 0,
            prior_in_flight: 10,
            now_us,
            min_rtt_us: 1000,
            is_reneging: false,
        }
    }

    /// Two packets of 1000 numbers, sent at 100 us with nothing in flight, and at 600 us.
    fn two_sent() -> Rate {
        let mut rate = Rate::default();
        rate.note_sent(0, 100, 1, true);
        rate.note_sent(1000, 600, 1, false);
        rate.begin();
        rate
    }

    /// The ACK of both arrives at 1200 us: 2 packets since the first was sent, 1100 us ago; sending took 500 us.
    #[test]
    fn a_sample_counts_from_the_flights_beginning() {
        let mut rate = two_sent();
        rate.deliver(600, 2000);
        let sample = rate.sample(ack(3, 2, 1200));
        assert_eq!((sample.delivered, sample.interval_us, sample.prior_delivered), (2, 1100, 1));
        assert_eq!((rate.first_tx_us, rate.delivered_us), (600, 1200));
    }

    /// Slow sending bounds the rate, not ACKs that arrive together.
    #[test]
    fn the_longer_phase_is_the_interval() {
        let mut rate = two_sent();
        rate.deliver(100, 1000);
        rate.sample(ack(2, 1, 1150));
        rate.note_sent(2000, 5000, 2, false);
        rate.begin();
        rate.deliver(5000, 3000);
        // The packet was sent 4900 us after the first, and its ACK arrives 4860 us after the first one's.
        let sample = rate.sample(ack(4, 2, 6010));
        assert_eq!((sample.delivered, sample.interval_us), (2, 4900));
    }

    /// An interval below the least RTT gives no sample. Revoked SACKs, or no arrival, give none either.
    #[test]
    fn there_is_no_sample_of_less_than_an_rtt() {
        let mut rate = two_sent();
        rate.deliver(600, 2000);
        assert_eq!(rate.clone().sample(ack(3, 2, 1099)).interval_us, -1);
        assert_eq!(rate.clone().sample(ack(3, 2, 1099)).delivered, 2);
        let reneging = rate.sample(AckResult { is_reneging: true, ..ack(3, 2, 1200) });
        assert_eq!((reneging.delivered, reneging.interval_us), (-1, -1));
        rate.begin();
        assert_eq!(rate.sample(ack(3, 0, 1200)).delivered, -1);
    }

    /// A retransmission has a snapshot of its own; the last transmission counts, in any order.
    #[test]
    fn what_was_sent_last_counts() {
        for order in [[0, 1], [1, 0]] {
            let mut rate = two_sent();
            rate.note_resent(0, 900, 7);
            for which in order {
                match which {
                    0 => rate.deliver_resent(900, 0, 1000),
                    _ => rate.deliver(600, 2000),
                }
            }
            assert_eq!(rate.prior_delivered(), Some(7), "{order:?}");
        }
    }

    /// The mark holds until more packets are delivered than were out.
    #[test]
    fn an_application_limits_until_its_flight_has_arrived() {
        let mut rate = two_sent();
        rate.limit_by_app(1, 2);
        rate.note_sent(2000, 700, 1, false);
        rate.sample(ack(3, 2, 1200));
        assert_eq!(rate.app_limited, 3);
        rate.begin();
        rate.deliver(700, 3000);
        assert_eq!(rate.sample(ack(4, 1, 1900)).is_app_limited, 1);
        assert_eq!(rate.app_limited, 0);
    }

    /// Snapshots of acknowledged data are forgotten; the one that still covers data stays.
    #[test]
    fn snapshots_are_forgotten() {
        let mut rate = two_sent();
        rate.limit_by_app(1, 2);
        rate.note_sent(2000, 700, 1, false);
        rate.note_resent(1000, 800, 1);
        rate.forget(1500);
        assert_eq!((rate.sent.len(), rate.resent.len()), (2, 0));
        rate.forget(2000);
        assert_eq!(rate.sent.len(), 1);
    }
}
