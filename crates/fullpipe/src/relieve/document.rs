//! Result of all trials: the gains of each run, ranked.

use super::trial::{Outcome, Trial};
use super::{GAIN, Measured, answer};
use crate::scenario::Scenario;
use serde::{Deserialize, Serialize};

/// Part by which two gains differ at most that count as alike.
const ALIKE: f64 = 0.02;
/// Quotient of the times of messages from which on they come much sooner.
const MUCH_SOONER: f64 = 1.5;

/// Answers of a scenario's runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Relieved {
    /// Version of this document.
    pub format: u32,
    /// Title of the scenario.
    pub title: String,
    /// Engine that made the runs.
    pub engine: String,
    /// Whether a signal has stopped the trials: some reliefs were not tried.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub partial: bool,
    /// Runs of the scenario in its order.
    pub runs: Vec<Run>,
}

/// A run, and the gain of each relief alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Name of the variant and of the sweep point.
    pub name: String,
    /// Answer in one sentence.
    pub answer: String,
    /// Names of the judged flows.
    pub flows: Vec<String>,
    /// Rate of acknowledged payload as it is, Mb/s (10^6); absent where the run was stopped or refused.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mbit: Option<f64>,
    /// Median time of their messages as it is, ms; absent without messages.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message_ms: Option<f64>,
    /// Share of the datagrams of UDP that were read as it is (0 to 1); absent without datagrams.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub arrived: Option<f64>,
    /// Time in which the judged flows had it acknowledged, s.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seconds: Option<f64>,
    /// Reliefs, the largest gain first; reliefs without a gain are last.
    pub reliefs: Vec<Tried>,
}

/// A relief that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Stable name, such as "send-buffer".
    pub name: String,
    /// Noun phrase, such as "A larger send buffer".
    pub label: String,
    /// Code of the cause that it relieves, such as "sndbuf".
    pub cause: String,
    /// Keys that it sets.
    pub set: Vec<String>,
    /// Rate with it, Mb/s (10^6); absent where the run was stopped or refused.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mbit: Option<f64>,
    /// Median time of messages with it, ms; absent without messages.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message_ms: Option<f64>,
    /// Share of the datagrams of UDP that were read with it (0 to 1); absent without datagrams.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub arrived: Option<f64>,
    /// Quotient of that rate and the rate as it is; of the times of messages as it is and with it, where messages come
    /// sooner and no fewer of them. Absent where either is absent, or where nothing was acknowledged.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gain: Option<f64>,
    /// Reason why the engine cannot run it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refused: Option<String>,
}

impl Relieved {
    /// Outcomes of a scenario's trials, in their order, as a document.
    pub fn new(
        scenario: &Scenario,
        engine: &str,
        trials: &[Trial],
        outcomes: &[Outcome],
    ) -> Relieved {
        let runs = scenario.plans().iter().enumerate().map(|(index, plan)| {
            let own = || trials.iter().zip(outcomes).filter(move |(trial, _)| trial.run == index);

            // The trial without a relief is the run as it is.
            let base = own().find(|(trial, _)| trial.relief.is_none()).map(|(_, outcome)| outcome);
            let measured = base.and_then(Outcome::measured);
            let mbit = measured.map(|own| own.mbit());
            let mut reliefs: Vec<Tried> =
                own().filter_map(|(trial, outcome)| Tried::new(trial, outcome, measured)).collect();

            // The largest gain comes first, and of gains that are alike the largest rate. What brings messages much sooner goes
            // before what carries more of them.
            let rate = |own: &Tried| own.mbit.unwrap_or(0.0);
            let alike = |gain: f64| (gain.max(1e-9).ln() / ALIKE).round();
            let message_ms = measured.and_then(|own| own.message_ms);
            let is_sooner = |own: &Tried| {
                message_ms.zip(own.message_ms).is_some_and(|(old, new)| old >= MUCH_SOONER * new)
                    && own.gains()
            };
            let gains = |a: &Tried, b: &Tried| alike(rank(b)).total_cmp(&alike(rank(a)));
            reliefs.sort_by(|a, b| {
                let sooner = is_sooner(b).cmp(&is_sooner(a));
                sooner.then(gains(a, b)).then(rate(b).total_cmp(&rate(a)))
            });
            let reliefs = without_needless(reliefs);
            let judged = super::reliefs::judged(&plan.resolved);
            let flows = judged.into_iter().map(|index| plan.resolved.flow[index].name.clone());
            let run = Run {
                name: plan.name(),
                answer: String::new(),
                flows: flows.collect(),
                mbit,
                message_ms: measured.and_then(|own| own.message_ms),
                arrived: measured.and_then(|own| own.arrived),
                seconds: measured.map(|own| own.seconds),
                reliefs,
            };
            let refused = base.and_then(Outcome::refused);

            // The answer reads the finished run.
            Run { answer: answer::answer(&run, refused), ..run }
        });
        Relieved {
            format: 1,
            title: scenario.title.clone(),
            engine: engine.into(),
            partial: outcomes.contains(&Outcome::Stopped),
            runs: runs.collect(),
        }
    }
}

impl Run {
    /// Gain of the relief of this name; none where it was not tried.
    pub fn gain(&self, name: &str) -> Option<f64> {
        self.reliefs.iter().find(|relief| relief.name == name)?.gain
    }
}

impl Tried {
    /// Whether it gives more than the run as it is: more than 2 %, or anything where that has nothing.
    pub(super) fn gains(&self) -> bool {
        match self.gain {
            Some(gain) => gain >= GAIN,
            None => self.mbit.is_some_and(|mbit| mbit > 0.0),
        }
    }

    fn new(trial: &Trial, outcome: &Outcome, base: Option<Measured>) -> Option<Tried> {
        let relief = trial.relief.as_ref()?;
        let measured = outcome.measured();
        let gain = measured.zip(base).and_then(|(own, base)| own.gain(&base));
        Some(Tried {
            name: relief.name.into(),
            label: relief.label.into(),
            cause: relief.cause.into(),
            set: relief.sets.iter().map(|set| set.0.clone()).collect(),
            mbit: measured.map(|own| own.mbit()),
            message_ms: measured.and_then(|own| own.message_ms),
            arrived: measured.and_then(|own| own.arrived),
            gain,
            refused: outcome.refused().map(String::from),
        })
    }
}

/// Removes the relief of both buffers where one of them gives as much.
fn without_needless(mut reliefs: Vec<Tried>) -> Vec<Tried> {
    let gain = |own: &Tried| own.gain.unwrap_or(0.0);
    let most = reliefs
        .iter()
        .filter(|own| ["send-buffer", "receive-buffer", "so-rcvbuf"].contains(&&own.name[..]))
        .map(gain)
        .fold(1.0, f64::max);
    reliefs.retain(|own| own.name != super::BOTH || own.gain.is_none() || gain(own) >= GAIN * most);
    reliefs
}

/// Gain of a relief, or its rate where the run as it is has none.
fn rank(relief: &Tried) -> f64 {
    relief.gain.or(relief.mbit).unwrap_or(f64::NEG_INFINITY)
}

impl Outcome {
    /// Rate and time of a finished run.
    pub fn measured(&self) -> Option<Measured> {
        match self {
            Outcome::Made(measured) => Some(*measured),
            _ => None,
        }
    }

    /// Reason of a refusal.
    pub fn refused(&self) -> Option<&str> {
        match self {
            Outcome::Refused(why) => Some(why),
            _ => None,
        }
    }
}
