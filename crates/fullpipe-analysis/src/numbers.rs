//! Numbers as text for readers: thousands separated by commas, a unit behind a space.
//!
//! Values that are not finite become [`ABSENT`].

use serde_json::Value;

/// Text in place of a missing value.
pub const ABSENT: &str = "–";

/// A whole number, for instance "8,190".
#[must_use]
pub fn count(value: u64) -> String {
    group(&value.to_string())
}

/// Packets with their unit: "1 packet", "1,234 packets".
pub fn packets(value: u64) -> String {
    format!("{} {}", count(value), if value == 1 { "packet" } else { "packets" })
}

/// Segments with their unit: "1 segment", "1,234 segments".
pub fn segments(value: u64) -> String {
    format!("{} {}", count(value), if value == 1 { "segment" } else { "segments" })
}

/// A number with a fixed number of decimals, for instance "7,253.5".
#[must_use]
pub fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return ABSENT.to_string();
    }
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    let sign =
        if value < 0.0 && text.bytes().any(|b| matches!(b, b'1'..=b'9')) { "−" } else { "" };
    format!("{sign}{}{fraction}", group(whole))
}

/// A number with about three significant digits and no superfluous zeros: "0.04", "2.5", "24", "3,012".
#[must_use]
pub fn short(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    };
    let text = fixed(value, decimals);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

/// A rate in Mb/s (10^6 bits per second), for instance "7,253 Mb/s".
#[must_use]
pub fn rate(mbit: f64) -> String {
    with_unit(short(mbit), "Mb/s")
}

/// A time in seconds, for instance "24.5 s".
#[must_use]
pub fn seconds(value: f64) -> String {
    with_unit(short(value), "s")
}

/// A share (0 to 1) as percent: "83 %", "4.2 %", "< 0.1 %".
#[must_use]
pub fn share(value: f64) -> String {
    let percent = value * 100.0;
    if percent > 0.0 && percent < 0.1 {
        return "< 0.1 %".to_string();
    }
    // A percentage below 100 says so, and adds up to 100 with the rest.
    let nearly_all = (99.5..99.95).contains(&percent);
    let decimals = usize::from(percent.abs() < 10.0 && percent != 0.0 || nearly_all);
    with_unit(fixed(percent, decimals), "%")
}

/// A difference (0.012 is 1.2 % more) with its sign: "+1.2 %", "−0.4 %", "0.0 %".
#[must_use]
pub fn difference(value: f64) -> String {
    let text = fixed(value * 100.0, 1);
    let sign = if value > 0.0 && text != "0.0" { "+" } else { "" };
    with_unit(format!("{sign}{text}"), "%")
}

fn with_unit(number: String, unit: &str) -> String {
    if number == ABSENT { number } else { format!("{number} {unit}") }
}

fn group(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A value as it was written: text without quotes, small numbers by powers of ten.
pub fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(n) if n.as_f64().is_some_and(|n| n != 0.0 && n.abs() < 1e-3) => {
            format!("{:e}", n.as_f64().unwrap_or(0.0))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(fixed(-12_345.678, 1), "−12,345.7");
        assert_eq!(fixed(999.96, 1), "1,000.0");
    }

    #[test]
    fn short_numbers_keep_three_digits_and_no_empty_ones() {
        let cases = [(0.0, "0"), (0.04, "0.04"), (2.5, "2.5"), (24.0, "24"), (3012.39, "3,012")];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn units_follow_values_and_only_values() {
        assert_eq!(rate(7253.4), "7,253 Mb/s");
        assert_eq!(seconds(f64::NAN), ABSENT);
        assert_eq!(rate(f64::INFINITY), ABSENT);
        assert_eq!(share(0.834), "83 %");
        assert_eq!(share(0.042), "4.2 %");
        assert_eq!(share(0.0001), "< 0.1 %");
        assert_eq!(share(0.0), "0 %");
        assert_eq!((share(0.996), share(0.99)), ("99.6 %".into(), "99 %".into()));
        assert_eq!((share(0.9996), share(1.0)), ("100 %".into(), "100 %".into()));
    }

    #[test]
    fn differences_carry_a_sign_unless_they_vanish() {
        assert_eq!(difference(0.012), "+1.2 %");
        assert_eq!(difference(-0.004), "−0.4 %");
        assert_eq!(difference(0.000_01), "0.0 %");
        assert_eq!(difference(-0.000_01), "0.0 %");
    }
}
