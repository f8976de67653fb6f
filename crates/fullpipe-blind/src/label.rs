//! Labels: the cause of a case, proven by counterfactual in acknowledged bytes.
//!
//! A broken case is clear under three conditions. Without its break it has at least 1.2 times as much acknowledged. The
//! relief of its cause alone gives as much. No relief of another cause gives 1.1 times as much. A healthy case gains
//! 1.5 times from a path twice as fast, and nothing else gives 1.1 times as much.
//!
//! Limits:
//! - A faster path decides about healthy cases alone: it raises nearly every rate that losses bound.
//! - A longer run decides about healthy and short cases alone: it raises every rate that has a start.
//! - Jumbo frames decide nothing, for an MTU of 1,500 bytes is no fault.

use crate::causes::{self, HEALTHY, TOO_SHORT};
use crate::judging::{case, worst_of_three};
use fullpipe::base::trace::Control;
use fullpipe::base::units::Time;
use fullpipe::engine::Failed;
use fullpipe::engine::sim::Simulator;
use fullpipe::relieve::{BOTH, Trial, measure, trials};
use fullpipe::scenario::{Plan, Scenario, SetOption, Source, load};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Gain from which on a break is one.
pub const CLEAR: f64 = 1.2;
/// Gain from which on a relief of another cause makes a case ambiguous.
pub const SECOND: f64 = 1.1;
/// Gain of a healthy case from a path twice as fast.
pub const FASTER: f64 = 1.5;
/// Further seeds by which a second relief is confirmed, for losses differ by chance.
const SEEDS: [u64; 2] = [101, 202];

/// Number of the first run that shows whether a healthy case is full in others, too.
const FIRST_SEED: u64 = 1000;

/// Label of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Label {
    /// Code of the cause.
    pub cause: String,
    /// Group of the cause.
    pub group: String,
    /// True where a setting of a host cures it.
    pub setting: bool,
    /// Acknowledged bytes without the cause over those with it, per time.
    pub gain: f64,
    /// Rate without the cause, Mb/s (10^6).
    pub cured_mbit: f64,
    /// Rate as it is, Mb/s (10^6).
    pub base_mbit: f64,
    /// Seed of the set.
    pub seed: u64,
    /// Number of the case in its set.
    pub number: u64,
    /// Draft of that number.
    pub attempt: u32,
    /// Gain of each relief alone, by its name.
    pub reliefs: BTreeMap<String, f64>,
    /// Share of the path in the worst of three further runs (0 to 1); of healthy cases alone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worst_share: Option<f64>,
}

/// Purpose of a case.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Code of the cause.
    pub cause: &'static str,
    /// True where a setting of a host cures it.
    pub setting: bool,
    /// Seed of the set.
    pub seed: u64,
    /// Number of the case in its set.
    pub number: u64,
    /// Draft of that number.
    pub attempt: u32,
    /// Scenario without the break; none of cases without one.
    pub cured: Option<&'a str>,
}

/// Use of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The cause is clear: the case is scored.
    Clear,
    /// The cause is weak, or is not alone: the case is kept and not scored.
    Apart,
    /// The draft is no case of its cause.
    Unfit,
}

/// Runs a case, its cure and its reliefs on the simulator.
///
/// # Errors
/// The text is no scenario, or the simulator cannot run it.
pub fn label(text: &str, asked: &Asked) -> Result<(Label, Verdict), String> {
    let scenario = scenario(text, 0)?;
    let trials = trials(&scenario);
    let base = rate(&trials[0].plan)?;
    let mut label = Label {
        cause: asked.cause.into(),
        group: causes::group(asked.cause).into(),
        setting: asked.setting,
        gain: 0.0,
        cured_mbit: 0.0,
        base_mbit: base,
        seed: asked.seed,
        number: asked.number,
        attempt: asked.attempt,
        reliefs: BTreeMap::new(),
        worst_share: None,
    };
    if base <= 0.0 {
        return Ok((label, Verdict::Unfit));
    }

    // The counterfactual: the case without its break, or a healthy one with a faster path.
    let cured = match asked.cured {
        Some(cured) => rate(&self::scenario(cured, 0)?.plans()[0])?,
        None => relieved(&trials, if asked.cause == HEALTHY { "path" } else { "longer" })? * base,
    };
    label.cured_mbit = cured;
    label.gain = cured / base;
    let least = if asked.cause == HEALTHY { FASTER } else { CLEAR };

    // A weak gain keeps the case apart from the score; without a gain it is dropped.
    if label.gain < least {
        let is_weak = asked.cured.is_some() && label.gain >= SECOND;
        return Ok((label, if is_weak { Verdict::Apart } else { Verdict::Unfit }));
    }
    label.reliefs = reliefs(text, &trials, base, asked.cause)?;
    let verdict = judge(&label, &trials);
    if asked.cause == HEALTHY && verdict == Verdict::Clear {
        label.worst_share = worst_share(text)?;
    }
    Ok((label, verdict))
}

/// Share of the path in the worst of three runs with seeds that neither advice nor its judge uses.
fn worst_share(text: &str) -> Result<Option<f64>, String> {
    let case = case("case", text)?;
    let worst = worst_of_three("case", &case, FIRST_SEED, &[Vec::new()])?;
    Ok(worst[0].share().map(rounded))
}

/// True where a relief decides about cases of a cause.
fn decides(relief: &str, cause: &str) -> bool {
    match relief {
        "path" => cause == HEALTHY,
        "longer" => cause == HEALTHY || cause == TOO_SHORT,
        // Two limits at once say nothing of one.
        "jumbo" | BOTH => false,
        // Other reliefs take away the breaks that the generator makes.
        "moderation" | "calls" | "burst" | "in-flight" => false,
        _ => true,
    }
}

/// Gains of the reliefs that decide, first those of the cause. A relief of another cause that helps as well ends the
/// work, because such a case is not scored.
fn reliefs(
    text: &str,
    trials: &[Trial],
    base: f64,
    cause: &str,
) -> Result<BTreeMap<String, f64>, String> {
    let mut gains = BTreeMap::new();
    let tried = trials.iter().filter_map(|trial| Some((trial, trial.relief.as_ref()?)));
    let tried = tried.filter(|(_, relief)| decides(relief.name, cause));
    let (own, others): (Vec<_>, Vec<_>) = tried.partition(|(_, relief)| relief.cause == cause);

    // Reliefs of the cause come first: if none helps, no other one matters.
    let mut helps = false;
    for (trial, relief) in own {
        let gain = rate(&trial.plan)? / base;
        helps |= gain >= CLEAR;
        gains.insert(relief.name.to_string(), rounded(gain));
    }
    if !helps && cause != HEALTHY && cause != TOO_SHORT {
        return Ok(gains);
    }

    // A relief of another cause that helps as well makes the case ambiguous.
    for (trial, relief) in others {
        let mut gain = rate(&trial.plan)? / base;
        // A random path may gain by luck, so other seeds have to confirm it.
        if gain >= SECOND && is_random(text) {
            gain = confirmed(text, relief.name, gain)?;
        }
        gains.insert(relief.name.to_string(), rounded(gain));
        if gain >= SECOND {
            break;
        }
    }
    Ok(gains)
}

/// True where the seed changes a run.
fn is_random(text: &str) -> bool {
    ["loss", "reorder", "jitter"].iter().any(|kind| text.contains(&format!("kind = \"{kind}\"")))
}

/// Mean gain of a relief over several seeds; `first` is the gain with the case's own seed.
fn confirmed(text: &str, relief: &str, first: f64) -> Result<f64, String> {
    let mut sum = first;
    for seed in SEEDS {
        let trials = trials(&scenario(text, seed)?);
        sum += relieved(&trials, relief)?;
    }
    Ok(sum / (1 + SEEDS.len()) as f64)
}

/// Gain of one relief.
fn relieved(trials: &[Trial], name: &str) -> Result<f64, String> {
    let Some(trial) =
        trials.iter().find(|trial| trial.relief.as_ref().is_some_and(|own| own.name == name))
    else {
        return Ok(1.0);
    };
    let base = rate(&trials[0].plan)?;
    Ok(if base > 0.0 { rate(&trial.plan)? / base } else { 1.0 })
}

/// Cause that the named relief takes away; empty where no trial has the relief.
fn cause_of(relief: &str, trials: &[Trial]) -> &'static str {
    let mut reliefs = trials.iter().filter_map(|trial| trial.relief.as_ref());
    reliefs.find(|own| own.name == relief).map_or("", |own| own.cause)
}

/// Verdict about a case with a large enough gain.
fn judge(label: &Label, trials: &[Trial]) -> Verdict {
    let (own, others): (Vec<_>, Vec<_>) =
        label.reliefs.iter().partition(|(name, _)| cause_of(name, trials) == label.cause);
    let helps = own.iter().any(|(_, gain)| **gain >= CLEAR);
    let has_second = others.iter().any(|(_, gain)| **gain >= SECOND);
    match (label.cause.as_str(), helps, has_second) {
        (HEALTHY | TOO_SHORT, _, true) => Verdict::Unfit,
        (_, true, false) => Verdict::Clear,
        _ => Verdict::Apart,
    }
}

fn scenario(text: &str, more_seed: u64) -> Result<Scenario, String> {
    let source = Source::text("case.toml", text);
    let load = |sets: &[SetOption]| load(&source, sets, &[]).map_err(|wrong| wrong.to_string());
    let own = load(&[])?;
    if more_seed == 0 {
        return Ok(own);
    }
    load(&[SetOption(format!("seed={}", own.seed.saturating_add(more_seed)))])
}

/// Control that never stops a run.
struct ToTheEnd;

impl Control for ToTheEnd {
    fn go_on(&mut self, _now: Time) -> bool {
        !crate::work::stopped()
    }
}

/// Rate of a plan on the simulator, Mb/s: acknowledged bytes over the whole life of the judged flows.
///
/// # Errors
/// A signal stopped it, or the simulator cannot run it.
pub fn rate(plan: &Plan) -> Result<f64, String> {
    match measure(plan, &Simulator, &mut ToTheEnd) {
        Ok(Some(measured)) => Ok(rounded(measured.mbit())),
        Ok(None) => Err(crate::work::STOPPED.into()),
        Err(Failed::Scenario(why) | Failed::Machine(why)) => Err(why),
    }
}

/// Six digits behind the point, so that labels are short.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
