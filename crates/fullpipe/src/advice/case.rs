//! The case that advice is about: a run's description, its flows, hosts and needs.

use crate::analysis::settings::{Allowed, FlowSettings, Needs};
use crate::analysis::{Made, RunMeta};
use crate::scenario::{
    App, DatagramKind, Datagrams, Element, Flow, Host, Plan, Resolved, Scenario,
};
use crate::sizing::sizes::SHALLOW;
use fullpipe_base::path::{Direction, QueueLimit};
use fullpipe_base::units::Time;

/// A run as it is today, and what advice has to know of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The run.
    pub today: Resolved,
    /// Where the data goes that shall be faster.
    pub direction: Direction,
    /// Longest round trip of its flows, without queues.
    pub round_trip: Time,
    /// How long the longest flow is to send.
    pub horizon: Time,
    /// Rate that the path allows; none where nothing bounds it.
    pub allowed: Option<Allowed>,
    /// Part of that rate of a flow that takes what it gets, Mb/s; none where nothing bounds it.
    pub share_mbit: Option<f64>,
    /// The flows that go there.
    pub flows: Vec<Sent>,
    /// Queue in front of the bottleneck, bytes, where it is known in bytes or packets.
    pub queue: Option<u64>,
    /// Whether chance decides: a short queue, several flows, losses or a policer.
    pub is_chancy: bool,
    /// Whether the path loses segments by chance, or polices them.
    pub is_lossy: bool,
    /// Datagrams that the run is about; none where it is about flows of TCP.
    pub datagrams: Option<Asked>,
}

/// Datagrams of UDP that a program sends at a rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Their name.
    pub name: String,
    /// Names of the hosts that send and receive them.
    pub hosts: [String; 2],
    /// Payload of each, bytes.
    pub size: u32,
    /// Payload that the program sends, Mb/s (10^6).
    pub mbit: f64,
    /// SO_RCVBUF that the receiving program asks for, bytes; none: it does not.
    pub rcvbuf: Option<u64>,
}

/// A flow of the case.
#[derive(Clone, Debug)]
pub struct Sent {
    /// Its name.
    pub name: String,
    /// Names of the hosts that send and receive its data.
    pub hosts: [String; 2],
    /// Congestion control.
    pub congestion: String,
    /// Settings that act on it.
    pub settings: FlowSettings,
    /// Window and buffers of its part of the path; none where the path is out of the planner's bounds.
    pub needs: Option<Needs>,
    /// The same if it had the path alone.
    pub alone: Option<Needs>,
}

impl Case {
    /// The case of a plan; none where neither TCP nor UDP sends data.
    pub fn new(scenario: &Scenario, plan: &Plan) -> Option<Case> {
        let run = &plan.resolved;
        let meta = RunMeta::from_plan(scenario, plan, Made::default());
        let datagrams = asked(run);
        let direction = match &datagrams {
            Some((direction, _)) => *direction,
            None => meta.main_way?,
        };
        let is_datagrams = datagrams.is_some();
        let there = |flow: &&Flow| flow.direction == direction && !is_datagrams;
        let count = run.flow.iter().filter(there).count();
        let allowed = meta.way(direction).allowed.clone();
        let horizon = run.flow.iter().filter(there).filter_map(|flow| flow.duration).max();
        let horizon = horizon.unwrap_or(Time::ZERO);
        let demands = run.flow.iter().filter(there).map(demand);
        let left = allowed.as_ref().map(|own| left(run, direction, own));
        let share = left.map(|left| share(left, demands.collect()));
        let sharing = match (&allowed, share) {
            (Some(own), Some(share)) if share > 0.0 => (own.mbit() / share).round() as u32,
            _ => u32::try_from(count).unwrap_or(u32::MAX),
        };
        let sharing = sharing.max(1);

        let own = meta.flows.iter().filter(|flow| flow.direction == direction && !is_datagrams);
        let flows: Vec<Sent> = own
            .map(|flow| Sent {
                name: flow.name.clone(),
                hosts: flow.hosts.clone(),
                congestion: flow.congestion.clone(),
                needs: flow.settings.needs(sharing, &flow.congestion),
                alone: flow.settings.needs(1, &flow.congestion),
                settings: flow.settings.clone(),
            })
            .collect();
        let trips = run.flow.iter().filter(|flow| is_datagrams || there(flow));
        let trips = trips.map(|flow| run.round_trip(flow));
        let round_trip = trips.max().unwrap_or(Time::ZERO).max(Time::us(1));
        let queue = allowed.as_ref().and_then(|own| queue(run, own));
        let product = allowed.as_ref().map(|own| bdp(own, round_trip));
        let is_shallow = matches!((queue, product), (Some(queue), Some(product))
            if (queue as f64) < SHALLOW * product);
        let is_lossy = way(run, direction).iter().any(is_lossy);
        Some(Case {
            today: run.clone(),
            direction,
            round_trip,
            horizon,
            share_mbit: share,
            allowed,
            is_chancy: !is_datagrams && (is_shallow || count > 1 || is_lossy),
            datagrams: datagrams.map(|(_, asked)| asked),
            is_lossy,
            flows,
            queue,
        })
    }

    /// Names of the flows.
    pub fn names(&self) -> Vec<String> {
        self.flows.iter().map(|flow| flow.name.clone()).collect()
    }

    /// Hosts that send (0) or receive (1), each once.
    pub fn hosts(&self, end: usize) -> Vec<(&str, &Host)> {
        let mut hosts: Vec<(&str, &Host)> = Vec::new();
        let own = self.flows.iter().map(|flow| &flow.hosts);
        for names in own.chain(self.datagrams.iter().map(|asked| &asked.hosts)) {
            let name = names[end].as_str();
            let known = self.today.stations().into_iter().find(|own| own.name == name);
            if let Some(station) = known.filter(|_| hosts.iter().all(|(own, _)| *own != name)) {
                hosts.push((name, station.host));
            }
        }
        hosts
    }

    /// Payload that the path allows, and of datagrams no more than their program sends; Mb/s.
    pub fn allowed_mbit(&self) -> Option<f64> {
        let Some(asked) = &self.datagrams else { return self.allowed.as_ref().map(Allowed::mbit) };
        let path = self.allowed.as_ref().map_or(f64::INFINITY, |own| own.datagram_mbit(asked.size));
        Some(asked.mbit.min(path))
    }

    /// Payload that a flow which takes what it gets may have of the path, bytes per second.
    pub fn share_bytes(&self) -> Option<f64> {
        Some(self.share_mbit? * 1e6 / 8.0)
    }
}

/// Flows that carry less than this share of what datagrams carry stand beside them.
const BESIDE: f64 = 0.01;

/// The largest datagrams of UDP and where they go, unless flows carry more than next to nothing.
fn asked(run: &Resolved) -> Option<(Direction, Asked)> {
    let size = |own: &Datagrams| {
        let lasts = own.duration.unwrap_or(run.duration).as_secs_f64();
        let by_rate = own.rate.map(|rate| rate.0 as f64 / 8.0 * lasts);
        let by_count = own.count.map(|count| count as f64 * f64::from(own.size));
        by_count.or(by_rate).unwrap_or(0.0)
    };
    let udp = run.datagrams.iter().filter(|own| own.kind == DatagramKind::Udp);
    let own = udp.max_by(|a, b| size(a).total_cmp(&size(b)))?;
    let most = BESIDE * size(own);
    let are_small =
        run.flow.iter().all(|flow| flow.bytes.is_some_and(|bytes| (bytes as f64) < most));
    let ends = match own.direction {
        Direction::Forward => ["sender", "receiver"],
        Direction::Backward => ["receiver", "sender"],
    };
    let host = |named: &Option<String>, end: usize| named.clone().unwrap_or(ends[end].into());
    let asked = Asked {
        name: own.name.clone(),
        hosts: [host(&own.from, 0), host(&own.to, 1)],
        size: own.size,
        mbit: own.rate?.0 as f64 / 1e6,
        rcvbuf: own.rcvbuf,
    };
    (are_small && run.nfs.is_empty()).then_some((own.direction, asked))
}

/// Least part of the path that flows have beside datagrams.
const LEAST_LEFT: f64 = 0.01;

/// Payload of flows beside datagrams of UDP, which take what they ask for; Mb/s.
fn left(run: &Resolved, direction: Direction, allowed: &Allowed) -> f64 {
    let lasts = run.flow.iter().filter(|flow| flow.direction == direction);
    let lasts = lasts.map(|flow| flow.duration.unwrap_or(run.duration)).max();
    let lasts = lasts.unwrap_or(run.duration).as_secs_f64().max(1e-9);
    let part = |own: &Datagrams| {
        let beside = own.end().saturating_sub(own.start).as_secs_f64() / lasts;
        let rate = own.rate.map_or(0.0, |rate| rate.0 as f64 / 1e6);
        rate / allowed.datagram_mbit(own.size) * beside.min(1.0)
    };
    let there = |own: &&Datagrams| own.kind == DatagramKind::Udp && own.direction == direction;
    let taken: f64 = run.datagrams.iter().filter(there).map(part).sum();
    allowed.mbit() * (1.0 - taken).max(LEAST_LEFT)
}

/// Rate that a flow's program asks for, Mb/s; infinite where it takes what it gets.
fn demand(flow: &Flow) -> f64 {
    match flow.app {
        App::Rate { rate } => rate.0 as f64 / 1e6,
        _ => f64::INFINITY,
    }
}

/// Part of a rate that a flow may have beside others, which are `all` with itself; no more than its program asks for. Mb/s.
pub(super) fn part<'a>(allowed: f64, all: impl Iterator<Item = &'a Flow>, own: &Flow) -> f64 {
    share(allowed, all.map(demand).collect()).min(demand(own))
}

/// Max-min fair part of the flows that ask for most: what those leave that ask for less than their part.
fn share(allowed: f64, mut demands: Vec<f64>) -> f64 {
    demands.sort_by(f64::total_cmp);
    let (mut left, mut count) = (allowed, demands.len().max(1) as f64);
    for demand in demands {
        if demand >= left / count || count < 2.0 {
            break;
        }
        (left, count) = (left - demand, count - 1.0);
    }
    left / count
}

/// Bandwidth-delay product, bytes as the rate counts them.
fn bdp(allowed: &Allowed, round_trip: Time) -> f64 {
    allowed.rate as f64 / 8.0 * round_trip.as_secs_f64()
}

/// Elements of the path in one direction.
pub fn way(run: &Resolved, direction: Direction) -> &[Element] {
    match direction {
        Direction::Forward => &run.path.forward,
        Direction::Backward => &run.path.back,
    }
}

/// Whether an element drops packets that no queue drops.
fn is_lossy(element: &Element) -> bool {
    ["loss", "policer", "gilbert-elliott", "reorder"].contains(&element.kind())
}

/// The queue of the element that allows the least.
fn queue(run: &Resolved, allowed: &Allowed) -> Option<u64> {
    let elements = run.path.forward.iter().chain(&run.path.back);
    let element = elements.into_iter().find(|own| own.name() == allowed.place)?;
    Some(match element.queue()?.limit {
        QueueLimit::Bytes(bytes) => bytes,
        QueueLimit::Packets(packets) => {
            u64::from(packets) * u64::from(allowed.mtu + allowed.overhead)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_that_ask_for_little_leave_the_rest_to_others() {
        let greedy = f64::INFINITY;
        assert_eq!(share(100.0, vec![greedy]), 100.0);
        assert_eq!(share(100.0, vec![greedy, greedy]), 50.0);
        assert_eq!(share(100.0, vec![1.0, greedy, 60.0]), 49.5);
        assert_eq!(share(100.0, vec![1.0, 10.0, greedy]), 89.0);
        // Who asks for little may still have all that is there.
        assert_eq!(share(100.0, vec![1.0]), 100.0);
        assert_eq!(share(100.0, Vec::new()), 100.0);
    }
}
