//! `fullpipe plan`: sizes for a path, the files that set them, their undo, and the proof by a run.
//!
//! [`nfs`] does so for mounts. [`advise`] is arithmetic alone; [`proof`] simulates
//! the path with the settings of today and with the advised ones, and [`answer`] is the sentence that follows.
//!
//! Limits:
//! - Plans are for bulk flows over IPv4 that have the path for themselves. The proof has no cross traffic.
//! - The proof needs the true rate and queue of the path. A queue that is not named is one bandwidth-delay product.
//! - A kernel without a profile is sized by its own rules and proven with the nearest profile.
//! - Loss models assume independent single losses and no queue.

pub mod answer;
pub mod hints;
pub mod nfs;
pub mod page;
pub mod proof;
pub mod scenario;
pub mod text;

use crate::advice::files::{File, sysctl};
use crate::sizing::OutOfRange;
pub use crate::sizing::demand::{Demand, Reason};
use crate::sizing::sizes::{self, Buffers};
use hints::Hint;
use proof::Proof;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings for a path, without their proof.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// Maximum of the socket buffers today, where nothing was set, bytes.
    pub today: Buffers,
    /// The advised maximum, bytes; never below today's.
    pub advised: Buffers,
    /// Rate at which each socket paces (SO_MAX_PACING_RATE), bytes of payload per second, where pacing is advised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing_bytes_per_s: Option<u64>,
    /// Parallel flows that fill the path, where those asked for cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<u64>,
    /// Highest rate of payload that the flows can have together, Mb/s (10^6): the path's, or less by TCP's largest window.
    pub reachable_mbit: f64,
    /// Each setting that changes, with its reason.
    pub reasons: Vec<Reason>,
    /// Files that make the settings permanent, and their undo.
    pub files: Vec<File>,
    /// What else matters on this path: pacing, qdisc, MTU, streams, rings.
    pub hints: Vec<Hint>,
}

impl Advice {
    /// Whether any setting changes.
    pub fn changes(&self) -> bool {
        self.advised != self.today || self.pacing_bytes_per_s.is_some()
    }

    /// Withdraws settings that the proof shows to be superfluous: today's fill the path, or the advised ones gain nothing.
    /// On a path that loses packets they gain if today's buffers held the flows back.
    pub fn judged(self, demand: &Demand, proof: &Proof) -> Advice {
        let today = proof.mbit(scenario::TODAY).unwrap_or(0.0);
        let planned = proof.mbit(scenario::PLANNED).unwrap_or(today);

        // A path that is full needs no further streams.
        let is_full = today.max(planned) >= FULL * proof.payload_mbit;
        let streams = self.streams.filter(|_| !is_full);
        // Rates of few losses differ by chance: there the buffers themselves say whether they were too small.
        let buffers_suffice = proof.run(scenario::TODAY).is_none_or(|run| !run.lacks_buffers());
        let gains = if demand.loss > 0.0 { !buffers_suffice } else { planned > GAIN * today };

        // Today's settings fill what can be reached, or the advised ones add nothing.
        let is_needless = today >= FULL * self.reachable_mbit || !gains;
        if !is_needless {
            let hints = hints::hints(demand, self.advised, streams);
            return Advice { streams, hints, ..self };
        }

        // The advice is withdrawn: today's sizes stay, and no file is written.
        Advice {
            advised: self.today,
            pacing_bytes_per_s: None,
            streams,
            reasons: Vec::new(),
            files: Vec::new(),
            hints: hints::hints(demand, self.today, streams),
            ..self
        }
    }
}

/// From this share of the reachable rate on a path is full.
pub const FULL: f64 = 0.97;
/// A setting that gains less than 2 % is withdrawn.
pub const GAIN: f64 = 1.02;

/// Sizes buffers, pacing and streams for a path.
///
/// # Errors
/// A quantity beyond its bounds.
pub fn advise(demand: &Demand) -> Result<Advice, OutOfRange> {
    crate::sizing::check(&demand.path)?;
    demand
        .outline()
        .check()
        .map_err(|wrong| OutOfRange { what: wrong.what, expected: wrong.expected })?;

    // Sizes for the path's arithmetic alone: the proof may withdraw them.
    let found = sizes::sizes(demand);
    let streams = sizes::streams(demand);
    Ok(Advice {
        today: found.today,
        advised: found.advised,
        pacing_bytes_per_s: sizes::pacing(demand),
        streams,
        reachable_mbit: sizes::reachable_mbit(demand),
        reasons: sizes::reasons(demand, &found),
        files: sysctl::buffers(
            "both",
            sysctl::PATH,
            demand.path.kernel,
            found.today,
            found.advised,
        )
        .into_iter()
        .collect(),
        hints: hints::hints(demand, found.advised, streams),
    })
}

#[cfg(test)]
mod tests {
    use super::proof::Proven;
    use super::scenario::{PLANNED, TODAY};
    use super::*;
    use crate::scenario::Version;
    use crate::sizing::Question;
    use fullpipe_base::units::{Framing, Rate, Time};

    fn demand(loss: f64) -> Demand {
        let path = Question {
            rate: Rate::gbit(10),
            rtt: Time::ms(80),
            mtu: 1500,
            framing: Framing::EthernetWire,
            kernel: Version::new(6, 12, 0),
            timestamps: true,
        };
        Demand { path, flows: 1, loss, queue: None, congestion: None }
    }

    /// Runs with their rates, the share of time in which a buffer held them back, and their losses.
    fn proof(demand: &Demand, runs: &[(&str, f64, f64, u64)]) -> Proof {
        Proof {
            engine: "sim".into(),
            queue_bytes: 0,
            payload_mbit: demand.payload_mbit(),
            runs: runs
                .iter()
                .map(|(settings, mbit, buffers, losses)| Proven {
                    settings: (*settings).into(),
                    seconds: 8.0,
                    mbit: *mbit,
                    held_back_by: "cwnd_avoidance".into(),
                    share: 1.0 - buffers,
                    buffers: *buffers,
                    losses: (demand.loss > 0.0).then_some(*losses),
                })
                .collect(),
            notes: Vec::new(),
        }
    }

    fn judged(loss: f64, runs: &[(&str, f64, f64, u64)]) -> (Advice, String) {
        let demand = demand(loss);
        let proof = proof(&demand, runs);
        let advice = advise(&demand).expect("in range").judged(&demand, &proof);
        let text = answer::answer(&demand, &advice, Some(&proof));
        (advice, text)
    }

    #[test]
    fn settings_without_a_gain_are_withdrawn() {
        let (advice, _) = judged(0.0, &[(TODAY, 288.0, 0.9, 0), (PLANNED, 9414.0, 0.0, 0)]);
        assert!(advice.changes() && !advice.files.is_empty());
        for planned in [288.0, 293.0] {
            let (advice, text) = judged(0.0, &[(TODAY, 288.0, 0.9, 0), (PLANNED, planned, 0.0, 0)]);
            assert!(!advice.changes() && advice.files.is_empty(), "{text}");
            // The remaining hint belongs to the settings that stay.
            let memory = advice.hints.iter().find(|hint| hint.about == "memory").expect("a hint");
            assert!(memory.text.contains("4 MiB at the sender"), "{}", memory.text);
        }
        let (advice, _) = judged(0.0, &[(TODAY, 9300.0, 0.9, 0), (PLANNED, 9414.0, 0.0, 0)]);
        assert!(!advice.changes(), "97 % of the path is full");
    }

    /// Rates with few losses differ by chance, so a smaller rate does not withdraw a buffer's need.
    #[test]
    fn on_a_lossy_path_the_buffers_are_judged_by_what_they_held_back() {
        let (advice, _) = judged(1e-6, &[(TODAY, 285.0, 0.94, 14), (PLANNED, 280.0, 0.0, 45)]);
        assert!(advice.changes());
        let (advice, text) = judged(1e-6, &[(TODAY, 700.0, 0.05, 40), (PLANNED, 800.0, 0.0, 45)]);
        assert!(!advice.changes() && advice.streams == Some(13), "{text}");
    }

    #[test]
    fn too_few_losses_are_said_where_losses_bound_the_rate() {
        let few = [(TODAY, 285.0, 0.94, 3), (PLANNED, 900.0, 0.0, 7)];
        let (_, text) = judged(1e-6, &few);
        assert!(text.contains("Not proven: a run lost 7 segments"), "{text}");
        // A buffer bounds today's rate, whatever few losses it had.
        let (_, text) = judged(1e-6, &[few[0], (PLANNED, 900.0, 0.0, 40)]);
        assert!(!text.contains("Not proven"), "{text}");
    }

    #[test]
    fn what_does_not_fill_the_path_is_said() {
        let (_, text) = judged(0.0, &[(TODAY, 9.0, 0.0, 0), (PLANNED, 79.0, 0.0, 0)]);
        let expected = "That does not fill the path: cwnd_avoidance holds the flow back";
        assert!(text.contains(expected), "{text}");
    }

    /// Scalable has no formula here: the window alone asks for more flows.
    #[test]
    fn more_flows_have_the_right_reason() {
        let mut own = demand(1e-6);
        (own.path.rate, own.path.rtt) = (Rate::gbit(100), Time::ms(100));
        let reason = |own: &Demand| answer::answer(own, &advise(own).expect("in range"), None);
        assert!(reason(&own).contains("The loss bounds each flow"), "{}", reason(&own));
        own.congestion = Some("scalable".into());
        assert!(reason(&own).contains("TCP's largest window"), "{}", reason(&own));
    }

    #[test]
    fn reno_needs_more_flows_than_cubic() {
        let cubic = demand(1e-5);
        let reno = Demand { congestion: Some("reno".into()), ..cubic.clone() };
        // 65,020 packets over 892, and over 1.2 / sqrt(1e-5) = 379
        assert_eq!((sizes::streams(&cubic), sizes::streams(&reno)), (Some(73), Some(172)));
    }
}
