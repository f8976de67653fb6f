//! Figures that others published, to be drawn beside a result.

/// The figures of one publication.
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    /// Where they come from.
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
