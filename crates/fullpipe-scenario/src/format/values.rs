//! Values that more than one key takes.

use super::context::{Context, Place};
use super::keys::{Kind, Read, Section, wrong_type};
use super::node::{Node, Value};
use super::quantity::{self, Decimal, Dimension, Wrong};
use fullpipe_base::units::Time;
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::ops::RangeInclusive;

impl Read for String {
    const KIND: Kind = Kind::Text;
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<String> {
        let Some(text) = node.as_text() else {
            wrong_type(node, key, &Self::KIND, cx);
            return None;
        };
        // They would reach the reader's terminal as commands.
        if text.contains(char::is_control) {
            cx.error("bad-value", node.place, format!("`{key}` has control characters"))
                .expected("text on one line");
            return None;
        }
        Some(text.to_string())
    }
}

impl Read for bool {
    const KIND: Kind = Kind::Boolean;
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<bool> {
        match node.value {
            Value::Boolean(value) => Some(value),
            _ => {
                wrong_type(node, key, &Self::KIND, cx);
                None
            }
        }
    }
}

/// A name by which something is addressed in a dotted key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(pub String);

impl Read for Name {
    const KIND: Kind = Kind::Name;
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Name> {
        let text = String::read(node, key, cx)?;
        if !text.is_empty()
            && text.len() <= 64
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        {
            return Some(Name(text));
        }
        cx.error("bad-value", node.place, format!("`{key}` cannot be used in a dotted key"))
            .expected("1 to 64 letters, digits, - and _");
        None
    }
}

/// An integer within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Int<const MIN: i64, const MAX: i64>(pub i64);

impl<const MIN: i64, const MAX: i64> Read for Int<MIN, MAX> {
    const KIND: Kind = Kind::Integer { min: MIN, max: MAX };
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        integer(key, node, MIN..=MAX, cx).map(Int)
    }
}

/// An integer within bounds.
pub fn integer(
    key: &str,
    node: &Node,
    bounds: RangeInclusive<i64>,
    cx: &mut Context,
) -> Option<i64> {
    let kind = Kind::Integer { min: *bounds.start(), max: *bounds.end() };
    match node.value {
        Value::Integer(n) if bounds.contains(&n) => return Some(n),
        Value::Integer(n) => {
            cx.error("out-of-range", node.place, format!("`{key}` is {n}"))
                .expected(kind.describe());
        }
        _ => wrong_type(node, key, &kind, cx),
    }
    None
}

/// An array of integers within bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integers<const MIN: i64, const MAX: i64>(pub Vec<i64>);

impl<const MIN: i64, const MAX: i64> Read for Integers<MIN, MAX> {
    const KIND: Kind = Kind::Integers { min: MIN, max: MAX };
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        let nodes = items(node, key, &Self::KIND, cx)?;
        let read: Vec<_> = nodes.iter().map(|node| integer(key, node, MIN..=MAX, cx)).collect();
        read.into_iter().collect::<Option<Vec<_>>>().map(Integers)
    }
}

/// Reports names that occur twice; true if there are any.
pub fn twice(names: &[(&str, Place)], what: &str, cx: &mut Context) -> bool {
    let mut seen = BTreeSet::new();
    let again: Vec<_> = names.iter().filter(|(name, _)| !seen.insert(*name)).collect();
    for (name, place) in &again {
        cx.error("duplicate-name", *place, format!("two {what} are named `{name}`"))
            .expected("another name");
    }
    !again.is_empty()
}

/// A value chosen by its name.
pub trait Choice: Copy + 'static {
    /// The names.
    const NAMES: &'static [&'static str];
    /// The values, in the order of the names.
    const VALUES: &'static [Self];
}

impl<C: Choice> Read for C {
    const KIND: Kind = Kind::Choice(C::NAMES);
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<C> {
        let text = String::read(node, key, cx)?;
        let found = C::NAMES.iter().position(|name| *name == text);
        if found.is_none() {
            cx.error("bad-value", node.place, format!("`{key}` does not take \"{text}\""))
                .names(&text, C::NAMES.iter().copied());
        }
        C::VALUES.get(found?).copied()
    }
}

/// Values chosen by their names: `TYPE { "name" = VALUE, ... }`.
macro_rules! choices {
    ($($type:ty { $($name:literal = $value:expr),* })*) => {$(
        impl $crate::format::values::Choice for $type {
            const NAMES: &'static [&'static str] = &[$($name),*];
            const VALUES: &'static [Self] = &[$($value),*];
        }
    )*};
}
pub(crate) use choices;

/// The dimension of a [`Quantity`].
pub trait Measure {
    /// Its units.
    const DIMENSION: &'static Dimension;
}

macro_rules! measures {
    ($($name:ident = $dimension:ident),*) => {$(
        #[doc = concat!("Values of `quantity::", stringify!($dimension), "`.")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name;
        impl Measure for $name {
            const DIMENSION: &'static Dimension = &quantity::$dimension;
        }
    )*};
}
measures!(
    InRate = RATE,
    InTime = TIME,
    InSize = SIZE,
    InPackets = PACKETS,
    InDescriptors = DESCRIPTORS,
    InTimePerByte = TIME_PER_BYTE,
    InTimePerPacket = TIME_PER_PACKET,
    InTimePerCall = TIME_PER_CALL
);

/// A quantity in base units of its dimension, within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity<M, const MIN: u64, const MAX: u64>(pub u64, PhantomData<M>);

impl<M, const MIN: u64, const MAX: u64> Quantity<M, MIN, MAX> {
    /// A quantity that is not read, in base units; it is held within the bounds.
    pub fn of(n: u64) -> Self {
        Quantity(n.clamp(MIN, MAX), PhantomData)
    }
}

impl<M: Measure, const MIN: u64, const MAX: u64> Read for Quantity<M, MIN, MAX> {
    const KIND: Kind = Kind::Quantity { dimension: M::DIMENSION, min: MIN, max: MAX };
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        let text = quantity_text(node, key, &Self::KIND, cx)?;
        let n = match quantity::parse(text, M::DIMENSION) {
            Ok(n) => n,
            Err(wrong) => {
                report(wrong, node, key, &[M::DIMENSION], &Self::KIND, cx);
                return None;
            }
        };
        in_range(n, MIN, MAX, node, key, M::DIMENSION, cx).map(|n| Quantity(n, PhantomData))
    }
}

/// Longest time: ten years, in nanoseconds.
pub const LONGEST: u64 = 10 * 365 * 24 * 3600 * 1_000_000_000;

/// A time of 0 or more.
pub type AnyTime = Quantity<InTime, 0, LONGEST>;
/// A time above 0.
pub type SomeTime = Quantity<InTime, 1, LONGEST>;
/// A rate above 0.
pub type AnyRate = Quantity<InRate, 1, 1_000_000_000_000_000>;

/// The text of a quantity; a number alone has no unit.
pub fn quantity_text<'a>(
    node: &'a Node,
    key: &str,
    kind: &Kind,
    cx: &mut Context,
) -> Option<&'a str> {
    match &node.value {
        Value::Text(text) => return Some(text),
        Value::Integer(_) | Value::Float(_) => {
            cx.error("missing-unit", node.place, format!("`{key}` has no unit"))
                .expected(kind.describe());
        }
        _ => wrong_type(node, key, kind, cx),
    }
    None
}

/// `n`, if it lies within the bounds.
pub fn in_range(
    n: u64,
    min: u64,
    max: u64,
    node: &Node,
    key: &str,
    dimension: &Dimension,
    cx: &mut Context,
) -> Option<u64> {
    if (min..=max).contains(&n) {
        return Some(n);
    }
    let shown = node.as_text().unwrap_or_default();
    let (bound, size) = if n < min { ("at least", min) } else { ("at most", max) };
    cx.error("out-of-range", node.place, format!("`{key}` is {shown}"))
        .expected(format!("{bound} {}", amount(size, dimension)));
    None
}

/// An amount of a dimension: times as a scenario writes them ("100ms"), all others in base units.
fn amount(size: u64, dimension: &Dimension) -> String {
    let base = dimension.base;
    if base == quantity::TIME.base {
        // "ns/packet": the unit of times for each packet.
        let each = dimension.units.first().and_then(|(unit, _)| unit.strip_prefix("ns"));
        return format!("{}{}", Time(size), each.unwrap_or_default());
    }

    // "bits per second": of one, the first word is in the singular.
    let (unit, rest) = base.split_at(base.find(' ').unwrap_or(base.len()));
    let unit = if size == 1 { unit.trim_end_matches('s') } else { unit };
    format!("{size} {unit}{rest}")
}

/// Reports why a text is not a quantity of one of the dimensions.
pub fn report(
    wrong: Wrong,
    node: &Node,
    key: &str,
    dimensions: &[&Dimension],
    kind: &Kind,
    cx: &mut Context,
) {
    let text = node.as_text().unwrap_or_default();
    let names = || dimensions.iter().map(|d| d.name).collect::<Vec<_>>().join(" or ");
    let place = node.place;
    match wrong {
        Wrong::NoNumber => cx
            .error("bad-value", place, format!("`{key}` is not {}: \"{text}\"", names()))
            .expected(kind.describe()),
        Wrong::NoUnit => cx
            .error("missing-unit", place, format!("`{key}` has no unit"))
            .expected(kind.describe()),
        Wrong::Negative => cx
            .error("out-of-range", place, format!("`{key}` is negative"))
            .expected(kind.describe()),
        Wrong::NotExact => cx
            .error("not-exact", place, format!("`{key}` is finer than the model's resolution"))
            .expected(format!("a whole number of {}", bases(dimensions))),
        Wrong::TooLarge => cx
            .error("too-large", place, format!("`{key}` is too large"))
            .expected(format!("less than 2^64 {}", bases(dimensions))),
        Wrong::Unit(unit) => {
            let units = dimensions.iter().flat_map(|d| d.units).map(|(name, _)| *name);
            let message = format!("`{key}` cannot be measured in \"{unit}\"");
            let meant = quantity::meant(text, &unit, dimensions);
            cx.error("unknown-unit", place, message).names(&unit, units).meant(meant)
        }
    };
}

fn bases(dimensions: &[&Dimension]) -> String {
    dimensions.iter().map(|d| d.base).collect::<Vec<_>>().join(" or ")
}

/// A probability: a number from 0 to 1, or a percentage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probability(pub f64);

impl Read for Probability {
    const KIND: Kind = Kind::Probability;
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        let whole;
        let text = match &node.value {
            Value::Text(text) | Value::Float(text) => text.as_str(),
            Value::Integer(n) => {
                whole = n.to_string();
                &whole
            }
            _ => {
                wrong_type(node, key, &Self::KIND, cx);
                return None;
            }
        };

        // Numbers are probabilities, percentages are divided by 100.
        let value = match Decimal::split(text) {
            Ok((number, "")) => number.to_f64(0),
            Ok((number, "%")) => number.to_f64(-2),
            Ok((_, unit)) => {
                let message = format!("`{key}` cannot be measured in \"{unit}\"");
                cx.error("unknown-unit", node.place, message).expected(Self::KIND.describe());
                return None;
            }
            Err(_) => {
                let message = format!("`{key}` is not a probability: \"{text}\"");
                cx.error("bad-value", node.place, message).expected(PROBABILITIES);
                return None;
            }
        };

        // NaN is in no range, so it is refused as well.
        if (0.0..=1.0).contains(&value) {
            return Some(Probability(value));
        }
        cx.error("out-of-range", node.place, format!("`{key}` is {text}, not a probability"))
            .expected(PROBABILITIES);
        None
    }
}

/// Range of a probability.
const PROBABILITIES: &str = "0 to 1, or \"0%\" to \"100%\"";

/// The nodes of an array.
pub fn items<'a>(node: &'a Node, key: &str, kind: &Kind, cx: &mut Context) -> Option<&'a [Node]> {
    match &node.value {
        Value::List(items) => Some(items),
        _ => {
            wrong_type(node, key, kind, cx);
            None
        }
    }
}

/// An array of tables.
#[derive(Clone, Debug)]
pub struct List<T>(pub Vec<T>);

impl<T: Section> Read for List<T> {
    const KIND: Kind = Kind::List(T::GROUP);
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        let items = items(node, key, &Self::KIND, cx)?;
        let read: Vec<Option<T>> = items.iter().map(|item| T::read(item, key, cx)).collect();
        read.into_iter().collect::<Option<Vec<T>>>().map(List)
    }
}

/// A value with the node from which it was read.
#[derive(Clone, Debug)]
pub struct Kept<T> {
    pub value: T,
    pub node: Node,
}

impl<T: Read> Read for Kept<T> {
    const KIND: Kind = T::KIND;
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        T::read(node, key, cx).map(|value| Kept { value, node: node.clone() })
    }
}

/// An array of tables with a `name` each, by which they are addressed.
#[derive(Clone, Debug)]
pub struct Named<T>(pub Vec<T>);

impl<T: Section> Read for Named<T> {
    const KIND: Kind = Kind::Named(T::GROUP);
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        List::read(node, key, cx).map(|list| Named(list.0))
    }
}
