//! CoDel: drops or marks at the head of a queue after packets have waited too long for an interval (RFC 8289; Linux
//! 6.12 `codel_dequeue`, sch_codel).
//!
//! Linux differs from the RFC, and so does this code:
//!
//! - Time has a unit of 1024 ns.
//! - 1/sqrt(count) is a fraction of 16 bits. One Newton step per drop brings it nearer.
//! - A queue of one packet of the MTU or less counts as below the target.
//! - Dropping resumes with the number of drops in the last episode, if that was within 16 intervals. The RFC resumes
//!   with all but two of them.

use super::fifo::List;
use super::{Effects, Packet, Queue, QueueLimit, Size, Verdict, Waiting, check_mtu};
use crate::bounds::{LONGEST, demand};
use crate::units::Time;
use alloc::format;
use alloc::string::String;

/// Nanoseconds of a unit of time, as a power of 2 (CODEL_SHIFT).
const TICK_SHIFT: u32 = 10;
/// Bits of the fraction 1/sqrt(count) (REC_INV_SQRT_BITS).
const ROOT_BITS: u32 = 16;
/// Intervals after which an earlier rate of drops is forgotten.
const REMEMBERED: i64 = 16;

/// Parameters of CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codel {
    /// Acceptable delay.
    pub target: Time,
    /// Time for which the delay may be above the target.
    pub interval: Time,
    /// Whether packets of flows with ECN are marked instead of dropped.
    pub ecn: bool,
    /// Bytes of a full packet with its Ethernet header (`psched_mtu`). Fewer bytes are no standing queue. Also
    /// fq_codel's quantum.
    pub mtu: u32,
}

impl Codel {
    pub(super) fn check(&self, name: &str) -> Result<(), String> {
        let least = |time: Time| time >= Time::us(1) && time <= LONGEST;
        demand(least(self.target), format!("{name}: target of at least 1 us"))?;
        demand(least(self.interval), format!("{name}: interval of at least 1 us"))?;
        check_mtu(self.mtu, name)
    }
}

fn ticks(time: Time) -> i64 {
    (time.0 >> TICK_SHIFT) as i64
}

/// Queue from which CoDel takes packets.
pub(super) trait Source<P> {
    fn pop(&mut self) -> Option<Waiting<P>>;
    /// Bytes that wait in the whole queue.
    fn backlog(&self) -> u64;
}

/// State of CoDel for one queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Law {
    /// Time at which the delay will have been above the target for an interval.
    above_until: Option<i64>,
    dropping: bool,
    /// Time of the next drop; none: there was no drop, or it was long ago.
    drop_next: Option<i64>,
    /// Drops since dropping began; the second is its value when dropping began last.
    pub(super) count: u32,
    count_at_start: u32,
    /// 1/sqrt(count) in 2^-16.
    root: u16,
}

impl Law {
    /// The next packet to leave, after all drops that are due.
    pub(super) fn dequeue<P: Packet>(
        &mut self,
        codel: &Codel,
        now: Time,
        source: &mut dyn Source<P>,
        effects: &mut Effects<P>,
    ) -> Option<Waiting<P>> {
        let Some(packet) = source.pop() else {
            (self.above_until, self.dropping) = (None, false);
            return None;
        };
        let standing = self.is_standing(codel, now, &packet, source.backlog());
        match (self.dropping, standing) {
            (true, true) => self.go_on(codel, now, packet, source, effects),
            (false, true) => self.begin(codel, now, packet, source, effects),
            (_, false) => {
                self.dropping = false;
                Some(packet)
            }
        }
    }

    /// Whether the delay has been above the target for an interval; `backlog` is without the packet.
    fn is_standing<P>(
        &mut self,
        codel: &Codel,
        now: Time,
        packet: &Waiting<P>,
        backlog: u64,
    ) -> bool {
        let now = ticks(now);
        let delay = now - ticks(packet.came);

        // codel_should_drop: a short delay, or a queue of one MTU at most, ends the observation.
        if delay < ticks(codel.target) || backlog <= u64::from(codel.mtu) {
            self.above_until = None;
            return false;
        }

        // The first long delay starts an interval.
        let until = *self.above_until.get_or_insert(now + ticks(codel.interval));
        now > until
    }

    /// Takes the packet after a dropped one; whether the delay is still too long.
    fn next<P: Packet>(
        &mut self,
        codel: &Codel,
        now: Time,
        source: &mut dyn Source<P>,
    ) -> (Option<Waiting<P>>, bool) {
        let packet = source.pop();
        let standing = match &packet {
            Some(packet) => self.is_standing(codel, now, packet, source.backlog()),
            None => {
                self.above_until = None;
                false
            }
        };
        (packet, standing)
    }

    /// Drops packets while a scheduled drop is due, or marks one instead. Returns the packet that leaves; none if the queue
    /// ran empty.
    fn go_on<P: Packet>(
        &mut self,
        codel: &Codel,
        now: Time,
        packet: Waiting<P>,
        source: &mut dyn Source<P>,
        effects: &mut Effects<P>,
    ) -> Option<Waiting<P>> {
        let mut packet = packet;
        while let Some(scheduled) = self.drop_next.filter(|&next| next <= ticks(now)) {
            self.count = self.count.wrapping_add(1);
            self.refine_root();

            // A mark stands for a drop, and the packet leaves.
            if effects.mark(&mut packet, codel.ecn) {
                self.drop_next = Some(self.after(scheduled, codel));
                break;
            }
            effects.dropped.push(packet);
            let (next, standing) = self.next(codel, now, source);
            self.dropping = standing;
            if standing {
                self.drop_next = Some(self.after(scheduled, codel));
            }
            packet = next?;
            if !standing {
                break;
            }
        }
        Some(packet)
    }

    /// Makes the first drop, and schedules the next one.
    fn begin<P: Packet>(
        &mut self,
        codel: &Codel,
        now: Time,
        packet: Waiting<P>,
        source: &mut dyn Source<P>,
        effects: &mut Effects<P>,
    ) -> Option<Waiting<P>> {
        let mut packet = packet;
        let marked = effects.mark(&mut packet, codel.ecn);
        let leaving = if marked {
            Some(packet)
        } else {
            effects.dropped.push(packet);
            self.next(codel, now, source).0
        };
        self.dropping = true;

        // A recent episode resumes with its drops; else the count starts at 1.
        let remembered = |next| ticks(now) - next < REMEMBERED * ticks(codel.interval);
        let drops = self.count.wrapping_sub(self.count_at_start);
        if drops > 1 && self.drop_next.is_some_and(remembered) {
            self.count = drops;
            self.refine_root();
        } else {
            (self.count, self.root) = (1, u16::MAX);
        }
        self.count_at_start = self.count;
        self.drop_next = Some(self.after(ticks(now), codel));
        leaving
    }

    /// The control law: an interval over sqrt(count) after `time`.
    fn after(&self, time: i64, codel: &Codel) -> i64 {
        let step = (ticks(codel.interval) as u64 * u64::from(self.root)) >> ROOT_BITS;
        time + step as i64
    }

    /// One step of Newton's method for x = 1/sqrt(count): x (3 - count x^2) / 2, in 2^-32.
    fn refine_root(&mut self) {
        let x = u64::from(self.root) << ROOT_BITS;
        let square = (x * x) >> 32;
        let rest = (3u64 << 32).wrapping_sub(u64::from(self.count).wrapping_mul(square));
        // Two bits fewer, so that the product fits.
        let refined = (rest >> 2).wrapping_mul(x) >> 31;
        self.root = (refined >> ROOT_BITS) as u16;
    }
}

/// One queue under CoDel.
#[derive(Debug)]
pub(super) struct Single<P> {
    codel: Codel,
    limit: QueueLimit,
    list: List<P>,
    law: Law,
}

impl<P> Single<P> {
    pub(super) fn new(codel: Codel, limit: QueueLimit) -> Single<P> {
        Single { codel, limit, list: List::default(), law: Law::default() }
    }
}

impl<P> Source<P> for List<P> {
    fn pop(&mut self) -> Option<Waiting<P>> {
        List::pop(self)
    }

    fn backlog(&self) -> u64 {
        self.bytes()
    }
}

impl<P: Packet> Queue<P> for Single<P> {
    fn enqueue(&mut self, packet: Waiting<P>, ahead: Size, effects: &mut Effects<P>) -> Verdict {
        self.list.offer(packet, self.limit, ahead, effects)
    }

    fn dequeue(&mut self, now: Time, effects: &mut Effects<P>) -> Option<Waiting<P>> {
        self.law.dequeue(&self.codel, now, &mut self.list, effects)
    }

    fn each(&self, each: &mut dyn FnMut(&P)) {
        self.list.each(each);
    }
}
