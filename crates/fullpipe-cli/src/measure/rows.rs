//! Rows of intervals: a stream each, and their sum where there are several.

use fullpipe::analysis::words::{decimal, ms};
use fullpipe::numbers::{count, rate};
use fullpipe_measure::account::{self, Row};
use fullpipe_measure::outcome::Stream;

/// Length of a row without data, s, below which it is left out.
const SHORT: f64 = 0.05;

/// Rows so far.
#[derive(Debug, Default)]
pub struct Rows {
    has_heading: bool,
}

impl Rows {
    /// Lines of an interval, with a heading before the first.
    pub fn text(&mut self, streams: &[Stream], rows: &[Row]) -> Vec<String> {
        // What is left of the last interval may be nothing.
        if rows.iter().all(|row| row.bytes == 0 && row.seconds() < SHORT) {
            return Vec::new();
        }
        let several = streams.len() > 1;
        let mut lines = Vec::new();
        if !self.has_heading && !rows.is_empty() {
            let stream = if several { "stream " } else { "" };
            let is_udp = rows.iter().any(|row| row.datagrams.is_some());
            let socket = match is_udp {
                true => format!("{:>9}  lost of datagrams", "jitter"),
                false => format!("{:>5}  {:>6}  {:>8}", "again", "cwnd", "RTT"),
            };
            lines.push(format!(
                "{stream}{:>13}  {:>9}  {:>12}  {socket}",
                "interval", "bytes", "rate"
            ));
            self.has_heading = true;
        }
        for row in rows {
            let stream = &streams[row.stream];
            let way = if stream.sends { '>' } else { '<' };
            let name = if several { format!("{:>4} {way} ", stream.id) } else { String::new() };
            lines.push(format!("{name}{}", line(row, stream)));
        }
        if several {
            lines.extend([true, false].iter().filter_map(|sends| sum(streams, rows, *sends)));
        }
        lines
    }
}

/// Sum of the streams of one direction, where there are several.
fn sum(streams: &[Stream], rows: &[Row], sends: bool) -> Option<String> {
    let own: Vec<&Row> = rows.iter().filter(|row| streams[row.stream].sends == sends).collect();
    let [first, _, ..] = &own[..] else { return None };
    let bytes = own.iter().map(|row| row.bytes).sum();
    let again = own.iter().map(|row| row.retransmits.unwrap_or(0)).sum::<u64>();
    let is_tcp = sends && first.datagrams.is_none();
    let again = if is_tcp { count(again) } else { String::new() };
    let way = if sends { '>' } else { '<' };
    let text = format!(" sum {way} {}  {again:>5}", plain(first, bytes));
    Some(format!("{}{}", text.trim_end(), omitted(first)))
}

fn line(row: &Row, stream: &Stream) -> String {
    let mut text = plain(row, row.bytes);
    if let Some(socket) = row.socket.as_ref().filter(|_| stream.sends) {
        text += &format!(
            "  {:>5}  {:>6}  {:>8}",
            count(row.retransmits.unwrap_or(0)),
            count(socket.snd_cwnd.into()),
            ms(f64::from(socket.rtt) / 1000.0)
        );
    }
    if let Some(own) = row.datagrams {
        text += &match stream.sends {
            true => format!("  {:>9}  {}", "", count(own.packets)),
            false => format!(
                "  {:>9}  {} of {}{}",
                ms(own.jitter * 1000.0),
                count(own.lost),
                count(own.packets),
                late(own.out_of_order)
            ),
        };
    }
    format!("{text}{}", omitted(row))
}

/// Datagrams behind one with a larger number, where there are some.
pub fn late(out_of_order: u64) -> String {
    if out_of_order == 0 {
        String::new()
    } else {
        format!(", {} out of order", count(out_of_order))
    }
}

fn omitted(row: &Row) -> &'static str {
    if row.is_omitted { "  (left out)" } else { "" }
}

fn plain(row: &Row, bytes: u64) -> String {
    let (from, to) = (row.from.as_secs_f64(), row.to.as_secs_f64());
    let span = format!("{from:.1}-{to:.1} s");
    let mbit = account::rate(bytes, row.seconds()) / 1e6;
    format!("{span:>13}  {:>9}  {:>12}", amount(bytes), rate(mbit))
}

/// Bytes with a decimal unit.
pub fn amount(bytes: u64) -> String {
    decimal(bytes).unwrap_or_else(|| format!("{bytes} B"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn stream(id: u32, sends: bool) -> Stream {
        let (here, there) = (([10, 0, 0, 1], 4000).into(), ([10, 0, 0, 2], 5201).into());
        Stream { id, sends, here, there }
    }

    fn row(stream: usize, bytes: u64) -> Row {
        let (from, to) = (Duration::from_secs(1), Duration::from_secs(2));
        Row {
            stream,
            from,
            to,
            bytes,
            is_omitted: false,
            retransmits: None,
            socket: None,
            datagrams: None,
        }
    }

    #[test]
    fn several_streams_have_a_sum_for_each_direction() {
        let streams = [stream(1, true), stream(3, true), stream(4, false)];
        let rows = [row(0, 1_000_000), row(1, 3_000_000), row(2, 500)];
        let mut own = Rows::default();
        let lines = own.text(&streams, &rows);
        assert_eq!(lines.len(), 5, "{lines:?}");
        assert!(lines[1].contains("8 Mb/s") && lines[1].contains("1 >"), "{lines:?}");
        assert!(lines[3].contains("4 <") && lines[3].contains("500 B"), "{lines:?}");
        assert!(lines[4].contains("sum >") && lines[4].contains("32 Mb/s"), "{lines:?}");
        assert_eq!(own.text(&streams[..1], &rows[..1]).len(), 1, "the heading comes once");
    }
}
