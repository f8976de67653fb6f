//! Options that are quantities; values with units are read exactly as in a scenario.

use fullpipe::base::units::{Rate, Time};
use fullpipe::capture::LEAST_SNAP;
use fullpipe::scenario::quantity::{self, Dimension, RATE, SIZE, TIME, Wrong};
use fullpipe::sweep::Shard;
use std::num::NonZeroUsize;

/// A rate, for instance "10Gbit".
pub fn rate(text: &str) -> Result<Rate, String> {
    parse(text, &RATE).map(Rate)
}

/// A time, for instance "80ms".
pub fn time(text: &str) -> Result<Time, String> {
    parse(text, &TIME).map(Time::ns)
}

/// A size in bytes, for instance "16GiB".
pub fn size(text: &str) -> Result<u64, String> {
    parse(text, &SIZE)
}

/// A probability, for instance "1e-5" or "0.1%".
pub fn probability(text: &str) -> Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    let value = number.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    value
        .map(|value| value * unit)
        .ok_or_else(|| "expected a probability, such as 1e-5 or 0.1%".into())
}

/// Parallel flows.
pub fn flows(text: &str) -> Result<u32, String> {
    whole(text, "a number of flows, 1 to 10000")
}

/// An MTU in bytes, which has no unit.
pub fn mtu(text: &str) -> Result<u32, String> {
    whole(text, "bytes without a unit, 88 to 65535, such as 9000")
}

fn whole(text: &str, expected: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("expected {expected}"))
}

/// Bytes to keep of a packet: 0 for all, else enough for all headers.
pub fn snap(text: &str) -> Result<u32, String> {
    let expected =
        || format!("0 for whole packets, or at least {LEAST_SNAP} bytes for all headers");
    match text.parse() {
        Ok(0) => Ok(0),
        Ok(bytes) if bytes >= LEAST_SNAP => Ok(bytes),
        Ok(_) => Err(format!("that would cut headers; expected {}", expected())),
        Err(_) => Err(format!("expected {}", expected())),
    }
}

/// A part of a sweep, for instance "3/16".
pub fn shard(text: &str) -> Result<Shard, String> {
    let expected = || "expected a part such as 3/16: the third of 16".to_string();
    let (number, of) = text.split_once('/').ok_or_else(expected)?;
    let (number, of) =
        (number.parse().map_err(|_| expected())?, of.parse().map_err(|_| expected())?);
    match (1..=of).contains(&number) {
        true => Ok(Shard { number, of }),
        false => Err(format!("there is no part {number} of {of}; {}", expected())),
    }
}

/// A number of points.
pub fn points(text: &str) -> Result<u64, String> {
    let some = text.parse().ok().filter(|points| *points > 0);
    some.ok_or_else(|| "expected a whole number of points from 1 up".to_string())
}

/// A number of runs at a time.
pub fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| {
        "expected a whole number from 1 up; without --jobs there is one run per core".to_string()
    })
}

fn parse(text: &str, dimension: &Dimension) -> Result<u64, String> {
    let value =
        quantity::parse(text, dimension).map_err(|wrong| explain(text, &wrong, dimension))?;
    match value {
        0 => Err(format!("{} above 0 is expected", dimension.name)),
        value => Ok(value),
    }
}

fn explain(text: &str, wrong: &Wrong, dimension: &Dimension) -> String {
    let Dimension { name, example, base, .. } = dimension;
    match wrong {
        Wrong::NoNumber => format!("{name} starts with a number, for example {example}"),
        Wrong::NoUnit => format!("{name} needs a unit, for example {example}"),
        Wrong::Negative => format!("{name} is not negative"),
        Wrong::NotExact => format!("{name} is a whole number of {base}"),
        Wrong::TooLarge => format!("this is more {base} than 64 bits hold"),
        Wrong::Unit(unit) => {
            let known: Vec<&str> = dimension.units.iter().map(|(unit, _)| *unit).collect();
            let meant = quantity::meant(text, unit, &[dimension]);
            let meant = match meant.is_empty() {
                true => String::new(),
                false => format!("; did you mean {}?", meant.join(", ")),
            };
            format!("\"{unit}\" is not a unit of {name}{meant}; known are {}", known.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_carry_their_unit() {
        assert_eq!(rate("10Gbit"), Ok(Rate::gbit(10)));
        assert_eq!(time("80ms"), Ok(Time::ms(80)));
    }

    #[test]
    fn no_snap_length_cuts_headers() {
        assert_eq!((snap("0"), snap("94"), snap("65535")), (Ok(0), Ok(94), Ok(65_535)));
        for wrong in ["1", "93", "-1", "x", "4294967296"] {
            let message = snap(wrong).unwrap_err();
            assert!(message.contains("at least 94 bytes"), "{wrong}: {message}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let table = [
            ("10", "needs a unit, for example 10Gbit"),
            ("10Gbyte", "is not a unit of a rate"),
            ("1parsec", "is not a unit of a rate; known are bit, kbit"),
            ("1gbit", "is not a unit of a rate; did you mean 1Gbit?"),
            ("-1Gbit", "is not negative"),
            ("0Gbit", "above 0"),
            ("fast", "starts with a number"),
            ("1e99Gbit", "more bits per second than 64 bits hold"),
            ("0.3bit", "a whole number of bits per second"),
        ];
        for (text, expected) in table {
            let message = rate(text).unwrap_err();
            assert!(message.contains(expected), "{text}: {message}");
        }
    }
}
