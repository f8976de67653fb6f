//! A row of iperf's table, such as "[  5]   0.00-1.00   sec  2.50 MBytes  21.0 Mbits/sec    0   1.12 MBytes".

use super::lines::{Line, number};
use super::transfer::Row;

/// A row with its marks.
#[derive(Clone, Debug, PartialEq)]
pub struct Marked {
    /// Number of the stream, or "SUM".
    pub id: String,
    /// Mark of a bidirectional test: true "TX", false "RX".
    pub role: Option<bool>,
    /// The row.
    pub row: Row,
    /// Total: true of the sender, false of the receiver.
    pub total: Option<bool>,
    /// The row is left out of totals (`-O`).
    pub omitted: bool,
    /// The row has datagrams.
    pub udp: bool,
}

/// Number of a stream and the text behind it; none where the line has none.
pub fn stream(text: &str) -> Option<(&str, &str)> {
    let open = text.find('[')?;
    let close = open + text[open..].find(']')?;
    let id = text[open + 1..close].trim();
    let is_id = id == "SUM" || (!id.is_empty() && id.bytes().all(|own| own.is_ascii_digit()));
    is_id.then(|| (id, &text[close + 1..]))
}

/// Reads a row; none where the line is no row.
pub fn read(line: &Line) -> Option<Marked> {
    let (id, mut rest) = stream(&line.text)?;
    let mut role = None;
    if let Some(inner) = rest.strip_prefix('[') {
        let (mark, behind) = inner.split_once(']')?;
        (role, rest) = (Some(mark.starts_with("TX")), behind);
    }

    // Old versions put a blank behind the dash.
    let (span, rest) = rest.split_once("sec")?;
    let (from, to) = span.split_once('-')?;
    let [from, to] = [from, to].map(|own| own.trim().parse::<f64>().ok());
    let mut words = rest.split_whitespace();
    let bytes = amount(words.next()?, words.next()?)?;
    let (_, per) = (number(words.next()?)?, words.next()?);
    if !per.ends_with("/sec") {
        return None;
    }

    let rest: Vec<&str> = words.collect();
    let mut row = Row { from: from?, to: to?, bytes, line: line.number, ..Row::default() };
    let udp = columns(&mut row, &rest);
    let total = match () {
        () if rest.contains(&"sender") => Some(true),
        () if rest.contains(&"receiver") => Some(false),
        () => None,
    };
    let omitted = rest.contains(&"(omitted)");
    row.is_sound().then(|| Marked { id: id.into(), role, row, total, omitted, udp })
}

/// Reads the columns behind the rate; returns whether they are those of datagrams.
fn columns(row: &mut Row, rest: &[&str]) -> bool {
    // "0.020 ms  0/8 (0%)": jitter, lost and all datagrams.
    if let (Some(jitter), Some(&"ms")) = (rest.first().and_then(|own| number(own)), rest.get(1)) {
        row.jitter = Some(jitter);
        let shares: String =
            rest[2..].iter().take_while(|own| !own.starts_with('(')).copied().collect();
        if let Some((lost, all)) = shares.split_once('/') {
            row.lost = lost.parse().ok();
            row.packets = all.parse().ok();
        }
        return true;
    }

    // "20/0 1 895K/524(932) us": writes, retries, cwnd and RTT of iperf 2.
    let trip = rest.iter().position(|own| own.contains("K/") && own.contains('('));
    if let Some(at) = trip {
        row.retransmits = at.checked_sub(1).and_then(|at| rest[at].parse().ok());
        let (cwnd, rtt) = rest[at].split_once("K/").unwrap_or_default();
        row.cwnd = number(cwnd).map(|own| own * 1024.0);
        row.rtt = rtt.split('(').next().and_then(|own| own.parse().ok());
        return false;
    }

    row.retransmits = rest.first().and_then(|own| own.parse().ok());
    if let [_, value, unit, ..] = rest {
        row.cwnd = amount(value, unit);
    }
    false
}

/// Bytes, such as "2.50 MBytes": multiples of 1024.
fn amount(value: &str, unit: &str) -> Option<f64> {
    let factor = match unit {
        "Bytes" => 1.0,
        "KBytes" => 1024.0,
        "MBytes" => 1_048_576.0,
        "GBytes" => 1_073_741_824.0,
        "TBytes" => 1_099_511_627_776.0,
        _ => return None,
    };
    Some(number(value)? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Marked> {
        read(&Line { number: 7, text: text.into() })
    }

    #[test]
    fn rows_of_all_versions_are_read() {
        let own = of(
            "[  5]   0.00-1.00   sec  2.50 MBytes  21.0 Mbits/sec    3   1.12 MBytes  (omitted)",
        );
        let own = own.expect("a row");
        assert_eq!((own.id.as_str(), own.omitted, own.total), ("5", true, None));
        assert_eq!((own.row.retransmits, own.row.line), (Some(3), 7));
        assert_eq!(own.row.cwnd, Some(1.12 * 1_048_576.0));
        let own =
            of("[SUM]   0.00-10.04  sec  55.1 MBytes  46.0 Mbits/sec                  receiver");
        assert_eq!(own.expect("a row").total, Some(false));
        let own = of("[  7][RX-C]   1.00-2.00   sec  0.00 Bytes  0.00 bits/sec").expect("a row");
        assert_eq!((own.role, own.row.bytes), (Some(false), 0.0));
        let own = of("[  5]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec  0.020 ms  3/91 (3.3%)");
        let own = own.expect("a row");
        assert!(own.udp);
        assert_eq!(
            (own.row.lost, own.row.packets, own.row.jitter),
            (Some(3), Some(91), Some(0.02))
        );
        let own = of("[  3]  0.0- 1.0 sec  2.50 MBytes  21.0 Mbits/sec").expect("a row");
        assert_eq!((own.row.from, own.row.to, own.row.retransmits), (0.0, 1.0, None));
        let own =
            of("[  1] 0.00-1.00 sec  2.50 MBytes  21.0 Mbits/sec  20/0  1  895K/524(932) us  5003");
        let own = own.expect("a row").row;
        assert_eq!(
            (own.retransmits, own.cwnd, own.rtt),
            (Some(1), Some(895.0 * 1024.0), Some(524))
        );
    }

    #[test]
    fn other_lines_are_no_rows() {
        let lines = [
            "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd",
            "[  5] local 10.0.0.1 port 4 connected to 10.0.0.2 port 5201",
            "[  5]   1.00-0.00   sec  2.50 MBytes  21.0 Mbits/sec",
            "[  5]   nan-1.00   sec  2.50 MBytes  21.0 Mbits/sec",
            "[  5]   0.00-1.00   sec  inf MBytes  21.0 Mbits/sec",
            "[  5]   0.00-1.00   sec  2.50 MBytes",
            "] [ 5",
            "[  5][",
        ];
        for line in lines {
            assert_eq!(of(line), None, "{line}");
        }
    }
}
