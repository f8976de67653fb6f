//! The case that advice is about: a run's description, its flows, hosts and needs.

use crate::analysis::settings::{Allowed, FlowSettings, Needs};
use crate::analysis::{FlowMeta, Made, RunMeta, main_datagrams};
use crate::scenario::{
    App, DatagramKind, Datagrams, Element, Flow, Host, Plan, Resolved, Scenario,
};
use crate::sizing::sizes::SHALLOW;
use fullpipe_base::path::{Direction, QueueLimit};
use fullpipe_base::units::Time;
use std::collections::BTreeMap;

/// Today's run, and the facts about it that advice needs.
#[derive(Clone, Debug)]
pub struct Case {
    /// The run.
    pub today: Resolved,
    /// Direction of the data to speed up.
    pub direction: Direction,
    /// Longest round trip of its flows, without queues.
    pub round_trip: Time,
    /// Time for which the longest flow sends.
    pub horizon: Time,
    /// Rate that the path allows; none where nothing bounds it.
    pub allowed: Option<Allowed>,
    /// The flows that go there.
    pub flows: Vec<Sent>,
    /// Queue in front of the bottleneck, bytes, where it is known in bytes or packets.
    pub queue: Option<u64>,
    /// Whether chance decides: a short queue, several flows, losses or a policer.
    pub is_chancy: bool,
    /// Number of the first run of a trial: runs of other numbers have other seeds, starts and delays.
    pub first_seed: u64,
    /// Whether a trial lasts until the queue has settled, too.
    pub settles_queue: bool,
    /// Whether the path loses segments by chance, or polices them.
    pub is_lossy: bool,
    /// Datagrams that the run is about; none where it is about flows of TCP.
    pub datagrams: Option<Asked>,
    /// Datagrams that leave the flows next to nothing.
    pub crowd: Option<Crowd>,
}

/// Datagrams of UDP that a program sends at a rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Their name.
    pub name: String,
    /// Names of the hosts that send and receive its data.
    pub hosts: [String; 2],
    /// Payload of each, bytes.
    pub size: u32,
    /// Payload that the program sends, Mb/s (10^6).
    pub mbit: f64,
    /// SO_RCVBUF that the receiving program asks for, bytes; none: it does not.
    pub rcvbuf: Option<u64>,
}

/// Datagrams that leave flows next to nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Crowd {
    /// Their name.
    pub name: String,
    /// Payload that their program sends, Mb/s (10^6).
    pub mbit: f64,
    /// Payload of such datagrams that the path carries, Mb/s.
    pub carried_mbit: f64,
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
    /// Its fair part of the path, Mb/s (10^6), whatever its program asks for; none where nothing bounds it.
    pub share_mbit: Option<f64>,
    /// Window and buffers that this part needs; none where the path is out of the planner's bounds.
    pub needs: Option<Needs>,
    /// Window and buffers that the flow needs if it has the path alone.
    pub alone: Option<Needs>,
}

impl Sent {
    /// A flow with a fair part of `share_mbit`, where `sharing` flows take the path with it.
    fn new(flow: &FlowMeta, share_mbit: Option<f64>, sharing: u32) -> Sent {
        Sent {
            name: flow.name.clone(),
            hosts: flow.hosts.clone(),
            congestion: flow.congestion.clone(),
            needs: flow.settings.needs(sharing, &flow.congestion),
            alone: flow.settings.needs(1, &flow.congestion),
            share_mbit,
            settings: flow.settings.clone(),
        }
    }
}

impl Case {
    /// The case of a plan; none where neither TCP nor UDP sends data.
    pub fn new(scenario: &Scenario, plan: &Plan) -> Option<Case> {
        let run = &plan.resolved;
        let meta = RunMeta::from_plan(scenario, plan, Made::default());

        // Datagrams decide the direction where the run is about them.
        let datagrams = main_datagrams(run).and_then(asked);
        let direction = match &datagrams {
            Some((direction, _)) => *direction,
            None => meta.main_way?,
        };
        let is_datagrams = datagrams.is_some();

        // Where the run is about datagrams, no flow counts.
        let there = |flow: &&Flow| flow.direction == direction && !is_datagrams;
        let count = if is_datagrams { 0 } else { at_once(run, direction) };
        let allowed = meta.way(direction).allowed.clone();
        let horizon = run.flow.iter().filter(there).filter_map(|flow| flow.duration).max();
        let horizon = horizon.unwrap_or(Time::ZERO);
        // Both have the same flows in the same order.
        let own = run.flow.iter().zip(&meta.flows).filter(|(flow, _)| there(flow));

        // Flows with limits of their own leave the others more than an equal part.
        let shares = shares(run, allowed.as_ref());
        let flows = own.map(|(about, flow)| {
            let share = shares.get(about.name.as_str()).copied();
            let sharing = match (&allowed, share) {
                (Some(own), Some(share)) if share > 0.0 => (own.mbit() / share).round() as u32,
                _ => u32::try_from(count).unwrap_or(u32::MAX),
            };
            Sent::new(flow, share, sharing.max(1))
        });
        let flows: Vec<Sent> = flows.collect();

        // The longest round trip decides how long trials last.
        let trips = run.flow.iter().filter(|flow| is_datagrams || there(flow));
        let trips = trips.map(|flow| run.round_trip(flow));
        let round_trip = trips.max().unwrap_or(Time::ZERO).max(Time::us(1));
        let queue = allowed.as_ref().and_then(|own| queue(run, own));
        let product = allowed.as_ref().map(|own| bdp(own, round_trip));

        // A shallow queue, several flows and losses let chance decide: trials need several seeds.
        let is_shallow = matches!((queue, product), (Some(queue), Some(product))
            if (queue as f64) < SHALLOW * product);
        let is_lossy = run.way(direction).iter().any(is_lossy);
        Some(Case {
            today: run.clone(),
            direction,
            round_trip,
            horizon,
            first_seed: 0,
            settles_queue: false,
            is_chancy: !is_datagrams && (is_shallow || count > 1 || is_lossy),
            crowd: match is_datagrams {
                true => None,
                false => allowed.as_ref().and_then(|own| crowd(run, direction, own)),
            },
            datagrams: datagrams.map(|(_, asked)| asked),
            is_lossy,
            flows,
            queue,
            allowed,
        })
    }

    /// The case of datagrams that go beside its flows, by their name; none where they go the other way.
    pub fn of_datagrams(&self, name: &str) -> Option<Case> {
        let own = self.today.datagrams.iter().find(|own| own.name == name)?;
        let (_, asked) = asked(own).filter(|(direction, _)| *direction == self.direction)?;
        Some(Case {
            datagrams: Some(asked),
            flows: Vec::new(),
            is_chancy: false,
            crowd: None,
            ..self.clone()
        })
    }

    /// Names of the flows.
    pub fn names(&self) -> Vec<String> {
        self.flows.iter().map(|flow| flow.name.clone()).collect()
    }

    /// Judged flows that are open at the same time: a loop has one of its connections at a time.
    pub fn at_once(&self) -> usize {
        if self.datagrams.is_some() { 0 } else { at_once(&self.today, self.direction) }
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

    /// Whether one of the flows has answers or messages, of which the other end delays ACKs.
    pub fn has_turns(&self) -> bool {
        let run = &self.today;
        let sent = |flow: &&Flow| self.flows.iter().any(|own| own.name == flow.name);
        let is_one = |flow: &Flow| {
            run.reverse_flow(flow).is_some() || matches!(flow.app, App::Messages { .. })
        };
        run.flow.iter().filter(sent).any(is_one)
    }

    /// Whether all flows are messages of programs that have one at a time without an answer, or send them by the clock.
    pub fn sends_messages(&self) -> bool {
        let run = &self.today;
        let of = |sent: &Sent| run.flow.iter().find(|own| own.name == sent.name);
        let is_one = |flow: &Flow| {
            matches!(flow.app, App::Messages { .. }) && run.opens(flow).in_flight() <= 1
        };
        !self.flows.is_empty() && self.flows.iter().all(|own| of(own).is_some_and(is_one))
    }

    /// Least part that a flow may have of the path, bytes of payload per second.
    pub fn least_share_bytes(&self) -> Option<f64> {
        self.flows.iter().filter_map(Sent::share_bytes).min_by(f64::total_cmp)
    }
}

impl Sent {
    /// Payload of the path that a flow without a limit of its own may have, bytes per second.
    pub fn share_bytes(&self) -> Option<f64> {
        Some(self.share_mbit? * 1e6 / 8.0)
    }
}

/// Request of a program for its datagrams, and their direction; none without a rate.
fn asked(own: &Datagrams) -> Option<(Direction, Asked)> {
    // Datagrams go from end to end unless they name hosts.
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
    Some((own.direction, asked))
}

/// Datagrams of UDP of a way.
fn udp(run: &Resolved, direction: Direction) -> impl Iterator<Item = &Datagrams> {
    run.datagrams
        .iter()
        .filter(move |own| own.kind == DatagramKind::Udp && own.direction == direction)
}

/// Payload that the program of datagrams sends, Mb/s.
fn sent_mbit(own: &Datagrams) -> f64 {
    own.rate.map_or(0.0, |rate| rate.0 as f64 / 1e6)
}

/// Part of the path that is next to nothing.
const CROWDED: f64 = 0.05;
/// Least part of the path that datagrams leave to flows.
const LEAST_LEFT: f64 = 0.01;

/// Payload that datagrams of UDP leave to flows, because datagrams take their demand; Mb/s.
pub(super) fn left(run: &Resolved, direction: Direction, allowed: &Allowed) -> f64 {
    let lasts = run.flow.iter().filter(|flow| flow.direction == direction);
    let lasts = lasts.map(|flow| flow.duration.unwrap_or(run.duration)).max();
    let lasts = lasts.unwrap_or(run.duration).as_secs_f64().max(1e-9);
    let taken: f64 = udp(run, direction)
        .map(|own| {
            let beside = own.end().saturating_sub(own.start).as_secs_f64() / lasts;
            sent_mbit(own) / allowed.datagram_mbit(own.size) * beside.min(1.0)
        })
        .sum();
    allowed.mbit() * (1.0 - taken).max(LEAST_LEFT)
}

/// Datagrams that leave flows next to nothing of their path; of several the largest.
fn crowd(run: &Resolved, direction: Direction, allowed: &Allowed) -> Option<Crowd> {
    let own = udp(run, direction).max_by(|a, b| sent_mbit(a).total_cmp(&sent_mbit(b)))?;
    let carried_mbit = allowed.datagram_mbit(own.size);
    let is_crowded = left(run, direction, allowed) <= CROWDED * allowed.mbit();
    is_crowded.then(|| Crowd { name: own.name.clone(), mbit: sent_mbit(own), carried_mbit })
}

/// Demand of a flow's programs, Mb/s; infinite where they write and read as fast as they can.
pub(super) fn demand(flow: &Flow) -> f64 {
    let writes = match flow.app {
        App::Rate { rate } => rate.0 as f64,
        _ => f64::INFINITY,
    };
    let reads = flow.reader.map_or(f64::INFINITY, |reader| reader.rate.0 as f64);
    writes.min(reads) / 1e6
}

/// A flow that lives for less than this part of another one's life takes nothing from it that counts.
const BRIEF: f64 = 0.1;

/// Beginning of a flow, and the end that it has on an empty path.
fn life(run: &Resolved, allowed: &Allowed, flow: &Flow) -> [Time; 2] {
    let most = flow.duration.map_or(run.duration, |lasts| flow.start + lasts).min(run.duration);
    let bytes = flow.bytes.filter(|_| demand(flow) > allowed.mbit());
    let sent = bytes.map(|bytes| Time((bytes as f64 * 8e3 / allowed.mbit().max(1e-9)) as u64));
    [flow.start, sent.map_or(most, |sent| most.min(flow.start + sent))]
}

/// Flows of a direction that are open at the same time, each loop as one.
fn at_once(run: &Resolved, direction: Direction) -> usize {
    run.flow.iter().filter(|flow| flow.direction == direction && flow.after.is_none()).count()
}

/// Part of each flow of a path, Mb/s, by its name. Connections of a loop have the first one's part in turn.
fn shares<'a>(run: &'a Resolved, allowed: Option<&Allowed>) -> BTreeMap<&'a str, f64> {
    let mut shares = BTreeMap::new();
    let Some(allowed) = allowed else { return shares };
    for flow in &run.flow {
        let of_loop = flow.after.as_ref().and_then(|after| shares.get(after.flow.as_str()));
        let share = of_loop.copied().unwrap_or_else(|| share_of(run, allowed, flow));
        shares.insert(flow.name.as_str(), share);
    }
    shares
}

/// Part of a path that a flow without a limit of its own may have, Mb/s.
///
/// It shares with flows of its direction that live for a good part of its life. Datagrams have their part first.
fn share_of(run: &Resolved, allowed: &Allowed, own: &Flow) -> f64 {
    let [start, end] = life(run, allowed, own);
    let others = run
        .flow
        .iter()
        .filter(|flow| {
            let [from, until] = life(run, allowed, flow);

            // A flow that lives beside this one only briefly takes nothing from it.
            let beside = until.min(end).saturating_sub(from.max(start));
            flow.name != own.name
                && flow.after.is_none()
                && flow.direction == own.direction
                && beside.as_secs_f64() >= BRIEF * end.saturating_sub(start).as_secs_f64()
        })
        .map(demand);
    share(left(run, own.direction, allowed), others.chain([f64::INFINITY]).collect())
}

/// Part of a path that a flow may have in a run, Mb/s.
///
/// It is no more than its program asks for.
pub(super) fn part(run: &Resolved, allowed: &Allowed, own: &Flow) -> f64 {
    share_of(run, allowed, own).min(demand(own))
}

/// Share of a flow's life in which no other flow of its direction sends (0 to 1); none where no other flow overlaps it.
pub(super) fn alone_for(run: &Resolved, allowed: &Allowed, own: &Flow) -> Option<f64> {
    let [start, end] = life(run, allowed, own);

    // Flows of the other direction share nothing.
    let others = run.flow.iter().filter(|flow| flow.name != own.name);
    let others = others.filter(|flow| flow.direction == own.direction && flow.after.is_none());
    let lives = others.map(|flow| life(run, allowed, flow));
    let lives = lives.map(|[from, until]| [from.max(start), until.min(end)]);
    let mut beside: Vec<[Time; 2]> = lives.filter(|[from, until]| from < until).collect();

    // In order of their start, overlapping lives count once.
    beside.sort();
    let (mut shared, mut last) = (Time::ZERO, start);
    for [from, until] in &beside {
        shared += until.saturating_sub(*from.max(&last));
        last = last.max(*until);
    }
    let life = end.saturating_sub(start).as_secs_f64();
    (!beside.is_empty() && life > 0.0).then(|| 1.0 - shared.as_secs_f64() / life)
}

/// Max-min fair part of the flows with the largest demands: the rate that flows with smaller demands leave.
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
