//! Each congestion control beside each: two axes of a sweep that are the controls of two flows which share a path.

use super::place;
use crate::sweep::cells::{Cell, CellFlow};
use crate::sweep::estimate::Estimate;
use crate::sweep::manifest::{Axis, Manifest};
use serde::Serialize;

/// A matrix for each variant: a row for each control of the first flow, a column for each one of the second.
#[derive(Debug, Serialize)]
pub struct Pairs {
    /// Index of the axis that has the controls of the first flow.
    pub rows: usize,
    /// Index of the axis that has those of the second one.
    pub columns: usize,
    /// Name of the first flow.
    pub first: String,
    /// Name of the second one.
    pub second: String,
    /// The variants that have both flows.
    pub panels: Vec<String>,
    /// Points at which both flows share the path.
    pub fields: Vec<Field>,
}

/// Two flows at a point.
#[derive(Debug, Serialize)]
pub struct Field {
    /// Index of the variant.
    pub panel: usize,
    /// Index on each axis.
    pub at: Vec<usize>,
    /// Settled rate of the first flow, Mb/s.
    pub first: Estimate,
    /// Settled rate of the second one, Mb/s.
    pub second: Estimate,
    /// The first one's part of what both get while both live (0 to 1).
    pub share: Estimate,
    /// Jain's index in the second half of that time; absent where nothing was delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jain: Option<Estimate>,
    /// Repetitions that failed.
    pub failed: u32,
}

impl Pairs {
    /// Of the cells of a sweep; none where no two of its axes are the controls of the two flows that it has.
    pub(super) fn new(manifest: &Manifest, cells: &[Cell]) -> Option<Pairs> {
        let flows = cells.iter().find_map(two)?;
        let axis = |flow: &CellFlow| manifest.axes.iter().position(|axis| is_control(axis, flow));
        let [first, second] = flows;
        let mut pairs = Pairs {
            rows: axis(first)?,
            columns: axis(second)?,
            first: first.name.clone(),
            second: second.name.clone(),
            panels: Vec::new(),
            fields: Vec::new(),
        };
        cells.iter().for_each(|cell| pairs.add(&manifest.axes, cell));
        Some(pairs)
    }

    fn add(&mut self, axes: &[Axis], cell: &Cell) {
        let (Some([first, second]), Some(at)) = (two(cell), place(axes, cell)) else { return };
        let Some(share) = first.share else { return };
        if self.panels.last() != Some(&cell.variant) {
            self.panels.push(cell.variant.clone());
        }
        self.fields.push(Field {
            panel: self.panels.len() - 1,
            at,
            first: first.settled_mbit,
            second: second.settled_mbit,
            share,
            jain: cell.fairness.and_then(|shared| shared.jain_settled),
            failed: cell.failed,
        });
    }
}

/// The flows of a cell, where there are two that share the path.
fn two(cell: &Cell) -> Option<[&CellFlow; 2]> {
    match cell.flows.as_slice() {
        [first, second] if first.share.is_some() && second.share.is_some() => Some([first, second]),
        _ => None,
    }
}

/// Whether an axis is the flow's congestion control and nothing else.
fn is_control(axis: &Axis, flow: &CellFlow) -> bool {
    axis.name == format!("flow.{}.congestion", flow.name)
}
