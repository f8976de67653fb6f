//! Means over repetitions, and how far the true one may be from them.

use serde::{Deserialize, Serialize};

/// A mean with its 95 % confidence interval, from Student's t distribution. Values are taken as independent draws with
/// a mean that is about normal. One value has no interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Values.
    pub n: u32,
    /// Their mean.
    pub mean: f64,
    /// Half the width of the interval; absent with fewer than two values.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub within: Option<f64>,
    /// The least one.
    pub min: f64,
    /// The largest one.
    pub max: f64,
}

impl Estimate {
    /// Estimate from these values; none without a value.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        let n = values.len();
        let (first, count) = (*values.first()?, n as f64);
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
        let within = (n > 1).then(|| t(n - 1) * (squares / (count - 1.0) / count).sqrt());
        let min = values.iter().copied().fold(first, f64::min);
        let max = values.iter().copied().fold(first, f64::max);
        Some(Estimate { n: n as u32, mean, within, min, max })
    }

    /// The mean's standard error; none with fewer than two values.
    pub fn error(&self) -> Option<f64> {
        Some(self.within? / t(self.n as usize - 1))
    }
}

/// The 97.5 % point of Student's t with 1, 2 ... 30 degrees of freedom (any table of it).
const T: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];
/// The 97.5 % point of the normal distribution.
const NORMAL: f64 = 1.960;

/// The 97.5 % point with `freedom` degrees of freedom, at least 1. Above 30 two terms of Cornish and Fisher's expansion
/// (Abramowitz, Stegun 26.7.5) are within 0.001 of it.
pub fn t(freedom: usize) -> f64 {
    match T.get(freedom.max(1) - 1) {
        Some(point) => *point,
        None => {
            let (z, n) = (NORMAL, freedom as f64);
            let second = 5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z;
            z + (z.powi(3) + z) / (4.0 * n) + second / (96.0 * n * n)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_have_intervals() {
        assert_eq!(Estimate::of(&[]), None);
        let one = Estimate::of(&[3.0]).expect("a value");
        assert_eq!((one.n, one.mean, one.within), (1, 3.0, None));
        // By hand: deviation 1, its mean's 1 / sqrt(3), times 4.303.
        let three = Estimate::of(&[1.0, 2.0, 3.0]).expect("values");
        assert_eq!((three.mean, three.min, three.max), (2.0, 1.0, 3.0));
        assert!((three.within.expect("three") - 2.4843).abs() < 1e-4);
    }

    #[test]
    fn t_of_many_is_nearly_normal() {
        // From a table: 40, 60, 120.
        for (freedom, point) in [(40, 2.021), (60, 2.000), (120, 1.980)] {
            assert!((t(freedom) - point).abs() < 0.001, "{freedom}: {}", t(freedom));
        }
    }
}
