//! CUBIC by its curve: RFC 9438, section 4.2, with C = 0.4; no Reno-friendly region.

use super::losses::{AtLoss, Growth, Setting};

const C: f64 = 0.4;

/// The curve on a path of this round trip. In whole packets, as Linux computes it: a window less than a packet from the
/// curve's flat part is on it. Otherwise as in the RFC.
pub struct Cubic {
    pub rtt_s: f64,
    pub whole_packets: bool,
}

impl Cubic {
    /// Packets in `time_s` seconds along the curve.
    fn packets(&self, origin: f64, k_s: f64, time_s: f64) -> f64 {
        (origin * time_s + C / 4.0 * ((time_s - k_s).powi(4) - k_s.powi(4))) / self.rtt_s
    }
}

impl Growth for Cubic {
    fn grow(&self, from: f64, last_max: f64, packets: f64) -> (f64, f64) {
        let origin = last_max.max(from);
        let k_s = ((origin - from) / C).cbrt();
        let time_s = root(|time_s| self.packets(origin, k_s, time_s) - packets, 1e5);
        let off = C * (time_s - k_s).powi(3);
        let off = if self.whole_packets { off.trunc() } else { off };
        (origin + off, time_s / self.rtt_s)
    }
}

/// Where a rising function of a positive number crosses zero.
fn root(rising: impl Fn(f64) -> f64, most: f64) -> f64 {
    let (mut low, mut high) = (0.0, most);
    while high - low > 1e-9 * high {
        let middle = (low + high) / 2.0;
        if rising(middle) < 0.0 { low = middle } else { high = middle }
    }
    low
}

/// RFC 9438, section 5.1: the mean window when each loss is 1/p packets after the one before.
pub fn response(beta: f64, rtt_s: f64, packets: f64) -> f64 {
    (C * (3.0 + beta) / (4.0 * (1.0 - beta))).powf(0.25) * (rtt_s * packets).powf(0.75)
}

/// The window at each loss that belongs to [`response`]: losses happen when the curve is flat.
pub fn at_loss(beta: f64, rtt_s: f64, packets: f64) -> f64 {
    response(beta, rtt_s, packets) * 4.0 / (3.0 + beta)
}

/// The window at the loss, if each loss is `early_s` before the flat part of the curve.
fn at_early_loss(setting: &Setting, packets: f64, early_s: f64) -> f64 {
    let curve = Cubic { rtt_s: setting.rtt_s, whole_packets: true };
    let sent = |window: f64| {
        let k_s = (window * (1.0 - setting.beta) / C).cbrt();
        curve.packets(window, k_s, k_s - early_s)
    };
    root(|window| sent(window) - packets, 1e7)
}

/// The lowest and highest mean at which a window rests that fell by fast convergence.
///
/// Highest: the loss comes when the window is a packet short of its last maximum. A higher window is below its maximum
/// at the loss, and falls to (1 + beta) / 2 of itself: so this is the lowest.
pub fn rests_between(setting: &Setting, packets: f64) -> [f64; 2] {
    let highest = at_early_loss(setting, packets, C.cbrt().recip());
    let law = Cubic { rtt_s: setting.rtt_s, whole_packets: true };
    [highest * (1.0 + setting.beta) / 2.0, highest].map(|window| {
        let (_, rounds) = setting.next(&law, AtLoss { window, last_max: 0.0 }, packets);
        packets / rounds
    })
}
