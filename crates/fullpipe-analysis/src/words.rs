//! Numbers and sentences as verdicts write them.

use crate::numbers;

/// "285 of 9,415 Mb/s (3 %)"; without a bound "285 Mb/s".
pub fn rate_of(rate: f64, allowed: Option<f64>) -> String {
    match allowed.filter(|allowed| *allowed > 0.0) {
        None => numbers::rate(rate),
        Some(allowed) => {
            let share = percent(rate / allowed);
            format!("{} of {} ({share})", numbers::short(rate), numbers::rate(allowed))
        }
    }
}

/// Whole percent from 1 % on. "100 %" means all but half a thousandth.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = match percent {
        p if (99.5..99.95).contains(&p) => 1,
        p if p >= 1.0 || p == 0.0 => 0,
        p if p >= 0.1 => 1,
        p if p >= 0.01 => 2,
        _ => return "below 0.01 %".into(),
    };
    format!("{} %", numbers::fixed(percent, decimals))
}

/// Bytes as people write them: "4 MiB" where it is a whole number of these, else "203 MB".
pub fn bytes(n: u64) -> String {
    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;

    // Whole binary units first: settings are powers of 2 mostly.
    for (unit, name) in [(GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")] {
        if n >= unit && n.is_multiple_of(unit) && n / unit < 1024 {
            return format!("{} {name}", n / unit);
        }
    }
    // Sizes of sysctls, as they are advised.
    if n >= MIB && n.is_multiple_of(64 * KIB) {
        return format!("{} MiB", numbers::short(n as f64 / MIB as f64));
    }

    // All other sizes are measured amounts.
    decimal(n).unwrap_or_else(|| match n {
        1 => "1 byte".into(),
        n => format!("{n} bytes"),
    })
}

/// A measured amount in decimal units: "203 MB"; none below 1000 bytes.
pub fn decimal(n: u64) -> Option<String> {
    let (unit, name) = match n {
        1_000_000_000.. => (1e9, "GB"),
        1_000_000.. => (1e6, "MB"),
        1000.. => (1e3, "kB"),
        _ => return None,
    };
    Some(format!("{} {name}", numbers::short(n as f64 / unit)))
}

/// A window, measured or set: "64 KiB", "2.03 MiB". Windows have one form, as their limits are binary mostly.
pub fn window(n: u64) -> String {
    let scaled =
        |unit: u64, name: &str| format!("{} {name}", numbers::short(n as f64 / unit as f64));
    match n {
        n if n >= 1 << 30 => scaled(1 << 30, "GiB"),
        n if n >= 1 << 20 => scaled(1 << 20, "MiB"),
        n if n >= 1 << 10 => scaled(1 << 10, "KiB"),
        n => bytes(n),
    }
}

/// A bit rate: "95 Mb/s".
pub fn bits(rate: u64) -> String {
    numbers::rate(rate as f64 / 1e6)
}

/// Milliseconds: "335 ms".
pub fn ms(value: f64) -> String {
    format!("{} ms", numbers::short(value))
}

/// Names that keep their capital within a sentence.
const NAMES: [&str; 3] = ["Nagle", "Linux", "Windows"];

/// A noun phrase or sentence for use within another one; abbreviations and names stay.
pub fn lower(text: &str) -> String {
    let is_name = NAMES.iter().any(|name| text.starts_with(name));
    let is_word = !is_name && text.chars().nth(1).is_some_and(|c| c.is_lowercase() || c == ' ');
    let mut rest = text.chars();
    match rest.next() {
        Some(first) if is_word => first.to_lowercase().chain(rest).collect(),
        _ => text.into(),
    }
}

/// Sum that stays at the largest number instead of overflowing.
pub fn total(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0, u64::saturating_add)
}

/// Sentences with a space between them and a full stop at the end of each.
pub fn sentences(parts: impl IntoIterator<Item = String>) -> String {
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    let ended = parts.map(|part| if part.ends_with('.') { part } else { part + "." });
    ended.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_never_round_up_to_all() {
        assert_eq!(rate_of(285.2, Some(9415.0)), "285 of 9,415 Mb/s (3 %)");
        assert_eq!(rate_of(1.731, None), "1.73 Mb/s");
        let table = [(0.9972, "99.7 %"), (0.99, "99 %"), (1.0, "100 %"), (0.0, "0 %")];
        let small = [(0.004, "0.4 %"), (0.0002, "0.02 %"), (0.000_01, "below 0.01 %")];
        for (share, text) in table.into_iter().chain(small) {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn names_keep_their_capital() {
        let table =
            [("Nagle's rule", "Nagle's rule"), ("The pace", "the pace"), ("A path", "a path")];
        let more = [("TCP_NODELAY", "TCP_NODELAY"), ("", "")];
        for (text, lowered) in table.into_iter().chain(more) {
            assert_eq!(lower(text), lowered);
        }
        // One byte is no plural.
        assert_eq!(bytes(1), "1 byte");
    }

    #[test]
    fn windows_are_binary() {
        let table = [(2 << 20, "2 MiB"), (2_129_920, "2.03 MiB"), (65_536, "64 KiB")];
        let more = [(3_980_000, "3.8 MiB"), (1 << 30, "1 GiB"), (999, "999 bytes")];
        for (n, text) in table.into_iter().chain(more) {
            assert_eq!(window(n), text);
        }
    }

    #[test]
    fn sizes_are_binary_where_they_are_whole() {
        let table = [(4_194_304, "4 MiB"), (65_536, "64 KiB"), (202_400_000, "202 MB")];
        let more =
            [(212_992, "208 KiB"), (15_000, "15 kB"), (1 << 30, "1 GiB"), (999, "999 bytes")];
        for (n, text) in table.into_iter().chain(more) {
            assert_eq!(bytes(n), text);
        }
    }
}
