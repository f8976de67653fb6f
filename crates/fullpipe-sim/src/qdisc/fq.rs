//! Fair queueing: flows take turns, new ones first (Linux 6.12 sch_fq).
//!
//! Without pacing: packets are eligible as they come. All packets have one priority, so that the three bands
//! are one. As long as no flow waits, eight packets go by without one (`fq_fastpath_check`).

use super::fifo::List;
use super::{Packet, Queue, QueueLimit, Size, Told, Verdict, Waiting, check_mtu};
use crate::bounds::demand;
use crate::units::Time;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Bytes of a turn and of a flow's first one, in full packets (`quantum`, `initial_quantum`).
const QUANTUM: i64 = 2;
const INITIAL_QUANTUM: i64 = 10;
/// A flow that was away for longer has a turn's credit at least (`flow_refill_delay`).
const REFILL: Time = Time::ms(40);
/// Packets that go by while no flow waits.
const BY: u64 = 8;

/// Parameters of fq.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fq {
    /// Packets of one flow.
    pub flow_limit: u32,
    /// Bytes of a full packet with its Ethernet header (`psched_mtu`).
    pub mtu: u32,
}

impl Fq {
    pub(super) fn check(&self, name: &str) -> Result<(), String> {
        demand(self.flow_limit > 0, format!("{name}: flow_limit of at least 1 packet"))?;
        check_mtu(self.mtu, name)
    }
}

/// Where a flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// It has been without packets since its last turn.
    Away {
        since: Time,
    },
    New,
    Old,
}

#[derive(Debug)]
struct Flow<P> {
    list: List<P>,
    credit: i64,
    turn: Turn,
}

/// See the module's description.
#[derive(Debug)]
pub(super) struct Flows<P> {
    fq: Fq,
    limit: QueueLimit,
    /// Packets that go by all flows.
    by: List<P>,
    flows: Vec<Flow<P>>,
    new: VecDeque<u16>,
    old: VecDeque<u16>,
    /// What waits in flows.
    waiting: Size,
}

impl<P> Flows<P> {
    pub(super) fn new(fq: Fq, limit: QueueLimit) -> Flows<P> {
        let (new, old) = (VecDeque::new(), VecDeque::new());
        let by = List::default();
        Flows { fq, limit, by, flows: Vec::new(), new, old, waiting: Size::default() }
    }

    fn quantum(&self, packets: i64) -> i64 {
        packets * i64::from(self.fq.mtu)
    }

    fn flow(&mut self, number: u16) -> &mut Flow<P> {
        let credit = self.quantum(INITIAL_QUANTUM);
        let turn = Turn::Away { since: Time::ZERO };
        while self.flows.len() <= usize::from(number) {
            self.flows.push(Flow { list: List::default(), credit, turn });
        }
        &mut self.flows[usize::from(number)]
    }

    /// Whether a packet goes by all flows.
    fn goes_by(&self, ahead: Size) -> bool {
        let empty = self.by.is_empty() && ahead.packets == 0;
        self.waiting.packets == 0 && (empty || self.by.len() < BY)
    }

    fn leave_turn(&mut self, number: u16) {
        match self.flow(number).turn {
            Turn::New => self.new.pop_front(),
            Turn::Old => self.old.pop_front(),
            Turn::Away { .. } => None,
        };
    }

    fn join_old(&mut self, number: u16) {
        self.old.push_back(number);
        self.flow(number).turn = Turn::Old;
    }

    /// A flow with packets has none of a turn: the next one is credited.
    fn next_turn(&mut self, number: u16) {
        let quantum = self.quantum(QUANTUM);
        self.flow(number).credit += quantum;
        self.leave_turn(number);
        self.join_old(number);
    }

    /// A flow whose turn it was has nothing: a new one waits once with the old ones.
    fn is_empty_now(&mut self, number: u16, now: Time) {
        let was_new = self.flow(number).turn == Turn::New;
        self.leave_turn(number);
        if was_new {
            self.join_old(number);
        } else {
            self.flow(number).turn = Turn::Away { since: now };
        }
    }

    /// A flow that has been away waits for its turn.
    fn come_back(&mut self, number: u16, now: Time) {
        let quantum = self.quantum(QUANTUM);
        let flow = self.flow(number);
        if let Turn::Away { since } = flow.turn {
            flow.turn = Turn::New;
            if now.saturating_sub(since) > REFILL {
                flow.credit = flow.credit.max(quantum);
            }
            self.new.push_back(number);
        }
    }
}

impl<P: Packet> Queue<P> for Flows<P> {
    fn enqueue(&mut self, packet: Waiting<P>, ahead: Size, told: &mut Told<P>) -> Verdict {
        let refuse = |packet, told: &mut Told<P>| {
            told.dropped.push(packet);
            Verdict::Refused
        };
        if !self.limit.holds(self.waiting.and(1, packet.bytes)) {
            return refuse(packet, told);
        }
        if self.goes_by(ahead) {
            self.by.push(packet);
            return Verdict::Taken;
        }
        let (number, now) = (packet.packet.flow(), packet.came);
        let most = u64::from(self.fq.flow_limit);
        if self.flow(number).list.len() >= most {
            return refuse(packet, told);
        }
        self.come_back(number, now);
        self.waiting.packets += 1;
        self.waiting.bytes += u64::from(packet.bytes);
        self.flow(number).list.push(packet);
        Verdict::Taken
    }

    fn dequeue(&mut self, now: Time, _told: &mut Told<P>) -> Option<Waiting<P>> {
        if let Some(packet) = self.by.pop() {
            return Some(packet);
        }
        loop {
            if self.waiting.packets == 0 {
                return None;
            }
            let number = *self.new.front().or(self.old.front())?;
            let flow = self.flow(number);
            if flow.credit <= 0 {
                self.next_turn(number);
                continue;
            }
            let Some(packet) = flow.list.pop() else {
                self.is_empty_now(number, now);
                continue;
            };
            flow.credit -= i64::from(packet.bytes);
            self.waiting.packets -= 1;
            self.waiting.bytes -= u64::from(packet.bytes);
            return Some(packet);
        }
    }

    fn each(&self, each: &mut dyn FnMut(&P)) {
        self.by.each(each);
        self.flows.iter().for_each(|flow| flow.list.each(each));
    }
}
