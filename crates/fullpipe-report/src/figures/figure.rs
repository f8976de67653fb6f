//! Description of a figure, before anything is drawn.

use serde::Serialize;
use serde_json::Value;

/// A figure: a finding, its axes, and the series that show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Unique name.
    pub name: &'static str,
    /// The finding as a sentence, with numbers and units.
    pub title: String,
    /// Contents of the figure, and how to read it.
    pub description: String,
    /// Room that the figure deserves.
    pub prominence: Prominence,
    /// Whether runs share a panel.
    pub layout: Layout,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis, common to all series.
    pub y: Axis,
    /// Series, in the document's order.
    pub series: Vec<Series>,
    /// Single points worth a label.
    pub annotations: Vec<Annotation>,
    /// Moments worth a line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moments: Vec<Mark>,
    /// Strokes through lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ticks: Vec<Tick>,
}

/// Room that a figure deserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Prominence {
    /// Carries the argument.
    Main,
    /// Supports it; two of them may be side by side.
    Supporting,
}

/// Whether runs share a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// All runs in one panel.
    Overlay,
    /// One panel per run, on common axes.
    PerRun,
    /// One flat panel per run, one below the other, for parts of a whole.
    Strip,
    /// One panel per run, in which colours distinguish the lines ([`Series::line`]); no panel of a run without lines.
    Lines,
}

/// An axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Axis {
    /// Quantity of the axis.
    pub label: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Whether lengths are compared, so that the axis must begin at zero.
    pub from_zero: bool,
    /// Whether ratios matter too, so that a logarithmic scale is offered.
    pub log_offered: bool,
}

/// Time on the horizontal axis of every figure over time.
pub const TIME: Axis = Axis {
    label: "time since the run's first interval clock started",
    unit: "s",
    from_zero: true,
    log_offered: false,
};

/// A series of a run: of one of its flows, or of a line of its panel. All columns have the same length.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// Unique within the figure.
    pub id: String,
    /// Index of the run in the document.
    pub run: usize,
    /// Index of the flow in the run; none where it is no flow's.
    pub flow: Option<usize>,
    /// Line of the series in its run's panel, in figures with [`Layout::Lines`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<Line>,
    /// Name of the series; equal for all runs. For [`Role::Share`] the name of the limit.
    pub name: String,
    /// Kind of the values.
    pub role: Role,
    /// End of the interval a value belongs to, or the time of a gauge.
    pub x: Column,
    /// Start of the interval a value belongs to; none for a gauge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x_start: Option<Column>,
    /// The values.
    pub y: Column,
    /// Upper ends, where `y` holds lower ends ([`Role::Band`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y_high: Option<Column>,
    /// Meaning of a missing value.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub absent: &'static str,
}

/// Kind of a series' values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The quantity the figure is about.
    Measure,
    /// A bound that the measure is read against.
    Bound,
    /// A bound beyond the bound.
    Ceiling,
    /// Figures that others published.
    Published,
    /// A range in which the value may lie.
    Band,
    /// A part of a whole; the parts of one flow are stacked up to 1.
    Share,
    /// A number of things in an interval; series of one run are stacked.
    Count,
}

/// A line of a run's panel, or columns of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// The flow or the place that it is about.
    pub name: String,
    /// Number of its colour, from 0; none for sums, which have the text's colour.
    pub colour: Option<usize>,
}

/// A stroke through a flow's line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tick {
    /// Index of the run in the document.
    pub run: usize,
    /// Index of the flow in the run.
    pub flow: usize,
    /// Place on the horizontal axis.
    pub x: f64,
    /// Place on the vertical axis.
    pub y: f64,
    /// Label of the tick, drawn where there is room.
    pub label: String,
}

/// A point worth a label.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Annotation {
    /// Index of the run in the document.
    pub run: usize,
    /// Index of the flow in the run.
    pub flow: usize,
    /// Place on the horizontal axis.
    pub x: f64,
    /// Place on the vertical axis.
    pub y: f64,
    /// The label, with units.
    pub label: String,
}

/// A moment worth a line from the bottom to the top, with a label.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// Indices of the runs that it is about; it is drawn while they are.
    pub runs: [usize; 2],
    /// Place on the horizontal axis.
    pub x: f64,
    /// The label.
    pub label: String,
}

/// Numbers of a series: either a column of the document, so that no number is stored twice, or
/// values that were derived from it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Column {
    /// `scale` × number + `offset`.
    Document {
        /// JSON pointer to an array of numbers, or to an array of objects followed by `/*/` and the
        /// name of a field of each.
        from: String,
        /// Factor, for instance 0.001 from us to ms.
        scale: f64,
        /// Summand, in the scaled unit.
        offset: f64,
    },
    /// The values themselves.
    Derived(Vec<Option<f64>>),
}

impl Column {
    /// A column of the document as it is.
    #[must_use]
    pub fn of(from: String) -> Self {
        Self::scaled(from, 1.0)
    }

    /// A column of the document in another unit.
    #[must_use]
    pub fn scaled(from: String, scale: f64) -> Self {
        Self::Document { from, scale, offset: 0.0 }
    }

    /// The numbers, from the document as JSON. Null, missing and non-numeric elements are `None`; a
    /// pointer to nothing gives no numbers.
    #[must_use]
    pub fn values(&self, document: &Value) -> Vec<Option<f64>> {
        match self {
            Self::Derived(values) => values.clone(),
            Self::Document { from, scale, offset } => elements(document, from)
                .into_iter()
                .map(|value| Some(value.as_f64()? * scale + offset))
                .collect(),
        }
    }
}

fn elements<'a>(document: &'a Value, pointer: &str) -> Vec<&'a Value> {
    let (array, field) = pointer.split_once("/*/").unwrap_or((pointer, ""));
    let Some(items) = document.pointer(array).and_then(Value::as_array) else {
        return Vec::new();
    };
    items
        .iter()
        .map(|item| match field {
            "" => item,
            field => item.get(field).unwrap_or(&Value::Null),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn columns_come_from_arrays_of_numbers_and_of_objects() {
        let document = json!({"a": [1, null, 3], "b": [{"c": 10}, {"c": 20}, {}]});
        let plain = Column::of("/a".into()).values(&document);
        assert_eq!(plain, [Some(1.0), None, Some(3.0)]);
        let rows = Column::scaled("/b/*/c".into(), 0.1).values(&document);
        assert_eq!(rows, [Some(1.0), Some(2.0), None]);
        assert!(Column::of("/none".into()).values(&document).is_empty());
        let shifted = Column::Document { from: "/a".into(), scale: 2.0, offset: -1.0 };
        assert_eq!(shifted.values(&document), [Some(1.0), None, Some(5.0)]);
    }
}
