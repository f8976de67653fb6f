//! The formulas of fairness, each of numbers alone.

/// Jain's index of rates: (sum x)^2 / (n sum x^2), 1 where all are equal and 1/n where one has everything, in any unit.
///
/// Source: Jain, Chiu, Hawe: A Quantitative Measure of Fairness and Discrimination, DEC-TR-301, 1984. None where all
/// are 0.
pub fn jain(rates: &[f64]) -> Option<f64> {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    (squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

/// Coefficient of variation: standard deviation (of a sample: n - 1) over mean, for instance of a flow's rate over
/// intervals of one length. None for fewer than two values, or where the mean is 0. Source: Floyd, Handley, Padhye,
/// Widmer: Equation-Based Congestion Control for Unicast Applications, SIGCOMM 2000.
pub fn variation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    if values.len() < 2 || mean <= 0.0 {
        return None;
    }
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    Some((squares / (n - 1.0)).sqrt() / mean)
}

/// The exponent k of x1/x2 = (RTT2/RTT1)^k, from pairs of round trip and rate. For Reno 1 <= k < 2: a rate falls with
/// RTT^-k.
///
/// Of more than two pairs k is the slope of the least-squares line through the logarithms. None where the round trips
/// do not differ, or a value is not above 0. Source: Lakshman, Madhow: The Performance of TCP/IP for Networks with High
/// Bandwidth-Delay Products and Random Loss, 1997.
pub fn rtt_exponent(flows: &[(f64, f64)]) -> Option<f64> {
    if flows.iter().any(|(rtt, rate)| *rtt <= 0.0 || *rate <= 0.0) {
        return None;
    }
    let logs: Vec<(f64, f64)> = flows.iter().map(|(rtt, rate)| (rtt.ln(), rate.ln())).collect();
    let n = logs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|log| log.0), mean(|log| log.1));
    let wide: f64 = logs.iter().map(|log| (log.0 - x) * (log.0 - x)).sum();
    let both: f64 = logs.iter().map(|log| (log.0 - x) * (log.1 - y)).sum();
    (wide > EQUAL * EQUAL).then(|| -both / wide)
}

/// Round trips that differ by less than this share are one.
const EQUAL: f64 = 1e-6;

/// The first time from which on the index stays at `least` or above for `lasting`, of times with the index at them, in order. An index that
/// does not exist is below. None where that never happens, or where the times end before it is known.
pub fn converged(
    indices: impl IntoIterator<Item = (f64, Option<f64>)>,
    least: f64,
    lasting: f64,
) -> Option<f64> {
    let mut since = None;
    for (time, index) in indices {
        if index.is_none_or(|index| index < least) {
            since = None;
            continue;
        }
        let first = *since.get_or_insert(time);
        if time - first >= lasting - 1e-9 {
            return Some(first);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(a: Option<f64>, b: f64) {
        assert!(a.is_some_and(|a| (a - b).abs() < 1e-12), "{a:?} is not {b}");
    }

    #[test]
    fn jains_index_by_hand() {
        near(jain(&[5.0, 5.0]), 1.0);
        near(jain(&[1.0, 0.0]), 0.5);
        near(jain(&[1.0, 0.0, 0.0, 0.0]), 0.25);
        // 16 / (2 x 10), and 36 / (3 x 14).
        near(jain(&[1.0, 3.0]), 0.8);
        near(jain(&[1.0, 2.0, 3.0]), 6.0 / 7.0);
        // One of k flows that share everything has k/n (Jain, Chiu, Hawe).
        near(jain(&[2.0, 2.0, 2.0, 0.0, 0.0]), 0.6);
        // Two flows at (1 + d)/2 and (1 - d)/2 have 1 / (1 + d^2).
        near(jain(&[0.625, 0.375]), 1.0 / (1.0 + 0.0625));
        assert_eq!(jain(&[0.0, 0.0]), None);
        assert_eq!(jain(&[]), None);
    }

    #[test]
    fn variation_by_hand() {
        near(variation(&[4.0, 4.0, 4.0]), 0.0);
        // Mean 2, squares 1 + 0 + 1 over 2.
        near(variation(&[1.0, 2.0, 3.0]), 0.5);
        near(variation(&[0.0, 4.0]), 2.0_f64.sqrt());
        assert_eq!((variation(&[3.0]), variation(&[0.0, 0.0]), variation(&[])), (None, None, None));
    }

    #[test]
    fn exponents_by_hand() {
        // Four times the round trip: a quarter of the rate, a sixteenth, the same.
        near(rtt_exponent(&[(10.0, 800.0), (40.0, 200.0)]), 1.0);
        near(rtt_exponent(&[(40.0, 50.0), (10.0, 800.0)]), 2.0);
        near(rtt_exponent(&[(10.0, 500.0), (40.0, 500.0)]), 0.0);
        near(rtt_exponent(&[(10.0, 400.0), (20.0, 200.0), (40.0, 100.0)]), 1.0);
        assert_eq!(rtt_exponent(&[(10.0, 1.0), (10.0, 2.0)]), None);
        assert_eq!(rtt_exponent(&[(10.0, 1.0), (40.0, 0.0)]), None);
        assert_eq!(rtt_exponent(&[]), None);
    }

    #[test]
    fn convergence_has_to_last() {
        let indices = |list: &[f64]| -> Vec<(f64, Option<f64>)> {
            list.iter().enumerate().map(|(n, index)| (n as f64, Some(*index))).collect()
        };
        let falls = indices(&[0.5, 0.96, 0.97, 0.94, 0.95, 0.96, 0.99]);
        assert_eq!(converged(falls.clone(), 0.95, 2.0), Some(4.0));
        assert_eq!(converged(falls.clone(), 0.95, 1.0), Some(1.0));
        assert_eq!(converged(falls, 0.95, 3.0), None, "the run ends before");
        let gap = [(0.0, Some(1.0)), (1.0, None), (2.0, Some(1.0)), (3.0, Some(1.0))];
        assert_eq!(converged(gap, 0.95, 1.0), Some(2.0));
        assert_eq!(converged([], 0.95, 0.0), None);
    }

    proptest! {
        #[test]
        fn jains_index_is_between_1_over_n_and_1_and_has_no_scale(
            rates in prop::collection::vec(0.0..1e6_f64, 1..20),
            scale in 1e-3..1e3_f64,
        ) {
            if let Some(index) = jain(&rates) {
                let least = 1.0 / rates.len() as f64;
                prop_assert!((least - 1e-12..=1.0 + 1e-12).contains(&index), "{index}");
                let scaled: Vec<f64> = rates.iter().map(|rate| rate * scale).collect();
                prop_assert!((jain(&scaled).unwrap() - index).abs() < 1e-9);
            }
        }

        #[test]
        fn variation_and_exponent_have_no_scale(
            rates in prop::collection::vec(1.0..1e6_f64, 2..20),
            scale in 1e-3..1e3_f64,
        ) {
            let scaled: Vec<f64> = rates.iter().map(|rate| rate * scale).collect();
            let (a, b) = (variation(&rates).unwrap(), variation(&scaled).unwrap());
            prop_assert!((a - b).abs() < 1e-9 * (1.0 + a));
            let with_rtt = |rates: &[f64]| -> Vec<(f64, f64)> {
                rates.iter().enumerate().map(|(n, rate)| (n as f64 + 1.0, *rate)).collect()
            };
            let exponents = (rtt_exponent(&with_rtt(&rates)), rtt_exponent(&with_rtt(&scaled)));
            let (Some(a), Some(b)) = exponents else { panic!("{exponents:?}") };
            prop_assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }
}
