//! A sweep as a page. Surfaces show a quantity over two axes, on common scales, and how two of them differ. Slices show
//! confidence intervals and the rule of a congestion control. A matrix shows each control against each. A list says why
//! runs failed.
//!
//! Limits:
//! - The page draws two axes at a time. Two sweeps are compared in text and JSON, not in a page. A matrix of pairs
//!   needs two flows with their controls as two axes; variants, copies and third flows do not form one.

mod differences;
mod failures;
mod page;
mod pairs;
mod scale;
mod tables;
mod thin;

pub use differences::Difference;
pub use failures::Failures;
pub use page::page;
pub use pairs::{Field, Pairs};
pub use scale::Scale;
pub use tables::Tables;
pub use thin::Thinned;

use crate::sweep::cells::{Cell, CellFlow};
use crate::sweep::estimate::Estimate;
use crate::sweep::manifest::Manifest;
use serde::Serialize;
use thin::Grid;

/// Contents of the page: neutral data, which the page holds as JSON.
#[derive(Debug, Serialize)]
pub struct Surfaces {
    /// Title of the scenario.
    pub title: String,
    /// The axes.
    pub axes: Vec<Scale>,
    /// Names of the panels: each flow of each variant.
    pub panels: Vec<String>,
    /// The points of all panels.
    pub points: Vec<Point>,
    /// Which differences of two panels are shown.
    pub differences: Vec<Difference>,
    /// Matrix of each congestion control next to each; absent where no two axes are the controls of two flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<Pairs>,
    /// Axes without some of their values; the page says so in words.
    #[serde(skip)]
    pub thinned: Vec<Thinned>,
    /// Runs that failed; the page has them as a table, not as data.
    #[serde(skip)]
    pub failures: Failures,
    /// Tables of the page; the page has them as tables, not as data.
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
    /// Limit that held it back.
    pub limit: String,
    /// Prediction of the rule, Mb/s.
    pub law: Option<f64>,
    /// Whether the rule's assumptions hold.
    pub holds: bool,
    /// Whether its repetitions are one run.
    #[serde(skip)]
    pub one_run: bool,
}

impl Surfaces {
    /// Surfaces of the cells of a sweep, and its failed runs.
    pub fn new(manifest: &Manifest, cells: &[Cell], failures: Failures) -> Surfaces {
        let mut drawing = Drawing::new(manifest);
        cells.iter().for_each(|cell| drawing.add(cell));
        drawing.finish(failures)
    }
}

/// Surfaces to which cells are added one by one.
pub struct Drawing<'a> {
    manifest: &'a Manifest,
    grid: Grid,
    /// Variant and flow of each panel.
    panels: Vec<[String; 2]>,
    /// Whether some cell has several flows.
    several: bool,
    points: Vec<Point>,
    pairs: pairs::Gathered,
}

impl<'a> Drawing<'a> {
    /// Drawing of a sweep; no cells yet.
    pub fn new(manifest: &'a Manifest) -> Drawing<'a> {
        Drawing {
            manifest,
            grid: Grid::new(manifest),
            panels: Vec::new(),
            several: false,
            points: Vec::new(),
            pairs: pairs::Gathered::default(),
        }
    }

    /// Takes a cell.
    pub fn add(&mut self, cell: &Cell) {
        self.several |= cell.flows.len() > 1;
        let at = self.grid.place(cell);
        self.pairs.add(&self.manifest.axes, cell, at.as_deref());
        for flow in at.iter().flat_map(|_| &cell.flows) {
            let panel = self.panel(&cell.variant, &flow.name);
            let point = point(panel, at.as_deref().unwrap_or_default(), flow);
            self.points.push(Point { one_run: cell.one_run, ..point });
        }
    }

    /// The index of a panel.
    fn panel(&mut self, variant: &str, flow: &str) -> usize {
        let known = self.panels.iter().position(|[v, f]| v == variant && f == flow);
        known.unwrap_or_else(|| {
            self.panels.push([variant.into(), flow.into()]);
            self.panels.len() - 1
        })
    }

    /// The surfaces.
    pub fn finish(mut self, failures: Failures) -> Surfaces {
        let panels = self.name();
        let axes = self.grid.scales();
        Surfaces {
            title: self.manifest.title.clone(),
            differences: differences::differences(&axes, panels.len(), &self.points),
            axes,
            panels,
            points: self.points,
            pairs: self.pairs.pairs(),
            thinned: self.grid.thinned,
            failures,
            tables: Tables::default(),
        }
    }

    /// The panels' names: their variants, where no point has several flows. Parts of one name are one panel.
    fn name(&mut self) -> Vec<String> {
        let (mut names, mut indices) = (Vec::<String>::new(), Vec::new());

        // The flow's name matters only where a point has several.
        for [variant, flow] in &self.panels {
            let name = match self.several {
                true => format!("{variant}: {flow}"),
                false => variant.clone(),
            };
            let known = names.iter().position(|known| *known == name);
            indices.push(known.unwrap_or(names.len()));
            if known.is_none() {
                names.push(name);
            }
        }

        // Points refer to panels by number, which joining has changed.
        self.points.iter_mut().for_each(|point| point.panel = indices[point.panel]);
        names
    }
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
