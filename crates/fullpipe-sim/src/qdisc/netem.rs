//! Delay and loss of packets, skbs as they are (Linux 6.12 `netem_enqueue`, `netem_dequeue`).
//!
//! A lost packet counts as sent. A packet that finds the queue full is refused, and its sender knows.

use super::fifo::List;
use super::{Effects, Packet, Queue, QueueLimit, Size, Verdict, Waiting};
use crate::bounds::{LONGEST, demand, probability};
use crate::rng::Rng;
use crate::units::Time;
use alloc::format;
use alloc::string::String;

/// Parameters of netem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Netem {
    /// Delay of each packet.
    pub delay: Time,
    /// Probability that a packet is lost (0 to 1).
    pub loss: f64,
}

impl Netem {
    pub(super) fn check(&self, name: &str) -> Result<(), String> {
        demand(self.delay <= LONGEST, format!("{name}: delay of at most {LONGEST}"))?;
        probability(self.loss, name, "loss")
    }
}

/// State of netem.
#[derive(Debug)]
pub(super) struct Delayed<P> {
    netem: Netem,
    limit: QueueLimit,
    list: List<P>,
    rng: Rng,
}

impl<P> Delayed<P> {
    pub(super) fn new(netem: Netem, limit: QueueLimit, seed: u64, name: &str) -> Delayed<P> {
        Delayed { netem, limit, list: List::default(), rng: Rng::new(seed, name) }
    }

    fn leaves(&self, packet: &Waiting<P>) -> Time {
        packet.came + self.netem.delay
    }
}

impl<P: Packet> Queue<P> for Delayed<P> {
    fn enqueue(&mut self, packet: Waiting<P>, ahead: Size, effects: &mut Effects<P>) -> Verdict {
        if self.netem.loss > 0.0 && self.rng.unit() <= self.netem.loss {
            effects.dropped.push(packet);
            return Verdict::Taken;
        }
        self.list.offer(packet, self.limit, ahead, effects)
    }

    fn dequeue(&mut self, now: Time, _effects: &mut Effects<P>) -> Option<Waiting<P>> {
        let due = self.due().is_some_and(|due| due <= now);
        if due { self.list.pop() } else { None }
    }

    fn due(&self) -> Option<Time> {
        self.list.first().map(|packet| self.leaves(packet))
    }

    fn each(&self, each: &mut dyn FnMut(&P)) {
        self.list.each(each);
    }
}
