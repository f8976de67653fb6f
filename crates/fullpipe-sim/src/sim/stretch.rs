//! Which host works next, and how long it may go on before it has to wait for the other one.

use super::host::Host;
use super::{Run, Shared};
use crate::config::{Direction, Flow};
use crate::path::Chain;
use crate::trace::Sink;
use crate::train::Train;
use crate::units::Time;

/// With so many trains on the wire a stretch of work ends: they still lie in a near cache when the path takes them.
const LONGEST_STRETCH: usize = 1024;

/// What a host has to do, in the order in which things of one time are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Work {
    Packets,
    Timers,
    Process,
}

/// The hosts, in the order in which they do the same kind of work at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    Sender,
    Receiver,
}

impl Side {
    /// The host's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Side::Sender => "sender",
            Side::Receiver => "receiver",
        }
    }

    /// Whether this host has the end of the flow that sends data.
    pub(super) fn sends(self, flow: &Flow) -> bool {
        (self == Side::Sender) == (flow.direction == Direction::Forward)
    }

    pub(super) fn other(self) -> Side {
        match self {
            Side::Sender => Side::Receiver,
            Side::Receiver => Side::Sender,
        }
    }
}

impl Host {
    fn next(&self) -> (Time, Work) {
        let [packets, timers, process] = self.due();
        let later = earlier(timers, process);
        if later.0 < packets { later } else { (packets, Work::Packets) }
    }

    /// Works up to `until` and before `bound`, but does at least what is due next. It may end sooner.
    fn work(&mut self, until: Time, bound: Time, shared: &mut Shared) {
        let last = until.min(bound.saturating_sub(Time(1)));
        let (mut now, mut work) = self.next();
        loop {
            let alone = (work == Work::Packets).then(|| self.take_one_by_one(now, last)).flatten();
            match alone {
                Some(packets) => self.one_by_one(&packets, shared),
                None => self.do_one(now, work, shared),
            }
            (now, work) = self.next();
            if now > last || self.out.wire.len() >= LONGEST_STRETCH {
                return;
            }
        }
    }

    fn do_one(&mut self, now: Time, work: Work, shared: &mut Shared) {
        shared.doing = (work, self.side());
        self.handle(now, work, shared);
    }

    /// Takes packets that have an interrupt each, and does between them what is due.
    fn one_by_one(&mut self, packets: &Train, shared: &mut Shared) {
        let mut at = 0;
        loop {
            shared.doing = (Work::Packets, self.side());
            at += self.on_lone_packets(packets, at, shared);
            if at == packets.count {
                return;
            }
            self.work_without_packets(packets.time(at), shared);
        }
    }

    /// Does what is due before `end` but for packets.
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

impl Run {
    /// Does everything that is due up to `until`. A capture follows packets from host to host, so it
    /// sees things one by one, in order of time.
    pub(super) fn advance(&mut self, until: Time, sink: &mut dyn Sink) {
        let captures = self.shared.capture.is_some();
        loop {
            let (sender, receiver) = (self.sender.next(), self.receiver.next());
            let wake = self.forward.wake_time().min(self.back.wake_time());
            let now = wake.min(sender.0).min(receiver.0);
            if now > until {
                return;
            }
            let until = if captures { Time::ZERO } else { until };
            if wake <= sender.0.min(receiver.0) {
                self.wake(wake);
            } else if sender <= receiver {
                let bound = Self::heard_back(sender.0, receiver.0, [&self.forward, &self.back]);
                self.sender.work(until, bound, &mut self.shared);
            } else {
                let bound = Self::heard_back(receiver.0, sender.0, [&self.back, &self.forward]);
                self.receiver.work(until, bound, &mut self.shared);
            }
            self.carry();
            if captures {
                self.tell_packets(now, false, sink);
            }
        }
    }

    /// Before this nothing reaches a host that works from `now` on but what is on the wire to it: the
    /// other host works from `other` on, or answers what it gets from now on.
    fn heard_back(now: Time, other: Time, [there, back]: [&Chain; 2]) -> Time {
        let answer = other.min(there.holds_until()).min(now + there.least_delay());
        back.holds_until().min(answer + back.least_delay())
    }

    fn wake(&mut self, now: Time) {
        self.forward.wake(now, &mut self.scratch);
        self.deliver_forward();
        self.back.wake(now, &mut self.scratch);
        self.deliver_back();
    }
}
