//! A queue with a discipline of Linux's: packet by packet; where it counts idle time, its next one taken ahead.

use super::super::packet::Packet;
use fullpipe_sim::config::{Discipline, QueueLimit};
use fullpipe_sim::qdisc::{self, Effects, Queue, Size, Waiting};
use fullpipe_sim::units::Time;

impl qdisc::Packet for Packet {
    fn connection(&self) -> u16 {
        self.flow as u16
    }
    fn mark(&mut self) -> bool {
        false
    }
}

/// Packets that wait for a rate.
pub struct Disciplined {
    queue: Box<dyn Queue<Packet>>,
    looks_ahead: bool,
    next: Option<Waiting<Packet>>,
    effects: Effects<Packet>,
}

impl Disciplined {
    /// An empty queue.
    pub fn new(discipline: &Discipline, limit: QueueLimit, seed: u64, name: &str) -> Disciplined {
        let queue = discipline.build(limit, seed, name);
        let looks_ahead = matches!(discipline, Discipline::Red(_));
        Disciplined { queue, looks_ahead, next: None, effects: Effects::default() }
    }

    /// A packet comes.
    pub fn push(&mut self, now: Time, packet: Packet, bytes: u32) {
        let one = |next: &Waiting<Packet>| Size { packets: 1, bytes: u64::from(next.bytes) };
        let ahead = self.next.as_ref().map_or(Size::default(), one);
        self.queue.enqueue(Waiting { packet, bytes, came: now }, ahead, &mut self.effects);
        self.look(now);
    }

    /// The packet that is sent now. A discipline that is empty is asked for none.
    pub fn pop(&mut self, now: Time) -> Option<Packet> {
        let mut waiting = 0;
        self.queue.each(&mut |_| waiting += 1);
        let next = match self.next.take() {
            None if waiting > 0 => self.queue.dequeue(now, &mut self.effects)?,
            next => next?,
        };
        self.look(now);
        Some(next.packet)
    }

    fn look(&mut self, now: Time) {
        if self.looks_ahead && self.next.is_none() {
            self.next = self.queue.dequeue(now, &mut self.effects);
        }
    }

    /// Sizes of the packets that were dropped since the last call.
    pub fn dropped(&mut self) -> Vec<u32> {
        self.effects.dropped.drain(..).map(|packet| packet.bytes).collect()
    }
}
