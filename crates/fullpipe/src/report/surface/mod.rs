//! A sweep as a page: surfaces of a quantity over two axes, on common scales; how two of them differ; slices with confidence
//! intervals, beside what a congestion control's rule says.

mod page;

pub use page::page;

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
}

/// An axis of the sweep.
#[derive(Debug, Serialize)]
pub struct Scale {
    /// The dotted keys.
    pub name: String,
    /// The points as they are shown.
    pub shown: Vec<String>,
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
}

impl Surfaces {
    /// Of the cells of a sweep.
    pub fn new(manifest: &Manifest, cells: &[Cell]) -> Surfaces {
        let several = cells.iter().any(|cell| cell.flows.len() > 1);
        let mut surfaces = Surfaces {
            title: manifest.title.clone(),
            axes: manifest.axes.iter().map(scale).collect(),
            panels: Vec::new(),
            points: Vec::new(),
        };
        for cell in cells {
            let Some(at) = place(&manifest.axes, cell) else { continue };
            for flow in &cell.flows {
                let name = match several {
                    true => format!("{}: {}", cell.variant, flow.name),
                    false => cell.variant.clone(),
                };
                let panel = surfaces.panel(name);
                surfaces.points.push(point(panel, &at, flow));
            }
        }
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

fn scale(axis: &Axis) -> Scale {
    let shown = |point: &Vec<Value>| {
        point.iter().map(crate::report::numbers::written).collect::<Vec<_>>().join(", ")
    };
    Scale { name: axis.name.clone(), shown: axis.points.iter().map(shown).collect() }
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
    }
}
