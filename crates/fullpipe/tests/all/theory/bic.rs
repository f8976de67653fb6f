//! BIC by its rules: Xu, Harfoush, Rhee 2004, in the form that Linux gave them.
//!
//! Growth per round trip is a quarter of the distance to the last maximum, S = 16 packets at most, and a packet in 5
//! round trips close to it. Beyond the maximum growth is the same in reverse (`tcp_bic.c`, `bictcp_update`, 2.6.20 to
//! 3.19). The paper searches by halves; Linux takes a quarter, and has the slow part (`smooth_part`).

use super::losses::{AtLoss, Growth, Setting};

/// Packets per round trip.
const SMAX: f64 = 16.0;
/// A step is this part of the distance.
const PART: f64 = 4.0;
/// Round trips per packet close to the last maximum: 20 / PART.
const SLOW: f64 = 5.0;
/// Closer than this it is slow: a quarter of the distance, in whole packets, is 1 or less.
const NEAR: f64 = 8.0;

pub struct Bic;

impl Bic {
    /// Packets per round trip.
    fn per_round(window: f64, last_max: f64) -> f64 {
        let off = window - last_max;
        if off < -NEAR + 0.5 {
            (-off / PART).floor().min(SMAX)
        } else if off < PART {
            1.0 / SLOW
        } else if off < SMAX * (PART - 1.0) {
            off / (PART - 1.0)
        } else {
            SMAX
        }
    }
}

impl Growth for Bic {
    /// Packet by packet: at w packets, one more takes 1 / growth round trips of w packets each.
    fn grow(&self, from: f64, last_max: f64, packets: f64) -> (f64, f64) {
        let (mut window, mut sent, mut rounds) = (from, 0.0, 0.0);
        loop {
            let step = 1.0 / Bic::per_round(window, last_max);
            if sent + step * window > packets {
                return (window, rounds + (packets - sent) / window);
            }
            sent += step * window;
            rounds += step;
            window += 1.0;
        }
    }
}

/// Packets and round trips from beta times a window up to the window: additive increase, then search by quarters from 4
/// S to 8 packets below, then the slow part.
fn way_up(window: f64, beta: f64) -> (f64, f64) {
    let far = SMAX * PART;
    let additive = (window - far - beta * window) / SMAX;
    let search = PART * (far / NEAR).ln();
    let slow = SLOW * NEAR;
    let packets = additive * (window - far + beta * window) / 2.0
        + (search * window - PART * (far - NEAR))
        + slow * (window - NEAR / 2.0);
    (packets, additive + search + slow)
}

/// The window at each loss, if losses are `packets` packets apart and happen when the window is back at its last
/// maximum. For (1 - beta) window above 4 S.
pub fn at_loss(beta: f64, packets: f64) -> f64 {
    let (mut low, mut high) = (SMAX * PART / (1.0 - beta), 1e7);
    assert!(way_up(low, beta).0 < packets, "the window is too small");
    while high - low > 1e-9 * high {
        let middle = (low + high) / 2.0;
        if way_up(middle, beta).0 < packets { low = middle } else { high = middle }
    }
    low
}

/// The response function: the mean window.
pub fn response(beta: f64, packets: f64) -> f64 {
    packets / way_up(at_loss(beta, packets), beta).1
}

/// The lowest and highest mean at which a window rests that fell by fast convergence. A window above [`at_loss`] is
/// below its last maximum at the loss, and falls to (1 + beta) / 2 of itself.
pub fn rests_between(setting: &Setting, packets: f64) -> [f64; 2] {
    let highest = at_loss(setting.beta, packets);
    [highest * (1.0 + setting.beta) / 2.0, highest].map(|window| {
        let at = AtLoss { window, last_max: 0.0 };
        packets / setting.next(&Bic, at, packets).1
    })
}
