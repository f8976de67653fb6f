//! Mean windows under random loss, each packet lost independently of the others.

/// With fewer losses of a flow, the rate is still start-up.
pub const ENOUGH_LOSSES: u64 = 10;

/// Packets that Reno keeps in flight on average at a loss probability above 0: 1.2/sqrt(p) (RFC 9438, section 5).
pub fn reno_window(probability: f64) -> f64 {
    1.2 / probability.sqrt()
}

/// Packets that CUBIC keeps in flight on average at a loss probability above 0 and a round trip of `rtt` seconds, or
/// Reno's window if that is larger.
///
/// RFC 9438, section 5.1, with C = 0.4 and beta = 0.7: the factor is (C (3 + beta) / (4 (1 - beta)))^(1/4) = 1.0538.
pub fn cubic_window(probability: f64, rtt: f64) -> f64 {
    let factor = (0.4_f64 * 3.7 / 1.2).powf(0.25);
    let own = factor * (rtt / probability).powf(0.75);
    own.max(reno_window(probability))
}

/// The mean window of a congestion control in packets; `None` where no formula for it is known here.
pub fn window(congestion: &str, probability: f64, rtt: f64) -> Option<f64> {
    match congestion {
        "cubic" => Some(cubic_window(probability, rtt)),
        "reno" => Some(reno_window(probability)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1.054 (0.08 / 1e-5)^0.75 = 892 packets, and 1.2 / sqrt(1e-5) = 379.
    #[test]
    fn windows_are_those_of_the_rfc() {
        assert!((cubic_window(1e-5, 0.08) - 892.0).abs() < 1.0);
        assert!((reno_window(1e-5) - 379.5).abs() < 0.5);
        // A short round trip: CUBIC is no slower than Reno.
        assert_eq!(window("cubic", 1e-3, 0.001), Some(reno_window(1e-3)));
        assert_eq!(window("scalable", 1e-3, 0.001), None);
    }
}
