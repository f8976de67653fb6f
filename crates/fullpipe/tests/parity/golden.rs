//! A golden table: a few samples of a genuine run, and where it comes from.

use crate::runs;
use crate::suite::Case;
use fullpipe::engine::linux::kernel::Record;
use fullpipe::trace::recording::Recording;
use fullpipe_sim::trace::FlowSample;
use std::fmt::Write;

/// Moments of a table at most, equally far apart.
const MOMENTS: usize = 16;
/// From here on ssthresh is infinite (Linux: TCP_INFINITE_SSTHRESH).
const INFINITE: u32 = 0x7fff_ffff;
const COLUMNS: &str = "time_s,flow,cwnd,ssthresh,srtt_us,sent,retransmitted,delivered";

/// A line of the table: a flow at a moment; the names are those of [`FlowSample`], counts since the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub time_s: f64,
    pub flow: usize,
    pub cwnd: u32,
    pub srtt_us: u32,
    pub sent: u64,
    pub retransmitted: u64,
    /// Bytes that the receiving application has read.
    pub delivered: u64,
}

/// A stage in the head of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    pub name: String,
    pub entered: u64,
    pub dropped: u64,
    /// Highest level at a sample.
    pub peak: u64,
}

/// A table as it is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// First line: the kernel as built, its HZ, and what of fullpipe is in it.
    pub kernel: String,
    pub command: String,
    pub seed: String,
    /// Hash of the scenario that was run.
    pub scenario: String,
    pub stages: Vec<Stage>,
    /// Per flow the seconds from connect() until all was read.
    pub complete: Vec<Option<f64>>,
    pub rows: Vec<Row>,
}

/// The table of a run on this kernel.
pub fn write(case: &Case, kernel: &Record, recording: &Recording) -> String {
    let package = kernel.package_version.as_deref().unwrap_or("no package");
    let mut text = format!(
        "# kernel Linux {} ({package}), HZ {}, configuration {}\n# command {}\n# seed {}\n# scenario {}\n",
        kernel.source_version,
        kernel.hz,
        kernel.configuration,
        case.command(),
        case.plan().resolved.seed,
        case.hash(),
    );
    text += &body(case, recording);
    text
}

/// What the run did: all that a repetition has to give again.
pub fn body(case: &Case, recording: &Recording) -> String {
    let mut text = String::new();
    for stage in &recording.stages {
        let mut samples = recording.stage_samples.iter().filter(|s| s.stage == stage.index);
        let peak = samples.clone().map(|s| s.peak).max().unwrap_or(0);
        let (entered, dropped) = samples.next_back().map_or((0, 0), |s| (s.entered, s.dropped));
        let name = &stage.name;
        let _ = writeln!(text, "# stage {name}: entered {entered}, dropped {dropped}, peak {peak}");
    }
    for flow in runs::analysed(case, recording).flows {
        let when = flow.completion_s.map_or("not".into(), |seconds| seconds.to_string());
        let _ = writeln!(text, "# complete {}: {when}", flow.name);
    }
    let _ = writeln!(text, "{COLUMNS}");
    rows(case, recording).for_each(|sample| line(&mut text, sample));
    text
}

/// Every so manyth sample.
fn rows<'a>(case: &Case, recording: &'a Recording) -> impl Iterator<Item = &'a FlowSample> {
    let run = &case.plan().resolved;
    let samples = run.duration.0.div_ceil(run.report.sample.0) as usize;
    let step = samples.div_ceil(MOMENTS) * run.flow.len();
    let offset = step - run.flow.len();
    let flows = run.flow.len();
    recording
        .flows
        .iter()
        .enumerate()
        .filter(move |(i, _)| i % step >= offset && i % step < offset + flows)
        .map(|(_, sample)| sample)
}

fn line(text: &mut String, s: &FlowSample) {
    let ssthresh = if s.ssthresh >= INFINITE { "inf".into() } else { s.ssthresh.to_string() };
    let _ = writeln!(
        text,
        "{},{},{},{ssthresh},{},{},{},{}",
        s.time.as_secs_f64(),
        s.flow,
        s.cwnd,
        s.srtt_us,
        s.segments_sent,
        s.segments_retransmitted,
        s.bytes_delivered
    );
}

/// The part of a table that tells what the run did.
pub fn body_of(text: &str) -> &str {
    text.find("# stage").map_or(text, |at| &text[at..])
}

/// Reads a table.
///
/// # Errors
/// The line that is none of a table's.
pub fn read(text: &str) -> Result<Table, String> {
    let mut table = Table::default();
    for line in text.lines().filter(|line| *line != COLUMNS) {
        let read = match line.strip_prefix("# ") {
            Some(head) => head.split_once(' ').and_then(|(key, value)| table.head(key, value)),
            None => row(line).map(|row| table.rows.push(row)),
        };
        read.ok_or_else(|| format!("what is this? {line}"))?;
    }
    Ok(table)
}

impl Table {
    fn head(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "kernel" => self.kernel = value.into(),
            "command" => self.command = value.into(),
            "seed" => self.seed = value.into(),
            "scenario" => self.scenario = value.into(),
            "stage" => self.stages.push(stage(value)?),
            "complete" => self.complete.push(value.split_once(": ")?.1.parse().ok()),
            _ => return None,
        }
        Some(())
    }

    /// The rows of a flow.
    pub fn flow(&self, index: usize) -> Vec<&Row> {
        self.rows.iter().filter(|row| row.flow == index).collect()
    }

    pub fn stage(&self, name: &str) -> &Stage {
        let found = self.stages.iter().find(|stage| stage.name == name);
        found.unwrap_or_else(|| panic!("no stage {name}"))
    }
}

fn stage(text: &str) -> Option<Stage> {
    let (name, rest) = text.split_once(": entered ")?;
    let (entered, rest) = rest.split_once(", dropped ")?;
    let (dropped, peak) = rest.split_once(", peak ")?;
    let (entered, dropped) = (entered.parse().ok()?, dropped.parse().ok()?);
    Some(Stage { name: name.into(), entered, dropped, peak: peak.parse().ok()? })
}

fn row(line: &str) -> Option<Row> {
    let fields: Vec<&str> = line.split(',').collect();
    let [time_s, flow, cwnd, _ssthresh, srtt_us, sent, retransmitted, delivered] = fields[..]
    else {
        return None;
    };
    Some(Row {
        time_s: time_s.parse().ok()?,
        flow: flow.parse().ok()?,
        cwnd: cwnd.parse().ok()?,
        srtt_us: srtt_us.parse().ok()?,
        sent: sent.parse().ok()?,
        retransmitted: retransmitted.parse().ok()?,
        delivered: delivered.parse().ok()?,
    })
}
