//! An axis as it is drawn: along numbers, or as categories.

use crate::numbers::written;
use crate::report::labels::distinct_labels;
use crate::sweep::manifest::Axis;
use serde::Serialize;
use serde_json::Value;

/// An axis of the sweep.
#[derive(Debug, Serialize)]
pub struct Scale {
    /// The dotted keys.
    pub name: String,
    /// Title of the axis: the keys, or of several that change together the one that gives the labels.
    pub title: String,
    /// The points as they are shown.
    pub shown: Vec<String>,
    /// Labels of the points, before they are shortened to the available room.
    pub labels: Vec<String>,
    /// Whether the points are names (or tables): nothing lies between two of them.
    pub names: bool,
}

impl Scale {
    pub(super) fn new(axis: &Axis) -> Scale {
        let all = |point: &Vec<Value>| point.iter().map(written).collect::<Vec<_>>().join(", ");
        let shown: Vec<String> = axis.points.iter().map(all).collect();
        let short: Vec<String> = axis
            .points
            .iter()
            .map(|point| point.first().map(written).unwrap_or_default())
            .collect();

        // The first key labels the axis if its values are numbers and differ.
        let numeric = is_along_numbers(axis);
        let differ = short.iter().enumerate().all(|(n, label)| !short[..n].contains(label));
        let by_first = numeric && differ;
        let title = axis.name.split(", ").next().filter(|_| by_first).unwrap_or(&axis.name);
        Scale {
            name: axis.name.clone(),
            title: title.into(),
            labels: if by_first { short } else { distinct_labels(&shown) },
            shown,
            names: !numeric,
        }
    }
}

/// Whether there is something between two values of an axis.
pub(super) fn is_along_numbers(axis: &Axis) -> bool {
    axis.points.iter().all(|point| point.first().is_some_and(is_number))
}

/// Whether a value as written is a number, or one with its unit: "10Gbit", "64 packets". A kernel's version is none.
fn is_number(value: &Value) -> bool {
    let Value::String(text) = value else { return value.is_number() };
    let digits = text.trim_start_matches(['+', '-']);
    let unit = digits.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number = &digits[..digits.len() - unit.len()];
    let unit = unit.strip_prefix(' ').unwrap_or(unit);
    number.parse::<f64>().is_ok() && unit.starts_with(|c: char| c.is_alphabetic() || c == '%')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn quantities_are_numbers_and_versions_are_names() {
        for value in
            [json!(1e-4), json!("10Gbit"), json!("64 packets"), json!("1 %"), json!("0.5ms")]
        {
            assert!(is_number(&value), "{value}");
        }
        for value in [
            json!("cubic"),
            json!("2.6.20"),
            json!("6.12"),
            json!("4096 87380 6291456"),
            json!(""),
            json!(true),
            json!({ "back": 1e-9 }),
            json!([1, 2]),
        ] {
            assert!(!is_number(&value), "{value}");
        }
    }

    #[test]
    fn long_labels_begin_where_they_part() {
        let table = |max: u64| format!(r#"{{"net.core.wmem_max":{max},"x":1}}"#);
        let shown = [table(1_000_000), table(150_000), "{}".into(), "reno".into(), "renown".into()];
        let labels = distinct_labels(&shown);
        assert_eq!(labels[..2], [r#"…1000000,"x":1}"#, r#"…150000,"x":1}"#]);
        assert_eq!(labels[2..], shown[2..]);
        // A label that is the beginning of another one stays.
        let longer = ["as long as it can be".to_string(), "as long as it can be, and more".into()];
        assert_eq!(distinct_labels(&longer), [longer[0].clone(), "…be, and more".into()]);
    }

    fn axis(name: &str, points: &[Value]) -> Scale {
        let points = points.iter().map(|point| point.as_array().expect("values").clone()).collect();
        Scale::new(&Axis { name: name.into(), points })
    }

    #[test]
    fn keys_that_change_together_are_labelled_by_the_first_number() {
        let delays = axis("a, b", &[json!(["5ms", "5ms"]), json!(["20ms", "20ms"])]);
        assert_eq!((delays.title.as_str(), delays.names), ("a", false));
        assert_eq!(delays.labels, ["5ms", "20ms"]);
        assert_eq!(delays.shown, ["5ms, 5ms", "20ms, 20ms"]);
        // The first ones do not distinguish these.
        let windows = axis("a, b", &[json!(["5ms", 1]), json!(["5ms", 2])]);
        assert_eq!((windows.title.as_str(), windows.names), ("a, b", false));
        assert_eq!(windows.labels, ["5ms, 1", "5ms, 2"]);
        let controls = axis("a, b", &[json!(["reno", 1]), json!(["cubic", 2])]);
        assert_eq!((controls.title.as_str(), controls.names), ("a, b", true));
        assert_eq!(controls.labels, ["reno, 1", "cubic, 2"]);
    }
}
