//! Record of a run: one line of JSON.

use crate::analysis::document;
use crate::analysis::expect;
use crate::analysis::fairness::Fairness;
use crate::analysis::theory::Expected as Law;
use crate::scenario::{self, Plan, Point};
use crate::trace::checksum;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Kind of stages that are links.
const LINK: &str = "link";

/// A run of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its number in the sweep, from 0.
    pub run: u64,
    /// Sixteen hexadecimal digits that differ where the complete scenario or the engine does.
    pub id: String,
    /// Name of the variant.
    pub variant: String,
    /// The sweep point: dotted key to value as written.
    pub at: Map<String, Value>,
    /// Repetition, from 0.
    pub repetition: u32,
    /// Seed of its random streams.
    pub seed: u64,
    /// Results; absent where the run failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub facts: Option<Facts>,
    /// Why it failed; absent where it did not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failed: Option<String>,
}

/// Results of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Simulated seconds.
    pub duration_s: f64,
    /// Flows in the scenario's order.
    pub flows: Vec<Flow>,
    /// Fairness of the flows; absent where no two of one direction live at one time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fairness: Option<Shared>,
    /// Places with drops, and links with a queue in front of them, in the packets' order.
    #[serde(default)]
    pub stages: Vec<Stage>,
    /// Expectations of the whole run; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub expected: Vec<Expected>,
    /// Metrics that are compared with other variants', where they have a value; absent where none has.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub compared: BTreeMap<String, f64>,
    /// Expectations of intervals that fail or have no value, as sentences; absent where all hold.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub failed: Vec<String>,
}

/// An expectation of a whole run, and its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    /// The metric as written.
    pub metric: String,
    /// The value that is expected.
    pub of: f64,
    /// Allowed distance from it.
    pub allowed: f64,
    /// The value of this run; null where it has none.
    pub measured: Option<f64>,
}

/// Results of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// Name in the scenario.
    pub name: String,
    /// Congestion control.
    pub congestion: String,
    /// Bytes read by the receiving application.
    pub bytes: u64,
    /// Mean rate over its life, Mb/s of payload.
    pub mean_mbit: f64,
    /// Mean rate over the second half of its life, Mb/s of payload.
    pub settled_mbit: f64,
    /// Times it entered Recovery or Loss in that half.
    #[serde(default)]
    pub loss_epochs: u64,
    /// Whether the rate is steady, as in summary.json.
    #[serde(default)]
    pub steady: bool,
    /// Segments retransmitted.
    pub retransmitted_segments: u64,
    /// Retransmitted segments as a share of delivered and retransmitted segments together.
    #[serde(default)]
    pub resent_share: f64,
    /// Median smoothed RTT, ms; absent where none was measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub srtt_median_ms: Option<f64>,
    /// Seconds until everything was read; absent where the run ended before.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub completion_s: Option<f64>,
    /// Rate that its congestion control's rule predicts for the path's random losses, Mb/s of payload; absent where
    /// there is no rule.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub law_mbit: Option<f64>,
    /// Whether the rule's assumptions hold here.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub law_holds: bool,
    /// Limit that held it back for most of its life.
    #[serde(default)]
    pub limit: String,
    /// Share of its life for which this limit held it.
    #[serde(default)]
    pub limit_share: f64,
}

/// Fairness of flows: the `fairness` of summary.json, without its intervals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shared {
    /// Jain's index while all flows live.
    pub jain: f64,
    /// Jain's index over the second half of that time; absent where nothing was delivered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub jain_settled: Option<f64>,
    /// Convergence time, s; absent where they did not converge.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub converged_s: Option<f64>,
    /// Whether all flows live together for less time than it takes to see that they converge.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub too_short: bool,
    /// RTT-fairness exponent; absent where the round trips do not differ.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rtt_exponent: Option<f64>,
    /// Units dropped on the data's way in that time.
    pub dropped: u64,
    /// Mean number waiting in front of the slowest link.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queue: Option<f64>,
    /// The flows that are compared, in the scenario's order.
    pub flows: Vec<Part>,
}

/// A flow's part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Name in the scenario.
    pub name: String,
    /// Its part of the delivered bytes while all flows live (0 to 1).
    pub share: f64,
    /// Mean rate over the second half of that time, Mb/s of payload; absent in records of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub settled_mbit: Option<f64>,
    /// Coefficient of variation of its rate; absent where there are too few intervals.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub variation: Option<f64>,
}

/// Results of a place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// Units dropped.
    pub dropped: u64,
    /// Highest number waiting.
    pub peak: u64,
    /// Mean number waiting.
    pub mean_waiting: f64,
}

impl Record {
    /// A record of a plan that lies at `point`, still without results.
    pub fn new(run: u64, point: &Point, plan: &Plan, engine: &str) -> Record {
        let text = format!("{engine}\n{}", plan.resolved.to_toml());
        Record {
            run,
            id: format!("{:016x}", checksum::of(text.as_bytes())),
            variant: plan.variant.clone(),
            at: plan.sweep.clone(),
            repetition: point.repetition,
            seed: plan.resolved.seed,
            facts: None,
            failed: None,
        }
    }

    /// Record of a point at which the scenario is wrong; `seed` is the run's.
    pub fn without_plan(
        run: u64,
        variant: &str,
        point: &Point,
        place: Place,
        why: String,
    ) -> Record {
        let Place { at, seed } = place;
        let text = format!("{variant}\n{}\n{seed}\n{why}", Value::Object(at.clone()));
        Record {
            run,
            id: format!("{:016x}", checksum::of(text.as_bytes())),
            variant: variant.into(),
            at,
            repetition: point.repetition,
            seed,
            facts: None,
            failed: Some(why),
        }
    }
}

/// Place of a run in the space of a sweep.
pub struct Place {
    /// Values of the axes.
    pub at: Map<String, Value>,
    /// Seed of the run.
    pub seed: u64,
}

impl Facts {
    /// Facts of an analysed run; `laws` are the predictions of rules for its flows.
    pub fn of(run: &document::Run, plan: &Plan, laws: &[Option<Law>]) -> Facts {
        // Expectations of whole runs keep their values; those of intervals only their failures.
        let judged: Vec<_> = run.expectations.iter().zip(&plan.expectations).collect();
        let whole = |(run, asked): &(&document::Expectation, &scenario::Expect)| {
            let (of, measured) = (*asked.of.first()?, run.measured.first().copied());
            let metric = asked.metric.clone();
            let value = Expected { metric, of, allowed: asked.tolerance.allowed(of), measured };
            asked.interval.is_none().then_some(value)
        };
        let broken = judged.iter().filter(|pair| whole(pair).is_none() && !pair.0.passed);

        // Places without drops would fill the records; links show their queue.
        let stages = run
            .stages
            .iter()
            .filter(|stage| stage.dropped > 0 || (stage.kind == LINK && stage.peak > 0));
        let compared = plan
            .compared
            .iter()
            .filter_map(|own| Some((own.metric.clone(), expect::whole_run(&own.target, run)?)));
        Facts {
            duration_s: run.duration_s,
            flows: run.flows.iter().zip(laws).map(|(own, law)| flow(own, *law)).collect(),
            fairness: run.fairness.as_ref().map(shared),
            stages: stages.map(stage).collect(),
            expected: judged.iter().filter_map(whole).collect(),
            compared: compared.collect(),
            failed: broken.map(|(e, _)| format!("{}: {}", e.metric, e.detail)).collect(),
        }
    }
}

fn shared(all: &Fairness) -> Shared {
    Shared {
        jain: all.jain,
        jain_settled: all.jain_settled,
        converged_s: all.converged_s,
        too_short: all.is_too_short(),
        rtt_exponent: all.rtt_exponent,
        dropped: all.dropped,
        queue: all.queue,
        flows: all
            .flows
            .iter()
            .map(|own| Part {
                name: own.name.clone(),
                share: own.share,
                settled_mbit: Some(own.settled_mbit),
                variation: own.variation,
            })
            .collect(),
    }
}

fn flow(flow: &document::Flow, law: Option<Law>) -> Flow {
    // Segments that arrived, and those that were sent again, make up what was sent.
    let delivered: u64 = flow.intervals.iter().map(|interval| interval.segments).sum();
    let sent = delivered + flow.retransmitted_segments;
    let settled = flow.settled.as_ref();

    // The limit that holds longest stands for the flow.
    let largest = flow.limits.iter().max_by(|a, b| a.1.total_cmp(b.1));
    Flow {
        name: flow.name.clone(),
        congestion: flow.congestion.clone(),
        bytes: flow.bytes,
        mean_mbit: flow.mean_mbit,
        settled_mbit: settled.map_or(flow.mean_mbit, |settled| settled.mbit),
        loss_epochs: settled.map_or(0, |settled| settled.loss_epochs),
        steady: settled.is_some_and(|settled| settled.steady),
        retransmitted_segments: flow.retransmitted_segments,
        resent_share: flow.retransmitted_segments as f64 / sent.max(1) as f64,
        srtt_median_ms: flow.medians.map(|medians| f64::from(medians.srtt_us) / 1000.0),
        completion_s: flow.completion_s,
        law_mbit: law.map(|law| law.mbit),
        law_holds: law.is_some_and(|law| law.holds),
        limit: largest.map_or_else(String::new, |(name, _)| name.clone()),
        limit_share: largest.map_or(0.0, |(_, share)| *share),
    }
}

fn stage(stage: &document::Stage) -> Stage {
    Stage {
        name: stage.name.clone(),
        dropped: stage.dropped,
        peak: stage.peak,
        mean_waiting: stage.mean_waiting,
    }
}
