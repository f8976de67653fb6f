//! The table by which `netem` spreads delays: a normal distribution.

/// Entries of the table.
const SIZE: usize = 4096;
/// Value of one standard deviation (NETEM_DIST_SCALE).
const SCALE: f64 = 8192.0;
/// An entry has 16 bits, so that it ends at four standard deviations.
const END: f64 = 4.0;

/// Quantiles of the normal distribution, by which `netem` draws: each entry is as likely as any other.
pub fn table() -> Vec<u8> {
    let step = 2.0 * END / 100_000.0;
    // Half of the probability beyond the ends.
    let mut below = 3.167e-5;
    let mut x = -END;
    let mut bytes = Vec::with_capacity(2 * SIZE);
    for entry in 0..SIZE {
        let wanted = (entry as f64 + 0.5) / SIZE as f64;
        while below < wanted && x < END {
            below += step * density(x + step / 2.0);
            x += step;
        }
        let value = (x * SCALE).round().clamp(-32_768.0, 32_767.0) as i16;
        bytes.extend_from_slice(&value.to_ne_bytes());
    }
    bytes
}

/// Density of the normal distribution, `x` standard deviations from its mean.
fn density(x: f64) -> f64 {
    (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_normal_distribution() {
        let table: Vec<i16> =
            table().chunks_exact(2).map(|two| i16::from_ne_bytes([two[0], two[1]])).collect();
        // Published quantiles: 0.1 %, 2.5 %, 15.87 %, 50 %, 84.13 %, 97.5 %.
        let expected = [(0.001, -3.0902), (0.025, -1.96), (0.158_66, -1.0), (0.5, 0.0)];
        for (share, deviations) in expected {
            let at = (share * SIZE as f64) as usize;
            for (found, sign) in [(table[at], 1.0), (table[SIZE - 1 - at], -1.0)] {
                let found = f64::from(found) / SCALE * sign;
                assert!((found - deviations).abs() < 0.05, "{share}: {found} not {deviations}");
            }
        }
        let square: f64 = table.iter().map(|x| (f64::from(*x) / SCALE).powi(2)).sum();
        assert!((square / SIZE as f64 - 1.0).abs() < 0.005, "variance {square}");
    }
}
