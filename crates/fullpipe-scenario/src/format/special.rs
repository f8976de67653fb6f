//! Values with a form of their own.

use super::context::{Context, Place, one_of};
use super::keys::{At, Kind, Read, Section, wrong_type};
use super::node::{Entry, Node, Table, Value};
use super::quantity::{self, PACKETS, SIZE, Wrong};
use super::values::{in_range, items, quantity_text, report};
use fullpipe_sim::config;
use fullpipe_sim::tcp::behaviour;
use std::collections::BTreeMap;

/// Capacity of a link's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimit(pub config::QueueLimit);

impl Read for QueueLimit {
    const KIND: Kind = Kind::QueueLimit;
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        let text = quantity_text(node, key, &Self::KIND, cx)?;
        let packets = quantity::parse(text, &PACKETS);
        if !matches!(packets, Err(Wrong::Unit(_))) {
            let n = packets.map_err(|w| report(w, node, key, &[&SIZE, &PACKETS], &Self::KIND, cx));
            let n = in_range(n.ok()?, 1, u32::MAX.into(), node, key, &PACKETS, cx)?;
            return Some(QueueLimit(config::QueueLimit::Packets(n as u32)));
        }
        let n = quantity::parse(text, &SIZE)
            .map_err(|w| report(w, node, key, &[&SIZE, &PACKETS], &Self::KIND, cx));
        let n = in_range(n.ok()?, 1, 1 << 50, node, key, &SIZE, cx)?;
        Some(QueueLimit(config::QueueLimit::Bytes(n)))
    }
}

/// Packets that a delay holds; `u32::MAX` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayLimit(pub u32);

impl Read for DelayLimit {
    const KIND: Kind = Kind::DelayLimit;
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        let text = quantity_text(node, key, &Self::KIND, cx)?;
        if text == "unlimited" {
            return Some(DelayLimit(u32::MAX));
        }
        let n = quantity::parse(text, &PACKETS)
            .map_err(|w| report(w, node, key, &[&PACKETS], &Self::KIND, cx));
        in_range(n.ok()?, 1, (u32::MAX - 1).into(), node, key, &PACKETS, cx)
            .map(|n| DelayLimit(n as u32))
    }
}

/// MSS to which a router clamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MssClamp {
    /// Bytes without options.
    Bytes(u32),
    /// As large as fits into the MTU.
    Pmtu,
}

impl MssClamp {
    /// Least MSS, bytes (TCP_MIN_SND_MSS).
    pub const LEAST: u32 = 48;
    /// Largest MSS that IPv4 can carry, bytes.
    pub const MOST: u32 = 65_495;

    /// Bytes, where they were written.
    pub fn bytes(self) -> Option<u32> {
        if let MssClamp::Bytes(bytes) = self { Some(bytes) } else { None }
    }
}

impl Read for MssClamp {
    const KIND: Kind = Kind::MssClamp;
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        let bounds = (i64::from(MssClamp::LEAST), i64::from(MssClamp::MOST));
        match node.value {
            Value::Integer(n) if (bounds.0..=bounds.1).contains(&n) => {
                return Some(MssClamp::Bytes(n as u32));
            }
            Value::Integer(n) => {
                cx.error("out-of-range", node.place, format!("`{key}` is {n}"))
                    .expected(Self::KIND.describe());
            }
            _ if node.as_text() == Some("pmtu") => return Some(MssClamp::Pmtu),
            _ if node.as_text().is_some() => {
                cx.error("bad-value", node.place, format!("`{key}` is no MSS"))
                    .expected(Self::KIND.describe());
            }
            _ => wrong_type(node, key, &Self::KIND, cx),
        }
        None
    }
}

/// Turns a scalar into the table for which it stands, with the scalar as its key `short`.
pub fn lengthen(node: &mut Node, short: &str, key: &str) {
    if !matches!(node.value, Value::Table(_) | Value::List(_)) {
        let mut alone = node.clone();
        alone.called = Some(key.into());
        let entry = Entry { key: short.into(), place: node.place, node: alone };
        let table = Table { entries: vec![entry], dotted: false };
        *node = Node::new(Value::Table(table), node.place);
    }
}

/// Reads a table, or the value of its key `short` alone.
pub fn read_short<T: Section>(
    node: &Node,
    key: &str,
    short: &'static str,
    cx: &mut Context,
) -> Option<T> {
    if let Value::List(_) = node.value {
        wrong_type(node, key, &Kind::Short { group: T::GROUP, short }, cx);
        return None;
    }
    let mut node = node.clone();
    lengthen(&mut node, short, key);
    T::read(&node, key, cx)
}

/// A congestion control, or slow start, and its written parameters.
#[derive(Clone, Debug)]
pub struct Congestion {
    pub name: At<String>,
    /// Name, place of the name, value.
    pub parameters: Vec<(String, Place, Node)>,
}

impl Read for Congestion {
    const KIND: Kind = Kind::Congestion;
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        read_algorithm(node, key, &Self::KIND, cx)
    }
}

/// A slow start and its written parameters.
#[derive(Clone, Debug)]
pub struct SlowStart(pub Congestion);

impl Read for SlowStart {
    const KIND: Kind = Kind::SlowStart;
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        read_algorithm(node, key, &Self::KIND, cx).map(SlowStart)
    }
}

/// Reads a name alone, or a table with `name` and parameters.
fn read_algorithm(node: &Node, key: &str, kind: &Kind, cx: &mut Context) -> Option<Congestion> {
    // A name alone is short for a table with `name`.
    let mut long = node.clone();
    if node.as_text().is_some() {
        lengthen(&mut long, "name", key);
    }
    let Value::Table(table) = &long.value else {
        wrong_type(node, key, kind, cx);
        return None;
    };
    let Some(name) = table.get("name") else {
        cx.error("missing-key", node.place, format!("`{key}` needs `name`"))
            .expected(kind.describe());
        return None;
    };
    let value = String::read(&name.node, "name", cx)?;

    // Parameters are checked later, when the algorithm is known.
    let others = table.entries.iter().filter(|entry| entry.key != "name");
    Some(Congestion {
        name: At { value, place: name.node.place, written: true },
        parameters: others.map(|e| (e.key.clone(), e.place, e.node.clone())).collect(),
    })
}

/// Overrides of single behaviours of a kernel profile: name, choice.
#[derive(Clone, Debug)]
pub struct Behaviour(pub BTreeMap<String, At<String>>);

impl Read for Behaviour {
    const KIND: Kind = Kind::Behaviour;
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        let Value::Table(table) = &node.value else {
            wrong_type(node, key, &Self::KIND, cx);
            return None;
        };
        let mut read = BTreeMap::new();
        let mut whole = true;
        for entry in &table.entries {
            match choice(entry, cx) {
                Some(value) => {
                    let at = At { value, place: entry.place, written: true };
                    read.insert(entry.key.clone(), at);
                }
                None => whole = false,
            }
        }
        whole.then_some(Behaviour(read))
    }
}

/// Choice of a behaviour that a host overrides.
fn choice(entry: &Entry, cx: &mut Context) -> Option<String> {
    let Some(row) = behaviour::behaviour(&entry.key) else {
        let message = format!("unknown behaviour `{}`", entry.key);
        let known = behaviour::BEHAVIOURS.iter().map(|row| row.name);
        cx.error("unknown-key", entry.place, message).names(&entry.key, known);
        return None;
    };
    let choices = (row.choices)();

    // Switches may be written as booleans.
    let written = match &entry.node.value {
        Value::Boolean(b) => Some(b.to_string()),
        _ => entry.node.as_text().map(str::to_string),
    };
    let Some(written) = written else {
        let message = format!("`{}` is {}", row.name, entry.node.kind());
        cx.error("wrong-type", entry.node.place, message).expected(one_of(&choices));
        return None;
    };
    if !choices.contains(&written.as_str()) {
        let message = format!("`{}` has no choice \"{written}\"", row.name);
        cx.error("unknown-name", entry.node.place, message).names(&written, choices);
        return None;
    }
    Some(written)
}

/// Report intervals: first, one past the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range(pub [usize; 2]);

impl Read for Range {
    const KIND: Kind = Kind::Range;
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        let nodes = items(node, key, &Self::KIND, cx)?;
        let integers: Vec<i64> = nodes
            .iter()
            .filter_map(|n| if let Value::Integer(n) = n.value { Some(n) } else { None })
            .collect();

        // Both bounds are limited, so that later arithmetic cannot overflow.
        if let &[first, end] = integers.as_slice()
            && nodes.len() == 2
            && (0..1_000_000).contains(&first)
            && (first + 1..=1_000_000).contains(&end)
        {
            return Some(Range([first as usize, end as usize]));
        }
        cx.error("bad-value", node.place, format!("`{key}` is not a range of intervals"))
            .expected(Self::KIND.describe());
        None
    }
}

/// Numbers, from one or a list of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers(pub Vec<f64>);

impl Read for Numbers {
    const KIND: Kind = Kind::Numbers;
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        let nodes = match &node.value {
            Value::List(nodes) => nodes.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let numbers: Option<Vec<f64>> = nodes.iter().map(|n| number(n, key, cx)).collect();
        Some(Numbers(numbers?))
    }
}

fn number(node: &Node, key: &str, cx: &mut Context) -> Option<f64> {
    let number = match &node.value {
        Value::Integer(n) => Some(*n as f64),
        Value::Float(text) => text.parse::<f64>().ok().filter(|n| n.is_finite()),
        _ => None,
    };
    if number.is_none() {
        wrong_type(node, key, &Kind::Numbers, cx);
    }
    number
}
