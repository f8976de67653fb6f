//! Matrix of congestion controls: two axes of a sweep that are the controls of two flows which share a path.

use crate::sweep::cells::{Cell, CellFlow};
use crate::sweep::estimate::Estimate;
use crate::sweep::manifest::Axis;
use serde::Serialize;

/// A matrix for each variant: a row for each control of the first flow, a column for each one of the second.
#[derive(Debug, Serialize)]
pub struct Pairs {
    /// Index of the axis that has the controls of the first flow.
    pub rows: usize,
    /// Index of the axis with the second flow's controls.
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
    /// The first one's part of both flows' bytes while both live (0 to 1).
    pub share: Estimate,
    /// Jain's index in the second half of that time; absent where nothing was delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jain: Option<Estimate>,
    /// Repetitions that failed.
    pub failed: u32,
}

/// The matrices of a sweep, cell by cell: the first one with two flows says which axes they have.
#[derive(Debug, Default)]
pub(super) enum Gathered {
    /// No cell had two flows yet.
    #[default]
    Nothing,
    /// No two axes are the controls of the two flows.
    None,
    Some(Pairs),
}

impl Gathered {
    /// Takes a cell, at its place where it is drawn.
    pub(super) fn add(&mut self, axes: &[Axis], cell: &Cell, at: Option<&[usize]>) {
        let Some(flows) = two(cell) else { return };
        if matches!(self, Gathered::Nothing) {
            *self = Pairs::begin(axes, flows).map_or(Gathered::None, Gathered::Some);
        }
        if let (Gathered::Some(pairs), Some(at)) = (self, at) {
            pairs.add(cell, flows, at);
        }
    }

    /// The matrices, where there are some.
    pub(super) fn pairs(self) -> Option<Pairs> {
        match self {
            Gathered::Some(pairs) => Some(pairs),
            Gathered::Nothing | Gathered::None => None,
        }
    }
}

impl Pairs {
    /// Pairs of two flows; none where no two axes are their controls.
    fn begin(axes: &[Axis], [first, second]: [&CellFlow; 2]) -> Option<Pairs> {
        let axis = |flow: &CellFlow| axes.iter().position(|axis| is_control(axis, flow));
        Some(Pairs {
            rows: axis(first)?,
            columns: axis(second)?,
            first: first.name.clone(),
            second: second.name.clone(),
            panels: Vec::new(),
            fields: Vec::new(),
        })
    }

    fn add(&mut self, cell: &Cell, [first, second]: [&CellFlow; 2], at: &[usize]) {
        let Some(share) = first.share else { return };
        if self.panels.last() != Some(&cell.variant) {
            self.panels.push(cell.variant.clone());
        }
        self.fields.push(Field {
            panel: self.panels.len() - 1,
            at: at.to_vec(),
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
