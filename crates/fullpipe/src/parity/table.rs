//! A table of a run: its flows at moments equally far apart, and its origin.

use super::grid;
use super::messages::{self, Times};
use crate::scenario::Resolved;
use crate::trace::recording::Recording;
use fullpipe_base::trace::{EventKind, FlowSample};
use std::fmt::Write;

/// From here on ssthresh is infinite (Linux: TCP_INFINITE_SSTHRESH).
const INFINITE: u32 = 0x7fff_ffff;
const COLUMNS: &str = "time_s,flow,cwnd,ssthresh,srtt_us,sent,retransmitted,acked,delivered";

/// A line of the table: a flow at a moment. The names are [`FlowSample`]'s, and counts are since the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Simulated time, s.
    pub time_s: f64,
    /// Index of the flow.
    pub flow: usize,
    /// Packets.
    pub cwnd: u32,
    /// Packets; none is infinite.
    pub ssthresh: Option<u32>,
    /// us; 0 before the first measurement.
    pub srtt_us: u32,
    /// Data segments sent, retransmissions included.
    pub sent: u64,
    /// Segments retransmitted.
    pub retransmitted: u64,
    /// Bytes acknowledged at the sender.
    pub acked: u64,
    /// Bytes that the receiving application has read.
    pub delivered: u64,
}

/// A stage in the head of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// Units that entered.
    pub entered: u64,
    /// Units dropped.
    pub dropped: u64,
    /// Highest level at a sample.
    pub peak: u64,
}

/// Origin of a table; empty for one that is not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The kernel as built, its HZ, and fullpipe's changes in it.
    pub kernel: String,
    /// Command that ran it.
    pub command: String,
    /// The scenario's seed.
    pub seed: String,
    /// Hash of the scenario that was run.
    pub scenario: String,
}

/// Table of a run: one row for each flow at each moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// First lines.
    pub origin: Origin,
    /// The stages, by index.
    pub stages: Vec<Stage>,
    /// Name of each flow, and the seconds from connect() until all of its `bytes` were read; none for a flow that ends
    /// by time, or not at all.
    pub complete: Vec<(String, Option<f64>)>,
    /// Times of the messages of each flow that has some, with its name.
    pub messages: Vec<(String, Times)>,
    /// Rows by time and flow.
    pub rows: Vec<Row>,
}

impl Table {
    /// The table of a run.
    pub fn of(run: &Resolved, recording: &Recording) -> Table {
        let samples = grid::moments(run, &recording.flows);
        Table {
            origin: Origin::default(),
            stages: stages(recording),
            complete: complete(run, recording),
            messages: times(run, recording),
            rows: samples.iter().map(row_of).collect(),
        }
    }

    /// The table as text, which [`read`] reads.
    pub fn text(&self) -> String {
        let Origin { kernel, command, seed, scenario } = &self.origin;
        let head = format!("# kernel {kernel}\n# command {command}\n# seed {seed}\n");
        format!("{head}# scenario {scenario}\n{}", self.body())
    }

    /// Results of the run as text, which a repetition has to reproduce.
    pub fn body(&self) -> String {
        let mut text = String::new();
        for Stage { name, entered, dropped, peak } in &self.stages {
            let _ =
                writeln!(text, "# stage {name}: entered {entered}, dropped {dropped}, peak {peak}");
        }
        for (name, when) in &self.complete {
            let when = when.map_or("not".into(), |seconds| seconds.to_string());
            let _ = writeln!(text, "# complete {name}: {when}");
        }
        for (name, times) in &self.messages {
            let _ = writeln!(text, "# messages {name}: {}", times.text());
        }
        let _ = writeln!(text, "{COLUMNS}");
        self.rows.iter().for_each(|row| line(&mut text, row));
        text
    }

    /// The rows of a flow.
    pub fn flow(&self, index: usize) -> Vec<&Row> {
        self.rows.iter().filter(|row| row.flow == index).collect()
    }

    /// Times of the messages of the flow of that name; none where none was read.
    pub fn messages(&self, flow: &str) -> Option<Times> {
        self.messages.iter().find(|(name, _)| name == flow).map(|(_, times)| *times)
    }

    /// The stage of that name.
    pub fn stage(&self, name: &str) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.name == name)
    }

    /// Whether nothing was lost or sent again.
    pub fn loss_free(&self) -> bool {
        let resent = self.rows.iter().any(|row| row.retransmitted > 0);
        !resent && self.stages.iter().all(|stage| stage.dropped == 0)
    }

    fn head(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "kernel" => self.origin.kernel = value.into(),
            "command" => self.origin.command = value.into(),
            "seed" => self.origin.seed = value.into(),
            "scenario" => self.origin.scenario = value.into(),
            "stage" => self.stages.push(stage(value)?),
            "complete" => {
                let (name, when) = value.split_once(": ")?;
                let when = if when == "not" { None } else { Some(when.parse().ok()?) };
                self.complete.push((name.into(), when));
            }
            "messages" => {
                let (name, times) = value.split_once(": ")?;
                self.messages.push((name.into(), Times::read(times)?));
            }
            _ => return None,
        }
        Some(())
    }
}

/// Reads a table.
///
/// # Errors
/// The line that is none of a table's, by its number.
pub fn read(text: &str) -> Result<Table, String> {
    let mut table = Table::default();

    // The heading repeats the columns, and holds no values.
    for (number, line) in text.lines().enumerate().filter(|(_, line)| *line != COLUMNS) {
        let read = match line.strip_prefix("# ") {
            Some(head) => head.split_once(' ').and_then(|(key, value)| table.head(key, value)),
            None => row(line).map(|row| table.rows.push(row)),
        };
        read.ok_or_else(|| format!("line {}: this is none of a table's: {line}", number + 1))?;
    }

    // Rows refer to flows of the heading.
    let flows = table.complete.len();
    match table.rows.iter().find(|row| row.flow >= flows) {
        Some(row) => Err(format!("flow {} at {} s, of {flows} flows", row.flow, row.time_s)),
        None => Ok(table),
    }
}

fn stages(recording: &Recording) -> Vec<Stage> {
    recording
        .stages
        .iter()
        .map(|info| {
            let mut samples = recording.stage_samples.iter().filter(|s| s.stage == info.index);
            let peak = samples.clone().map(|s| s.peak).max().unwrap_or(0);
            let (entered, dropped) = samples.next_back().map_or((0, 0), |s| (s.entered, s.dropped));
            Stage { name: info.name.clone(), entered, dropped, peak }
        })
        .collect()
}

/// Both engines date the read that takes the last of a flow's bytes.
fn complete(run: &Resolved, recording: &Recording) -> Vec<(String, Option<f64>)> {
    let flows = run.flow.iter().enumerate().map(|(index, flow)| {
        let mut events = recording.events.iter();
        let last = events.find(|event| {
            usize::from(event.flow) == index
                && event.kind == EventKind::Finished
                && Some(event.value) == flow.bytes
        });
        let took = last.map(|event| event.time.saturating_sub(flow.start).as_secs_f64());
        (flow.name.clone(), took)
    });
    flows.collect()
}

fn times(run: &Resolved, recording: &Recording) -> Vec<(String, Times)> {
    let times = messages::times(recording).into_iter();
    times.filter_map(|(flow, times)| Some((run.flow.get(flow)?.name.clone(), times))).collect()
}

fn row_of(s: &FlowSample) -> Row {
    Row {
        time_s: s.time.as_secs_f64(),
        flow: usize::from(s.flow),
        cwnd: s.cwnd,
        ssthresh: (s.ssthresh < INFINITE).then_some(s.ssthresh),
        srtt_us: s.srtt_us,
        sent: s.segments_sent,
        retransmitted: s.segments_retransmitted,
        acked: s.bytes_acked,
        delivered: s.bytes_delivered,
    }
}

fn line(text: &mut String, row: &Row) {
    let Row { time_s, flow, cwnd, srtt_us, sent, retransmitted, acked, delivered, .. } = row;
    let ssthresh = row.ssthresh.map_or("inf".into(), |packets| packets.to_string());
    let _ = writeln!(
        text,
        "{time_s},{flow},{cwnd},{ssthresh},{srtt_us},{sent},{retransmitted},{acked},{delivered}"
    );
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
    let [time_s, flow, cwnd, ssthresh, srtt_us, sent, retransmitted, acked, delivered] = fields[..]
    else {
        return None;
    };

    // The kernel's largest ssthresh is written as "inf".
    let ssthresh = if ssthresh == "inf" { None } else { Some(ssthresh.parse().ok()?) };
    Some(Row {
        time_s: time_s.parse().ok().filter(|time: &f64| time.is_finite())?,
        flow: flow.parse().ok()?,
        cwnd: cwnd.parse().ok()?,
        ssthresh,
        srtt_us: srtt_us.parse().ok()?,
        sent: sent.parse().ok()?,
        retransmitted: retransmitted.parse().ok()?,
        acked: acked.parse().ok()?,
        delivered: delivered.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# kernel Linux 6.12.1 (no package), HZ 1000, configuration 1\n\
        # command fullpipe run a.toml --engine linux\n# seed 3\n# scenario 00ff\n\
        # stage link: entered 10, dropped 1, peak 4\n# complete bulk: 0.5\n# complete late: not\n\
        # messages bulk: 12, median 40.25 ms, p95 61 ms\n\
        time_s,flow,cwnd,ssthresh,srtt_us,sent,retransmitted,acked,delivered\n\
        0.1,0,10,inf,20000,12,1,1448,2896\n0.1,1,12,7,0,0,0,0,0\n";

    #[test]
    fn what_is_read_is_written_again() {
        let table = read(TEXT).expect("a table");
        assert_eq!(table.text(), TEXT);
        assert_eq!((table.complete[0].1, table.complete[1].1), (Some(0.5), None));
        assert_eq!((table.rows[0].ssthresh, table.rows[1].ssthresh), (None, Some(7)));
        assert!(!table.loss_free());
        let times = table.messages("bulk").expect("messages");
        assert_eq!((times.count, times.median_ms, times.p95_ms), (12, 40.25, 61.0));
        assert_eq!(table.messages("late"), None);
    }

    #[test]
    fn what_is_no_table_is_an_error_with_its_line() {
        let error = |from: &str, to: &str| read(&TEXT.replace(from, to)).expect_err("an error");
        assert_eq!(
            error("0.1,1,12", "0.1,x,12"),
            "line 11: this is none of a table's: 0.1,x,12,7,0,0,0,0,0"
        );
        assert!(error("# seed", "# sead").starts_with("line 3:"));
        assert!(error("0.1,0,10", "nan,0,10").starts_with("line 10:"));
        assert_eq!(error("0.1,1,12", "0.1,2,12"), "flow 2 at 0.1 s, of 2 flows");
    }
}
