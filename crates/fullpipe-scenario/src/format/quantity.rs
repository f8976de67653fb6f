//! Numbers with units, exactly: "10Gbit", "80ms", "60MiB", "0.98ns/byte".
//!
//! A quantity is an integer count of its base unit. A fraction of it is refused, never rounded, but of binary units: few
//! decimal fractions of a MiB are whole bytes, so that "10.1MiB" is the nearest number of bytes. No floating point is
//! involved.
//!
//! Values are also read as fullpipe prints them: "9,415 Mb/s".

/// A kind of quantity: its base unit and the units it can be written in.
#[derive(Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Name of the quantity, with its article.
    pub name: &'static str,
    /// Unit of the values, in the plural.
    pub base: &'static str,
    /// An example of a value.
    pub example: &'static str,
    /// Units with their size in base units. Names are case-sensitive.
    pub units: &'static [(&'static str, u64)],
}

const NS: u64 = 1;
const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

/// Bits per second. `bit` may be followed by `/s`; bytes per second are written with it.
pub static RATE: Dimension = Dimension {
    name: "a rate",
    base: "bits per second",
    example: "10Gbit",
    units: &[
        ("bit", 1),
        ("kbit", 1_000),
        ("Mbit", 1_000_000),
        ("Gbit", 1_000_000_000),
        ("Tbit", 1_000_000_000_000),
        ("Kibit", 1 << 10),
        ("Mibit", 1 << 20),
        ("Gibit", 1 << 30),
        ("B/s", 8),
        ("kB/s", 8_000),
        ("MB/s", 8_000_000),
        ("GB/s", 8_000_000_000),
        ("KiB/s", 8 << 10),
        ("MiB/s", 8 << 20),
        ("GiB/s", 8 << 30),
    ],
};

/// Nanoseconds.
pub static TIME: Dimension = Dimension {
    name: "a time",
    base: "nanoseconds",
    example: "80ms",
    units: &[("ns", NS), ("us", US), ("ms", MS), ("s", S), ("min", 60 * S), ("h", 3600 * S)],
};

/// Bytes.
pub static SIZE: Dimension = Dimension {
    name: "a size",
    base: "bytes",
    example: "64MiB",
    units: &[
        ("B", 1),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("byte", 1),
        ("bytes", 1),
    ],
};

/// Packets.
pub static PACKETS: Dimension = Dimension {
    name: "a number of packets",
    base: "packets",
    example: "1000 packets",
    units: &[("packets", 1), ("packet", 1)],
};

/// Descriptors of a ring.
pub static DESCRIPTORS: Dimension = Dimension {
    name: "a number of descriptors",
    base: "descriptors",
    example: "256 descriptors",
    units: &[("descriptors", 1), ("descriptor", 1)],
};

/// Picoseconds per byte.
pub static TIME_PER_BYTE: Dimension = Dimension {
    name: "a time per byte",
    base: "picoseconds per byte",
    example: "0.98ns/byte",
    units: &[("ps/byte", 1), ("ns/byte", 1_000), ("us/byte", 1_000_000)],
};

/// Nanoseconds per packet.
pub static TIME_PER_PACKET: Dimension = Dimension {
    name: "a time per packet",
    base: "nanoseconds",
    example: "1.2us/packet",
    units: &[("ns/packet", NS), ("us/packet", US), ("ms/packet", MS), ("s/packet", S)],
};

/// Nanoseconds per call of the kernel.
pub static TIME_PER_CALL: Dimension = Dimension {
    name: "a time per call",
    base: "nanoseconds",
    example: "1.2us/call",
    units: &[("ns/call", NS), ("us/call", US), ("ms/call", MS), ("s/call", S)],
};

/// Why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// There is no number at its start.
    NoNumber,
    /// There is a number and nothing else.
    NoUnit,
    /// The unit does not belong to the dimension.
    Unit(String),
    /// Below zero.
    Negative,
    /// Not a whole number of base units.
    NotExact,
    /// More base units than fit 64 bits.
    TooLarge,
}

/// A decimal number: `digits` x 10^`exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    digits: u128,
    exponent: i32,
}

impl Decimal {
    /// Splits a number from the start of `text`; the rest is returned without spaces before it.
    pub fn split(text: &str) -> Result<(Decimal, &str), Wrong> {
        let text = text.trim();

        // The sign is kept apart: -0 is allowed, -1 is not.
        let (negative, body) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let (mut digits, mut exponent, mut seen, mut point) = (0_u128, 0_i32, false, false);
        let mut end = 0;

        // Digits gather in an integer, so that no value is rounded.
        for byte in body.bytes() {
            match byte {
                b'0'..=b'9' => {
                    seen = true;
                    let next =
                        digits.checked_mul(10).and_then(|d| d.checked_add((byte - b'0').into()));
                    digits = next.ok_or(Wrong::TooLarge)?;

                    // Each digit behind the point lowers the exponent.
                    exponent -= i32::from(point);
                }
                b'.' if !point => point = true,
                b',' if !point && seen && is_group(&body[end + 1..]) => {}
                _ => break,
            }
            end += 1;
        }
        if !seen {
            return Err(Wrong::NoNumber);
        }

        // An `e` may begin an exponent or a unit.
        let (power, rest) = split_power(&body[end..])?;
        Ok((Decimal { negative, digits, exponent: exponent + power }, rest.trim_start()))
    }

    /// The number times `factor` as an integer. A binary factor rounds a fraction, but not to zero.
    pub fn times(self, factor: u64) -> Result<u64, Wrong> {
        if self.negative && self.digits != 0 {
            return Err(Wrong::Negative);
        }

        // All arithmetic is checked: values beyond 64 bits are refused.
        let mut value = self.digits.checked_mul(factor.into()).ok_or(Wrong::TooLarge)?;
        if value == 0 {
            return Ok(0);
        }
        for _ in 0..self.exponent.max(0) {
            value = value.checked_mul(10).ok_or(Wrong::TooLarge)?;
        }

        // A remainder would be lost: it is refused instead of rounded.
        let is_binary = factor >= BINARY && !factor.is_multiple_of(5);
        let mut last = 0;
        for _ in self.exponent..0 {
            if value == 0 || value % 10 != 0 && !is_binary {
                return Err(Wrong::NotExact);
            }
            last = value % 10;
            value /= 10;
        }
        value += u128::from(last >= 5);
        if value == 0 {
            return Err(Wrong::NotExact);
        }
        u64::try_from(value).map_err(|_| Wrong::TooLarge)
    }

    /// The nearest floating-point number to the number x 10^`power`.
    pub fn to_f64(self, power: i32) -> f64 {
        let sign = if self.negative { "-" } else { "" };
        let text = format!("{sign}{}e{}", self.digits, self.exponent.saturating_add(power));
        text.parse().unwrap_or(f64::NAN)
    }
}

/// Least factor of a binary unit, which has no prime factor but two.
const BINARY: u64 = 1 << 10;

/// Whether a group of three digits begins here, as thousands are printed.
fn is_group(text: &str) -> bool {
    text.bytes().take_while(u8::is_ascii_digit).count() == 3
}

/// The power of ten in `e-3...`; an `e` that no number follows belongs to a unit.
fn split_power(text: &str) -> Result<(i32, &str), Wrong> {
    let Some(rest) = text.strip_prefix(['e', 'E']) else {
        return Ok((0, text));
    };
    let signs = usize::from(rest.starts_with(['+', '-']));
    let digits = rest[signs..].bytes().take_while(u8::is_ascii_digit).count();
    match digits {
        0 => Ok((0, text)),
        // Four digits suffice for any power, and fit the integer.
        1..=4 => {
            let power = rest[..signs + digits].parse().map_err(|_| Wrong::TooLarge)?;
            Ok((power, &rest[signs + digits..]))
        }
        _ => Err(Wrong::TooLarge),
    }
}

/// The value of `text` in base units of `dimension`.
pub fn parse(text: &str, dimension: &Dimension) -> Result<u64, Wrong> {
    let (number, unit) = Decimal::split(text)?;
    if unit.is_empty() {
        return Err(Wrong::NoUnit);
    }
    let known = |name: &str| dimension.units.iter().find(|(unit, _)| *unit == name);
    let plain = unit.strip_suffix("/s").filter(|rest| rest.ends_with("bit"));
    let printed = unit.strip_suffix("b/s").map(|prefix| format!("{prefix}bit"));
    let spelled = if unit == "\u{b5}s" || unit == "\u{3bc}s" { Some("us") } else { None };
    match known(unit).or_else(|| known(plain.or(spelled).or(printed.as_deref())?)) {
        Some((_, factor)) => number.times(*factor),
        None => Err(Wrong::Unit(unit.into())),
    }
}

/// Values that `text` probably means, which has a unit that none of the dimensions has: "1Gbit" for "1gbit", "1Gbps" and "1G".
pub fn meant(text: &str, unit: &str, dimensions: &[&Dimension]) -> Vec<String> {
    let units = || dimensions.iter().flat_map(|dimension| dimension.units).map(|(name, _)| *name);
    // A small b is a bit, a large one a byte, as networkers write rates.
    let bits = unit.strip_suffix("b/s").or(unit.strip_suffix("bps"));
    let lower = match bits {
        Some(prefix) => format!("{}bit", prefix.to_lowercase()),
        None => unit.to_lowercase().replace("bps", "b/s"),
    };
    let so = |of: fn(&str, &str) -> bool| -> Vec<&str> {
        units().filter(|known| of(&known.to_lowercase(), &lower)).take(3).collect()
    };

    // Spelling in another case goes first, then a beginning, then near names.
    let same = so(|known, lower| known == lower);
    let begun = so(|known, lower| known.starts_with(lower));
    let near = [same, begun].into_iter().find(|units| !units.is_empty());
    let near = near.unwrap_or_else(|| super::near::names(unit, units()));
    let number = text.trim().strip_suffix(unit).unwrap_or("");
    near.iter().map(|unit| format!("{number}{unit}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_b_is_a_bit_and_a_large_one_a_byte() {
        for (text, unit, value) in [
            ("10Gb/s", "Gb/s", "10Gbit"),
            ("10Gbps", "Gbps", "10Gbit"),
            ("10gbps", "gbps", "10Gbit"),
            ("10GBps", "GBps", "10GB/s"),
        ] {
            assert_eq!(meant(text, unit, &[&RATE]).first().map(String::as_str), Some(value));
        }
    }

    #[test]
    fn prefixes_mean_what_they_say() {
        for (text, dimension, value) in [
            ("10Gbit", &RATE, 10_000_000_000),
            ("10 Gbit/s", &RATE, 10_000_000_000),
            ("1Gibit", &RATE, 1_073_741_824),
            ("1.25 GB/s", &RATE, 10_000_000_000),
            ("80ms", &TIME, 80_000_000),
            ("0.08 s", &TIME, 80_000_000),
            ("25us", &TIME, 25_000),
            ("25\u{b5}s", &TIME, 25_000),
            ("1.5min", &TIME, 90_000_000_000),
            ("1e-3s", &TIME, 1_000_000),
            ("64MB", &SIZE, 64_000_000),
            ("60MiB", &SIZE, 62_914_560),
            ("0.5KiB", &SIZE, 512),
            // 10.1 x 2^20 = 10,590,617.6
            ("10.1 MiB", &SIZE, 10_590_618),
            ("2.44MiB", &SIZE, 2_558_525),
            ("1,048 kB", &SIZE, 1_048_000),
            ("5,713,621 bytes", &SIZE, 5_713_621),
            ("9,415 Mb/s", &RATE, 9_415_000_000),
            ("94.1 Mb/s", &RATE, 94_100_000),
            ("8.62 ms", &TIME, 8_620_000),
            ("1000 packets", &PACKETS, 1000),
            ("256 descriptors", &DESCRIPTORS, 256),
            ("0.98ns/byte", &TIME_PER_BYTE, 980),
            ("1.2us/packet", &TIME_PER_PACKET, 1200),
            ("1.5us/call", &TIME_PER_CALL, 1500),
            ("0e9999 s", &TIME, 0),
        ] {
            assert_eq!(parse(text, dimension), Ok(value), "{text}");
        }
    }

    #[test]
    fn a_unit_that_was_probably_meant_is_offered_with_its_number() {
        for (text, unit, dimension, offered) in [
            ("1gbit", "gbit", &RATE, &["1Gbit"][..]),
            ("1Gbps", "Gbps", &RATE, &["1Gbit"]),
            ("1G", "G", &RATE, &["1Gbit", "1Gibit", "1GB/s"]),
            ("10 mb", "mb", &RATE, &["10 Mbit", "10 MB/s"]),
            ("64mb", "mb", &SIZE, &["64MB"]),
            ("5Ms", "Ms", &TIME, &["5ms"]),
            ("5 parsecs", "parsecs", &RATE, &[]),
        ] {
            assert_eq!(meant(text, unit, &[dimension]), offered, "{text}");
        }
    }

    #[test]
    fn wrong_quantities_say_why() {
        for (text, dimension, wrong) in [
            ("0.3ns", &TIME, Wrong::NotExact),
            ("0.3B", &SIZE, Wrong::NotExact),
            ("0.3kB", &PACKETS, Wrong::Unit("kB".into())),
            ("1.0001kB", &SIZE, Wrong::NotExact),
            ("0.0000000000001min", &TIME, Wrong::NotExact),
            ("1.0000000000001TB", &SIZE, Wrong::NotExact),
            ("0.0001KiB", &SIZE, Wrong::NotExact),
            ("1,5 ms", &TIME, Wrong::Unit(",5 ms".into())),
            ("1,2345 B", &SIZE, Wrong::Unit(",2345 B".into())),
            (",123 B", &SIZE, Wrong::NoNumber),
            ("10", &TIME, Wrong::NoUnit),
            ("ms", &TIME, Wrong::NoNumber),
            ("", &TIME, Wrong::NoNumber),
            (".", &TIME, Wrong::NoNumber),
            ("-1ms", &TIME, Wrong::Negative),
            ("10gbit", &RATE, Wrong::Unit("gbit".into())),
            ("10MB", &RATE, Wrong::Unit("MB".into())),
            ("10ms/s", &TIME, Wrong::Unit("ms/s".into())),
            ("5e s", &TIME, Wrong::Unit("e s".into())),
            ("18446744073709551616B", &SIZE, Wrong::TooLarge),
            ("1e400s", &TIME, Wrong::TooLarge),
            ("1e99999s", &TIME, Wrong::TooLarge),
            ("1e-400s", &TIME, Wrong::NotExact),
            ("999999999999999999999999999999999999999999 B", &SIZE, Wrong::TooLarge),
        ] {
            assert_eq!(parse(text, dimension), Err(wrong), "{text}");
        }
    }
}
