//! Scalable TCP under equal losses.
//!
//! Kelly 2003 (CCR 33(2)): with a packet more per 1/a acknowledged ones and a part b less per loss, W = a / (b p)
//! balances both, for small b. Over a whole tooth: a round trip multiplies the window by 1 + a. So ln(1 / (1 - b)) /
//! ln(1 + a) round trips lie between two losses, in which 1/p packets are sent.

use super::losses::{Losses, packets_between};
use super::page::{Row, check};
use super::runs::{Made, all};

/// Losses left out: a hundredth of the window's first error (half) is left after them.
const UNSTEADY: usize = 30;
/// Epochs from which a mean is taken.
const LEAST_EPOCHS: usize = 30;
const RTT_S: f64 = 0.1;
/// A packet per hundred.
const A: f64 = 0.01;
/// An eighth less.
const B: f64 = 0.125;
/// Round trips from when a loss is noticed until it is repaired: the window does not grow.
const RECOVERY: f64 = 1.0;

fn kelly(p: f64) -> f64 {
    A / (B * p)
}

fn tooth(p: f64) -> f64 {
    let growth = (1.0 / (1.0 - B)).ln() / (1.0 + A).ln();
    1.0 / (p * (growth + RECOVERY))
}

/// A run as the law sees it: 1/p, and the mean window.
fn seen(made: &Made, law: fn(f64) -> f64) -> Row {
    let losses = Losses::of(made, 1.0 - B);
    made.has_room();
    let (name, epochs) = (&made.run.variant, losses.epochs(UNSTEADY));
    assert!(epochs >= LEAST_EPOCHS, "{name}: {epochs} losses");
    Row {
        what: format!("{name}, {epochs} losses"),
        predicted: law(1.0 / packets_between(&made.resolved)),
        simulated: losses.mean(UNSTEADY, RTT_S),
    }
}

/// Kelly's balance is to first order in b: ln(1 / (1 - b)) is 6.8 % more than b. It leaves recovery out, too, one round
/// trip of 14.4 (6.9 %). So the window is 13 % below it at any rate; the tolerance is 15 %. With both counted it is 2
/// %, for whole packets and for the rest of the beginning.
#[test]
#[ignore = "a study: make studies"]
fn study_scalable_follows_its_response_function() {
    let runs = all("scalable-losses");
    let rows = |law| runs.iter().map(|made| seen(made, law)).collect::<Vec<Row>>();
    check("scalable-kelly", "packets", 0.15, &rows(kelly));
    check("scalable-tooth", "packets", 0.02, &rows(tooth));
}
