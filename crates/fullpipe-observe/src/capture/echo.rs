//! Moments at which ACKs reached a sender that is far from the capture.
//!
//! Data echoes the timestamp of the newest ACK that its sender had (RFC 7323, 4.3). So data shows which ACKs had arrived
//! when it was sent, as seen from here: at the moment at which it passes.

use super::segment::Segment;
use fullpipe_base::units::Time;
use std::collections::VecDeque;

/// ACKs on their way to the sender.
#[derive(Debug, Default)]
pub struct Echo {
    queue: VecDeque<Segment>,
    /// Least time from here to the sender and back.
    before: Time,
    /// Timestamps of ACKs, and the time of the first one with each.
    stamps: VecDeque<(u32, Time)>,
}

impl Echo {
    /// No ACK yet, on a path of this length between here and the sender.
    pub fn new(before: Time) -> Echo {
        Echo { before, ..Echo::default() }
    }

    /// An ACK that passes.
    pub fn push(&mut self, ack: Segment) {
        if let Some(own) = ack.stamps
            && self.stamps.back().is_none_or(|(value, _)| is_later(own.value, *value))
        {
            self.stamps.push_back((own.value, ack.time));
        }
        self.queue.push_back(ack);
    }

    /// Takes the next ACK that had reached the sender when it sent this data.
    pub fn reached(&mut self, data: &Segment) -> Option<Segment> {
        let next = self.queue.front()?;
        let is_due = data.time.saturating_sub(next.time) >= self.before;
        let has_reached = match (data.stamps, next.stamps) {
            // Several ACKs may have one timestamp: of these the time decides.
            (Some(own), Some(ack)) => {
                is_later(own.echo, ack.value) || (own.echo == ack.value && is_due)
            }
            _ => is_due,
        };
        if has_reached { self.queue.pop_front() } else { None }
    }

    /// Time from the first ACK with the timestamp that this data echoes, where it is the first that does.
    pub fn round_trip(&mut self, data: &Segment) -> Option<Time> {
        let echo = data.stamps?.echo;
        while let Some((value, time)) = self.stamps.front().copied() {
            if is_later(value, echo) {
                return None;
            }
            self.stamps.pop_front();
            if value == echo {
                return Some(data.time.saturating_sub(time));
            }
        }
        None
    }
}

/// Whether a timestamp is later than another one.
fn is_later(own: u32, other: u32) -> bool {
    own.wrapping_sub(other) as i32 > 0
}
