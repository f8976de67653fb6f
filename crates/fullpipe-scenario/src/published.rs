//! Figures that others published, to be drawn with a result.
//!
//! One form is read: TOML with a row of MiB and a row of Mb/s per run, as nuttcp prints them. The
//! length of each interval follows from the two. iperf3 JSON, ss logs and CSV are not read yet.

use super::format::context::{Context, Place};
use super::format::diagnostic::Diagnostics;
use super::format::keys::Default::{Absent, Required};
use super::format::keys::{Read, group};
use super::format::node;
use super::format::special::Numbers;
use super::format::values::{List, twice};

/// The figures of one publication.
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    /// Source of the figures.
    pub source: String,
    /// The published runs, in the file's order.
    pub runs: Vec<Run>,
}

/// One published run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Name, unique within the file.
    pub name: String,
    /// One row per interval, in order of time.
    pub rows: Vec<Row>,
    /// Published mean rate, Mb/s.
    pub total_mbit: Option<f64>,
}

/// One published interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Start, seconds since the publication's clock started.
    pub start_s: f64,
    /// End, seconds since the publication's clock started.
    pub end_s: f64,
    /// Bytes delivered in it.
    pub bytes: u64,
    /// Rate, Mb/s (10^6).
    pub mbit: f64,
}

impl Data {
    /// The run of that name.
    pub fn run(&self, name: &str) -> Option<&Run> {
        self.runs.iter().find(|run| run.name == name)
    }
}

group! {
    /// The file of published figures.
    File "the published figures" {
        /// Where they come from: author, title, date.
        source: String, Required;
        /// The runs.
        run: List<RunTable>, Required;
    }
}

group! {
    /// A published run.
    RunTable "[[run]]" {
        /// Name, unique in the file.
        name: String, Required;
        /// Data of each interval, MiB (2^20 bytes).
        mebibytes: Numbers, Required;
        /// Rate of each interval, Mb/s (10^6 bits).
        mbit_per_s: Numbers, Required;
        /// Mean rate of the whole run, Mb/s.
        total_mbit_per_s: Numbers, Absent("not published");
        /// Anything else that was published with it, for the reader.
        note: String, Absent("nothing");
    }
}

/// Reads a file of published figures; `name` is used in diagnostics.
///
/// # Errors
/// Everything that is wrong with it.
pub fn parse(name: &str, bytes: &[u8]) -> Result<Data, Diagnostics> {
    let mut cx = Context::default();
    let data = read(name, bytes, &mut cx);
    cx.finish(data)
}

/// Reads a file of published figures that a scenario names.
pub(super) fn read(name: &str, bytes: &[u8], cx: &mut Context) -> Option<Data> {
    // The place of the first wrong byte is the end of the good text.
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned();
            let source = cx.add(name, &good);
            let place = Place { source, start: good.len(), end: good.len() };
            cx.error("bad-encoding", place, "the published figures are not UTF-8")
                .expected("a TOML file, which is UTF-8 text");
            return None;
        }
    };
    let source = cx.add(name, text);
    let root = node::parse(text, source, cx)?;
    let file = File::read(&root, "the published figures", cx)?;
    let written = &file.run.as_ref()?.value.0;
    let names: Vec<_> = written
        .iter()
        .filter_map(|run| run.name.as_ref())
        .map(|name| (name.value.as_str(), name.place))
        .collect();
    twice(&names, "published runs", cx);
    let runs: Vec<Option<Run>> = written.iter().map(|run| self::run(run, cx)).collect();
    Some(Data { source: file.source?.value, runs: runs.into_iter().collect::<Option<_>>()? })
}

fn run(written: &RunTable, cx: &mut Context) -> Option<Run> {
    let (sizes, rates) = (written.mebibytes.as_ref()?, written.mbit_per_s.as_ref()?);
    let pairs = sizes.value.0.iter().zip(&rates.value.0);

    // Sizes and rates pair by interval.
    if sizes.value.0.len() != rates.value.0.len() || pairs.clone().count() == 0 {
        let message =
            format!("{} rates for {} intervals", rates.value.0.len(), sizes.value.0.len());
        cx.error("bad-value", rates.place, message).expected("one rate per interval");
        return None;
    }

    // An interval's length is size over rate: neither may make it endless.
    if pairs
        .clone()
        .any(|(mebibytes, mbit)| !(0.0..1e9).contains(mebibytes) || !(1e-6..1e9).contains(mbit))
    {
        cx.error("out-of-range", sizes.place, "an interval without a length")
            .expected("sizes from 0, rates above 0");
        return None;
    }

    // Intervals follow each other: rates and sizes give their ends.
    let mut rows = Vec::new();
    let mut start_s = 0.0;
    for (mebibytes, mbit) in pairs {
        let bits = mebibytes * f64::from(1 << 23);
        let end_s = start_s + bits / (mbit * 1e6);
        rows.push(Row { start_s, end_s, bytes: (bits / 8.0).round() as u64, mbit: *mbit });
        start_s = end_s;
    }
    Some(Run {
        name: written.name.as_ref()?.value.clone(),
        rows,
        total_mbit: written.total_mbit_per_s.as_ref().and_then(|at| at.value.0.first().copied()),
    })
}
