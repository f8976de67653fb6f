//! CUBIC under independent random losses.
//!
//! Poojary, Sharma, "An Asymptotic Approximation of TCP CUBIC" (arXiv 1510.08496): as p goes to 0, the
//! windows at the losses become a Markov chain, in which the packets between two losses are
//! exponentially distributed and the window follows its curve. Its mean is found here by running the
//! chain itself (in whole packets, and with fast convergence where a run has it).

use super::cubic::Cubic;
use super::losses::{Losses, Setting};
use super::page::{Row, check};
use super::runs::{Made, all};
use fullpipe::scenario::Element;

/// Losses that the chain goes through: its mean is exact to about 0.4 %.
const STEPS: u32 = 40_000;

/// Exponentially distributed numbers of mean 1: a linear congruential generator (Knuth's MMIX).
struct Exponential(u64);

impl Exponential {
    fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        -(((self.0 >> 11) as f64 + 1.0) / (1u64 << 53) as f64).ln()
    }
}

/// A run, and what its curve is.
struct Case {
    name: String,
    p: f64,
    setting: Setting,
    law: Cubic,
    losses: Losses,
}

impl Case {
    fn of(made: &Made) -> Case {
        let setting = Setting::of(&made.resolved);
        let p = made.resolved.path.forward.iter().find_map(|element| match element {
            Element::Loss(loss) => Some(loss.probability),
            _ => None,
        });
        let losses = Losses::of(made, setting.beta);
        assert!(losses.epochs(0) > 200, "only {} losses", losses.epochs(0));
        Case {
            name: made.run.variant.clone(),
            p: p.expect("a random loss"),
            law: Cubic { rtt_s: setting.rtt_s, whole_packets: true },
            setting,
            losses,
        }
    }

    /// Against the mean that a law has with these packets between its losses.
    fn row(&self, between: impl Iterator<Item = f64>) -> Row {
        Row {
            what: format!("{}, {} losses", self.name, self.losses.epochs(0)),
            predicted: self.setting.mean(&self.law, self.losses.window(0), between),
            simulated: self.losses.mean(0, self.setting.rtt_s),
        }
    }

    fn drawn_anew(&self) -> Row {
        let mut drawn = Exponential(1);
        self.row((0..STEPS).map(|_| drawn.draw() / self.p))
    }
}

/// The mean over 230 losses has a standard deviation of 6 % in the chain itself: twice that. With the
/// losses as they fell there is no chance, and 2 % for recovery as under equal losses.
#[test]
fn cubic_follows_its_chain_under_random_losses() {
    let cases: Vec<Case> = all("cubic-random-loss").iter().map(Case::of).collect();
    let drawn: Vec<Row> = cases.iter().map(Case::drawn_anew).collect();
    check("cubic-random", "packets", 0.12, &drawn);
    let same = cases.iter().map(|case| case.row(case.losses.between()));
    check("cubic-random-same", "packets", 0.02, &same.collect::<Vec<_>>());
}
