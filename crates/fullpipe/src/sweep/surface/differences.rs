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

/// Differences of all pairs of panels.
pub(super) fn differences(axes: &[Scale], panels: usize, points: &[Point]) -> Vec<Difference> {
    let places = axes.iter().map(|axis| axis.shown.len()).product::<usize>();
    let number =
        |at: &[usize]| at.iter().zip(axes).fold(0, |sum, (n, axis)| sum * axis.shown.len() + n);
    let by_place: BTreeMap<(usize, usize), &Point> =
        points.iter().map(|point| ((point.panel, number(&point.at)), point)).collect();
    let pairs = (0..panels).flat_map(|b| (0..b).map(move |a| (a, b)));
    let of = |(a, b): (usize, usize), (quantity, value): Quantity| {
        let at = |panel, place| by_place.get(&(panel, place)).and_then(|point| value(point));
        let one_run = |a, b, place| {
            [a, b].iter().any(|panel| by_place.get(&(*panel, place)).is_some_and(|p| p.one_run))
        };
        let shown = (0..places).map(|place| match (at(a, place), at(b, place)) {
            (Some(one), Some(other)) => letter(Shown::between(&one, &other, one_run(a, b, place))),
            _ => ' ',
        });
        Difference { a, b, quantity, shown: shown.collect() }
    };
    pairs.flat_map(|pair| QUANTITIES.map(|quantity| of(pair, quantity))).collect()
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
