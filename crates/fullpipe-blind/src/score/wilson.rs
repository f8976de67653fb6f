//! Interval of a share (E. B. Wilson 1927).

/// Quantile of the normal distribution for 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// The 95 % interval of `right` out of `all`; 0 to 1 where there is nothing.
pub fn interval(right: f64, all: usize) -> [f64; 2] {
    if all == 0 {
        return [0.0, 1.0];
    }
    let n = all as f64;
    let (share, square) = (right / n, Z * Z);
    let middle = share + square / (2.0 * n);
    let spread = Z * (share * (1.0 - share) / n + square / (4.0 * n * n)).max(0.0).sqrt();
    [middle - spread, middle + spread].map(|end| (end / (1.0 + square / n)).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20 and 1 of 29.
    #[test]
    fn intervals_are_those_of_newcombe() {
        let table = [
            (81.0, 263, [0.2553, 0.3662]),
            (15.0, 148, [0.0624, 0.1605]),
            (0.0, 20, [0.0, 0.1611]),
            (1.0, 29, [0.0061, 0.1718]),
        ];
        for (right, all, expected) in table {
            let own = interval(right, all);
            assert!(own.iter().zip(expected).all(|(a, b)| (a - b).abs() < 5e-5), "{own:?}");
        }
        assert_eq!(interval(0.0, 0), [0.0, 1.0]);
    }
}
