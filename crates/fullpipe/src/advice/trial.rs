//! Trials: short runs of a case with some settings, and the result of each.
//!
//! A trial ends when its rate has settled. Where chance decides (a queue below [`SHALLOW`], several flows, losses) it is
//! three runs with other seeds, starts and delays, and the worst one counts.

use super::case::{Asked, Case};
use super::change::Change;
use super::edit::{Edit, edited};
use super::slowest::{Slowest, slowest};
use super::spans::{in_loops, main_life, window};
use crate::analysis::document::{Grade, Headline, Run};
use crate::analysis::rules::{DROPS, HEALTHY, SWALLOWED};
use crate::analysis::{self, Made, RunMeta};
use crate::capture::At;
use crate::captured;
use crate::engine::{Engine, Failed};
use crate::scenario::{Nfs, Plan, Repeat, Resolved, Scenario, TIMEO};
use crate::steady::{Steady, UntilSteady, Watching};
use crate::threads::each;
use crate::trace::recording::Recording;
use fullpipe_base::trace::{Control, Sink};
use fullpipe_base::units::Time;
use std::cell::RefCell;
use std::ops::Range;

/// Round trips and time after which a trial may end.
const ROUND_TRIPS: u64 = 30;
const LEAST: Time = Time::secs(2);
/// Round trips and time of a path that loses packets by chance.
const LOSSY_ROUND_TRIPS: u64 = 200;
const LOSSY_LEAST: Time = Time::secs(20);
/// Factor on the length of a trial that does not settle, at most.
const PATIENCE: u64 = 3;
/// Runs of a trial where chance decides.
const SEEDS: u64 = 3;
/// Shifts between them.
const START_JITTER: Time = Time::ms(200);
const DELAY_JITTER: f64 = 0.05;
/// A start is shifted by no more than this part of the rest of the run.
const SHIFTED: u64 = 10;
/// Samples of a trial.
const SAMPLES: u64 = 3000;

/// Observer of advice's progress, which decides whether to continue.
pub trait Watch: Sync {
    /// A step begins, with `runs` runs, each of `lasts` of simulated time or less.
    fn step(&self, what: &str, runs: usize, lasts: Time);
    /// A run simulated another span; `false` ends all runs.
    fn advance(&self, span: Time) -> bool;
    /// Reports the outcome of a list of changes.
    fn tried(&self, _changes: &[Change], _outcome: &Outcome) {}
}

/// A watch that lets trials continue, unseen.
pub struct ToTheEnd;

impl Watch for ToTheEnd {
    fn step(&self, _what: &str, _runs: usize, _lasts: Time) {}

    fn advance(&self, _span: Time) -> bool {
        true
    }
}

/// Where trials are made.
pub struct Bench<'a> {
    /// Engine of the runs.
    pub engine: &'a dyn Engine,
    /// Runs at a time.
    pub jobs: usize,
    /// Progress and interruption.
    pub watch: &'a dyn Watch,
}

/// Reason why a trial has no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The user pressed Ctrl-C.
    Interrupted,
    /// The engine refused or failed.
    Failed(Failed),
}

/// Rate, delay and first cause of a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Acknowledged payload of all flows that their programs have read, once they have grown, Mb/s (10^6).
    pub mbit: f64,
    /// Rate of it from the start on, Mb/s, if the flow lasts as long as the case says and keeps its rate.
    pub mean_mbit: f64,
    /// Median of the smoothed round trip meanwhile, less that without queues, ms; the most of all flows.
    pub queue_ms: f64,
    /// Median of the smoothed round trip over that without queues (from 1 on).
    pub inflation: f64,
    /// Segments sent again, all flows.
    pub retransmitted: u64,
    /// Median time of messages, ms; the most of all flows and runs, none without messages.
    pub message_ms: Option<f64>,
    /// Time that a twentieth of them takes or exceeds, ms.
    pub message_p95_ms: Option<f64>,
    /// Whether all programs send their messages by the clock: these times count, and the rate is the programs' own.
    pub by_the_clock: bool,
    /// The flow that is furthest below its part of the path; none where no flow shares a path.
    pub slowest: Option<Slowest>,
    /// Rate of payload that the path allows, Mb/s; none where it has no rate.
    pub allowed_mbit: Option<f64>,
    /// Least rate of the runs over the largest (0 to 1).
    pub evenness: f64,
    /// Whether the verdict of the run with the case's own seed, start and delays is that its path is full.
    pub is_healthy: bool,
    /// Whether mean rates decide between outcomes of alike settled rates. They do where a setting slows the flows' growth.
    pub counts_mean: bool,
    /// Verdict of the worst run.
    pub headline: Option<Headline>,
    /// The worst run.
    pub run: Box<Run>,
}

impl Outcome {
    /// Share of its part that the slowest flow has (0 to 1); 1 where no flow shares a path.
    pub fn least_part(&self) -> f64 {
        self.slowest.as_ref().map_or(1.0, |own| own.share().min(1.0))
    }

    /// Whether a flow carries nothing because the path swallows packets of full size, however well others do.
    pub fn loses_a_flow(&self) -> bool {
        let code = self.headline.as_ref().filter(|own| own.grade == Grade::Failed);
        code.and_then(|own| own.code.as_deref()) == Some(SWALLOWED)
    }

    /// Whether it has this share of the allowed rate, or more (0 to 1); no where nothing bounds the rate.
    pub fn fills(&self, share: f64) -> bool {
        self.share().is_some_and(|own| own >= share)
    }

    /// Share of the allowed rate; none where nothing bounds it.
    pub fn share(&self) -> Option<f64> {
        self.allowed_mbit.filter(|allowed| *allowed > 0.0).map(|allowed| self.mbit / allowed)
    }
}

impl Bench<'_> {
    /// Trials of lists of edits, one for each list.
    ///
    /// # Errors
    /// The first trial that has no outcome.
    pub fn trials(&self, case: &Case, lists: &[Vec<&Edit>]) -> Result<Vec<Outcome>, Stopped> {
        let mut runs = Vec::new();
        for edits in lists {
            for number in 0..case.seeds() {
                runs.push(prepared(case, edits, case.first_seed + number)?);
            }
        }
        let outcomes = each(runs.len(), self.jobs, |run| self.one(case, &runs[run]))?;
        let each = outcomes.chunks(case.seeds() as usize).map(worst);
        Ok(each.collect())
    }

    /// Record of a run from its beginning to its end.
    ///
    /// # Errors
    /// A user interrupted it, or the engine failed.
    pub fn recorded(&self, run: &Resolved) -> Result<Recording, Stopped> {
        let mut recording = Recording::default();
        let mut progress = Progress { watch: self.watch, seen: Time::ZERO, stopped: false };
        let outcome = self.engine.run(run, &mut recording, &mut progress);
        outcome.map_err(Stopped::Failed)?;
        if progress.stopped { Err(Stopped::Interrupted) } else { Ok(recording) }
    }

    /// The first flow of a run by the packets that pass a point, and nothing else.
    ///
    /// # Errors
    /// A user interrupted it, the engine failed, or its packets cannot be kept.
    pub fn captured(
        &self,
        scenario: &Scenario,
        plan: &Plan,
        at: &At,
    ) -> Result<captured::Judged, Stopped> {
        let mut progress = Progress { watch: self.watch, seen: Time::ZERO, stopped: false };
        let run = |sink: &mut dyn Sink| self.engine.run(&plan.resolved, sink, &mut progress);
        let judged = captured::run::judged(scenario, plan, at, run, &mut captured::ToTheEnd);
        if progress.stopped { Err(Stopped::Interrupted) } else { judged.map_err(Stopped::Failed) }
    }

    fn one(&self, case: &Case, scenario: &Scenario) -> Result<Outcome, Stopped> {
        let plan = &scenario.plans()[0];
        let resolved = &plan.resolved;
        let counts = case.counts(resolved);

        // A trial ends when its rate has settled, which saves most of the time.
        let steady = Steady::new(case.round_trip, Steady::from(resolved, case.least()), &counts);
        let steady = if case.settles_queue { steady.with_round_trip() } else { steady };
        let steady = RefCell::new(steady);
        let mut recording = Recording::default();

        // Sink and control share the detector: one feeds it, the other asks it.
        let mut progress = Progress { watch: self.watch, seen: Time::ZERO, stopped: false };

        let outcome = self
            .engine
            .run(
                resolved,
                &mut Watching { sink: &mut recording, steady: &steady },
                &mut UntilSteady { control: &mut progress, steady: &steady },
            )
            .map_err(Stopped::Failed)?;

        // An interrupted trial has no rate.
        if progress.stopped {
            return Err(Stopped::Interrupted);
        }
        let meta = RunMeta::from_plan(scenario, plan, Made::default());
        let run = analysis::run(&meta, &recording);
        Ok(match &case.datagrams {
            Some(asked) => arrived(case, asked, run),
            None => outcome_of(case, resolved, &counts, &recording, outcome.end, run),
        })
    }
}

/// Passes progress on, and remembers an interruption.
struct Progress<'a> {
    watch: &'a dyn Watch,
    seen: Time,
    stopped: bool,
}

impl Control for Progress<'_> {
    fn go_on(&mut self, now: Time) -> bool {
        let go_on = self.watch.advance(now.saturating_sub(self.seen));
        self.seen = now;
        self.stopped |= !go_on;
        go_on
    }
}

/// Run with edits, checked as a scenario.
pub(super) fn changed<'a>(
    run: &Resolved,
    edits: impl IntoIterator<Item = &'a Edit>,
) -> Result<Scenario, Stopped> {
    edited(run, edits).map_err(|why| Stopped::Failed(Failed::Scenario(why)))
}

/// The case with edits and a seed, as short as a trial is.
fn prepared(case: &Case, edits: &[&Edit], seed: u64) -> Result<Scenario, Stopped> {
    let mut run = changed(&case.today, edits.iter().copied())?.plans()[0].resolved.clone();
    shorten(case, &mut run);
    if seed > 0 {
        run.seed = run.seed.wrapping_add(seed) & (i64::MAX as u64);
        let delay_jitter = Time((case.round_trip.0 as f64 / 2.0 * DELAY_JITTER) as u64);
        let lasts = run.flow.iter().map(|flow| run.duration.saturating_sub(flow.start)).min();
        // A flow has to begin well before a short run ends.
        let start_jitter = START_JITTER.min(Time(lasts.unwrap_or(START_JITTER).0 / SHIFTED));
        let shift = Repeat { start_jitter, delay_jitter, ..Repeat::default() };
        shift.shift(&mut run);
    }
    changed(&run, [])
}

/// Stops long flows when a trial has lost its patience.
fn shorten(case: &Case, run: &mut Resolved) {
    let most = Time(case.least().0.saturating_mul(PATIENCE));
    let latest = run.flow.iter().map(|flow| flow.start).max().unwrap_or(Time::ZERO);

    // The patience counts from the last flow's start.
    let end = latest + most;
    for flow in &mut run.flow {
        let left = end.saturating_sub(flow.start);
        flow.duration = flow.duration.map(|lasts| lasts.min(left));
    }

    // ACKs of the last data need their way, and a second to spare.
    let lasts = end + Time::secs(1) + case.round_trip + case.round_trip;
    // Datagrams that begin late have to begin.
    let begun = run.datagrams.iter().map(|own| own.start + Time::secs(1)).max();
    let lasts = lasts.max(begun.unwrap_or(Time::ZERO));

    // Only flows that all end by time allow an earlier end.
    if run.flow.iter().all(|flow| flow.duration.is_some()) && run.nfs.is_empty() {
        run.duration = run.duration.min(lasts);
    }

    // Few samples suffice for rates: whole milliseconds keep traces alike.
    let sample = Time((case.least().0 / SAMPLES).max(Time::ms(1).0));
    run.report.sample = Time(sample.0 / 1_000_000 * 1_000_000).max(run.report.sample);
    run.report.packets = None;
}

impl Case {
    /// Shortest time after which a trial may end.
    pub fn least(&self) -> Time {
        // Calls are sent again at any time, and a file that is not done has no rate.
        if self.counts_files() {
            return self.today.duration;
        }
        let latest = self.today.flow.iter().map(|flow| flow.start).max().unwrap_or(Time::ZERO);
        // What a path carries later may be less.
        let varies = self.allowed.as_ref().and_then(|own| own.shares.last());
        let latest = varies.map_or(latest, |own| latest.max(own.at.min(self.today.duration)));
        let grown = Time(self.round_trip.0.saturating_mul(ROUND_TRIPS)) + LEAST;
        // Losses by chance bring cwnd down long after it has grown.
        let lossy = Time(self.round_trip.0.saturating_mul(LOSSY_ROUND_TRIPS)).max(LOSSY_LEAST);
        latest + if self.is_lossy { grown.max(lossy) } else { grown }
    }

    /// Runs of a trial.
    pub(super) fn seeds(&self) -> u64 {
        if self.is_chancy { SEEDS } else { 1 }
    }

    /// Whether mounts are judged by their files: calls may be sent again, the server works on them, or losses leave some
    /// connections with more to do than others.
    fn counts_files(&self) -> bool {
        let is_hasty = |own: &Nfs| own.timeo.is_some_and(|timeo| timeo < TIMEO);
        let waits = |own: &Nfs| is_hasty(own) || own.service > Time::ZERO;
        self.today.nfs.iter().any(|own| self.is_lossy || waits(own))
    }

    /// The flows that carry data in the direction that the advice is about.
    fn counts(&self, run: &Resolved) -> Vec<bool> {
        let flows = run.flow.iter();
        flows.map(|flow| flow.direction == self.direction && self.datagrams.is_none()).collect()
    }
}

/// Rate of the datagrams that arrived, in the time in which they were sent.
fn arrived(case: &Case, asked: &Asked, run: Run) -> Outcome {
    let own = run.datagrams.iter().find(|own| own.name == asked.name);
    let mbit = own.and_then(|own| own.mean_mbit).unwrap_or(0.0);
    // Packets in queues arrive after the last one was sent.
    let mbit = mbit.min(case.allowed_mbit().unwrap_or(f64::INFINITY));
    let headline = run.headline.clone().map(|own| about_drops(&run, own));
    Outcome {
        mbit,
        mean_mbit: mbit,
        queue_ms: 0.0,
        inflation: 1.0,
        retransmitted: 0,
        message_ms: run.message_ms(),
        message_p95_ms: run.message_p95_ms(),
        by_the_clock: false,
        slowest: None,
        allowed_mbit: case.allowed_mbit(),
        evenness: 1.0,
        is_healthy: is_healthy(headline.as_ref()),
        counts_mean: false,
        headline,
        run: Box::new(run),
    }
}

/// The headline about dropped datagrams, where the run's own one is about flows.
fn about_drops(run: &Run, own: Headline) -> Headline {
    let Some(drops) = run.findings.iter().find(|own| own.rule == DROPS) else { return own };
    Headline {
        grade: Grade::Lossy,
        cause: Some(drops.cause.clone()),
        limit: Some("drops".into()),
        limit_share: Some(drops.share_of_time),
        rule: Some(drops.rule.clone()),
        code: Some(drops.code.clone()),
        group: Some(drops.group.clone()),
        place: drops.place.clone(),
        setting: drops.setting.clone(),
        ..own
    }
}

/// Rates of the second half of the time in which flows send.
fn outcome_of(
    case: &Case,
    resolved: &Resolved,
    counts: &[bool],
    recording: &Recording,
    end: Time,
    run: Run,
) -> Outcome {
    let flows = || resolved.flow.iter().zip(counts).filter(|(_, counts)| **counts);

    // The part of the run in which most of the counted flows send.
    let [start, until] = main_life(counts, recording, resolved, &run, end);
    let all = window(case, resolved, counts, recording, [start, until]);
    // A transfer of fixed size is judged by all of its life, an endless flow by its settled rate.
    let is_finite = flows().all(|(flow, _)| flow.bytes.is_some()) && until < end;
    // A path that varies allows its mean in the mean, and a loop has no settled rate.
    let varies = case.allowed.as_ref().is_some_and(|own| !own.shares.is_empty());
    let is_loop = !in_loops(counts, resolved).is_empty();
    let span = match is_finite || varies || is_loop {
        true => [start, until],
        false => [start + Time(until.saturating_sub(start).0 / 2), until],
    };
    let half = window(case, resolved, counts, recording, span);

    let headline = run.headline.clone();
    let allowed = headline.as_ref().and_then(|own| own.allowed_mbit);
    let last = run.flows.iter().zip(counts).filter(|(_, counts)| **counts);
    // A queue that drains acknowledges a little more than the path carries meanwhile.
    let useful = run.useful();
    let limit = allowed.unwrap_or(f64::INFINITY);
    // Connections carry data again, or rest: the files' own time counts.
    let files = case.counts_files().then(|| files(&run, resolved, counts)).flatten();
    let files = files.map(|mbit| mbit.min(limit));
    let mbit = files.unwrap_or(half.mbit.min(limit) * useful);
    let mean = files.unwrap_or(all.mbit * useful);

    // The settled rate extends to the time that the user's flows last.
    let lasted = until.saturating_sub(start).as_secs_f64();
    let horizon = case.horizon.as_secs_f64().max(lasted);
    Outcome {
        mbit,
        mean_mbit: (mean * lasted + mbit * (horizon - lasted)) / horizon.max(1e-9),
        queue_ms: half.queue_ms,
        inflation: half.inflation,
        retransmitted: last.map(|(flow, _)| flow.retransmitted_segments).sum(),
        message_ms: run.message_ms(),
        message_p95_ms: run.message_p95_ms(),
        by_the_clock: flows().all(|(flow, _)| resolved.opens(flow).period().is_some()),
        slowest: slowest(case, resolved, &unfinished(&run, resolved, counts), recording, span),
        allowed_mbit: allowed,
        evenness: 1.0,
        is_healthy: is_healthy(headline.as_ref()),
        counts_mean: false,
        headline,
        run: Box::new(run),
    }
}

/// Rate of the files of mounts that are all done, Mb/s; none where a mount is not done, or other flows count.
///
/// Their connections carry more: data of calls that are sent again.
fn files(run: &Run, resolved: &Resolved, counts: &[bool]) -> Option<f64> {
    let mounts: Vec<(usize, Range<usize>)> =
        resolved.mounts().map(|(_, connections)| connections).enumerate().collect();
    let is_of_mount = |flow: usize| mounts.iter().any(|(_, own)| own.contains(&flow));
    let is_counted = |flow: &usize| counts.get(*flow) == Some(&true);
    let mut counted = (0..counts.len()).filter(is_counted).peekable();
    if counted.peek().is_none() || !counted.all(is_of_mount) {
        return None;
    }

    let counted = mounts.into_iter().filter(|(_, own)| own.clone().any(|flow| is_counted(&flow)));
    counted.map(|(at, _)| run.nfs.get(at)?.mean_mbit).sum()
}

/// The counted flows without connections of mounts that are done: one that has had its calls lacks nothing.
fn unfinished(run: &Run, resolved: &Resolved, counts: &[bool]) -> Vec<bool> {
    let mut counts = counts.to_vec();
    for (own, (_, connections)) in run.nfs.iter().zip(resolved.mounts()) {
        if own.took_s.is_some() {
            counts[connections].fill(false);
        }
    }
    counts
}

/// Rules that find nothing to set on a full path: the link is busy, or the pace is the path's.
const FULL_RULES: [&str; 2] = ["link", "pacing"];

/// Whether a verdict says that the path is full, and that nothing is to be set.
fn is_healthy(headline: Option<&Headline>) -> bool {
    headline.is_some_and(|own| {
        own.rule.as_deref().is_some_and(|rule| FULL_RULES.contains(&rule))
            && own.code.as_deref() == Some(HEALTHY)
    })
}

/// The run with the least rate, with the worst delay of all and the unevenness.
fn worst(runs: &[Outcome]) -> Outcome {
    let least = runs.iter().min_by(|a, b| a.mbit.total_cmp(&b.mbit));
    let mut own = least.expect("a trial has a run").clone();
    let most = runs.iter().map(|run| run.mbit).fold(0.0, f64::max);
    own.is_healthy = runs[0].is_healthy;
    own.evenness = if most > 0.0 { own.mbit / most } else { 1.0 };
    let slowest = runs.iter().filter_map(|run| run.slowest.clone());
    own.slowest = slowest.min_by(|a, b| a.share().total_cmp(&b.share()));
    for run in runs {
        own.queue_ms = own.queue_ms.max(run.queue_ms);
        own.inflation = own.inflation.max(run.inflation);
        own.message_ms = own.message_ms.zip(run.message_ms).map(|(a, b)| a.max(b));
        let late = own.message_p95_ms.zip(run.message_p95_ms);
        own.message_p95_ms = late.map(|(a, b)| a.max(b));
    }
    own
}
