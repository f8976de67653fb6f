//! Intervals and totals of a test, from counts at moments that the caller names.

use crate::results::Counts;
use fullpipe_observe::tcp_info::TcpInfo;
use std::time::Duration;

/// Counts of a stream at a moment, from its beginning on.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// Bytes sent or received.
    pub bytes: u64,
    /// State of the socket, of TCP.
    pub socket: Option<TcpInfo>,
    /// Datagrams, of UDP.
    pub datagrams: Option<Datagrams>,
}

/// Counts of datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Datagrams {
    /// Datagrams sent, or the largest number received.
    pub packets: u64,
    /// Datagrams missing.
    pub lost: u64,
    /// Datagrams behind one with a larger number.
    pub out_of_order: u64,
    /// Smoothed difference of delays, seconds.
    pub jitter: f64,
}

impl Datagrams {
    fn since(self, before: Datagrams) -> Datagrams {
        Datagrams {
            packets: self.packets.saturating_sub(before.packets),
            lost: self.lost.saturating_sub(before.lost),
            out_of_order: self.out_of_order.saturating_sub(before.out_of_order),
            jitter: self.jitter,
        }
    }
}

/// A stream in an interval.
#[derive(Clone, Debug)]
pub struct Row {
    /// Place of the stream.
    pub stream: usize,
    /// Begin, from the first counted moment on, or of the omitted part.
    pub from: Duration,
    /// End.
    pub to: Duration,
    /// Bytes sent or received.
    pub bytes: u64,
    /// Whether it is before the first counted moment.
    pub is_omitted: bool,
    /// Segments sent again.
    pub retransmits: Option<u64>,
    /// State of the socket at the end.
    pub socket: Option<TcpInfo>,
    /// Datagrams.
    pub datagrams: Option<Datagrams>,
}

impl Row {
    /// Length, seconds.
    pub fn seconds(&self) -> f64 {
        (self.to - self.from).as_secs_f64()
    }

    /// Bits per second.
    pub fn rate(&self) -> f64 {
        rate(self.bytes, self.seconds())
    }
}

/// Bits per second of bytes in so many seconds.
pub fn rate(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 }
}

/// Intervals and totals of all streams of one end.
#[derive(Clone, Debug)]
pub struct Account {
    /// Moment from which on times are counted.
    zero: Duration,
    /// Begin of the interval.
    from: Duration,
    is_omitting: bool,
    /// Counts at zero.
    begun: Vec<Counted>,
    /// Counts at the begin of the interval.
    last: Vec<Counted>,
    rows: Vec<Row>,
}

impl Account {
    /// An account that begins at 0 with these counts; `omits`: until [`Account::begin`] nothing is counted.
    pub fn new(counted: Vec<Counted>, omits: bool) -> Account {
        Account {
            zero: Duration::ZERO,
            from: Duration::ZERO,
            is_omitting: omits,
            begun: counted.clone(),
            last: counted,
            rows: Vec::new(),
        }
    }

    /// Ends an interval; returns its rows, one a stream. An interval without length has none.
    pub fn cut(&mut self, now: Duration, counted: &[Counted]) -> &[Row] {
        let first = self.rows.len();
        if now <= self.from {
            return &self.rows[first..];
        }
        let (from, to) = (self.from - self.zero, now - self.zero);
        for (stream, (last, counted)) in self.last.iter_mut().zip(counted).enumerate() {
            let socket = match (&counted.socket, &last.socket) {
                (Some(now), Some(last)) => Some(now.clone().after(last)),
                (now, _) => now.clone(),
            };
            let again = |own: &Option<TcpInfo>| own.as_ref().map(|own| own.total_retrans);
            let retransmits = again(&socket).zip(again(&last.socket)).map(|(now, last)| now - last);
            self.rows.push(Row {
                stream,
                from,
                to,
                bytes: counted.bytes.saturating_sub(last.bytes),
                is_omitted: self.is_omitting,
                retransmits,
                socket: socket.clone(),
                datagrams: counted
                    .datagrams
                    .map(|own| own.since(last.datagrams.unwrap_or_default())),
            });
            *last = Counted { socket, ..counted.clone() };
        }
        self.from = now;
        &self.rows[first..]
    }

    /// Begins to count, at the end of an interval.
    pub fn begin(&mut self, now: Duration) {
        self.zero = now;
        self.from = now;
        self.is_omitting = false;
        self.begun.clone_from(&self.last);
    }

    /// All intervals.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Intervals of the stream at that place, from the first counted moment on.
    pub fn counted(&self, stream: usize) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.stream == stream && !row.is_omitted)
    }

    /// Datagrams of that stream behind one with a larger number, in these intervals.
    pub fn out_of_order(&self, stream: usize) -> u64 {
        self.counted(stream).filter_map(|row| row.datagrams).map(|own| own.out_of_order).sum()
    }

    /// Counted time so far.
    pub fn lasted(&self) -> Duration {
        self.from - self.zero
    }

    /// Bytes of all streams since the first counted moment.
    pub fn counted_bytes(&self, counted: &[Counted]) -> u64 {
        let each = self.begun.iter().zip(counted);
        each.map(|(begun, now)| now.bytes.saturating_sub(begun.bytes)).sum()
    }

    /// Results of a stream; `bytes` were received behind the last interval, the last of them at `until`.
    pub fn total(&self, stream: usize, behind: Behind) -> Counts {
        let (begun, last) = (&self.begun[stream], &self.last[stream]);
        let again = |own: &Counted| own.socket.as_ref().map(|own| own.total_retrans);
        let datagrams = behind.datagrams.or(last.datagrams);
        let datagrams = datagrams.map(|own| own.since(begun.datagrams.unwrap_or_default()));
        let datagrams = datagrams.unwrap_or_default();
        let until = match behind.bytes {
            0 => self.lasted(),
            _ => self.lasted().max(behind.until.saturating_sub(self.zero)),
        };
        Counts {
            id: crate::state::stream_id(stream),
            bytes: last.bytes.saturating_sub(begun.bytes) + behind.bytes,
            retransmits: again(last).zip(again(begun)).map(|(last, begun)| last - begun),
            jitter: datagrams.jitter,
            lost: datagrams.lost,
            packets: datagrams.packets,
            seconds: until.as_secs_f64(),
        }
    }
}

/// Bytes that a receiver has read behind the last interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct Behind {
    /// Number of bytes.
    pub bytes: u64,
    /// Moment of the last of them.
    pub until: Duration,
    /// Datagrams from the beginning on, with these.
    pub datagrams: Option<Datagrams>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(bytes: u64, again: u64) -> Vec<Counted> {
        let socket = TcpInfo { total_retrans: again, ..TcpInfo::default() };
        vec![Counted { bytes, socket: Some(socket), datagrams: None }]
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn what_is_omitted_is_in_rows_and_in_no_total() {
        let mut own = Account::new(counted(0, 1), true);
        let row = &own.cut(ms(1000), &counted(5000, 3))[0];
        assert!(row.is_omitted);
        assert_eq!((row.bytes, row.retransmits, row.rate()), (5000, Some(2), 40_000.0));
        own.begin(ms(1000));
        own.cut(ms(2000), &counted(6000, 3));
        let row = own.cut(ms(2500), &counted(8000, 7))[0].clone();
        assert_eq!((row.from, row.to, row.is_omitted), (ms(1000), ms(1500), false));
        let total = own.total(0, Behind::default());
        assert_eq!((total.bytes, total.retransmits, total.seconds), (3000, Some(4), 1.5));
        assert_eq!(own.counted_bytes(&counted(9000, 7)), 4000);
    }

    #[test]
    fn bytes_behind_the_last_interval_lengthen_the_time() {
        let mut own = Account::new(counted(0, 0), false);
        own.cut(ms(1000), &counted(1000, 0));
        let total = own.total(0, Behind { bytes: 500, until: ms(1250), datagrams: None });
        assert_eq!((total.bytes, total.seconds), (1500, 1.25));
        assert!(own.cut(ms(1000), &counted(1000, 0)).is_empty(), "no length");
    }

    #[test]
    fn a_counter_that_wraps_goes_on() {
        let mut own = Account::new(counted(0, u64::from(u32::MAX)), false);
        assert_eq!(own.cut(ms(10), &counted(1, 4))[0].retransmits, Some(5));
        assert_eq!(own.total(0, Behind::default()).retransmits, Some(5));
    }
}
