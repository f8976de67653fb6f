//! iperf3 and iperf 2 in words.

use super::command;
use super::lines::Line;
use super::row::{self, Marked};
use super::transfer::{Row, Stream, Tool, Transfer};
use std::net::{IpAddr, SocketAddr};

/// Row of the sum of all streams.
const SUM: &str = "SUM";
/// Part of an interval that a shorter last one must have: rates of slivers mean nothing.
const SLIVER: f64 = 0.5;

/// The transfers of a text.
pub fn read(lines: &[Line]) -> Vec<Transfer> {
    let mut reader = Reader::default();
    lines.iter().for_each(|line| reader.line(line));
    reader.end();
    reader.done
}

#[derive(Default)]
struct Reader {
    now: Transfer,
    /// Whether the table has a column of cwnd or of retransmissions, which only the sending end prints.
    sends: Option<bool>,
    done: Vec<Transfer>,
}

impl Reader {
    fn line(&mut self, line: &Line) {
        let text = line.text.trim_start();
        for tool in [Tool::Iperf3, Tool::Iperf2] {
            if let Some(asked) = command::asked(line, tool) {
                self.begin(line);
                (self.now.tool, self.now.asked) = (tool, asked);
                return;
            }
        }
        if begins(text) {
            self.begin(line);
        }
        if let Some(marked) = row::read(line) {
            self.row(marked, line);
        } else if let Some((id, rest)) = row::stream(text) {
            self.ends(id, rest);
        } else {
            self.about(text);
        }
    }

    /// Begins another transfer, unless nothing of this one has come yet.
    fn begin(&mut self, line: &Line) {
        if self.now.streams.iter().any(|own| !own.is_empty()) || self.now.error.is_some() {
            self.end();
        }
        if self.now.line == 0 {
            self.now.line = line.number;
        }
    }

    /// A line about the whole transfer.
    fn about(&mut self, text: &str) {
        let now = &mut self.now;
        let word_behind = |start: &str| {
            let rest = text.strip_prefix(start)?;
            rest.split_whitespace().next().map(String::from)
        };
        if let Some(version) = word_behind("iperf ").filter(|own| own.starts_with('3')) {
            now.version = Some(version);
        }
        if text.starts_with("Reverse mode") {
            now.asked.reverse = true;
        }
        if let Some(mss) = word_behind("TCP MSS:").and_then(|own| own.parse().ok()) {
            now.mss = Some(mss);
        }
        if let Some(name) = word_behind("snd_tcp_congestion") {
            now.congestion = name;
        }
        if text.starts_with("CPU Utilization:") {
            (now.cpu_sender, now.cpu_receiver) = cpus(text);
        }
        if let Some(why) = text.strip_prefix("iperf3: error - ") {
            now.error = Some(why.trim().into());
        }
        if text.starts_with("[ ID]") && text.contains("Interval") {
            now.udp |= text.contains("Jitter") || text.contains("Datagrams");
            if text.contains("Cwnd") {
                self.sends = Some(true);
            }
        }
    }

    /// "local 10.0.0.1 port 4 connected to 10.0.0.2 port 5201", or with "with".
    fn ends(&mut self, id: &str, rest: &str) {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let ["local", here, "port", from, "connected", _, there, "port", to, ..] = words[..] else {
            return;
        };
        let end = |address: &str, port: &str| -> Option<SocketAddr> {
            let ip: IpAddr = address.split('%').next()?.parse().ok()?;
            Some(SocketAddr::new(ip.to_canonical(), port.trim_end_matches(',').parse().ok()?))
        };
        let ends = end(here, from).zip(end(there, to)).map(|(here, there)| [here, there]);

        // A known stream that has rows connects again: another transfer begins.
        if self.now.streams.iter().any(|own| own.id == id && !own.rows.is_empty()) {
            self.end();
        }
        self.stream(id).ends = ends;
    }

    fn stream(&mut self, id: &str) -> &mut Stream {
        let streams = &mut self.now.streams;
        if let Some(at) = streams.iter().position(|own| own.id == id) {
            return &mut streams[at];
        }
        streams.push(Stream { id: id.into(), sums: 1, ..Stream::default() });
        let last = streams.len() - 1;
        &mut streams[last]
    }

    fn row(&mut self, own: Marked, line: &Line) {
        // The clock of a stream restarts with a transfer.
        let known = self.now.streams.iter().find(|it| it.id == own.id);
        let last = known.and_then(|it| it.rows.last()).map_or(0.0, |row| row.to);
        let over = known.is_some_and(|it| it.sent.is_some() || it.received.is_some());
        let restarts = own.total.is_none() && own.row.from < last && own.row.from == 0.0;
        let whole = restarts && own.row.to >= last && own.row.to > own.row.from;
        if own.total.is_none() && (over || (restarts && !whole)) {
            self.end();
        }

        self.now.line = if self.now.line == 0 { line.number } else { self.now.line };
        self.now.until = line.number;
        self.now.udp |= own.udp;
        let has_cwnd = own.row.cwnd.is_some();
        if has_cwnd {
            self.sends = Some(true);
        }
        let stream = self.stream(&own.id);
        stream.sends = own.role.or(stream.sends);
        match own.total {
            Some(true) => stream.sent = Some(own.row),
            Some(false) => stream.received = Some(own.row),
            // iperf 2 marks no total.
            None if whole => stream.sent = Some(own.row),
            None if own.omitted => {}
            None => stream.rows.push(own.row),
        }
    }

    /// Ends the transfer.
    fn end(&mut self) {
        let mut own = std::mem::take(&mut self.now);
        let sends = self.sends.take();
        own.streams.retain(|stream| !stream.is_empty());
        if own.streams.is_empty() && own.error.is_none() {
            return;
        }
        own.until = own.until.max(own.line);

        // Sums repeat what the streams say.
        let sum = own.streams.iter().position(|stream| stream.id == SUM);
        if let Some(at) = sum {
            let parts = own.streams.len() - 1;
            match parts {
                0 => own.streams[at].sums = own.asked.parallel.unwrap_or(2).max(2),
                _ => _ = own.streams.remove(at),
            }
        }
        own.streams.iter_mut().for_each(|stream| without_sliver(&mut stream.rows));
        own.sends = sends.or_else(|| shown_by_rows(&own));
        if let Some(name) = own.asked.congestion.clone().filter(|_| own.congestion.is_empty()) {
            own.congestion = name;
        }
        self.done.push(own);
    }
}

/// Whether rows alone show which end has printed them.
fn shown_by_rows(own: &Transfer) -> Option<bool> {
    let rows = || own.streams.iter().flat_map(|stream| &stream.rows);
    let jitter = rows().any(|row| row.jitter.is_some());
    let again = rows().any(|row| row.retransmits.is_some());
    match () {
        () if jitter => Some(false),
        () if again => Some(true),
        () if own.asked.reverse => Some(false),
        // Only a receiver has no count of retransmissions, but for systems that have none.
        () if own.tool == Tool::Iperf3 && !own.udp => Some(false),
        () => None,
    }
}

/// Whether a line begins a transfer.
fn begins(text: &str) -> bool {
    let starts = ["Connecting to host", "Client connecting to", "Accepted connection from"];
    starts.iter().any(|start| text.starts_with(start))
}

/// Percent of a CPU of sender and receiver, in "CPU Utilization: local/sender 3.4% (...), remote/receiver 10.2% (...)".
fn cpus(text: &str) -> (Option<f64>, Option<f64>) {
    let of = |end: &str| {
        let (_, rest) = text.split_once(end)?;
        rest.trim_start().split('%').next()?.trim().parse::<f64>().ok()
    };
    let sound = |own: Option<f64>| own.filter(|own| own.is_finite() && *own >= 0.0);
    (sound(of("/sender")), sound(of("/receiver")))
}

/// Removes a last interval that is much shorter than the others.
pub fn without_sliver(rows: &mut Vec<Row>) {
    let usual = rows.first().map_or(0.0, Row::lasts);
    if rows.len() > 1 && rows.last().is_some_and(|row| row.lasts() < SLIVER * usual) {
        rows.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::lines::clean;

    const CLIENT: &str = "\
user@a:~$ iperf3 -c 10.0.0.2 -P 2 -w 256K
Connecting to host 10.0.0.2, port 5201
[  5] local 10.0.0.1 port 41234 connected to 10.0.0.2 port 5201
[  7] local 10.0.0.1 port 41236 connected to 10.0.0.2 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec  2.50 MBytes  21.0 Mbits/sec    3    100 KBytes
[  7]   0.00-1.00   sec  2.50 MBytes  21.0 Mbits/sec    0    100 KBytes
[SUM]   0.00-1.00   sec  5.00 MBytes  41.9 Mbits/sec    3
- - - - - - - - - - - - - - - - - - - - - - - - -
[  5]   1.00-1.10   sec  0.25 MBytes  21.0 Mbits/sec    0    100 KBytes
[  7]   1.00-1.10   sec  0.25 MBytes  21.0 Mbits/sec    1    100 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-1.10   sec  2.75 MBytes  21.0 Mbits/sec    3             sender
[  5]   0.00-1.12   sec  2.70 MBytes  20.2 Mbits/sec                  receiver
[SUM]   0.00-1.10   sec  5.50 MBytes  41.9 Mbits/sec    4             sender
";

    #[test]
    fn streams_and_totals_are_parted() {
        let all = read(&clean(CLIENT));
        let [own] = &all[..] else { panic!("{all:?}") };
        assert_eq!(own.streams.len(), 2, "a sum repeats the streams");
        assert_eq!((own.sends, own.asked.window), (Some(true), Some(256 << 10)));
        let first = &own.streams[0];
        assert_eq!(first.rows.len(), 1, "a sliver is left out");
        assert_eq!(first.sent.as_ref().and_then(|own| own.retransmits), Some(3));
        assert!(first.received.is_some() && first.ends.is_some());
        assert_eq!((own.line, own.until), (1, 16));
    }

    #[test]
    fn transfers_behind_each_other_are_parted() {
        let twice = format!("{CLIENT}{CLIENT}");
        assert_eq!(read(&clean(&twice)).len(), 2);

        // Rows without any heading: the clock restarts.
        let rows: Vec<&str> = CLIENT.lines().filter(|line| line.starts_with("[  5]   ")).collect();
        assert_eq!(read(&clean(&rows.repeat(2).join("\n"))).len(), 2);
    }

    #[test]
    fn a_receiver_prints_no_retransmissions() {
        let text = "Accepted connection from 10.0.0.1, port 4
[  5]   0.00-1.00   sec  2.50 MBytes  21.0 Mbits/sec
[  5]   0.00-1.00   sec  2.50 MBytes  21.0 Mbits/sec                  receiver
CPU Utilization: local/receiver 10.2% (1.0%u/9.2%s), remote/sender 3.4% (0.1%u/3.3%s)
";
        let own = &read(&clean(text))[0];
        assert_eq!(
            (own.sends, own.cpu_sender, own.cpu_receiver),
            (Some(false), Some(3.4), Some(10.2))
        );
    }

    #[test]
    fn only_sums_stand_for_their_streams() {
        let text = "[SUM]   0.00-1.00   sec  5.00 MBytes  41.9 Mbits/sec    3\n";
        let own = &read(&clean(text))[0];
        assert_eq!((own.streams[0].sums, own.sends), (2, Some(true)));
    }

    #[test]
    fn an_error_is_kept() {
        let own =
            &read(&clean("iperf3: error - unable to connect to server: Connection refused"))[0];
        assert!(own.error.as_deref().is_some_and(|own| own.contains("refused")));
    }
}
