//! Next work of a host, and stretches of work that it does alone.

use super::Host;
use super::shared::Shared;
use crate::packet::Train;
use crate::units::Time;

/// Trains on the wire that end a stretch of work: they still lie in a near cache when the path takes them.
const LONGEST_STRETCH: usize = 1024;

/// Kinds of work, in their order at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Work {
    Packets,
    Timers,
    Process,
}

impl Host {
    /// Time and kind of the next work.
    pub(crate) fn next(&self) -> (Time, Work) {
        let [packets, timers, process] = self.due();
        let later = earlier(timers, process);
        if later.0 < packets { later } else { (packets, Work::Packets) }
    }

    /// Works up to `until` and before `bound`, but does at least the next work. It may end sooner.
    pub(crate) fn work(&mut self, until: Time, bound: Time, shared: &mut Shared) {
        let last = until.min(bound.saturating_sub(Time(1)));
        let (mut now, mut work) = self.next();
        loop {
            // Packets that cause no other work are taken in one stretch.
            let alone = (work == Work::Packets).then(|| self.take_one_by_one(now, last)).flatten();
            match alone {
                Some(packets) => self.one_by_one(&packets, shared),
                None => self.do_one(now, work, shared),
            }
            let done = now;
            (now, work) = self.next();
            debug_assert!(now >= done, "{}: from {done} back to {now}", self.name);

            // The path has to take packets from the wire before their list is long.
            if now > last || self.out.wire.len() >= LONGEST_STRETCH {
                return;
            }
        }
    }

    fn do_one(&mut self, now: Time, work: Work, shared: &mut Shared) {
        shared.doing = (work, self.place());
        self.handle(now, work, shared);
    }

    /// Takes packets with one interrupt each, and does the work that is due between them.
    fn one_by_one(&mut self, packets: &Train, shared: &mut Shared) {
        let mut at = 0;
        loop {
            shared.doing = (Work::Packets, self.place());
            at += self.on_lone_packets(packets, at, shared);
            if at == packets.count {
                return;
            }
            self.work_without_packets(packets.time(at), shared);
        }
    }

    /// Does all work that is due before `end`, except packets.
    fn work_without_packets(&mut self, end: Time, shared: &mut Shared) {
        loop {
            let [_, timers, process] = self.due();
            let (now, work) = earlier(timers, process);
            if now >= end {
                return;
            }
            self.do_one(now, work, shared);
        }
    }
}

fn earlier(timers: Time, process: Time) -> (Time, Work) {
    if process < timers { (process, Work::Process) } else { (timers, Work::Timers) }
}
