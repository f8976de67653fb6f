//! Axes of a sweep: dotted keys with their values in turn, as a list, a range, or several keys together.

use super::context::{Context, Place};
use super::dotted::{Assignments, Dotted};
use super::keys::{Kind, Read, unknown, wrong_type};
use super::node::{Entry, Node, Table, Value};
use super::quantity::{self, Decimal, RATE, SIZE, TIME};

/// Most points of a range.
const MOST_POINTS: i64 = 100_000;

/// The axes, in the scenario's order.
#[derive(Clone, Debug)]
pub struct Axes(pub Vec<Axis>);

/// Keys that change together, and their values at each point.
#[derive(Clone, Debug)]
pub struct Axis {
    pub keys: Vec<Dotted>,
    /// Points of the axis, each with as many values as there are keys.
    pub points: Vec<Vec<Node>>,
    pub place: Place,
}

impl Axis {
    /// The keys with commas between them.
    pub fn name(&self) -> String {
        self.keys.iter().map(Dotted::text).collect::<Vec<_>>().join(", ")
    }
}

impl Read for Axes {
    const KIND: Kind = Kind::Axes;
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        let Value::Table(table) = &node.value else {
            wrong_type(node, key, &Self::KIND, cx);
            return None;
        };
        let axes: Vec<_> = table.entries.iter().map(|entry| axes_of(entry, key, cx)).collect();
        axes.into_iter().collect::<Option<Vec<_>>>().map(|axes| Axes(axes.concat()))
    }
}

/// The axes of an entry: one, or several where it is the left part of dotted keys.
fn axes_of(entry: &Entry, key: &str, cx: &mut Context) -> Option<Vec<Axis>> {
    if entry.key.contains(',') {
        return together(entry, cx).map(|axis| vec![axis]);
    }
    let alone = Table { entries: vec![entry.clone()], dotted: false };
    let alone = Node::new(Value::Table(alone), entry.place);
    let Assignments(found) = Assignments::read(&alone, key, cx)?;
    let axes: Vec<_> = found.iter().map(|(key, node)| single(key, node, cx)).collect();
    axes.into_iter().collect()
}

/// An axis of one key.
fn single(key: &Dotted, node: &Node, cx: &mut Context) -> Option<Axis> {
    let values = match &node.value {
        Value::List(values) if !values.is_empty() => values.clone(),
        Value::Table(table) => range(table, node.place, cx)?,
        _ => {
            let message = format!("`{}` is neither a list of values nor a range", key.text());
            cx.error("wrong-type", node.place, message).expected(
                "an array of at least one value, or { from = 1e-6, to = 1e-3, points = 4, scale = \"log\" }",
            );
            return None;
        }
    };

    // A point is a list of values, here with one each.
    let points = values.into_iter().map(|value| vec![value]).collect();
    Some(Axis { keys: vec![key.clone()], points, place: key.place })
}

/// An axis of several keys: "a, b" = [[1, 2], [3, 4]].
fn together(entry: &Entry, cx: &mut Context) -> Option<Axis> {
    // Keys and values pair by their order.
    let keys = entry.key.split(',').map(|key| Dotted::parse(key.trim(), entry.place, cx));
    let keys = keys.collect::<Option<Vec<_>>>()?;
    let points = match &entry.node.value {
        Value::List(points) if !points.is_empty() => points
            .iter()
            .map(|node| match &node.value {
                Value::List(values) if values.len() == keys.len() => Some(values.clone()),
                _ => None,
            })
            .collect(),
        _ => None,
    };
    let Some(points) = points else {
        let message = format!("`{}` is not a list of points", entry.key);
        let expected = format!("an array of arrays with {} values each, one for a key", keys.len());
        cx.error("wrong-type", entry.node.place, message).expected(expected);
        return None;
    };
    Some(Axis { keys, points, place: entry.place })
}

/// The keys of a range.
const KEYS: [&str; 4] = ["from", "to", "points", "scale"];

/// The values of { from, to, points, scale }, both ends included.
fn range(table: &Table, place: Place, cx: &mut Context) -> Option<Vec<Node>> {
    if let Some(other) = table.entries.iter().find(|entry| !KEYS.contains(&entry.key.as_str())) {
        unknown("key of a range", other.place, &other.key, &[], KEYS.into_iter(), cx);
        return None;
    }
    let from = end(table, "from", place, cx)?;
    let to = end(table, "to", place, cx)?;
    let points = points(table, place, cx)?;
    let logarithmic = logarithmic(table, cx)?;

    // Both ends count in the first one's unit.
    let Some(last) = in_unit(&to, &from.unit) else {
        let message = "the ends of a range have units of different things";
        cx.error("bad-value", to.place, message).expected(like(&from));
        return None;
    };

    // A logarithm needs ends above 0.
    if logarithmic && (from.number <= 0.0 || last <= 0.0) {
        cx.error("out-of-range", place, "a logarithmic range with an end that is not above 0")
            .expected("ends above 0, or scale = \"linear\"");
        return None;
    }

    // Whole ends give whole points, which must not repeat.
    if matches!((&from.node.value, &to.node.value), (Value::Integer(_), Value::Integer(_))) {
        let whole = (last - from.number).abs() + 1.0;
        if points as f64 > whole {
            let message = format!("too many points for whole numbers: {points} of {whole}");
            cx.error("out-of-range", place, message)
                .expected(format!("at most {whole} points, or ends that are not whole"));
            return None;
        }
    }
    let mut nodes = Vec::new();
    for n in 0..points {
        let share = n as f64 / (points - 1) as f64;

        // Equal steps, or equal ratios.
        let value = match logarithmic {
            true => from.number * libm::pow(last / from.number, share),
            false => from.number + (last - from.number) * share,
        };

        // The ends keep their text exactly: arithmetic could round them.
        nodes.push(match n {
            0 => from.node.clone(),
            n if n + 1 == points => to.node.clone(),
            _ => from.like(value, place),
        });
    }
    Some(nodes)
}

/// An end of a range.
struct End {
    number: f64,
    unit: String,
    text: String,
    place: Place,
    node: Node,
}

impl End {
    /// A value between the ends, written like this one: with its own digits where these are nine or fewer, else with
    /// four.
    fn like(&self, value: f64, place: Place) -> Node {
        let digits = |count: usize| format!("{value:.*e}", count - 1).parse().unwrap_or(value);
        let own: f64 = digits(9);
        let value = if (own - value).abs() <= value.abs() * 1e-12 { own } else { digits(4) };
        let gap = if self.text.contains(' ') { " " } else { "" };
        let value = match (&self.node.value, self.unit.as_str()) {
            (Value::Text(_), unit) => Value::Text(format!("{value}{gap}{unit}")),
            (Value::Integer(_), _) => Value::Integer(value.round() as i64),
            _ => Value::Float(format!("{value:e}")),
        };
        Node::new(value, place)
    }
}

/// The number of an end in this unit; none where they measure no one thing.
fn in_unit(end: &End, unit: &str) -> Option<f64> {
    if end.unit == unit {
        return Some(end.number);
    }
    [&RATE, &SIZE, &TIME].into_iter().find_map(|dimension| {
        let least = |text: &str| Some(quantity::parse(text, dimension).ok()? as f64);
        Some(least(&end.text)? / least(&format!("1{unit}"))?)
    })
}

/// Text on the expected ends: two of this one's dimension.
fn like(end: &End) -> &'static str {
    let is = |dimension| quantity::parse(&end.text, dimension).is_ok();
    match () {
        () if end.unit.is_empty() => "two numbers without units",
        () if is(&TIME) => "units of one thing: 5ms and 1s",
        () if is(&SIZE) => "units of one thing: 64kB and 1MB",
        () => "units of one thing: 10Mbit and 1Gbit",
    }
}

fn end(table: &Table, key: &str, place: Place, cx: &mut Context) -> Option<End> {
    let expected = "a number, with its unit where the key has one";
    let Some(entry) = table.get(key) else {
        cx.error("missing-key", place, format!("a range needs `{key}`")).expected(expected);
        return None;
    };

    // Numbers may be TOML's own, or text with a unit.
    let text = match &entry.node.value {
        Value::Text(text) | Value::Float(text) => text.clone(),
        Value::Integer(n) => n.to_string(),
        _ => String::new(),
    };
    let Ok((number, unit)) = Decimal::split(&text) else {
        let message = format!("`{key}` of a range is not a number");
        cx.error("bad-value", entry.node.place, message).expected(expected);
        return None;
    };
    let (number, unit) = (number.to_f64(0), unit.to_string());
    Some(End { number, unit, text, place: entry.node.place, node: entry.node.clone() })
}

fn points(table: &Table, place: Place, cx: &mut Context) -> Option<usize> {
    let expected = format!("`points`: an integer from 2 to {MOST_POINTS}");
    match table.get("points").map(|entry| (&entry.node.value, entry.node.place)) {
        Some((Value::Integer(n), _)) if (2..=MOST_POINTS).contains(n) => Some(*n as usize),
        Some((_, place)) => {
            cx.error("bad-value", place, "`points` of a range is not a number of points")
                .expected(expected);
            None
        }
        None => {
            cx.error("missing-key", place, "a range needs `points`").expected(expected);
            None
        }
    }
}

fn logarithmic(table: &Table, cx: &mut Context) -> Option<bool> {
    let Some(entry) = table.get("scale") else { return Some(false) };
    match entry.node.as_text() {
        Some("linear") => Some(false),
        Some("log") => Some(true),
        _ => {
            cx.error("bad-value", entry.node.place, "`scale` of a range is not known")
                .expected("\"linear\" or \"log\"");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::node::parse;

    fn read(text: &str) -> Result<Vec<(String, Vec<String>)>, String> {
        let mut cx = Context::default();
        let source = cx.add("sweep.toml", text);
        let axes =
            parse(text, source, &mut cx).and_then(|root| Axes::read(&root, "sweep", &mut cx));
        let axes = cx.finish(axes).map_err(|problems| problems.to_string())?;
        let point = |point: &Vec<Node>| {
            let values = point.iter().map(|value| value.json().to_string());
            values.collect::<Vec<_>>().join(" ").replace('"', "")
        };
        let axis = |axis: &Axis| (axis.name(), axis.points.iter().map(point).collect());
        Ok(axes.0.iter().map(axis).collect())
    }

    #[test]
    fn lists_ranges_and_keys_together_are_axes() {
        let text = "\
            \"path.loss\" = { from = 1e-7, to = 1e-1, points = 4, scale = \"log\" }\n\
            path.delay.forward = { from = \"0ms\", to = \"100ms\", points = 5 }\n\
            seed = [1, 2]\n\
            \"path.mtu, path.queue.limit\" = [[1500, \"10MB\"], [9000, \"100MB\"]]\n";
        let axes = read(text).expect("axes");
        let shown: Vec<String> =
            axes.iter().map(|(name, points)| format!("{name}: {}", points.join(" | "))).collect();
        assert_eq!(
            shown,
            [
                "path.loss: 1e-7 | 0.00001 | 0.001 | 0.1",
                "path.delay.forward: 0ms | 25ms | 50ms | 75ms | 100ms",
                "seed: 1 | 2",
                "path.mtu, path.queue.limit: 1500 10MB | 9000 100MB",
            ]
        );
    }

    #[test]
    fn ends_may_have_different_units_of_one_thing() {
        for (text, shown) in [
            (
                "x = { from = \"10Mbit\", to = \"1Gbit\", points = 5, scale = \"log\" }",
                "10Mbit 31.62Mbit 100Mbit 316.2Mbit 1Gbit",
            ),
            ("x = { from = \"0ms\", to = \"1s\", points = 3 }", "0ms 500ms 1s"),
            ("x = { from = \"0ms\", to = \"1s\", points = 4 }", "0ms 333.3ms 666.7ms 1s"),
            (
                "x = { from = \"10000 packets\", to = \"10100 packets\", points = 5 }",
                "10000 packets 10025 packets 10050 packets 10075 packets 10100 packets",
            ),
            ("x = { from = \"1MiB\", to = \"3072KiB\", points = 3 }", "1MiB 2MiB 3072KiB"),
        ] {
            assert_eq!(read(text).expect(text)[0].1.join(" "), shown);
        }
    }

    #[test]
    fn what_is_no_axis_is_an_error() {
        for (text, expected) in [
            ("x = { from = 0, to = 1, points = 3, scale = \"log\" }", "not above 0"),
            ("x = { from = 0, to = 1 }", "a range needs `points`"),
            ("x = { to = 1, points = 3 }", "a range needs `from`"),
            ("x = { from = \"1ms\", to = \"1MB\", points = 3 }", "units of different things"),
            ("x = { from = \"1ms\", to = 1, points = 3 }", "units of different things"),
            ("x = { from = \"5ms\", to = \"1Mbit\", points = 3 }", "5ms and 1s"),
            ("x = { from = 1500, to = 1502, points = 5 }", "too many points for whole numbers"),
            ("x = { from = 1, to = 2, points = 1 }", "from 2 to"),
            ("x = { from = 1, to = 2, steps = 3 }", "unknown key of a range `steps`"),
            ("x = { from = true, to = 2, points = 3 }", "not a number"),
            ("x = { from = 1, to = 3, points = 3, scale = \"ln\" }", "\"linear\" or \"log\""),
            ("x = []", "at least one value"),
            ("\"x, y\" = [[1, 2], [3]]", "2 values each"),
        ] {
            let problems = read(text).expect_err(text);
            assert!(problems.contains(expected), "{text}: {problems}");
        }
    }
}
