//! The congestion control of a captured sender, guessed from what is in flight before and behind losses.
//!
//! Reno leaves half of cwnd (RFC 5681, 3.1), CUBIC 0.7 (RFC 9438, 4.6). BBR, before its third version, does not answer a loss with its rate.
//!
//! Limits: controls with other factors (HTCP, BIC, Scalable) are called after the nearest of these.

use fullpipe_analysis::sockets::facts::quantile;
use fullpipe_observe::capture::epochs::Epoch;
use schemars::JsonSchema;
use serde::Serialize;

/// Losses from which on there is a guess, and from which on it may be sure.
const FEW: usize = 3;
const MANY: usize = 5;
/// Packets in flight below which a loss shows no factor.
const LEAST: f64 = 8.0;
/// Part of the packets in flight below which Reno, and from which on BBR is guessed: between 0.5 and 0.7, and between 0.7 and 1.
const RENO: f64 = 0.6;
const BBR: f64 = 0.85;
/// Share of the time in which the window stops a flow, from which on its packets in flight are not those of cwnd.
const STOPPED: f64 = 0.2;
/// Spread of the middle half of losses up to which the guess is sure.
const EVEN: f64 = 0.1;

/// A guess.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Control {
    /// "reno", "cubic" or "bbr", as Linux names them.
    pub name: &'static str,
    /// Losses that it rests on.
    pub losses: usize,
    /// Packets in flight behind a loss over those before it, median.
    pub left: f64,
    /// Whether losses agree.
    pub is_sure: bool,
}

/// The guess for a flow that its receiver's window stops for that share of the time; none where losses are few, or the window
/// holds cwnd back.
pub fn guess(epochs: &[Epoch], stopped: f64) -> Option<Control> {
    if stopped >= STOPPED {
        return None;
    }
    let of = epochs.iter().filter(|own| own.before >= LEAST);
    let parts: Vec<f64> = of.map(|own| own.after / own.before).collect();
    if parts.len() < FEW {
        return None;
    }
    let [low, left, high] = [0.25, 0.5, 0.75].map(|part| quantile(&parts, part));
    let name = match left {
        own if own < RENO => "reno",
        own if own < BBR => "cubic",
        _ => "bbr",
    };
    let is_sure = parts.len() >= MANY && high - low <= EVEN;
    Some(Control { name, losses: parts.len(), left, is_sure })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(parts: &[f64]) -> Option<(&'static str, bool)> {
        let epochs: Vec<Epoch> =
            parts.iter().map(|part| Epoch { before: 100.0, after: 100.0 * part }).collect();
        guess(&epochs, 0.0).map(|own| (own.name, own.is_sure))
    }

    #[test]
    fn factors_name_the_control() {
        assert_eq!(name(&[0.5; 5]), Some(("reno", true)));
        assert_eq!(name(&[0.7; 5]), Some(("cubic", true)));
        assert_eq!(name(&[1.0, 0.95, 1.1]), Some(("bbr", false)));
        assert_eq!(name(&[0.5, 0.7, 0.7, 0.9, 0.7]), Some(("cubic", true)));
        assert_eq!(name(&[0.5, 0.7, 0.6, 0.9, 0.7]), Some(("cubic", true)));
        assert_eq!(name(&[0.4, 0.5, 0.7, 0.9, 1.0]), Some(("cubic", false)));
        assert_eq!(name(&[0.7; 2]), None);
    }
}
