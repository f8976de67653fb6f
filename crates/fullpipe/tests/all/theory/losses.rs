//! A flow from loss to loss: one model for CUBIC and BIC, and the results of a run.
//!
//! At a loss the window falls to beta times itself. Then it grows by its own law until the next loss. With fast
//! convergence (Xu, Harfoush, Rhee 2004; RFC 9438, section 4.7) a window below the last maximum makes a lower one.
//! Windows are whole packets. The model leaves out the round trips of recovery, and the delay of up to a round trip
//! with which a window follows its law.

use super::runs::Made;
use fullpipe::scenario::{Element, Resolved};
use fullpipe_sim::trace::{Event, EventKind};

/// Linux `TCP_CA_Recovery`.
const RECOVERY: u64 = 3;

/// Growth of a congestion control's window between two losses.
pub trait Growth {
    /// The window after `packets` packets from a window after a loss, and the round trips for them.
    fn grow(&self, from: f64, last_max: f64, packets: f64) -> (f64, f64);
}

/// A window at a loss, and the maximum before it.
#[derive(Clone, Copy)]
pub struct AtLoss {
    pub window: f64,
    pub last_max: f64,
}

/// The parameters of a run that the laws take.
pub struct Setting {
    /// Part of the window that a loss leaves.
    pub beta: f64,
    pub fast_convergence: bool,
    pub rtt_s: f64,
}

impl Setting {
    pub fn of(run: &Resolved) -> Setting {
        let parameters = &run.flow[0].congestion.parameters;
        let delays = run.path.forward.iter().filter_map(|element| match element {
            Element::Delay(delay) => Some(delay.delay.as_secs_f64()),
            _ => None,
        });
        Setting {
            beta: parameters["beta"] as f64 / 1024.0,
            fast_convergence: parameters["fast_convergence"] == 1,
            rtt_s: delays.sum(),
        }
    }

    /// The next loss, `packets` packets later, and the round trips between.
    pub fn next(&self, law: &impl Growth, at: AtLoss, packets: f64) -> (AtLoss, f64) {
        let lower = self.fast_convergence && at.window < at.last_max;
        let last_max =
            if lower { (at.window * (1.0 + self.beta) / 2.0).floor() } else { at.window };
        let (window, rounds) = law.grow((at.window * self.beta).floor(), last_max, packets);
        (AtLoss { window, last_max }, rounds)
    }

    /// The mean window from the first loss of a flow on, with the given numbers of packets between the losses.
    pub fn mean(&self, law: &impl Growth, from: f64, between: impl Iterator<Item = f64>) -> f64 {
        let (mut at, mut sent, mut all) = (AtLoss { window: from, last_max: 0.0 }, 0.0, 0.0);
        for packets in between {
            let (next, rounds) = self.next(law, at, packets);
            (at, sent, all) = (next, sent + packets, all + rounds);
        }
        sent / all
    }
}

/// Packets between the numbers of a run's list of drops.
pub fn packets_between(run: &Resolved) -> f64 {
    let list = run.path.forward.iter().find_map(|element| match element {
        Element::Drop(drop) => Some(&drop.segments),
        _ => None,
    });
    let list = list.expect("a list of drops");
    let step = list[1] - list[0];
    assert!(
        list.windows(2).all(|pair| pair[1] - pair[0] == step),
        "losses are not equally far apart"
    );
    step as f64
}

/// A loss, as the sender noticed it.
struct Loss {
    time_s: f64,
    /// Packets sent before it.
    sent: u64,
    window: f64,
}

/// The losses of a run.
pub struct Losses(Vec<Loss>);

impl Losses {
    /// None may be noticed by a timeout only.
    pub fn of(made: &Made, beta: f64) -> Losses {
        let events = &made.trace.events;
        assert!(events.iter().all(|event| event.kind != EventKind::Timeout), "a timeout");
        let loss = |event: &Event| {
            let after = made.trace.flows.partition_point(|sample| sample.time <= event.time);
            made.trace.flows.get(after).map(|sample| Loss {
                time_s: event.time.as_secs_f64(),
                sent: sample.segments_sent,
                window: (f64::from(sample.ssthresh) / beta).round(),
            })
        };
        let recovers = |e: &&Event| e.kind == EventKind::CaState && e.value == RECOVERY;
        let losses: Vec<Loss> = events.iter().filter(recovers).filter_map(loss).collect();
        Losses(losses)
    }

    /// Number of losses.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Epochs from the loss `first` on.
    pub fn epochs(&self, first: usize) -> usize {
        self.0.len() - 1 - first
    }

    /// Window at a loss, from the rest after it: exact to a packet.
    pub fn window(&self, number: usize) -> f64 {
        self.0[number].window
    }

    /// Packets between the losses.
    pub fn between(&self) -> impl Iterator<Item = f64> {
        self.0.windows(2).map(|pair| (pair[1].sent - pair[0].sent) as f64)
    }

    /// The mean window, as packets per round trip, from the loss `first` to the last one.
    pub fn mean(&self, first: usize, rtt_s: f64) -> f64 {
        let (from, to) = (&self.0[first], &self.0[self.0.len() - 1]);
        (to.sent - from.sent) as f64 / (to.time_s - from.time_s) * rtt_s
    }
}
