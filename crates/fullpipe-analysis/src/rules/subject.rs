//! Flows that a verdict is about: those of one direction that carried data.

use super::cause::wanting;
use crate::document::{Flow, Run};
use crate::lookup::Lives;
use crate::meta::{FlowMeta, RunMeta};
use crate::settings::{Allowed, Needs};
use crate::settled::settles_at;
use crate::words::total;
use fullpipe_base::limits::Derived;
use fullpipe_base::path::Direction;
use fullpipe_base::units::Time;
use fullpipe_scenario::are_copies;

/// A flow that carried less than this share of the largest one's bytes is not part of the subject.
const COUNTS: f64 = 0.01;

/// Name of the limit of a program that reads slowly.
const READER: &str = Derived::Reader.about().name;
/// Share of a flow's life from which on the program that reads sets its rate.
const MOST: f64 = 0.5;

/// A flow of the subject, with its configuration and its results.
#[derive(Clone, Copy)]
pub struct One<'a> {
    /// Its index in the run.
    pub index: usize,
    /// Configuration of the flow.
    pub meta: &'a FlowMeta,
    /// Results of the flow.
    pub flow: &'a Flow,
    /// Window and buffers that fill its part of the path.
    pub needs: Option<Needs>,
}

/// A flow below this share of another one's rate takes no part of the path from it that counts.
const SHARES: f64 = 0.1;
/// Share of an asked rate from which on a flow has reached it.
const AS_ASKED: f64 = 0.95;

impl One<'_> {
    /// Share of the flow's life in which a limit holds it (0 to 1).
    pub fn share(&self, limit: &str) -> f64 {
        self.flow.limits.get(limit).copied().unwrap_or(0.0)
    }

    /// Rate in the mean, or once the flow has grown, if that is higher; Mb/s.
    pub fn best_mbit(&self) -> f64 {
        self.flow.plateau_mbit.unwrap_or(0.0).max(self.flow.mean_mbit)
    }

    /// Whether the flow is as fast as `asked`, bit/s of payload, in the mean or once it has grown; no where nothing was asked.
    pub fn reaches(&self, asked: Option<u64>) -> bool {
        asked.is_some_and(|asked| self.best_mbit() * 1e6 >= AS_ASKED * asked as f64)
    }
}

/// Flows of one direction together.
pub struct Subject<'a> {
    /// The flows, one or more, in the document's order.
    pub flows: Vec<One<'a>>,
    /// Bytes over the time in which any of them lived, Mb/s.
    pub rate: f64,
    /// Rate that the path allows them, at its highest.
    pub allowed: Option<&'a Allowed>,
    /// Share of that rate that the path carries in the mean while any of them lives (above 0 to 1): less than 1 where its links
    /// vary.
    pub carried: f64,
    /// Most of the flows that lived at one time.
    pub at_once: usize,
    /// Flows of that direction that carried nothing at all.
    pub starved: usize,
    /// Flows of that direction that carried too little to count, and are not done.
    pub faint: usize,
    /// Name of its flows where they are a part of the judged ones; none of a whole subject.
    pub part: Option<String>,
}

impl<'a> Subject<'a> {
    /// The flows of the run's main way; none where the run has no flow.
    pub fn new(meta: &'a RunMeta, lives: &Lives, run: &'a Run) -> Option<Subject<'a>> {
        let direction = meta.main_way?;
        let of = || of(meta, lives, run, direction);
        let largest = of().map(|one| one.flow.bytes).max()?;

        // Small flows beside large ones would spoil means and ranges. Connections of a loop count together.
        let loops: Vec<Entry> = entries(of()).into_iter().filter(Entry::is_loop).collect();
        let bytes = |one: &One| {
            let own = loops.iter().find(|own| own.has(one));
            own.map_or(one.flow.bytes, |own| total(own.0.iter().map(|one| one.flow.bytes)))
        };
        let is_large = |one: &One| bytes(one) as f64 >= COUNTS * largest as f64;
        let counts = |one: &One| {
            // Users mean the first flow, even if it is short, but not one that ended before the others began, nor
            // one that has all that its program reads.
            let is_first = one.index == 0 && one.flow.bytes > 0 && one.share(READER) < MOST;
            let mut large = of().filter(is_large);
            is_large(one) || (is_first && large.all(|own| overlap(one, &own, lives)))
        };
        let mut flows: Vec<One> = of().filter(counts).collect();

        // Flows that live at one time share the path, and need less each.
        let sharing: Vec<u32> = flows.iter().map(|one| together(one, &flows, lives)).collect();
        for (one, sharing) in flows.iter_mut().zip(sharing) {
            one.needs = one.meta.settings.needs(sharing, &one.meta.congestion);
        }
        let beside = || of().filter(|one| !counts(one));
        let is_starved = |one: &One| one.flow.bytes == 0 && !one.meta.follows;
        let starved = beside().filter(is_starved).count();
        // A small transfer that is done lacks nothing.
        let faint = |one: &One| one.flow.bytes > 0 && one.flow.completion_s.is_none();
        let allowed = meta.way(direction).allowed.as_ref();
        Some(Subject {
            rate: rate(&flows, lives),
            carried: allowed.map_or(1.0, |own| own.carried(&alive(&flows, lives))),
            allowed,
            at_once: at_once(flows.iter(), lives),
            starved,
            faint: beside().filter(faint).count(),
            part: None,
            flows,
        })
    }

    /// The flows of the run's main way that carried nothing beside others that did; none where there are none.
    pub fn hung(meta: &'a RunMeta, lives: &Lives, run: &'a Run) -> Option<Subject<'a>> {
        let direction = meta.main_way?;
        let all: Vec<One> = of(meta, lives, run, direction).collect();
        // Where a connection of a loop has ended, the next one only begins.
        let is_hung = |one: &One| one.flow.bytes == 0 && !one.meta.follows;
        let (mut flows, others): (Vec<One>, Vec<One>) = all.into_iter().partition(is_hung);
        if flows.is_empty() || others.is_empty() {
            return None;
        }
        for one in &mut flows {
            one.needs = one.meta.settings.needs(1, &one.meta.congestion);
        }
        let allowed = meta.way(direction).allowed.as_ref();
        let at_once = flows.len();
        let none = Subject {
            rate: 0.0,
            allowed,
            carried: 1.0,
            at_once,
            starved: 0,
            faint: 0,
            part: None,
            flows: Vec::new(),
        };
        Some(Subject { flows, ..none })
    }

    /// Parts with causes of their own, the one that lacks most of its part of the path first: flows of one entry of the scenario
    /// each, where a loop of connections has other flows beside it. None elsewhere.
    ///
    /// A loop has many connections, and a flow beside it is one: all together they would have the loop's cause.
    pub fn parts(&self, lives: &Lives) -> Vec<Subject<'a>> {
        let all = entries(wanting(&self.flows).into_iter().copied());
        if all.len() < 2 || !all.iter().any(Entry::is_loop) {
            return Vec::new();
        }

        // Rates are those of the whole path.
        let part = |Entry(flows): Entry<'a>| Subject {
            at_once: at_once(flows.iter(), lives),
            part: Some(named(&flows)),
            flows,
            ..*self
        };
        let mut all: Vec<Subject> = all.into_iter().map(part).collect();
        let lacks = |own: &Subject| {
            let fair = own.at_once as f64 / self.at_once.max(1) as f64;
            fair * self.allowed_mbit().unwrap_or(0.0) - rate(&own.flows, lives)
        };
        all.sort_by(|a, b| lacks(b).total_cmp(&lacks(a)));

        // Entries that take turns do not stand beside one another.
        let are_beside = all.iter().all(|own| own.at_once < self.at_once);
        if are_beside { all } else { Vec::new() }
    }

    /// Spans in which any of the flows lives, in order of time.
    pub fn spans(&self, lives: &Lives) -> Vec<[Time; 2]> {
        alive(&self.flows, lives)
    }

    /// Whether the path carries less than its highest rate for some of the flows' time.
    pub fn varies(&self) -> bool {
        self.carried < 1.0
    }

    /// Share of the time from the first start to the last end in which no flow lives (0 to 1).
    pub fn rests(&self, lives: &Lives) -> f64 {
        let spans = self.spans(lives);
        let lasts = |[from, until]: [Time; 2]| until.saturating_sub(from).as_secs_f64();
        let ends = spans.first().zip(spans.last()).map(|(first, last)| [first[0], last[1]]);
        let all = ends.map_or(0.0, lasts);
        let lived: f64 = spans.into_iter().map(lasts).sum();
        if all > 0.0 { 1.0 - lived / all } else { 0.0 }
    }

    /// Rate of payload that the path allows in the mean, Mb/s.
    pub fn allowed_mbit(&self) -> Option<f64> {
        self.allowed.map(|own| own.mbit() * self.carried)
    }

    /// Share of the allowed rate.
    pub fn share(&self) -> Option<f64> {
        let allowed = self.allowed_mbit().filter(|mbit| *mbit > 0.0)?;
        Some(self.rate / allowed)
    }

    /// The only flow.
    pub fn only(&self) -> Option<&One<'a>> {
        match &self.flows[..] {
            [one] => Some(one),
            _ => None,
        }
    }

    /// Whether a program opens one connection after another.
    pub fn is_loop(&self) -> bool {
        self.at_once < self.flows.len() && self.flows.iter().any(|one| one.meta.follows)
    }

    /// Number of the flows that are connections of a loop.
    pub fn of_loops(&self) -> usize {
        let follow = || self.flows.iter().filter(|one| one.meta.follows);
        let is_first = |one: &One| follow().any(|own| are_copies(&own.meta.name, &one.meta.name));
        self.flows.iter().filter(|one| one.meta.follows || is_first(one)).count()
    }

    /// Sum of the rates that the flows settle at, Mb/s; none where one has none, or where the path varies.
    pub fn plateau(&self) -> Option<f64> {
        if self.varies() {
            return None;
        }
        self.flows.iter().map(|one| settles_at(one.flow)).sum()
    }

    /// The longest round trip without queues.
    pub fn base_rtt(&self) -> Option<Time> {
        self.flows.iter().filter_map(|one| one.meta.base_rtt).max()
    }
}

/// Flows of one entry of the scenario, in their order: one flow, its copies, or connections of a loop.
struct Entry<'a>(Vec<One<'a>>);

impl Entry<'_> {
    /// Whether connections of it follow one another.
    fn is_loop(&self) -> bool {
        self.0.iter().skip(1).any(|one| one.meta.follows)
    }

    fn has(&self, one: &One) -> bool {
        are_copies(&self.0[0].meta.name, &one.meta.name)
    }
}

/// Groups of flows, one for each entry of the scenario.
fn entries<'a>(flows: impl Iterator<Item = One<'a>>) -> Vec<Entry<'a>> {
    let mut all: Vec<Entry> = Vec::new();
    for one in flows {
        match all.iter_mut().find(|own| own.has(&one)) {
            Some(own) => own.0.push(one),
            None => all.push(Entry(vec![one])),
        }
    }
    all
}

/// "bulk", "hook-1 … hook-40".
pub fn named(flows: &[One]) -> String {
    let names = flows.first().zip(flows.last()).map(|(a, b)| [&a.meta.name, &b.meta.name]);
    match names {
        Some([first, last]) if first != last => format!("{first} … {last}"),
        Some([first, _]) => first.clone(),
        None => String::new(),
    }
}

/// Most flows that share the path at one moment of a flow's life, itself among them.
fn together(own: &One, flows: &[One], lives: &Lives) -> u32 {
    let sharing = flows.iter().filter(|one| one.flow.mean_mbit >= SHARES * own.flow.mean_mbit);
    // The number of living flows only grows where one starts.
    let starts = flows.iter().map(|one| lives.flows[one.index].start);
    let starts = starts.filter(|at| is_alive(own, *at, lives));
    let alive = starts.map(|at| sharing.clone().filter(|one| is_alive(one, at, lives)).count());
    alive.max().map_or(1, |most| u32::try_from(most).unwrap_or(u32::MAX).max(1))
}

fn is_alive(one: &One, at: Time, lives: &Lives) -> bool {
    let life = &lives.flows[one.index];
    life.start <= at && at < life.end
}

/// Most of the flows that live at one moment.
pub(super) fn at_once<'a>(flows: impl Iterator<Item = &'a One<'a>>, lives: &Lives) -> usize {
    let mut ends: Vec<(Time, bool)> = flows
        .map(|one| &lives.flows[one.index])
        .flat_map(|life| [(life.start, true), (life.end, false)])
        .collect();
    // At one moment ends come before starts.
    ends.sort_unstable();
    let (mut now, mut most) = (0_usize, 0);
    for (_, begins) in ends {
        now = if begins { now + 1 } else { now.saturating_sub(1) };
        most = most.max(now);
    }
    most
}

/// Whether two flows live at the same time.
pub(super) fn overlap(a: &One, b: &One, lives: &Lives) -> bool {
    let (a, b) = (&lives.flows[a.index], &lives.flows[b.index]);
    a.start < b.end && b.start < a.end
}

/// Flows of a direction that begin.
fn of<'a>(
    meta: &'a RunMeta,
    lives: &Lives,
    run: &'a Run,
    direction: Direction,
) -> impl Iterator<Item = One<'a>> {
    let all = meta.flows.iter().zip(&run.flows).enumerate();
    let all = all.map(|(index, (meta, flow))| One { index, meta, flow, needs: None });
    all.filter(move |one| one.meta.direction == direction && lives.flows[one.index].begins)
}

/// Mean rate of one flow; of several flows their bytes over the time in which any of them lived.
fn rate(flows: &[One], lives: &Lives) -> f64 {
    if let [one] = flows {
        return one.flow.mean_mbit;
    }
    let spans = alive(flows, lives);
    let lived = spans
        .iter()
        .fold(0_u64, |sum, [start, end]| sum.saturating_add(end.saturating_sub(*start).as_ns()));
    let bytes = total(flows.iter().map(|one| useful(one, lives)));
    crate::lookup::mbit(bytes, Time::ns(lived))
}

/// Bytes of a flow that count in its mean rate: a mount's connection also carries data of calls that are sent again.
fn useful(one: &One, lives: &Lives) -> u64 {
    let life = &lives.flows[one.index];
    let all = crate::lookup::mbit(one.flow.bytes, life.end.saturating_sub(life.start));
    match one.flow.mean_mbit < all {
        true => (one.flow.bytes as f64 * one.flow.mean_mbit / all) as u64,
        false => one.flow.bytes,
    }
}

/// Spans in which any of the flows lives, in order of time. Pauses between connections of a loop do not count.
fn alive(flows: &[One], lives: &Lives) -> Vec<[Time; 2]> {
    let mut spans: Vec<[Time; 2]> = flows
        .iter()
        .map(|one| &lives.flows[one.index])
        .map(|life| [life.start, life.end])
        .collect();
    spans.sort_unstable();
    let mut until = Time::ZERO;

    // Spans in order of their start: each adds what goes beyond the ones before.
    for span in &mut spans {
        span[0] = span[0].max(until);
        until = until.max(span[1]);
        span[1] = span[1].max(span[0]);
    }
    spans
}
