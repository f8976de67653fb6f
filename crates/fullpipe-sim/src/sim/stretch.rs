//! Which host works next, and how long it may go on before it has to wait for the other one.

use super::entrance::Entrance;
use super::host::Host;
use super::{Run, Shared, Way};
use crate::packet::Train;
use crate::trace::Sink;
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
            let done = now;
            (now, work) = self.next();
            debug_assert!(now >= done, "{}: from {done} back to {now}", self.name);
            if now > last || self.out.wire.len() >= LONGEST_STRETCH {
                return;
            }
        }
    }

    fn do_one(&mut self, now: Time, work: Work, shared: &mut Shared) {
        shared.doing = (work, self.place());
        self.handle(now, work, shared);
    }

    /// Takes packets that have an interrupt each, and does between them what is due.
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
            let ((next, _), host) = self.next_host();
            let wakes = self.ways.iter_mut().map(|way| way.chain.wake_time());
            let wake = wakes.min().unwrap_or(Time::NEVER);
            let enters = self.ways.iter().map(Way::enters).min().unwrap_or(Time::NEVER);
            let now = next.min(wake).min(enters);
            if now > until {
                return;
            }
            let until = if captures { Time::ZERO } else { until };
            if wake <= now {
                self.wake(wake);
            } else if next <= now {
                let bound = self.heard_back(self.way_of(host));
                self.hosts[host].work(until, bound, &mut self.shared);
            } else {
                self.enter(enters);
            }
            self.carry();
            if captures {
                self.tell_packets(now, false, sink);
            }
        }
    }

    /// The host that works next: when, what, and its place.
    fn next_host(&self) -> ((Time, Work), usize) {
        let mut first = ((Time::NEVER, Work::Process), 0);
        for (place, host) in self.hosts.iter().enumerate() {
            let next = host.next();
            if next < first.0 {
                first = (next, place);
            }
        }
        first
    }

    /// The way that begins at a host.
    fn way_of(&self, host: usize) -> usize {
        usize::from(host >= self.ways[1].hosts.start)
    }

    /// When the hosts at the beginning of a way work next.
    fn works(&self, way: usize) -> Time {
        let hosts = &self.hosts[self.ways[way].hosts.clone()];
        hosts.iter().map(|host| host.next().0).min().unwrap_or(Time::NEVER)
    }

    /// Before this nothing reaches the hosts at the beginning of a way but what is on the wire to them: those at its
    /// end work from then on, or answer what they get from now on.
    fn heard_back(&self, way: usize) -> Time {
        let [there, back] = [&self.ways[way], &self.ways[1 - way]];
        let entered = self.works(way).min(there.enters()) + there.chain.least_delay();
        let answer = self.works(1 - way).min(back.enters());
        let answer = answer.min(there.chain.holds_until()).min(entered);
        back.chain.holds_until().min(answer + back.chain.least_delay())
    }

    /// Before this the hosts at the beginning of a way have sent all.
    pub(super) fn all_sent(&self, way: usize) -> Time {
        self.works(way).min(self.heard_back(way))
    }

    /// What comes to an entrance at `now` enters: no host has anything to do before.
    fn enter(&mut self, now: Time) {
        for way in 0..self.ways.len() {
            self.let_in(way, now + Time(1));
            self.deliver(way);
        }
    }

    fn wake(&mut self, now: Time) {
        for way in 0..self.ways.len() {
            self.ways[way].chain.wake(now, &mut self.scratch);
            self.deliver(way);
        }
    }
}

impl Way {
    /// When the first packet enters that waits at the entrance.
    fn enters(&self) -> Time {
        self.entrance.as_ref().map_or(Time::NEVER, Entrance::next)
    }
}
