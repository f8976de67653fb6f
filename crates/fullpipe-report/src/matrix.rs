//! Many runs as a matrix: variants and the axes of a scenario against its last axis.

use fullpipe_analysis::document::{Document, Run};
use fullpipe_analysis::scenario::unquoted;
use std::collections::HashMap;

/// Most columns of a matrix; an axis with more values makes rows.
const MOST_COLUMNS: usize = 8;
/// Name of the axis that the variants make.
const VARIANT: &str = "variant";

/// Runs by their place on the axes.
#[derive(Debug, PartialEq)]
pub struct Matrix {
    /// Names of the axes that make the rows.
    pub rows_are: String,
    /// Name of the axis that makes the columns; empty where there is one column.
    pub columns_are: String,
    /// Labels of the columns; one empty label where no axis makes columns.
    pub columns: Vec<String>,
    /// Label of each row, and the index of the run in each column; none where no run is there.
    pub rows: Vec<(String, Vec<Option<usize>>)>,
}

/// Place of a run: axis to value, in the order of the name.
type Point = Vec<(String, String)>;

impl Matrix {
    /// The matrix of all runs of a document.
    pub fn of(document: &Document) -> Matrix {
        let points: Vec<Point> = document.runs.iter().map(point).collect();
        let axes = axes(&points);

        // The last axis with few enough values makes the columns.
        let columns = axes.iter().rev().find(|(_, values)| values.len() <= MOST_COLUMNS);
        let columns = columns.filter(|_| axes.len() > 1).cloned();
        let rows_are: Vec<&str> = axes.iter().map(|(axis, _)| &axis[..]).collect();
        let (columns_are, labels) = columns.unwrap_or((String::new(), vec![String::new()]));
        let is_row = |axis: &str| axis != columns_are;

        let mut rows: Vec<(String, Vec<Option<usize>>)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();

        // Runs of one label share a row, however far apart they stand.
        for (run, point) in points.iter().enumerate() {
            let values =
                rows_are.iter().filter(|axis| is_row(axis)).filter_map(|a| value(point, a));
            let label = values.collect::<Vec<_>>().join(", ");
            let row = *places.entry(label.clone()).or_insert_with(|| {
                rows.push((label, vec![None; labels.len()]));
                rows.len() - 1
            });

            // A run without a value of the column's axis has no cell.
            let own = value(point, &columns_are).unwrap_or_default();
            if let Some(column) = labels.iter().position(|label| label == own) {
                rows[row].1[column] = Some(run);
            }
        }
        let rows_are: Vec<&str> = rows_are.into_iter().filter(|axis| is_row(axis)).collect();
        Matrix { rows_are: rows_are.join(", "), columns_are, columns: labels, rows }
    }
}

/// Splits the name of a run: the scenario's name of a sweep point is "variant, key=value, key=value".
fn point(run: &Run) -> Point {
    let mut variant = run.variant.clone();
    let mut found: Vec<(usize, String, String)> = Vec::new();
    for (key, set) in &run.set {
        let text = format!(", {key}={}", unquoted(set));
        if let Some(at) = run.variant.find(&text) {
            variant = variant.replacen(&text, "", 1);
            found.push((at, key.clone(), unquoted(set)));
        }
    }
    found.sort();
    let axes = found.into_iter().map(|(_, key, value)| (key, value));
    [(VARIANT.to_string(), variant)].into_iter().chain(axes).collect()
}

/// Axes on which runs differ, with their values in order of appearance.
fn axes(points: &[Point]) -> Vec<(String, Vec<String>)> {
    let mut axes: Vec<(String, Vec<String>)> = Vec::new();
    for (axis, value) in points.iter().flatten() {
        let place = axes.iter().position(|(known, _)| known == axis).unwrap_or_else(|| {
            axes.push((axis.clone(), Vec::new()));
            axes.len() - 1
        });
        if !axes[place].1.contains(value) {
            axes[place].1.push(value.clone());
        }
    }
    axes.retain(|(_, values)| values.len() > 1);
    axes
}

fn value<'a>(point: &'a Point, axis: &str) -> Option<&'a str> {
    point.iter().find(|(own, _)| own == axis).map(|(_, value)| &value[..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_analysis::document::sample;
    use serde_json::json;

    /// Runs of two variants at two points each, and one more.
    fn document() -> Document {
        let mut document = sample::document();
        let run = document.runs.remove(1);
        document.runs.clear();
        for (variant, start) in [("1 Gb/s, deep", "a"), ("1 Gb/s, deep", "b"), ("10 Gb/s", "a")] {
            let mut run = run.clone();
            run.variant = format!("{variant}, flow.bulk.slow_start={start}");
            run.set.insert("flow.bulk.slow_start".into(), json!(start));
            document.runs.push(run);
        }
        document
    }

    #[test]
    fn variants_are_rows_and_the_axis_is_columns() {
        let matrix = Matrix::of(&document());
        assert_eq!((&*matrix.rows_are, &*matrix.columns_are), ("variant", "flow.bulk.slow_start"));
        assert_eq!(matrix.columns, ["a", "b"]);
        let rows = [
            ("1 Gb/s, deep".to_string(), vec![Some(0), Some(1)]),
            ("10 Gb/s".to_string(), vec![Some(2), None]),
        ];
        assert_eq!(matrix.rows, rows);
    }

    #[test]
    fn every_run_is_somewhere_where_only_names_differ() {
        let mut document = document();
        for (n, run) in document.runs.iter_mut().enumerate() {
            run.set.clear();
            run.variant = format!("variant {n}");
        }
        let matrix = Matrix::of(&document);
        assert_eq!((&*matrix.columns_are, matrix.columns.len()), ("", 1));
        let cells: Vec<_> = matrix.rows.iter().flat_map(|(_, cells)| cells.clone()).collect();
        assert_eq!(cells, [Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn an_axis_with_many_values_makes_rows() {
        let mut document = document();
        let run = document.runs.remove(0);
        document.runs = (0..12)
            .map(|n| {
                let mut run = run.clone();
                run.set = serde_json::Map::new();
                run.set.insert("path.loss".into(), json!(n));
                run.set.insert("path.mtu".into(), json!(1500 + n % 2));
                run.variant = format!("base, path.mtu={}, path.loss={n}", 1500 + n % 2);
                run
            })
            .collect();
        let matrix = Matrix::of(&document);
        assert_eq!((&*matrix.rows_are, &*matrix.columns_are), ("path.loss", "path.mtu"));
        assert_eq!((matrix.rows.len(), matrix.columns.len()), (12, 2));
    }
}
