//! The columns: what each shows of a connection, in which unit, and how.

use super::rows::Row;
use fullpipe::base::tcp::INFINITE_SSTHRESH;
use fullpipe::numbers::{ABSENT, short};

/// Name of the column by which connections are sorted where nothing is said.
pub const RATE: &str = "rate";

/// A number of a connection.
#[derive(Debug)]
pub struct Column {
    /// Name on the command line.
    pub name: &'static str,
    /// Unit of the value: a base unit, as JSON and Prometheus name it.
    pub unit: &'static str,
    /// Whether the value counts up as long as the connection lives.
    pub is_counter: bool,
    /// Meaning.
    pub about: &'static str,
    /// How a table shows it; none of a value for programs.
    pub shown: Option<Shown>,
    /// The value; none where the connection has none.
    pub value: fn(&Row<'_>) -> Option<f64>,
}

/// Manner in which a table shows a value.
#[derive(Debug)]
pub struct Shown {
    /// Heading, with the unit that is shown.
    pub heading: &'static str,
    /// Factor from the base unit.
    pub factor: f64,
    /// Width.
    pub width: usize,
    /// Width of the screen from which the column is there.
    pub from: usize,
}

const fn shown(heading: &'static str, factor: f64, width: usize, from: usize) -> Option<Shown> {
    Some(Shown { heading, factor, width, from })
}

/// Factors of what is shown.
const MBIT: f64 = 8e-6;
const MS: f64 = 1e3;
const KIB: f64 = 1.0 / 1024.0;
/// Microseconds in a second.
const US: f64 = 1e6;

/// All columns in the order of a table.
#[rustfmt::skip]
pub const TABLE: [Column; 13] = [
    Column {
        name: RATE, unit: "bytes_per_second", is_counter: false,
        about: "Data acknowledged or received, whichever is more, over the last interval",
        shown: shown("Mb/s", MBIT, 7, 0),
        value: |row| Some(row.rate()),
    },
    Column {
        name: "cwnd", unit: "segments", is_counter: false,
        about: "Congestion window",
        shown: shown("cwnd", 1.0, 6, 0),
        value: |row| Some(row.info().snd_cwnd.into()),
    },
    Column {
        name: "ssthresh", unit: "segments", is_counter: false,
        about: "Slow start threshold, where one is set",
        shown: shown("ssthresh", 1.0, 8, 110),
        value: |row| Some(row.info().ssthresh()).filter(|own| *own < INFINITE_SSTHRESH).map(f64::from),
    },
    Column {
        name: "rtt", unit: "seconds", is_counter: false,
        about: "Smoothed round-trip time",
        shown: shown("RTT ms", MS, 6, 0),
        value: |row| Some(f64::from(row.info().rtt) / US),
    },
    Column {
        name: "min-rtt", unit: "seconds", is_counter: false,
        about: "Least round-trip time of the last minutes",
        shown: shown("least", MS, 6, 90),
        value: |row| Some(row.info().min_rtt).filter(|own| (1..u32::MAX).contains(own)).map(|us| f64::from(us) / US),
    },
    Column {
        name: "in-flight", unit: "segments", is_counter: false,
        about: "Segments in flight",
        shown: shown("flight", 1.0, 6, 100),
        value: |row| Some(row.info().in_flight().into()),
    },
    Column {
        name: "snd-wnd", unit: "bytes", is_counter: false,
        about: "Window of the other end",
        shown: shown("its wnd", KIB, 7, 120),
        value: |row| Some(row.info().snd_wnd.into()),
    },
    Column {
        name: "rcv-wnd", unit: "bytes", is_counter: false,
        about: "Window of this end",
        shown: shown("own wnd", KIB, 7, 120),
        value: |row| Some(row.info().rcv_wnd.into()),
    },
    Column {
        name: "unsent", unit: "bytes", is_counter: false,
        about: "Bytes written and not sent",
        shown: shown("unsent", KIB, 6, 150),
        value: |row| Some(row.info().notsent_bytes.into()),
    },
    Column {
        name: "retrans", unit: "segments", is_counter: false,
        about: "Segments sent again since the watch began",
        shown: shown("again", 1.0, 6, 0),
        value: |row| Some(row.figures.retransmitted_so_far as f64),
    },
    Column {
        name: "retransmitted", unit: "segments", is_counter: true,
        about: "Segments sent again",
        shown: None,
        value: |row| Some(row.info().total_retrans as f64),
    },
    Column {
        name: "acknowledged", unit: "bytes", is_counter: true,
        about: "Bytes that the other end has acknowledged",
        shown: None,
        value: |row| Some(row.info().bytes_acked as f64),
    },
    Column {
        name: "received", unit: "bytes", is_counter: true,
        about: "Bytes received in order",
        shown: None,
        value: |row| Some(row.info().bytes_received as f64),
    },
];

/// The columns of tables.
pub fn shown_columns() -> impl Iterator<Item = &'static Column> {
    TABLE.iter().filter(|own| own.shown.is_some())
}

/// The column of this name.
pub fn named(name: &str) -> Option<&'static Column> {
    TABLE.iter().find(|own| own.name == name)
}

impl Column {
    /// Name with its unit, as programs read it.
    pub fn key(&self) -> String {
        let total = if self.is_counter { "_total" } else { "" };
        format!("{}_{}{total}", self.name.replace('-', "_"), self.unit)
    }
}

impl Shown {
    /// A value as text that fits the column.
    pub fn text(&self, value: Option<f64>) -> String {
        let Some(value) = value.map(|own| own * self.factor) else { return ABSENT.into() };
        let scales = [(1.0, ""), (1e-3, "k"), (1e-6, "M"), (1e-9, "G"), (1e-12, "T")];
        let texts = scales.iter().map(|(by, unit)| short(value * by) + unit);
        let mut fitting = texts.filter(|text| text.chars().count() <= self.width);
        fitting.next().unwrap_or_else(|| ABSENT.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fit_their_columns() {
        let column = named("cwnd").and_then(|own| own.shown.as_ref()).expect("a column");
        let texts = [Some(10.0), Some(8190.0), Some(123_456.0), Some(9.9e9), None];
        let texts = texts.map(|value| column.text(value));
        assert_eq!(texts, ["10", "8,190", "123k", "9,900M", ABSENT]);
        let all = TABLE.iter().filter_map(|own| own.shown.as_ref());
        for own in all {
            for value in [0.0, 0.004, 1.0, 1e5, 1.5e9, 4.3e12] {
                assert!(own.text(Some(value)).chars().count() <= own.width, "{own:?} {value}");
                assert_ne!(own.text(Some(value)), ABSENT, "{own:?} {value}");
            }
            assert!(own.heading.len() <= own.width, "{own:?}");
        }
    }

    #[test]
    fn names_and_keys_are_unique() {
        let keys: std::collections::BTreeSet<String> = TABLE.iter().map(Column::key).collect();
        assert_eq!(keys.len(), TABLE.len());
        assert!(keys.contains("min_rtt_seconds") && keys.contains("received_bytes_total"));
    }
}
