//! The elements of a path, one file each, each a queue of packets.

mod delay;
mod disciplined;
mod drop;
mod duplicate;
mod late;
mod link;
mod loss;
mod mtu;
mod policer;
mod shaper;
mod trace_link;

use super::agenda::{Agenda, Happening};
use super::packet::Packet;
use fullpipe_sim::config::{self, Direction, QueueLimit};
use fullpipe_sim::trace::{StageInfo, StageSample};
use fullpipe_sim::units::Time;
use std::collections::VecDeque;

/// A link element.
pub trait Element {
    /// Description of the element, but for index and direction.
    fn info(&self) -> StageInfo;
    /// A packet comes.
    fn arrive(&mut self, now: Time, place: Place, packet: Packet, agenda: &mut Agenda);
    /// A moment has come for which the element asked.
    fn due(&mut self, _now: Time, _place: Place, _agenda: &mut Agenda) {
        unreachable!("it asks for nothing")
    }
    /// Counters of the element.
    fn sample(&mut self, now: Time) -> StageSample;
}

/// Place of an element: the direction of its packets, and its number in it.
#[derive(Clone, Copy)]
pub struct Place {
    pub way: Direction,
    pub at: usize,
}

impl Place {
    fn send_on(self, time: Time, packet: Packet, agenda: &mut Agenda) {
        agenda.add(time, Happening::Arrival(self.way, self.at + 1, packet));
    }
    fn due(self, time: Time, agenda: &mut Agenda) {
        agenda.add(time, Happening::Due(self.way, self.at));
    }
}

/// The element that `config` describes, in a run with `seed`.
pub fn build(config: &config::Element, seed: u64) -> Box<dyn Element> {
    match config {
        config::Element::Link(c) => Box::new(link::Link::new(c, seed)),
        config::Element::Delay(c) => Box::new(delay::Delay::new(c)),
        config::Element::Loss(c) => Box::new(loss::Loss::new(c, seed)),
        config::Element::GilbertElliott(c) => Box::new(loss::Loss::in_bursts(c, seed)),
        config::Element::Drop(c) => Box::new(drop::Drop::new(c)),
        config::Element::Mark(c) => Box::new(drop::Mark::new(c)),
        config::Element::Reorder(c) => Box::new(late::Late::reorder(c, seed)),
        config::Element::Duplicate(c) => Box::new(duplicate::Duplicate::new(c, seed)),
        config::Element::Jitter(c) => Box::new(late::Late::jitter(c, seed)),
        config::Element::FlowDelay(c) => Box::new(late::Late::flow(c)),
        config::Element::Mtu(c) => Box::new(mtu::Mtu::new(c)),
        config::Element::Policer(c) => Box::new(policer::Policer::new(c)),
        config::Element::Shaper(c) => Box::new(shaper::Shaper::new(c)),
        config::Element::VaryingLink(c) => Box::new(link::Link::varying(c, seed)),
        config::Element::TraceLink(c) => Box::new(trace_link::TraceLink::new(c)),
    }
}

/// Whether a queue with that limit takes one more packet; `bytes` is how it counts them.
fn has_room(
    limit: QueueLimit,
    queue: &VecDeque<Packet>,
    packet: &Packet,
    bytes: impl Fn(&Packet) -> u32,
) -> bool {
    match limit {
        QueueLimit::Packets(limit) => queue.len() < limit as usize,
        QueueLimit::Bytes(limit) => {
            let held: u64 = queue.iter().map(|p| u64::from(bytes(p))).sum();
            held + u64::from(bytes(packet)) <= limit
        }
    }
}

/// The description of an element with a queue.
fn limited(name: &str, kind: &'static str, limit: QueueLimit) -> StageInfo {
    match limit {
        QueueLimit::Packets(n) => info(name, kind, "segment", Some(n.into())),
        QueueLimit::Bytes(n) => info(name, kind, "byte", Some(n)),
    }
}

fn info(name: &str, kind: &'static str, unit: &'static str, capacity: Option<u64>) -> StageInfo {
    StageInfo { index: 0, name: name.into(), kind, direction: "", unit, capacity, timed: true }
}
