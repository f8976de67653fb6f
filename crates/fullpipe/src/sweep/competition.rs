//! Effects of flows on another one: variants of a sweep in which a flow has company, compared with variants in which it
//! has none or other company.
//!
//! Each variant names the variants to compare it with: `competes = { flow = ..., solo = ..., like = ... }`. A guess
//! from the congestion controls of each run could be wrong and would look like a result: variants also differ in the
//! order and the number of their flows. One table for the whole scenario could name one solo variant only. An order in
//! which the flow starts second needs another one.
//!
//! Repetition k uses the same seed in every variant, so flows start at the same times on paths of the same length. So
//! differences are paired: the estimates are those of the comparisons, not comparisons of estimates.

use super::estimate::Estimate;
use super::manifest::Manifest;
use super::record::{Facts, Flow, Record};
use crate::scenario::Competes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A flow in company, at a point of the sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Company {
    /// The variant.
    pub variant: String,
    /// The sweep point: dotted key to value as written.
    pub at: Map<String, Value>,
    /// The flow.
    pub flow: String,
    /// Its congestion control.
    pub congestion: String,
    /// Congestion controls of the others, each once.
    pub against: Vec<String>,
    /// Friendliness ratio of the others: the flow's throughput next to them over its throughput next to flows of its
    /// own kind. 1: they leave it as much as its own kind does; 0: nothing. It is 1 less what
    /// draft-irtf-iccrg-tcpeval-01, "Impact on standard TCP traffic", calls the throughput that standard flows lose.
    /// Absent without `like`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub friendliness: Option<Estimate>,
    /// The harm that the others do to it, compared with being alone. Absent without `solo`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub harm: Option<Harm>,
}

/// Harm: the part of a flow's performance that the others take from it, 0: none, 1: all of it, below 0 where it gains.
///
/// By the source a new control should do no more harm to a flow than the flow's like does, which the row of `like`
/// shows. Source: Ware, Mukerjee, Seshan, Sherry: Beyond Jain's Fairness Index: Setting the Bar for the Deployment of
/// Congestion Control Algorithms, HotNets 2019.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Harm {
    /// To its throughput, settled: (solo - together) / solo.
    pub throughput: Estimate,
    /// To its delay, the median of smoothed RTT: (together - solo) / together.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub delay: Option<Estimate>,
    /// To its loss, the share of segments that were sent again: (together - solo) / together, 0 where neither was any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub loss: Option<Estimate>,
}

/// Harm to a value of which more is better; none where the flow has nothing of it alone.
pub fn harm_to_more(solo: f64, together: f64) -> Option<f64> {
    (solo > 0.0).then(|| (solo - together) / solo)
}

/// Harm to a value of which less is better; none where the value is 0 in company, but not alone.
pub fn harm_to_less(solo: f64, together: f64) -> Option<f64> {
    match (solo > 0.0, together > 0.0) {
        (_, true) => Some((together - solo) / together),
        (false, false) => Some(0.0),
        (true, false) => None,
    }
}

/// Results of a flow in a run; of copies the means.
#[derive(Clone, Debug)]
struct Did {
    mbit: f64,
    srtt_ms: Option<f64>,
    resent: f64,
    congestion: String,
    against: BTreeSet<String>,
}

/// Results of a variant at a point, by repetition.
type Group = BTreeMap<u32, Did>;

/// Comparisons that a scenario asks for, gathered record by record.
#[derive(Debug)]
pub struct Companies<'a> {
    asked: &'a [Competes],
    /// In the order of the sweep.
    points: Vec<Map<String, Value>>,
    seen: BTreeSet<String>,
    /// Groups by variant, point and flow.
    groups: BTreeMap<(String, String, String), Group>,
}

impl<'a> Companies<'a> {
    /// Of a sweep, before any of its records was seen.
    pub fn new(manifest: &'a Manifest) -> Companies<'a> {
        let (points, seen, groups) = (Vec::new(), BTreeSet::new(), BTreeMap::new());
        Companies { asked: &manifest.competition, points, seen, groups }
    }

    /// Takes a record.
    pub fn add(&mut self, record: &Record) {
        let Some(facts) = &record.facts else { return };

        // Variants in which no flow competes are passed over.
        let about = self.asked.iter().filter(|own| own.is_about(&record.variant));
        let flows: BTreeMap<&str, &Competes> = about.map(|own| (&*own.flow, own)).collect();
        if flows.is_empty() {
            return;
        }
        let at = point(&record.at);
        for (flow, own) in flows {
            if let Some(did) = did(facts, own) {
                let key = (record.variant.clone(), at.clone(), flow.to_string());
                self.groups.entry(key).or_default().insert(record.repetition, did);
            }
        }

        // Points keep the order in which they first appear.
        if self.seen.insert(at) {
            self.points.push(record.at.clone());
        }
    }

    /// The comparisons, by variants, then in the order of the sweep's points.
    pub fn finish(self) -> Vec<Company> {
        let Companies { asked, points, groups, .. } = &self;
        let each = asked.iter().flat_map(|own| points.iter().map(move |at| (own, at)));
        each.filter_map(|(own, at)| {
            company(own, at, |variant| groups.get(&(variant.clone(), point(at), own.flow.clone())))
        })
        .collect()
    }
}

/// A point as a key.
pub(super) fn point(at: &Map<String, Value>) -> String {
    Value::Object(at.clone()).to_string()
}

/// Results of the flow; none where it is not in the run.
fn did(facts: &Facts, own: &Competes) -> Option<Did> {
    // Copies of the flow count as one, all others are its company.
    let (flows, others): (Vec<&Flow>, Vec<&Flow>) =
        facts.flows.iter().partition(|flow| own.is_of(&flow.name));
    let first = flows.first()?;
    let mean =
        |of: fn(&Flow) -> f64| flows.iter().map(|flow| of(flow)).sum::<f64>() / flows.len() as f64;
    let rtts: Option<Vec<f64>> = flows.iter().map(|flow| flow.srtt_median_ms).collect();
    // In company the time counts in which all live; alone, the second half of its own.
    let parts = facts.fairness.iter().flat_map(|shared| &shared.flows);
    let settled: Vec<f64> =
        parts.filter(|part| own.is_of(&part.name)).filter_map(|part| part.settled_mbit).collect();
    let together = settled.iter().sum::<f64>() / settled.len().max(1) as f64;
    Some(Did {
        mbit: if settled.is_empty() { mean(|flow| flow.settled_mbit) } else { together },
        srtt_ms: rtts.map(|rtts| rtts.iter().sum::<f64>() / rtts.len() as f64),
        resent: mean(|flow| flow.resent_share),
        congestion: first.congestion.clone(),
        against: others.iter().map(|flow| flow.congestion.clone()).collect(),
    })
}

/// A flow in company, compared with the variants that it names.
fn company<'a>(
    own: &Competes,
    at: &Map<String, Value>,
    of: impl Fn(&String) -> Option<&'a Group>,
) -> Option<Company> {
    let group = of(&own.variant)?;
    let first = group.values().next()?;

    // Repetitions of one number have one seed, so they pair.
    let pairs = |name: &Option<String>| -> Option<Vec<(&Did, &Did)>> {
        let other = of(name.as_ref()?)?;
        Some(group.iter().filter_map(|(n, did)| Some((did, other.get(n)?))).collect())
    };

    // A flow that got nothing alone allows no ratio.
    let ratios = pairs(&own.like).map(|pairs| {
        pairs
            .iter()
            .filter(|(_, like)| like.mbit > 0.0)
            .map(|(together, like)| together.mbit / like.mbit)
            .collect::<Vec<_>>()
    });
    Some(Company {
        variant: own.variant.clone(),
        at: at.clone(),
        flow: own.flow.clone(),
        congestion: first.congestion.clone(),
        against: first.against.iter().cloned().collect(),
        friendliness: ratios.and_then(|ratios| Estimate::of(&ratios)),
        harm: pairs(&own.solo).and_then(|pairs| harm(&pairs)),
    })
}

/// Harm, from pairs of a run in company and one alone.
fn harm(pairs: &[(&Did, &Did)]) -> Option<Harm> {
    let of = |harm: &dyn Fn(&Did, &Did) -> Option<f64>| {
        let all: Vec<f64> =
            pairs.iter().filter_map(|(together, solo)| harm(solo, together)).collect();
        Estimate::of(&all)
    };
    Some(Harm {
        throughput: of(&|solo, together| harm_to_more(solo.mbit, together.mbit))?,
        delay: of(&|solo, together| harm_to_less(solo.srtt_ms?, together.srtt_ms?)),
        loss: of(&|solo, together| harm_to_less(solo.resent, together.resent)),
    })
}

#[cfg(test)]
mod tests {
    use super::super::record::{Part, Shared};
    use super::*;

    #[test]
    fn harm_by_hand() {
        // 10 alone, 4 together: six tenths are taken. Twice the delay: half of it is harm.
        assert_eq!(harm_to_more(10.0, 4.0), Some(0.6));
        assert_eq!(harm_to_more(10.0, 12.0), Some(-0.2));
        assert_eq!(harm_to_more(0.0, 1.0), None);
        assert_eq!(harm_to_less(25.0, 50.0), Some(0.5));
        assert_eq!(harm_to_less(0.0, 0.01), Some(1.0));
        assert_eq!(harm_to_less(0.0, 0.0), Some(0.0));
        assert_eq!(harm_to_less(0.01, 0.0), None);
    }

    fn flow(name: &str, congestion: &str, mbit: f64, srtt_ms: f64, resent_share: f64) -> Flow {
        Flow {
            name: name.into(),
            congestion: congestion.into(),
            bytes: 0,
            mean_mbit: mbit,
            settled_mbit: mbit,
            loss_epochs: 0,
            steady: true,
            retransmitted_segments: 0,
            resent_share,
            srtt_median_ms: Some(srtt_ms),
            completion_s: None,
            law_mbit: None,
            law_holds: false,
            limit: String::new(),
            limit_share: 0.0,
        }
    }

    fn facts(flows: &[Flow]) -> Facts {
        Facts {
            duration_s: 1.0,
            flows: flows.to_vec(),
            fairness: None,
            stages: Vec::new(),
            expected: Vec::new(),
            compared: BTreeMap::new(),
            failed: Vec::new(),
        }
    }

    fn group(own: &Competes, runs: &[&[Flow]]) -> Group {
        let dids = runs.iter().enumerate();
        dids.map(|(n, flows)| (n as u32, did(&facts(flows), own).expect("the flow"))).collect()
    }

    #[test]
    fn repetitions_are_compared_one_by_one() {
        let own = Competes {
            variant: "cubic".into(),
            flow: "reno".into(),
            solo: Some("alone".into()),
            like: Some("like".into()),
        };
        let reno = |mbit, srtt, resent| flow("reno", "reno", mbit, srtt, resent);
        let with =
            |mbit, other: &str| [reno(mbit, 40.0, 0.02), flow("other", other, 1.0, 40.0, 0.0)];
        let groups = BTreeMap::from([
            ("cubic", group(&own, &[&with(2.0, "cubic"), &with(3.0, "cubic")])),
            ("like", group(&own, &[&with(4.0, "reno"), &with(5.0, "reno"), &with(9.0, "reno")])),
            ("alone", group(&own, &[&[reno(8.0, 20.0, 0.01)], &[reno(12.0, 20.0, 0.0)]])),
        ]);
        let found = company(&own, &Map::new(), |name| groups.get(name.as_str())).expect("runs");
        assert_eq!((found.congestion.as_str(), found.against), ("reno", vec!["cubic".to_string()]));
        let friendliness = found.friendliness.expect("like");
        // 2/4 and 3/5; the third run of the like has no partner.
        assert_eq!((friendliness.n, friendliness.mean), (2, 0.55));
        let harm = found.harm.expect("solo");
        assert_eq!((harm.throughput.min, harm.throughput.max), (0.75, 0.75));
        assert_eq!(harm.delay.map(|delay| delay.mean), Some(0.5));
        assert_eq!(harm.loss.map(|loss| (loss.min, loss.max)), Some((0.5, 1.0)));
    }

    /// A flow of 200 s next to one of 80 s: only the time in which both live counts.
    #[test]
    fn in_company_the_time_counts_in_which_all_live() {
        let own = Competes { variant: "v".into(), flow: "reno".into(), solo: None, like: None };
        let part = |name: &str, mbit| Part {
            name: name.into(),
            share: mbit / 100.0,
            settled_mbit: Some(mbit),
            variation: None,
        };
        let shared = Shared {
            jain: 0.6,
            jain_settled: None,
            too_short: false,
            converged_s: None,
            rtt_exponent: None,
            dropped: 0,
            queue: None,
            flows: vec![part("reno", 12.0), part("other", 88.0)],
        };
        let mut facts = facts(&[flow("reno", "reno", 99.0, 40.0, 0.0)]);
        assert_eq!(did(&facts, &own).expect("the flow").mbit, 99.0);
        facts.fairness = Some(shared);
        assert_eq!(did(&facts, &own).expect("the flow").mbit, 12.0);
    }

    #[test]
    fn copies_are_one_flow() {
        let own = Competes { variant: "v".into(), flow: "reno".into(), solo: None, like: None };
        let flows = [
            flow("reno-1", "reno", 2.0, 40.0, 0.0),
            flow("reno-2", "reno", 4.0, 60.0, 0.02),
            flow("renown", "cubic", 9.0, 1.0, 0.0),
        ];
        let group = group(&own, &[&flows]);
        let did = &group[&0];
        assert_eq!((did.mbit, did.srtt_ms, did.resent), (3.0, Some(50.0), 0.01));
        assert_eq!(did.against, BTreeSet::from(["cubic".to_string()]));
        assert_eq!(company(&own, &Map::new(), |_| None), None);
    }
}
