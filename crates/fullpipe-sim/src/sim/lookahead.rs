//! Choice of the host that works next, and how far it may go before it must wait for the others.

use super::merge_queue::MergeQueue;
use super::{PathDirection, Simulation};
use crate::host::work::Work;
use crate::trace::Sink;
use crate::units::Time;

impl Simulation {
    /// Does all work that is due up to `until`. A capture follows packets from host to host, so with a capture
    /// everything happens in order of time.
    pub(super) fn advance(&mut self, until: Time, sink: &mut dyn Sink) {
        let captures = self.shared.capture.is_some();
        loop {
            let ((next, _), host) = self.next_host();

            // Three things can be next: a host's work, an element's wake-up, an entry from a merge queue.
            let wakes = self.ways.iter_mut().map(|way| way.chain.wake_time());
            let wake = wakes.min().unwrap_or(Time::NEVER);
            let enters = self.ways.iter().map(PathDirection::enters).min().unwrap_or(Time::NEVER);
            let now = next.min(wake).min(enters);
            if now > until {
                return;
            }
            let until = if captures { Time::ZERO } else { until };
            if wake <= now {
                self.wake(wake);
            } else if next <= now {
                let bound = self.lookahead_bound(self.way_of(host));
                self.hosts[host].work(until, bound, &mut self.shared);
            } else {
                self.enter(enters);
            }

            // What the hosts have sent meanwhile enters the path.
            self.carry();
            if captures {
                self.emit_packets(now, false, sink);
            }
        }
    }

    /// The host that works next: time, work, and place.
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

    /// Direction that begins at a host.
    fn way_of(&self, host: usize) -> usize {
        usize::from(host >= self.ways[1].hosts.start)
    }

    /// Time at which the hosts at the beginning of a direction work next.
    fn works(&self, way: usize) -> Time {
        let hosts = &self.hosts[self.ways[way].hosts.clone()];
        hosts.iter().map(|host| host.next().0).min().unwrap_or(Time::NEVER)
    }

    /// Lookahead: no packet that is not in flight yet can reach the hosts at the beginning of a direction earlier. The
    /// hosts at its end work from then on, or answer packets that they get from now on.
    fn lookahead_bound(&self, way: usize) -> Time {
        let [there, back] = [&self.ways[way], &self.ways[1 - way]];
        let entered = self.works(way).min(there.enters()) + there.chain.least_delay();
        let answer = self.works(1 - way).min(back.enters());
        let answer = answer.min(there.chain.holds_until()).min(entered);
        // A router answers packets that are sent from now on.
        let routed = self.works(way).min(there.enters());
        let answer = if there.chain.routers() > 0 { answer.min(routed) } else { answer };
        back.chain.holds_until().min(answer + back.chain.least_delay())
    }

    /// Time before which all packets of a direction have been sent, by its hosts and by routers of the other direction.
    pub(super) fn all_sent(&self, way: usize) -> Time {
        let hosts = self.works(way).min(self.lookahead_bound(way));
        let opposite = &self.ways[1 - way];
        if opposite.chain.routers() == 0 {
            return hosts;
        }
        let routed = self.works(1 - way).min(opposite.enters());
        hosts.min(routed).min(opposite.chain.holds_until())
    }

    /// Lets packets of a merge queue enter at `now`, before any host works.
    fn enter(&mut self, now: Time) {
        for way in 0..self.ways.len() {
            self.let_in(way, now + Time(1));
            self.deliver(way);
            self.send_back(way);
        }
    }

    fn wake(&mut self, now: Time) {
        for way in 0..self.ways.len() {
            self.ways[way].chain.wake(now, &mut self.scratch);
            self.deliver(way);
            self.send_back(way);
        }
    }
}

impl PathDirection {
    /// Time at which the first packet of the merge queue enters.
    fn enters(&self) -> Time {
        self.merge_queue.as_ref().map_or(Time::NEVER, MergeQueue::next)
    }
}
