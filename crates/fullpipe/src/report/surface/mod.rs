//! A sweep as a page: surfaces of a quantity over two axes, on common scales; how two of them differ; slices with confidence
//! intervals, beside what a congestion control's rule says; each control beside each as a matrix; why runs failed.

mod differences;
mod failures;
mod page;
mod pairs;
mod scale;
mod tables;

pub use differences::Difference;
pub use failures::Failures;
pub use page::page;
pub use pairs::{Field, Pairs};
pub use scale::Scale;
pub(in crate::report) use scale::told_apart;
pub use tables::{Tables, missed};

use crate::sweep::cells::{Cell, CellFlow};
use crate::sweep::estimate::Estimate;
use crate::sweep::manifest::{Axis, Manifest};
use serde::Serialize;
use serde_json::Value;

/// What is drawn: neutral data, which stands in the page as JSON.
#[derive(Debug, Serialize)]
pub struct Surfaces {
    /// Title of the scenario.
    pub title: String,
    /// The axes.
    pub axes: Vec<Scale>,
    /// What is drawn over them: each flow of each variant.
    pub panels: Vec<String>,
    /// The points of all panels.
    pub points: Vec<Point>,
    /// Which differences of two panels are shown.
    pub differences: Vec<Difference>,
    /// Each congestion control beside each; absent where no two axes are those of two flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<Pairs>,
    /// Runs that failed; the page has them as a table, not as data.
    #[serde(skip)]
    pub failures: Failures,
    /// What stands in tables; the page has them as such, not as data.
    #[serde(skip)]
    pub tables: Tables,
}

/// A flow of a cell.
#[derive(Debug, Serialize)]
pub struct Point {
    /// Index of the panel.
    pub panel: usize,
    /// Index on each axis.
    pub at: Vec<usize>,
    /// Rate in the second half of its life, Mb/s.
    pub rate: Estimate,
    /// Segments retransmitted.
    pub resent: Estimate,
    /// Median smoothed RTT, ms.
    pub srtt: Option<Estimate>,
    /// Repetitions with a steady rate.
    pub steady: u32,
    /// What held it back.
    pub limit: String,
    /// What the rule says, Mb/s.
    pub law: Option<f64>,
    /// Whether the rule's assumptions hold.
    pub holds: bool,
    /// Whether its repetitions are one run.
    #[serde(skip)]
    pub one_run: bool,
}

impl Surfaces {
    /// Of the cells of a sweep, and its runs that failed.
    pub fn new(manifest: &Manifest, cells: &[Cell], failures: Failures) -> Surfaces {
        let several = cells.iter().any(|cell| cell.flows.len() > 1);
        let mut surfaces = Surfaces {
            title: manifest.title.clone(),
            axes: manifest.axes.iter().map(Scale::new).collect(),
            panels: Vec::new(),
            points: Vec::new(),
            differences: Vec::new(),
            pairs: Pairs::new(manifest, cells),
            failures,
            tables: Tables::default(),
        };
        for cell in cells {
            let Some(at) = place(&manifest.axes, cell) else { continue };
            for flow in &cell.flows {
                let name = match several {
                    true => format!("{}: {}", cell.variant, flow.name),
                    false => cell.variant.clone(),
                };
                let panel = surfaces.panel(name);
                surfaces.points.push(Point { one_run: cell.one_run, ..point(panel, &at, flow) });
            }
        }
        let panels = surfaces.panels.len();
        surfaces.differences = differences::differences(&surfaces.axes, panels, &surfaces.points);
        surfaces
    }

    /// The index of the panel with that name.
    fn panel(&mut self, name: String) -> usize {
        if let Some(known) = self.panels.iter().position(|panel| *panel == name) {
            return known;
        }
        self.panels.push(name);
        self.panels.len() - 1
    }
}

/// Where a cell lies on the axes.
fn place(axes: &[Axis], cell: &Cell) -> Option<Vec<usize>> {
    let index = |axis: &Axis| {
        let here = |point: &Vec<Value>| {
            let mut keys = axis.name.split(", ").zip(point);
            keys.all(|(key, value)| cell.at.get(key) == Some(value))
        };
        axis.points.iter().position(here)
    };
    axes.iter().map(index).collect()
}

fn point(panel: usize, at: &[usize], flow: &CellFlow) -> Point {
    Point {
        panel,
        at: at.to_vec(),
        rate: flow.settled_mbit,
        resent: flow.retransmitted,
        srtt: flow.srtt_ms,
        steady: flow.steady,
        limit: flow.limit.clone(),
        law: flow.law_mbit,
        holds: flow.law_holds,
        one_run: false,
    }
}
