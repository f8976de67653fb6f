//! Facts of a sending socket: shares of time, epochs of loss, sizes. Rules read these and no samples.
//!
//! The start of a connection is apart from its main part: slow start looks like other causes. The sources are tcp_info (T), skmem (M),
//! counters of the host (C) and its settings (S); each field says which.

use crate::pasted::Pasted;
use std::collections::BTreeMap;

/// Share of time without any data that is as good a cause as another one: an idle round trip costs the growth of cwnd.
const PAUSES: f64 = 0.04;
/// Share of time in recovery without SACK that makes other causes doubtful; the rule about SACK fires a little later.
const REPAIRS: f64 = 0.12;
/// Mean rate over the peak below which a slow beginning costs a tenth.
const BEGINS: f64 = 0.9;

/// Facts of one connection and of the host that sends its data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Facts from a pasted text, and columns that it lacks.
    pub pasted: Pasted,
    /// Counters of the host at the end, where it has no connection (C).
    pub counters: BTreeMap<String, u64>,
    /// Name of the connection.
    pub name: String,
    /// Name of the host.
    pub host: String,
    /// Congestion control (T).
    pub congestion: String,
    /// Number of looks at the socket.
    pub looks: usize,
    /// Time from the first look to the last, seconds.
    pub life_s: f64,
    /// Life in least round trips.
    pub round_trips: f64,
    /// Bytes acknowledged (T).
    pub acked: u64,
    /// Share of looks at which the other host had sent bytes since the look before (T: bytes_received; 0 to 1).
    pub answered: f64,
    /// Rate of acknowledged bytes, Mb/s (10^6).
    pub mbit: f64,
    /// Rate in the main part, Mb/s.
    pub main_mbit: f64,
    /// Rate in the last fifth, Mb/s.
    pub last_mbit: f64,
    /// Rate of the fastest tenth of the intervals in the main part, Mb/s.
    pub peak_mbit: f64,
    /// Standard deviation of the intervals' rates in the main part over their mean.
    pub rate_spread: f64,
    /// Shape of the rate over the whole life.
    pub shape: Shape,
    /// Least RTT, us (T); of RTTs from timestamps, the shortest finer one.
    pub min_rtt_us: f64,
    /// Median of the smoothed RTT in the main part, us (T).
    pub rtt_us: f64,
    /// Standard deviation of the smoothed RTT in the main part over its mean.
    pub rtt_spread: f64,
    /// Largest smoothed RTT but for a twentieth, us (T).
    pub rtt_p95_us: f64,
    /// Shares of the main part.
    pub main: Shares,
    /// Shares of the whole life.
    pub whole: Shares,
    /// Parts of messages that wait in the socket.
    pub parts: Parts,
    /// Longest run of looks in which nothing was in the socket, seconds.
    pub longest_pause_s: f64,
    /// Separate runs of looks in which nothing was in the socket.
    pub pauses: usize,
    /// Window of the receiver in the main part (T).
    pub window: Window,
    /// Window of the sender in the main part (T).
    pub cwnd: Cwnd,
    /// Send buffer (M).
    pub buffer: Memory,
    /// Losses (T, C).
    pub loss: Losses,
    /// Reordering (T, C).
    pub order: Order,
    /// ACKs in the main part (T).
    pub acks: Acks,
    /// The host's queue, card and CPU (C, S).
    pub own: Own,
    /// Bytes of a segment (T).
    pub mss: u32,
    /// MTU of the path, bytes (T).
    pub pmtu: u32,
    /// Options that were agreed: SACK (T).
    pub sack: bool,
    /// Options that were agreed: window scale (T).
    pub wscale: bool,
    /// Least step of the receiver's window, bytes (T: snd_wscale).
    pub window_step: f64,
    /// Pace that the program asked for, Mb/s (T).
    pub max_pace_mbit: Option<f64>,
    /// Median of the pacing rate in the main part, Mb/s (T).
    pub pace_mbit: Option<f64>,
    /// Other connections of the host: their rate as a share of the sum with this one's (0 to 1).
    pub beside: f64,
}

impl Facts {
    /// Median RTT of the main part over the least one.
    pub fn inflation(&self) -> f64 {
        self.rtt_us / self.min_rtt_us.max(1.0)
    }

    /// Longest RTTs over the least one.
    pub fn peak_inflation(&self) -> f64 {
        self.rtt_p95_us / self.min_rtt_us.max(1.0)
    }

    /// Packets that wait on the path, in bunches of one ACK. `packets` are in flight, and `rtt` is the RTT over the least
    /// one.
    ///
    /// Senders and receivers of bunches (TSO, late interrupts, GRO, delayed ACKs) add one or two of them to RTT without
    /// any queue.
    pub fn bunches(&self, packets: f64, rtt: f64) -> f64 {
        packets * (1.0 - 1.0 / rtt.max(1.0)) / self.acks.segments.max(1.0)
    }

    /// Median of the packets that wait on the way in the main part, in bunches of one ACK.
    pub fn queue(&self) -> f64 {
        self.bunches(self.cwnd.in_flight.min(self.cwnd.median), self.inflation())
    }

    /// Rate of the main part over that of its fastest intervals: near 1 where a link never runs empty.
    pub fn steadiness(&self) -> f64 {
        self.main_mbit / self.peak_mbit.max(1e-9)
    }

    /// Doubt about a verdict from the main part (0 to 1): another cause has held the flow now and then.
    ///
    /// Such causes are short pauses of the program, losses without SACK, and a slow start that ended early.
    pub fn doubt(&self) -> f64 {
        let pauses = self.whole.empty / PAUSES;
        let repairs = if self.sack { 0.0 } else { self.whole.recovery / REPAIRS };
        let begins = self.mbit < BEGINS * self.peak_mbit && self.cwnd.early_ssthresh.is_some();
        pauses.max(repairs).max(f64::from(u8::from(begins))).min(1.0)
    }

    /// Segments that the fastest intervals' rate has in flight on an empty path.
    pub fn product(&self) -> f64 {
        self.peak_mbit * self.min_rtt_us / 8.0 / f64::from(self.mss.max(1))
    }
}

/// Shape of the rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shape {
    /// Share of intervals that are faster than the one before, until nine tenths of the largest rate (0 to 1); 0 of few.
    pub rises: f64,
    /// Intervals, but for the last one, with less than a twentieth of an earlier one's rate.
    pub stalls: usize,
    /// Rate of the second interval, Mb/s.
    pub early_mbit: f64,
}

/// Shares of time (0 to 1).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shares {
    /// Something was unsent or unacknowledged (T: busy_time).
    pub busy: f64,
    /// The receiver's window stopped it (T: rwnd_limited).
    pub rwnd: f64,
    /// The send buffer stopped it (T: sndbuf_limited).
    pub sndbuf: f64,
    /// In flight filled 85 % of the receiver's window.
    pub window_full: f64,
    /// In flight filled cwnd.
    pub cwnd_full: f64,
    /// Nothing to send, while cwnd and window had room.
    pub idle: f64,
    /// Something to send, while cwnd and window had room.
    pub held: f64,
    /// Nothing in the socket.
    pub empty: f64,
    /// In Recovery or Loss.
    pub recovery: f64,
}

/// Data below one segment that waits although both windows have room, over the whole life (T).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// Share of looks at which earlier data was unacknowledged: Nagle's rule holds the part (0 to 1).
    pub by_nagle: f64,
    /// Share of looks at which nothing was: TCP_CORK or MSG_MORE holds it (0 to 1).
    pub by_cork: f64,
    /// Median time for which Nagle's rule holds a part, seconds.
    pub nagle_s: f64,
    /// Median time for which a cork holds a part, seconds.
    pub cork_s: f64,
}

/// Window of the receiver, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Window {
    /// Largest ever.
    pub largest: f64,
    /// First.
    pub first: f64,
    /// Median of the main part.
    pub median: f64,
    /// Least of the main part but for a twentieth.
    pub low: f64,
    /// Largest of the main part.
    pub high: f64,
    /// Different values in the main part over its looks (0 to 1).
    pub changes: f64,
    /// Share of looks of the main part, but for those in recovery, at which it is clearly smaller than once before.
    pub shrunk: f64,
}

/// Window of the sender, packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cwnd {
    /// Median of the main part.
    pub median: f64,
    /// Largest of the whole life.
    pub largest: f64,
    /// The last.
    pub last: f64,
    /// Median of the last fifth over that of the first fifth of the main part.
    pub growth: f64,
    /// Ssthresh, where it is set without any retransmission before.
    pub early_ssthresh: Option<f64>,
    /// Ssthresh was set at the first look already.
    pub from_the_first: bool,
    /// Whether cwnd is below ssthresh at the end, so that slow start continues.
    pub slow_start: bool,
    /// Median of packets in flight in the main part.
    pub in_flight: f64,
    /// Bytes unsent at the last look.
    pub unsent: f64,
    /// Standard deviation of cwnd in the main part over its mean.
    pub spread: f64,
    /// Standard deviation of its means over three looks.
    pub slow_spread: f64,
    /// Correlation of the rate with cwnd in the main part (-1 to 1).
    pub follows: f64,
    /// Exits of HyStart on the host (C).
    pub hystart: u64,
}

/// Memory of the send buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Memory {
    /// Median of the memory in use over the limit, main part.
    pub used: f64,
    /// Limit at the end, bytes.
    pub limit: f64,
    /// Limit at the first look, bytes.
    pub first: f64,
    /// Median of skb memory in the host's queue and card, bytes.
    pub queued: f64,
    /// Share of looks at which that was at least two full skbs.
    pub queueing: f64,
    /// Bytes that the program asked for (S).
    pub asked: Option<u64>,
    /// Largest limit that the kernel tunes to, bytes (S).
    pub tuned: u64,
}

/// Losses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Losses {
    /// Segments sent again (T).
    pub retransmitted: u64,
    /// Segments sent, with those sent again (T).
    pub sent: u64,
    /// Share of all segments sent (0 to 1).
    pub share: f64,
    /// Reductions of ssthresh with retransmissions.
    pub cuts: Vec<Cut>,
    /// Segments sent again in the main part.
    pub main_retransmitted: u64,
    /// Segments that were sent again and lost again (C: TCPLostRetransmit).
    pub again: u64,
    /// Timeouts (T: total_rto).
    pub timeouts: u64,
    /// Reductions that were taken back (C: undo).
    pub undone: u64,
}

/// Reordering.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Order {
    /// Largest degree, packets (T).
    pub degree: u32,
    /// Times that it was seen (T).
    pub seen: u64,
    /// Segments received twice (T: dsack_dups).
    pub twice: u64,
    /// Times that SACKs or timestamps showed it (C).
    pub counted: u64,
}

/// ACKs of the main part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Acks {
    /// Per second.
    pub rate: f64,
    /// Full segments that an ACK acknowledges in the mean.
    pub segments: f64,
    /// Standard deviation of ACKs in equal times over their mean.
    pub spread: f64,
    /// Standard deviation of delivered segments in these times over their mean (T: delivered).
    pub data_spread: f64,
    /// Segments an ACK acknowledges in the last half of the main part over those in its first half.
    pub growth: f64,
}

/// The host's own queue, card and CPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Own {
    /// Skbs that the queue dropped (C).
    pub dropped: u64,
    /// Skbs that it sent (C).
    pub sent: u64,
    /// Skbs that the card refused (C: requeues).
    pub requeues: u64,
    /// Times that the driver stopped its queue (C: tx_queue_stopped or tx_busy).
    pub stops: u64,
    /// Share of looks at which skbs waited in the queue (C).
    pub backlogged: f64,
    /// Median of skbs that waited (C).
    pub backlog: f64,
    /// Share of time that the busiest CPU worked in the main part (C); none where it is not counted.
    pub cpu: Option<f64>,
    /// Kind of the qdisc (S).
    pub qdisc: String,
    /// Length of the qdisc, packets (S).
    pub qdisc_limit: Option<u32>,
    /// maxrate of fq, Mb/s (S).
    pub maxrate_mbit: Option<f64>,
    /// Rate of the card, Mb/s of the wire (S); none where it is not known.
    pub card_mbit: Option<f64>,
    /// Descriptors of the transmit ring (S).
    pub tx_ring: u32,
    /// Time from a sent segment to the driver's interrupt, us (S).
    pub tx_coalesce_us: u64,
    /// MTU of the card, bytes (S).
    pub mtu: u32,
}

/// An epoch of loss.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cut {
    /// When, seconds since the first look.
    pub at_s: f64,
    /// Segments sent again until the connection left the epoch.
    pub segments: u64,
    /// Largest smoothed RTT of the two looks before it, over the least RTT.
    pub rtt: f64,
    /// cwnd before it, packets.
    pub cwnd: f64,
    /// Rate of the interval before it, Mb/s.
    pub mbit: f64,
    /// Ssthresh behind it over cwnd before it.
    pub to: f64,
}

/// The value that this share of the values does not exceed; 0 of nothing.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = ((sorted.len().saturating_sub(1)) as f64 * share).round() as usize;
    sorted.get(at).copied().unwrap_or(0.0)
}

/// Standard deviation over the mean; 0 of nothing.
pub fn spread(values: &[f64]) -> f64 {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    if mean > 0.0 { square.sqrt() / mean } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_counted_in_bunches_of_an_ack() {
        let facts = |segments| Facts {
            rtt_us: 30_000.0,
            rtt_p95_us: 40_000.0,
            min_rtt_us: 20_000.0,
            cwnd: Cwnd { median: 90.0, in_flight: 60.0, ..Cwnd::default() },
            acks: Acks { segments, ..Acks::default() },
            ..Facts::default()
        };
        assert!((facts(2.0).queue() - 10.0).abs() < 1e-9, "a third of 60 packets waits");
        assert!((facts(20.0).queue() - 1.0).abs() < 1e-9);
        assert!((facts(0.0).queue() - 20.0).abs() < 1e-9);
        assert!((facts(2.0).peak_inflation() - 2.0).abs() < 1e-9);
        assert_eq!(Facts::default().queue(), 0.0);
    }

    #[test]
    fn products_are_those_of_the_fastest_intervals() {
        let facts = Facts {
            main_mbit: 72.0,
            peak_mbit: 80.0,
            min_rtt_us: 20_000.0,
            mss: 1_000,
            ..Facts::default()
        };
        assert!((facts.product() - 200.0).abs() < 1e-9);
        assert!((facts.steadiness() - 0.9).abs() < 1e-9);
    }
}
