//! One connection over time, as its sender saw it: the state of its socket, as far as packets show it.
//!
//! Limits:
//! - cwnd is taken to be the most that was in flight in the last two round trips.
//! - What waits in the socket is not seen. Where something is outstanding, more is taken to wait.
//! - ssthresh is known only where a loss, or an end of slow start without one, shows it.

mod facts;
mod setup;

pub use facts::{Kind, Packets};
pub use setup::Setup;

use super::echo::Echo;
use super::epochs::Epochs;
use super::parts::Parts;
use super::place::Place;
use super::rounds::{Moment, Rounds};
use super::segment::Segment;
use super::sequence::Numbers;
use super::trains::Trains;
use crate::flow::{FlowState, SendingEnd};
use crate::tcp_info::TcpInfo;
use fullpipe_base::tcp::INFINITE_SSTHRESH;
use fullpipe_base::trace::FlowSample;
use fullpipe_base::units::Time;
use std::collections::VecDeque;

/// Time between two rows of a short connection.
const STEP: Time = Time::ms(10);
/// Most rows: a long connection has fewer for its time.
const MOST_ROWS: u64 = 1 << 15;
/// Bytes that are taken to wait where something is outstanding.
const WAITS: u32 = 1 << 24;
/// Room in the window below which a sender may put off a part of an skb (tcp_tso_win_divisor is 3), bytes.
const TSO: u64 = 65_536;
/// Part of cwnd that a loss leaves (CUBIC).
const LEAVES: f64 = 0.7;
/// Silence from which on a retransmission follows a timeout: Linux's least RTO.
const SILENCE: Time = Time::ms(200);
/// Segments on their way that are remembered. Where the other direction was not captured nothing acknowledges them.
const MOST_SENT: usize = 1 << 21;
/// Parts of a stream that are remembered; of more the first ones are joined.
const MOST_PARTS: usize = 1 << 13;
/// Time within which data follows the ACK that lets it go: a host answers in some tens of microseconds.
const FOLLOWS: Time = Time::us(50);

/// A segment on its way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    end: u64,
    time: Time,
    again: bool,
}

/// A connection that is being read.
pub struct Timeline {
    setup: Setup,
    step: Time,
    now: Time,
    next_row: Time,
    numbers: Numbers,
    /// First byte, first byte that is not acknowledged, and first byte that was not sent.
    base: Option<u64>,
    una: u64,
    nxt: u64,
    window: u64,
    /// Reported by SACK above `una`, in their order.
    sacked: Parts,
    /// Sent again and not acknowledged.
    resent: Parts,
    /// Sent, the oldest first.
    sent: VecDeque<Sent>,
    echo: Echo,
    /// Identification and timestamp of the packet with the highest byte.
    top: (Option<u16>, Option<u32>, Time),
    recovery_until: Option<u64>,
    is_loss: bool,
    last_heard: Time,
    last_sent: Time,
    timeouts: u16,
    info: TcpInfo,
    clocks: [u64; 2],
    rounds: Rounds,
    epochs: Epochs,
    state: FlowState,
    rows: Vec<FlowSample>,
    packets: Packets,
}

impl Timeline {
    /// A connection of which nothing was read yet.
    pub fn new(setup: Setup) -> Timeline {
        let info = TcpInfo {
            state: 1,
            options: setup.options,
            snd_wscale: setup.scale.unwrap_or(0),
            snd_mss: setup.mss,
            min_rtt: setup.least_rtt_us(),
            snd_ssthresh: INFINITE_SSTHRESH,
            snd_cwnd: 10,
            reordering: 3,
            pacing_rate: u64::MAX,
            max_pacing_rate: u64::MAX,
            total_rto: Some(0),
            ..TcpInfo::default()
        };
        Timeline {
            setup,
            step: Time(STEP.0.max(setup.lasts.0.div_ceil(MOST_ROWS))),
            now: setup.begin,
            next_row: setup.begin,
            numbers: Numbers::default(),
            base: None,
            una: 0,
            nxt: 0,
            window: 0,
            sacked: Parts::default(),
            resent: Parts::default(),
            sent: VecDeque::new(),
            echo: Echo::new(setup.before),
            top: (None, None, Time::ZERO),
            recovery_until: None,
            is_loss: false,
            last_heard: setup.begin,
            last_sent: setup.begin,
            timeouts: 0,
            info,
            clocks: [0; 2],
            rounds: Rounds::default(),
            epochs: Epochs::default(),
            state: FlowState::new(SendingEnd { bulk: false, accepted: true }),
            rows: Vec::new(),
            packets: Packets {
                trains: Trains::new(setup.least_rtt_us(), setup.mss),
                ..Packets::default()
            },
        }
    }

    /// Reads a segment of the end that sends the data.
    pub fn data(&mut self, segment: &Segment) -> Kind {
        if self.setup.place != Place::Sender {
            while let Some(ack) = self.echo.reached(segment) {
                self.acknowledge(&ack, segment.time);
            }
            // Data behind a pause echoes an ACK that has waited for the program.
            let rests = self.nxt == self.una;
            if let Some(time) = self.echo.round_trip(segment).filter(|_| !rests) {
                self.round_trip(Time(time.0 + self.setup.beyond.0));
            }
        }
        self.advance(segment.time);
        let from = self.numbers.of(segment.seq) + u64::from(segment.flags.syn);
        self.begin_at(from);
        match segment.len {
            0 => Kind::New,
            length => self.send(segment, from, from + u64::from(length)),
        }
    }

    /// Reads a segment of the end that receives the data.
    pub fn ack(&mut self, segment: &Segment) {
        self.info.bytes_received += u64::from(segment.len);
        if !segment.flags.ack || segment.flags.rst {
            return;
        }
        match self.setup.place {
            Place::Sender => self.acknowledge(segment, segment.time),
            _ => self.echo.push(*segment),
        }
    }

    /// Time between two rows.
    pub fn step(&self) -> Time {
        self.step
    }

    /// Rows of the trace, and facts that packets alone show.
    pub fn finish(mut self) -> (Vec<FlowSample>, Packets) {
        self.row();
        self.packets.rounds = self.rounds.over();
        self.packets.epochs = self.epochs.over();
        (self.rows, self.packets)
    }

    /// Begins the stream at that byte, unless it has begun.
    fn begin_at(&mut self, number: u64) {
        if self.base.is_none() {
            (self.base, self.una, self.nxt) = (Some(number), number, number);
            self.rounds.begin_at(number);
        }
    }

    fn send(&mut self, segment: &Segment, from: u64, to: u64) -> Kind {
        let segments = u64::from(segment.len.div_ceil(self.setup.mss.max(1)));
        let packets = &mut self.packets;
        packets.packets += 1;
        packets.partial += u64::from(segment.len < self.setup.mss);
        self.info.data_segs_out += segments;
        self.info.bytes_sent += to - from;

        // A probe of a silent connection is no data.
        let is_probe = segment.len <= 1 && to <= self.nxt && from + 1 >= self.una;
        let kind = match from < self.nxt && !is_probe {
            false => Kind::New,
            true if self.is_late(segment) => Kind::Late,
            true => Kind::Resent,
        };
        match kind {
            Kind::New => {}
            Kind::Late => {
                self.reorder((self.nxt - from).div_ceil(u64::from(self.setup.mss.max(1))));
            }
            Kind::Resent => self.resend(from, to.min(self.nxt), segments),
        }
        if to > self.nxt {
            self.send_new(segment, to);
        }
        self.last_sent = segment.time;
        self.update();
        kind
    }

    fn send_new(&mut self, segment: &Segment, to: u64) {
        let gap = segment.time.saturating_sub(self.last_sent);
        if gap > FOLLOWS {
            self.packets.bursts += 1;
            let is_near = segment.time.saturating_sub(self.last_heard) <= FOLLOWS;
            self.packets.clocked += u64::from(is_near);
        }
        let bytes = to - self.nxt;
        self.packets.trains.leave(segment.time, bytes);
        if self.setup.place != Place::Sender {
            self.packets.trains.arrive(segment.time, bytes);
        }
        self.nxt = to;
        self.top = (segment.id, segment.stamps.map(|own| own.value), segment.time);
        if self.sent.len() == MOST_SENT {
            self.sent.pop_front();
        }
        self.sent.push_back(Sent { end: to, time: segment.time, again: false });
    }

    /// Whether a segment below others was overtaken, and not sent again. A sender's own capture shows no overtaking.
    fn is_late(&self, segment: &Segment) -> bool {
        if self.setup.place == Place::Sender {
            return false;
        }
        let (id, stamp, time) = self.top;
        if let (Some(own), Some(top)) = (segment.id, id)
            && (own, top) != (0, 0)
            && own != top
        {
            return (own.wrapping_sub(top) as i16) < 0;
        }
        if let (Some(own), Some(top)) = (segment.stamps, stamp)
            && own.value != top
        {
            return (own.value.wrapping_sub(top) as i32) < 0;
        }
        segment.time.saturating_sub(time).0 < self.round_trip_ns() / 4
    }

    fn resend(&mut self, from: u64, to: u64, segments: u64) {
        self.info.total_retrans += segments;
        self.info.bytes_retrans += to - from;
        let heard = self.last_heard.max(self.last_sent);
        let silence = self.now.saturating_sub(heard);
        let is_timeout = silence >= SILENCE && from <= self.una;
        if is_timeout {
            self.timeouts += 1;
        }
        if self.recovery_until.is_none() || (is_timeout && !self.is_loss) {
            self.recovery_until = Some(self.nxt);
            self.epochs.begin(self.rounds.most(), is_timeout);
            self.is_loss = is_timeout;
            let flight = f64::from(self.info.snd_cwnd);
            let left = ((flight * LEAVES) as u32).max(2);
            let own = &mut self.info.snd_ssthresh;
            *own = if *own == left { left + 1 } else { left };
        }
        insert(&mut self.resent, from, to);
        let again = self.sent.iter_mut().rev().skip_while(|own| own.end > to);
        again.take_while(|own| own.end > from).for_each(|own| own.again = true);
    }

    fn reorder(&mut self, by: u64) {
        self.info.reord_seen += 1;
        self.info.reordering = self.info.reordering.max(by.min(u64::from(u32::MAX)) as u32);
    }

    fn acknowledge(&mut self, segment: &Segment, time: Time) {
        self.advance(time);
        if self.info.segs_in > 0 {
            let gap = time.saturating_sub(self.last_heard).0;
            self.packets.time += gap;
            self.packets.near += gap.min(FOLLOWS.0);
        }
        self.last_heard = time;
        self.info.segs_in += 1;
        self.info.data_segs_in += u64::from(segment.len > 0);
        let ack = self.numbers.of(segment.ack);
        self.begin_at(ack);
        let scale = if segment.flags.syn { 0 } else { self.setup.scale.unwrap_or(0) };
        self.window = u64::from(segment.window) << scale;
        self.rounds.drains(self.in_flight());
        // What the ACK covers was a hole before its SACK blocks came, if ever.
        if ack > self.una {
            self.cover(ack, time);
        }
        self.report(segment, ack);
        self.update();
    }

    /// Takes SACK blocks and D-SACKs in.
    fn report(&mut self, segment: &Segment, ack: u64) {
        let mut numbers = self.numbers;
        let blocks = segment.sacks.blocks().iter();
        let blocks: Vec<[u64; 2]> =
            blocks.map(|(from, to)| [numbers.of(*from), numbers.of(*to)]).collect();
        for (place, [from, to]) in blocks.iter().copied().enumerate() {
            let within = blocks.get(1).is_some_and(|own| own[0] <= from && to <= own[1]);
            if place == 0 && (to <= ack || within) {
                let bytes = to.saturating_sub(from).max(1);
                self.info.dsack_dups += bytes.div_ceil(u64::from(self.setup.mss.max(1)));
                continue;
            }
            // Blocks beyond what was sent are damage, or packets that the capture has missed.
            if from < to && from >= ack && to <= self.nxt {
                insert(&mut self.sacked, from, to);
                self.resent.take_out(from, to);
            }
        }
    }

    /// Takes a cumulative ACK in.
    fn cover(&mut self, ack: u64, time: Time) {
        // A hole below a SACK that closes without a retransmission was reordering.
        let top = self.sacked.top().unwrap_or(self.una);
        let hole = self.sacked.first_gap(self.una, ack.min(top));
        let hole = hole.filter(|gap| !self.resent.overlaps(*gap));
        if let Some([from, _]) = hole
            && self.setup.place == Place::Sender
        {
            self.reorder((top - from).div_ceil(u64::from(self.setup.mss.max(1))));
        }

        // Of the segments that an ACK covers the last one measures, unless it was sent again or stood behind a hole.
        let clean = self.sacked.count() == 0 && self.recovery_until.is_none();
        let mut last = None;
        while self.sent.front().is_some_and(|own| own.end <= ack) {
            last = self.sent.pop_front();
        }
        if let Some(own) = last.filter(|own| !own.again && clean)
            && self.setup.place == Place::Sender
        {
            self.round_trip(time.saturating_sub(own.time));
        }
        if self.setup.place == Place::Sender {
            self.packets.trains.arrive(time, ack - self.una);
        }
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.sacked.take_out(0, ack);
        self.resent.take_out(0, ack);
        if self.recovery_until.is_some_and(|end| ack >= end) {
            self.recovery_until = None;
            self.is_loss = false;
            self.epochs.repaired();
        }
        if self.rounds.ends_with(ack) {
            self.end_round(time);
        }
    }

    fn round_trip(&mut self, time: Time) {
        let us = (time.as_ns() / 1000).clamp(1, u64::from(u32::MAX)) as u32;
        self.info.min_rtt = self.info.min_rtt.min(us);
        self.rounds.sample(us);
        if self.info.rtt == 0 {
            self.info.rtt = us;
        }
    }

    fn round_trip_ns(&self) -> u64 {
        let least = self.setup.beyond.0 + self.setup.before.0;
        if least > 0 { least } else { u64::from(self.info.rtt) * 1000 }
    }

    fn end_round(&mut self, time: Time) {
        self.epochs.round(self.rounds.now());
        let now = Moment { time: time.saturating_sub(self.setup.begin), stopped: self.clocks[1] };
        let left = self.rounds.next(now, self.nxt, self.in_flight());
        let is_free = self.info.total_retrans == 0 && self.info.snd_ssthresh == INFINITE_SSTHRESH;
        if let Some(flight) = left.filter(|_| is_free) {
            self.info.snd_ssthresh = flight.max(2.0) as u32;
        }

        // Delayed ACKs, and data that waits for its program, lengthen single samples: the least one shows the queue.
        if let Some(us) = self.rounds.take_rtt() {
            self.info.rtt = us;
        }
    }

    /// Packets in flight: those behind the highest SACK, and those sent again.
    fn in_flight(&self) -> f64 {
        let top = self.sacked.top().unwrap_or(self.una);
        (self.nxt.saturating_sub(top) + self.resent.bytes()) as f64
            / f64::from(self.setup.mss.max(1))
    }

    /// Whether the receiver's window stops the sender now.
    fn is_stopped(&self) -> bool {
        let room = (self.una + self.window).saturating_sub(self.nxt);
        let bound = (2 * u64::from(self.setup.mss)).max(TSO.min(self.window / 3));
        let is_known = self.setup.scale.is_some();
        is_known && self.nxt > self.una && room < bound && self.recovery_until.is_none()
    }

    /// Lets time pass: clocks go on, and rows are made.
    fn advance(&mut self, to: Time) {
        // Packets of several queues may stand in a wrong order by microseconds.
        let to = to.max(self.now);
        while self.next_row <= to {
            let row = self.next_row;
            self.spend(row);
            self.row();
            self.next_row = Time(row.0 + self.step.0);
        }
        self.spend(to);
    }

    fn spend(&mut self, to: Time) {
        let time = to.saturating_sub(self.now).0;
        if self.nxt > self.una {
            self.clocks[0] += time;
        }
        if self.is_stopped() {
            self.clocks[1] += time;
        }
        self.now = self.now.max(to);
    }

    /// Carries sequence numbers into the state of the socket.
    fn update(&mut self) {
        let mss = u64::from(self.setup.mss.max(1));
        let flight = self.in_flight();
        self.rounds.fills(flight);
        let sacked = self.sacked.bytes();
        let packets = |bytes: u64| bytes.div_ceil(mss).min(u64::from(u32::MAX)) as u32;
        let info = &mut self.info;
        info.unacked = packets(self.nxt - self.una);
        info.sacked = packets(sacked).min(info.unacked);
        let in_flight = (flight.round() as u32).min(info.unacked);
        // Without a SACK nothing is known to be lost: a difference is one of rounding.
        let rest = info.unacked - info.sacked;
        info.lost = if sacked > 0 { rest - in_flight.min(rest) } else { 0 };
        info.snd_cwnd = self.rounds.most().ceil().max(1.0) as u32;
        info.snd_wnd = match self.setup.scale {
            Some(_) => self.window.min(u64::from(u32::MAX)) as u32,
            None => u32::MAX,
        };
        info.notsent_bytes = if info.unacked > 0 { WAITS } else { 0 };
        info.bytes_acked = self.una - self.base.unwrap_or(self.una);
        info.delivered = (info.bytes_acked + sacked) / mss;
        info.ca_state = match (self.recovery_until.is_some(), self.is_loss) {
            (true, true) => 4,
            (true, false) => 3,
            (false, _) => u8::from(info.sacked > 0),
        };
        info.total_rto = Some(self.timeouts);
    }

    fn row(&mut self) {
        self.info.busy_time = self.clocks[0] / 1000;
        self.info.rwnd_limited = self.clocks[1] / 1000;
        self.state.sender = self.info.clone();
        self.state.receiver.bytes_received = self.info.bytes_acked;
        let time = self.now.saturating_sub(self.setup.begin);
        let (mut row, _) = self.state.sample(time, 0, self.setup.mss);
        row.receiver.bytes_received = self.info.bytes_received;
        self.rows.push(row);
    }
}

/// Adds a part; too many become fewer.
fn insert(parts: &mut Parts, from: u64, to: u64) {
    parts.insert(from, to);
    if parts.count() > MOST_PARTS {
        parts.join_first();
    }
}

#[cfg(test)]
mod tests;
