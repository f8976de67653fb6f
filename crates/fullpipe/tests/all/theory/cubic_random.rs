//! CUBIC under independent random losses.
//!
//! Poojary, Sharma, "An Asymptotic Approximation of TCP CUBIC" (arXiv 1510.08496): as p goes to 0, the windows at the
//! losses become a Markov chain. Between two losses the packets are exponentially distributed and the window follows
//! its curve. Its mean is found here by running the chain itself (in whole packets, and with fast convergence where a
//! run has it).

use super::cubic::Cubic;
use super::losses::{Losses, Setting};
use super::page::{Row, check};
use super::runs::{Made, all};
use fullpipe::scenario::Element;

/// Losses in the chain: its mean is exact to about 0.4 %.
const STEPS: u32 = 40_000;

/// Means from which their spread is found, to a tenth of it.
const BLOCKS: u32 = 100;

/// Exponentially distributed numbers of mean 1: a linear congruential generator (Knuth's MMIX).
struct Exponential(u64);

impl Exponential {
    fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        -(((self.0 >> 11) as f64 + 1.0) / (1u64 << 53) as f64).ln()
    }
}

/// A run, and its curve.
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
        made.has_room();
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

    /// Standard deviation, in the chain, of the mean over as many losses as the run had; relative.
    fn spread(&self) -> f64 {
        let mut drawn = Exponential(2);
        let long = self.losses.epochs(0);
        let mut mean = || {
            let between = (0..long).map(|_| drawn.draw() / self.p);
            self.setting.mean(&self.law, self.losses.window(0), between)
        };
        let means: Vec<f64> = (0..BLOCKS).map(|_| mean()).collect();
        let all = means.iter().sum::<f64>() / f64::from(BLOCKS);
        let squares = means.iter().map(|mean| (mean / all - 1.0).powi(2)).sum::<f64>();
        (squares / f64::from(BLOCKS - 1)).sqrt()
    }
}

/// Twice the spread of chance. With the losses as they fell there is no chance, and 2 % for recovery
/// as under equal losses.
#[test]
#[ignore = "a study: make studies"]
fn study_cubic_follows_its_chain_under_random_losses() {
    let cases: Vec<Case> = all("cubic-random-loss").iter().map(Case::of).collect();
    let drawn: Vec<Row> = cases.iter().map(Case::drawn_anew).collect();
    let spread = cases.iter().map(Case::spread).fold(0.0, f64::max);
    assert!((0.05..0.07).contains(&spread), "the page says some 6 %: {spread}");
    check("cubic-random", "packets", 2.0 * spread, &drawn);
    let same = cases.iter().map(|case| case.row(case.losses.between()));
    check("cubic-random-same", "packets", 0.02, &same.collect::<Vec<_>>());
}
