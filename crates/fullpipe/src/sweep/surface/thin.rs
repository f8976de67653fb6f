//! Drawn points of a sweep that has more than a page can hold and an eye can distinguish.
//!
//! Values of an axis are left out, not averaged: each drawn point was measured, with its own interval.

use super::Scale;
use super::scale::is_along_numbers;
use crate::sweep::cells::Cell;
use crate::sweep::manifest::{Axis, Manifest};
use serde_json::Value;
use std::collections::HashMap;

/// Values of an axis that are drawn at most: fields of a figure are two of its units wide then.
const MOST_VALUES: usize = 160;
/// Points of all variants that are drawn at most; a flow of a point takes some 400 bytes of the page.
const MOST_POINTS: usize = 20_000;
/// Length below which an axis of numbers is kept like one of names.
const SHORT: usize = 8;

/// An axis without some of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thinned {
    /// The axis.
    pub name: String,
    /// Values that are drawn, the first and the last one among them.
    pub drawn: usize,
    /// Values that it has.
    pub of: usize,
}

/// The places that are drawn.
pub(super) struct Grid {
    axes: Vec<Axis>,
    /// Places of each axis' values, by their text.
    places: Vec<HashMap<String, usize>>,
    pub(super) thinned: Vec<Thinned>,
}

impl Grid {
    pub(super) fn new(manifest: &Manifest) -> Grid {
        let lengths = lengths(&manifest.axes, manifest.variants.len());
        let axes: Vec<Axis> =
            manifest.axes.iter().zip(&lengths).map(|(axis, n)| some(axis, *n)).collect();
        let all = manifest.axes.iter().zip(&axes);
        let thinned = all.filter(|(axis, drawn)| drawn.points.len() < axis.points.len());
        let thinned = thinned.map(|(axis, drawn)| Thinned {
            name: axis.name.clone(),
            drawn: drawn.points.len(),
            of: axis.points.len(),
        });
        Grid { thinned: thinned.collect(), places: axes.iter().map(places).collect(), axes }
    }

    /// The axes as they are drawn.
    pub(super) fn scales(&self) -> Vec<Scale> {
        self.axes.iter().map(Scale::new).collect()
    }

    /// Where a cell lies on the axes; none where it is not drawn.
    pub(super) fn place(&self, cell: &Cell) -> Option<Vec<usize>> {
        self.axes
            .iter()
            .zip(&self.places)
            .map(|(axis, places)| {
                let values = axis.name.split(", ").map(|key| cell.at.get(key));
                places.get(&key(values.collect::<Option<Vec<_>>>()?)).copied()
            })
            .collect()
    }
}

/// Number of values of each axis that are drawn: all, where they are not too many; else the longest axes lose some,
/// names last.
fn lengths(axes: &[Axis], variants: usize) -> Vec<usize> {
    let mut lengths: Vec<usize> =
        axes.iter().map(|axis| axis.points.len().min(MOST_VALUES)).collect();
    let dear: Vec<bool> = axes.iter().map(|axis| !is_along_numbers(axis)).collect();
    let points = |lengths: &[usize]| {
        lengths.iter().fold(variants.max(1), |all, length| all.saturating_mul(*length))
    };

    // A tenth at a time, from the axis that can spare most.
    while points(&lengths) > MOST_POINTS {
        let longest =
            (0..lengths.len()).max_by_key(|n| (!dear[*n] && lengths[*n] > SHORT, lengths[*n]));

        // Axes of one value cannot shrink.
        match longest.filter(|n| lengths[*n] > 1) {
            Some(n) => lengths[n] = lengths[n] * 9 / 10,
            None => break,
        }
    }
    lengths
}

/// An axis with `drawn` values, evenly chosen, the first and the last one among them.
fn some(axis: &Axis, drawn: usize) -> Axis {
    let last = axis.points.len().saturating_sub(1);
    let points = (0..drawn).map(|n| {
        let at = (n * last + drawn.saturating_sub(1) / 2) / drawn.saturating_sub(1).max(1);
        axis.points[at].clone()
    });
    Axis { name: axis.name.clone(), points: points.collect() }
}

fn places(axis: &Axis) -> HashMap<String, usize> {
    let mut places = HashMap::new();
    for (n, point) in axis.points.iter().enumerate() {
        places.entry(key(point.iter().collect())).or_insert(n);
    }
    places
}

/// The values of a point's keys as one text.
fn key(values: Vec<&Value>) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn axis(name: &str, values: Vec<Value>) -> Axis {
        Axis { name: name.into(), points: values.into_iter().map(|value| vec![value]).collect() }
    }

    fn numbers(n: usize) -> Axis {
        axis("n", (0..n).map(|value| json!(value)).collect())
    }

    fn names(n: usize) -> Axis {
        axis("names", (0..n).map(|value| json!(format!("name {value}"))).collect())
    }

    #[test]
    fn what_a_page_can_hold_is_drawn_whole() {
        assert_eq!(lengths(&[numbers(13), numbers(9), names(2)], 5), [13, 9, 2]);
        assert_eq!(lengths(&[numbers(160), numbers(125)], 1), [160, 125]);
        assert_eq!(lengths(&[], 1), [0; 0]);
    }

    #[test]
    fn long_axes_of_numbers_lose_values_first() {
        assert_eq!(lengths(&[numbers(100_000)], 1), [160]);
        let [a, b, c] = lengths(&[numbers(1000), numbers(200), names(5)], 1)[..] else {
            panic!("three axes")
        };
        assert!(c == 5 && a.abs_diff(b) < 10 && a * b * c <= MOST_POINTS, "{a} {b}");
        assert!(a * b * c > MOST_POINTS * 3 / 4, "more could be drawn: {a} {b}");
        // Twenty axes of two values: nothing but whole axes can go.
        let many = lengths(&vec![names(2); 20], 1);
        assert!(many.iter().product::<usize>() <= MOST_POINTS, "{many:?}");
        assert_eq!(lengths(&[numbers(2)], 100_000), [1]);
    }

    #[test]
    fn values_are_chosen_evenly_with_both_ends() {
        let chosen = |of: usize, drawn: usize| -> Vec<u64> {
            let axis = some(&numbers(of), drawn);
            axis.points.iter().filter_map(|point| point[0].as_u64()).collect()
        };
        assert_eq!(chosen(5, 5), [0, 1, 2, 3, 4]);
        assert_eq!(chosen(9, 3), [0, 4, 8]);
        assert_eq!(chosen(10, 4), [0, 3, 6, 9]);
        assert_eq!(chosen(3, 1), [0]);
        let many = chosen(1000, 141);
        assert!(many[0] == 0 && many[140] == 999, "{many:?}");
        assert!(many.windows(2).all(|pair| matches!(pair[1] - pair[0], 7 | 8)), "{many:?}");
    }
}
