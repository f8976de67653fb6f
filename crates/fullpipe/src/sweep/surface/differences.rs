//! Which differences between two panels are shown by their repetitions.

use super::{Point, Scale};
use crate::sweep::compare::Shown;
use crate::sweep::estimate::Estimate;
use serde::Serialize;
use std::collections::BTreeMap;

/// A quantity of two panels, point by point.
#[derive(Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Index of a panel.
    pub a: usize,
    /// Index of a later one.
    pub b: usize,
    /// Name of the quantity in [`Point`].
    pub quantity: &'static str,
    /// Comparison of the second mean with the first one: a letter for each place of the axes, the last axis fastest.
    /// The letter is the first one of a [`Shown`], or a space where one of the two means is missing.
    pub shown: String,
}

/// A quantity of two panels, by its name in [`Point`].
type Quantity = (&'static str, fn(&Point) -> Option<Estimate>);

const QUANTITIES: [Quantity; 3] = [
    ("rate", |point| Some(point.rate)),
    ("resent", |point| Some(point.resent)),
    ("srtt", |point| point.srtt),
];

/// Number of a place, the last axis fastest; `at` has an index for each axis.
fn place_number(axes: &[Scale], at: &[usize]) -> usize {
    at.iter().zip(axes).fold(0, |sum, (n, axis)| sum * axis.shown.len() + n)
}

/// Differences of all pairs of panels.
pub(super) fn differences(axes: &[Scale], panels: usize, points: &[Point]) -> Vec<Difference> {
    let places = axes.iter().map(|axis| axis.shown.len()).product::<usize>();

    // Points that were not drawn leave gaps in the grid.
    let by_place: BTreeMap<(usize, usize), &Point> =
        points.iter().map(|point| ((point.panel, place_number(axes, &point.at)), point)).collect();
    let at = |panel: usize, place: usize| by_place.get(&(panel, place)).copied();

    let mut all = Vec::new();
    for b in 0..panels {
        // Each pair once, the earlier panel first.
        for a in 0..b {
            for (quantity, value) in QUANTITIES {
                let shown = (0..places).map(|place| compared(at(a, place), at(b, place), value));
                all.push(Difference { a, b, quantity, shown: shown.collect() });
            }
        }
    }
    all
}

/// Letter of a comparison of two points; a space where one of the two means is missing.
fn compared(a: Option<&Point>, b: Option<&Point>, value: fn(&Point) -> Option<Estimate>) -> char {
    let (Some(a), Some(b)) = (a, b) else { return ' ' };
    match (value(a), value(b)) {
        (Some(one), Some(other)) => letter(Shown::between(&one, &other, a.one_run || b.one_run)),
        _ => ' ',
    }
}

fn letter(shown: Shown) -> char {
    match shown {
        Shown::Higher => 'h',
        Shown::Lower => 'l',
        Shown::Nothing => 'n',
        Shown::Equal => 'e',
        Shown::Unknown => 'u',
    }
}
