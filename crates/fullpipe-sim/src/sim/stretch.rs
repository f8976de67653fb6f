//! Which host works next, and how long it may go on before it has to wait for the other one.

use super::receiving::ReceivingHost;
use super::sending::SendingHost;
use super::{Run, Shared};
use crate::path::Chain;
use crate::units::Time;

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

/// What both hosts are to the loop.
trait Host {
    const SIDE: Side;
    /// When its next work of each kind is due, in the order of [`Work`].
    fn due(&self) -> [Time; 3];
    fn handle(&mut self, now: Time, work: Work, shared: &mut Shared);

    fn next(&self) -> (Time, Work) {
        let [packets, timers, process] = self.due();
        let later =
            if process < timers { (process, Work::Process) } else { (timers, Work::Timers) };
        if later.0 < packets { later } else { (packets, Work::Packets) }
    }

    /// Works up to `until` and before `bound`, but does at least what is due next.
    fn work(&mut self, until: Time, bound: Time, shared: &mut Shared) {
        let (mut now, mut work) = self.next();
        loop {
            shared.doing = (work, Self::SIDE);
            self.handle(now, work, shared);
            (now, work) = self.next();
            if now > until || now >= bound {
                return;
            }
        }
    }
}

impl Host for SendingHost {
    const SIDE: Side = Side::Sender;

    fn due(&self) -> [Time; 3] {
        [self.packets_ready(), self.timers.next(), self.process_ready()]
    }

    fn handle(&mut self, now: Time, work: Work, shared: &mut Shared) {
        match work {
            Work::Packets => self.on_packets(now, shared),
            Work::Timers => self.on_timers(now, shared),
            Work::Process => self.on_process(now, shared),
        }
    }
}

impl Host for ReceivingHost {
    const SIDE: Side = Side::Receiver;

    fn due(&self) -> [Time; 3] {
        [self.packets_ready(), self.timers.next(), self.process_ready()]
    }

    fn handle(&mut self, now: Time, work: Work, shared: &mut Shared) {
        match work {
            Work::Packets => self.on_packets(now, shared),
            Work::Timers => self.on_timers(now, shared),
            Work::Process => self.on_process(now, shared),
        }
    }
}

impl Run {
    /// Does everything that is due up to `until`.
    pub(super) fn advance(&mut self, until: Time) {
        loop {
            let (sender, receiver) = (self.sender.next(), self.receiver.next());
            let wake = self.forward.wake_time().min(self.back.wake_time());
            if wake.min(sender.0).min(receiver.0) > until {
                return;
            }
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
