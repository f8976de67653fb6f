//! FQ-CoDel: a queue under CoDel for each flow; flows take turns, new ones first (RFC 8290; Linux 6.12
//! sch_fq_codel).
//!
//! Each flow has a queue of its own. Only the number of buckets of Linux's hash is modelled; further flows share
//! queues. A full queue drops from the head of the longest flow (in bytes): half of its bytes, 64 packets at most.
//!
//! Limits:
//! - A packet takes 832 bytes of memory besides its own. The hash of Linux may let two flows share a queue (see
//!   `fq`).

use super::codel::{Law, Source};
use super::fifo::List;
use super::{Codel, Effects, Packet, Queue, QueueLimit, Size, Verdict, Waiting};
use crate::units::Time;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Queues (`flows_cnt`).
const BUCKETS: u16 = 1024;
/// Packets that are dropped at once (`drop_batch_size`).
const BATCH: u32 = 64;
/// Memory that packets take together (`memory_limit`), bytes.
const MEMORY: u64 = 32 << 20;
/// Overhead of a packet's memory, bytes: `sk_buff` and `skb_shared_info` (`SKB_TRUESIZE`).
const PACKET_MEMORY: u64 = 832;

/// List of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlowList {
    None,
    New,
    Old,
}

#[derive(Debug)]
struct FqCodelFlow<P> {
    list: List<P>,
    law: Law,
    deficit: i64,
    on: FlowList,
}

/// State of FQ-CoDel.
#[derive(Debug)]
pub(super) struct FqCodel<P> {
    codel: Codel,
    limit: QueueLimit,
    flows: Vec<FqCodelFlow<P>>,
    new: VecDeque<u16>,
    old: VecDeque<u16>,
    waiting: Size,
}

/// Packets of one flow, as part of the whole queue.
struct OfFlow<'a, P> {
    list: &'a mut List<P>,
    waiting: &'a mut Size,
}

impl<P> Source<P> for OfFlow<'_, P> {
    fn pop(&mut self) -> Option<Waiting<P>> {
        let packet = self.list.pop()?;
        self.waiting.packets -= 1;
        self.waiting.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    fn backlog(&self) -> u64 {
        self.waiting.bytes
    }
}

impl<P> FqCodel<P> {
    pub(super) fn new(codel: Codel, limit: QueueLimit) -> FqCodel<P> {
        let (new, old) = (VecDeque::new(), VecDeque::new());
        FqCodel { codel, limit, flows: Vec::new(), new, old, waiting: Size::default() }
    }

    fn flow(&mut self, bucket: u16) -> &mut FqCodelFlow<P> {
        let index = usize::from(bucket);
        while self.flows.len() <= index {
            let (list, law) = (List::default(), Law::default());
            self.flows.push(FqCodelFlow { list, law, deficit: 0, on: FlowList::None });
        }
        &mut self.flows[index]
    }

    /// Whether the queue holds more than its limits.
    fn is_over(&self, ahead: Size) -> bool {
        let Size { packets, bytes } = self.waiting;
        let there = Size { packets: packets + ahead.packets, bytes: bytes + ahead.bytes };
        !there.fits(self.limit)
            || self.waiting.bytes + PACKET_MEMORY * self.waiting.packets > MEMORY
    }

    /// `fq_codel_drop`; returns the flow that lost packets.
    fn drop_from_longest(&mut self, effects: &mut Effects<P>) -> u16 {
        let mut longest = 0;
        for (at, flow) in self.flows.iter().enumerate() {
            if flow.list.bytes() > self.flows[longest].list.bytes() {
                longest = at;
            }
        }
        let flow = &mut self.flows[longest];

        // The longest flow loses half of its bytes from its head, at most a batch of packets.
        let half = flow.list.bytes() / 2;
        let mut source = OfFlow { list: &mut flow.list, waiting: &mut self.waiting };
        let (mut packets, mut bytes) = (0, 0);
        while let Some(packet) = source.pop() {
            packets += 1;
            bytes += u64::from(packet.bytes);
            effects.dropped.push(packet);
            if packets == BATCH || bytes >= half {
                break;
            }
        }
        flow.law.count = flow.law.count.wrapping_add(packets);
        longest as u16
    }

    /// The flow that has its turn, if it has credit. A flow without credit gets some and moves to the end of the line.
    fn head(&mut self) -> Option<Option<u16>> {
        let bucket = *self.new.front().or(self.old.front())?;
        let quantum = i64::from(self.codel.mtu);
        let flow = self.flow(bucket);
        if flow.deficit > 0 {
            return Some(Some(bucket));
        }
        flow.deficit += quantum;
        self.leave_turn(bucket);
        self.join_old(bucket);
        Some(None)
    }

    fn leave_turn(&mut self, bucket: u16) {
        match self.flow(bucket).on {
            FlowList::New => self.new.pop_front(),
            FlowList::Old => self.old.pop_front(),
            FlowList::None => None,
        };
        self.flow(bucket).on = FlowList::None;
    }

    fn join_old(&mut self, bucket: u16) {
        self.old.push_back(bucket);
        self.flow(bucket).on = FlowList::Old;
    }

    /// Ends the turn of a flow without packets. A new flow waits once with the old ones, if there are any.
    fn is_empty_now(&mut self, bucket: u16) {
        let was_new = self.flow(bucket).on == FlowList::New;
        self.leave_turn(bucket);
        if was_new && !self.old.is_empty() {
            self.join_old(bucket);
        }
    }
}

impl<P: Packet> Queue<P> for FqCodel<P> {
    fn enqueue(&mut self, packet: Waiting<P>, ahead: Size, effects: &mut Effects<P>) -> Verdict {
        let bucket = packet.packet.connection() % BUCKETS;
        let quantum = i64::from(self.codel.mtu);
        self.waiting.packets += 1;
        self.waiting.bytes += u64::from(packet.bytes);
        let flow = self.flow(bucket);
        flow.list.push(packet);

        // A flow without a turn joins the new flows with a full quantum.
        if flow.on == FlowList::None {
            (flow.on, flow.deficit) = (FlowList::New, quantum);
            self.new.push_back(bucket);
        }
        if !self.is_over(ahead) {
            return Verdict::Taken;
        }

        // The sender learns of congestion (NET_XMIT_CN) only if its own flow lost packets.
        let loses = self.drop_from_longest(effects);
        if loses == bucket { Verdict::Congested } else { Verdict::Taken }
    }

    fn dequeue(&mut self, now: Time, effects: &mut Effects<P>) -> Option<Waiting<P>> {
        loop {
            let Some(bucket) = self.head()? else { continue };
            let codel = self.codel;
            let flow = &mut self.flows[usize::from(bucket)];
            let mut source = OfFlow { list: &mut flow.list, waiting: &mut self.waiting };

            // CoDel may drop all packets of the flow; then its turn ends.
            match flow.law.dequeue(&codel, now, &mut source, effects) {
                Some(packet) => {
                    flow.deficit -= i64::from(packet.bytes);
                    return Some(packet);
                }
                None => self.is_empty_now(bucket),
            }
        }
    }

    fn each(&self, each: &mut dyn FnMut(&P)) {
        self.flows.iter().for_each(|flow| flow.list.each(each));
    }
}
