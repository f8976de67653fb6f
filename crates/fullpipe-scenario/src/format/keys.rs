//! Descriptions of keys, in one place: name, kind of value, default, meaning.
//!
//! A [`group!`] declares a table of a scenario. It generates the struct of the written values, its reader with its
//! diagnostics, the reference page and the JSON Schema.

use super::context::{Context, Place};
use super::node::{Node, Table, Value};
use super::quantity::Dimension;

/// A table of the scenario.
pub struct Group {
    /// Name of the definition in the JSON Schema.
    pub id: &'static str,
    /// Name in diagnostics and in the reference, for instance "[path]".
    pub name: &'static str,
    /// Subject of the table.
    pub doc: &'static str,
    /// Its keys, in the order in which they are explained.
    pub keys: &'static [Key],
}

/// A key of a table.
pub struct Key {
    pub name: &'static str,
    pub kind: Kind,
    pub default: Default,
    pub doc: &'static str,
}

/// Meaning of a key that is not written.
pub enum Default {
    /// Nothing: the key must be written.
    Required,
    /// Nothing: the key must be written, but where this other one is.
    Unless(&'static str),
    /// This value, without quotes.
    Is(&'static str),
    /// A table in which nothing is written.
    Empty,
    /// The meaning in this sentence.
    Absent(&'static str),
}

/// Form of a key's value.
#[derive(Clone, Copy)]
pub enum Kind {
    Text,
    /// Letters, digits, `-` and `_`.
    Name,
    Boolean,
    Integer {
        min: i64,
        max: i64,
    },
    Quantity {
        dimension: &'static Dimension,
        min: u64,
        max: u64,
    },
    /// A size or a number of packets.
    QueueLimit,
    /// A number of packets or "unlimited".
    DelayLimit,
    /// Bytes or "pmtu".
    MssClamp,
    Probability,
    Choice(&'static [&'static str]),
    Table(&'static Group),
    /// A table, or the value of its key `short` alone.
    Short {
        group: &'static Group,
        short: &'static str,
    },
    /// Tables with a `name` each, by which they are addressed.
    Named(&'static Group),
    /// Tables that cannot be addressed.
    List(&'static Group),
    /// Elements of the path; the groups by their `kind`.
    Elements(&'static [(&'static str, &'static Group)]),
    Congestion,
    SlowStart,
    Sysctl,
    Sockopt,
    Behaviour,
    /// Dotted keys with values.
    Assignments,
    /// Dotted keys with lists of values.
    Axes,
    /// Two integers: first, one past the last.
    Range,
    /// A number or a list of numbers.
    Numbers,
    Integers {
        min: i64,
        max: i64,
    },
}

impl Kind {
    /// Words for the expected value, with an example.
    pub fn describe(&self) -> String {
        match self {
            Kind::Text => "a string".into(),
            Kind::Name => "a name of letters, digits, - and _".into(),
            Kind::Boolean => "true or false".into(),
            Kind::Integer { min, max: i64::MAX } => format!("an integer from {min}"),
            Kind::Integer { min, max } => format!("an integer from {min} to {max}"),
            Kind::Quantity { dimension, .. } => {
                format!("{} such as \"{}\"", dimension.name, dimension.example)
            }
            Kind::QueueLimit => "a size or packets, such as \"64MB\" or \"1000 packets\"".into(),
            Kind::DelayLimit => "packets such as \"20000 packets\", or \"unlimited\"".into(),
            Kind::MssClamp => "bytes from 48 to 65495, such as 1360, or \"pmtu\"".into(),
            Kind::Probability => "a probability such as 1e-3 or \"0.1%\"".into(),
            Kind::Choice(names) => super::context::one_of(names),
            Kind::Table(group) => format!("a table with {}", names(group)),
            Kind::Short { group, short } => {
                format!("a value for `{short}`, or a table with {}", names(group))
            }
            Kind::Named(group) | Kind::List(group) => {
                format!("tables {} with {}", group.name, names(group))
            }
            Kind::Elements(_) => "an array of elements { kind = \"link\", ... }".into(),
            Kind::Congestion => {
                "a name such as \"cubic\", or { name = \"cubic\", initial_ssthresh = 100 }".into()
            }
            Kind::SlowStart => {
                "a name such as \"search\", or { name = \"limited\", max_ssthresh = 200 }".into()
            }
            Kind::Sysctl => "a table such as { \"net.core.wmem_max\" = \"4MiB\" }".into(),
            Kind::Sockopt => "a table such as { TCP_NOTSENT_LOWAT = \"128KiB\" }".into(),
            Kind::Behaviour => "a table such as { reduction = \"prr\" }".into(),
            Kind::Assignments => "a table such as { \"path.loss\" = 1e-5 }".into(),
            Kind::Axes => {
                "a table such as { \"path.loss\" = [1e-5, 1e-4] }, also with a range { from, to, points, scale }".into()
            },
            Kind::Range => "[first, one past the last], for instance [0, 3]".into(),
            Kind::Integers { min, max } => format!("an array of integers from {min} to {max}"),
            Kind::Numbers => "a number, or an array of numbers".into(),
        }
    }
}

/// The names of a group's keys.
fn names(group: &Group) -> String {
    group.keys.iter().map(|key| key.name).collect::<Vec<_>>().join(", ")
}

/// A value that can be read from a node. `key` names it in messages.
pub trait Read: Sized {
    /// Form of the value.
    const KIND: Kind;
    /// Reads the value; reports errors, and returns none then.
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self>;
}

/// A table declared with [`group!`].
pub trait Section: Read {
    /// Its description.
    const GROUP: &'static Group;
}

/// A value, its place, and whether it was written (or is a default).
#[derive(Clone, Debug)]
pub struct At<T> {
    pub value: T,
    pub place: Place,
    pub written: bool,
}

/// The value of a key that has a default.
pub fn value<T: Clone>(at: &Option<At<T>>) -> Option<T> {
    at.as_ref().map(|at| at.value.clone())
}

/// Reports a value of the wrong TOML type.
pub fn wrong_type(node: &Node, key: &str, kind: &Kind, cx: &mut Context) {
    let message = format!("`{key}` is {}", node.kind());
    let quoted = match (kind, &node.value) {
        (Kind::Text, Value::Integer(n)) => format!(": \"{n}\""),
        (Kind::Text, Value::Float(written)) => format!(": \"{written}\""),
        _ => String::new(),
    };
    cx.error("wrong-type", node.place, message).expected(kind.describe() + &quoted);
}

/// Reports an unknown name; `elsewhere` has names that another key sets.
pub fn unknown<'a>(
    what: &str,
    place: Place,
    name: &str,
    elsewhere: &[(&str, &str)],
    known: impl Iterator<Item = &'a str>,
    cx: &mut Context,
) {
    let problem = cx.error("unknown-key", place, format!("unknown {what} `{name}`"));
    match elsewhere.iter().find(|(other, _)| *other == name) {
        Some((_, key)) => problem.expected(format!("{key} instead")),
        None => problem.names(name, known),
    };
}

/// The table behind a node, with unknown keys reported.
pub fn open<'a>(node: &'a Node, key: &str, group: &Group, cx: &mut Context) -> Option<&'a Table> {
    let Value::Table(table) = &node.value else {
        let message = format!("`{key}` is {}", node.kind());
        cx.error("wrong-type", node.place, message)
            .expected(format!("a table with {}", names(group)));
        return None;
    };
    let known = || group.keys.iter().map(|key| key.name);

    // An unknown key does not end reading: all of them are reported.
    for entry in &table.entries {
        if !known().any(|name| name == entry.key) {
            let message = format!("unknown key `{}` in {}", entry.key, group.name);
            let problem = cx.error("unknown-key", entry.place, message);
            match elsewhere(group, &entry.key) {
                Some(text) => problem.expected(text),
                None => problem.names(&entry.key, known()),
            };
        }
    }
    Some(table)
}

/// Tables, each with keys that belong beside it and not in it.
const BESIDE: &[(&str, &[&str])] = &[("Again", &["bytes", "duration", "start", "app"])];

/// Keys of a flow's program, which belong in `app`.
const OF_APP: [&str; 7] = ["cork", "in_flight", "period", "program", "requests", "size", "window"];

/// Place of a key that belongs beside a table, or in a table of its own; none of other keys.
fn elsewhere(group: &Group, key: &str) -> Option<String> {
    let beside = BESIDE.iter().any(|(id, keys)| *id == group.id && keys.contains(&key));
    match group.id {
        _ if beside => Some(format!("`{key}` beside {}, as a key of [[flow]]", group.name)),
        "Flow" if OF_APP.contains(&key) => Some(format!("`{key}` in `app`: app = {{ {key} = … }}")),
        "Flow" if key == "nodelay" => Some("sockopt = { TCP_NODELAY = 1 }".into()),
        _ => None,
    }
}

/// Reads one key of a table, or its default.
pub fn field<T: Read>(
    table: &Table,
    place: Place,
    group: &Group,
    key: &Key,
    cx: &mut Context,
) -> Option<At<T>> {
    // A written value goes before all defaults.
    if let Some(entry) = table.get(key.name) {
        let called = entry.node.called.as_deref().unwrap_or(key.name);
        let value = T::read(&entry.node, called, cx)?;
        return Some(At { value, place: entry.node.place, written: true });
    }

    // A default is read like written text, so it meets the same checks.
    let node = match key.default {
        Default::Absent(_) => return None,
        Default::Unless(other) if table.get(other).is_some() => return None,
        Default::Is(text) => Node::bare(text, place),
        Default::Empty => Node::new(Value::Table(Table::default()), place),
        // The key is needed, and `Unless` found no replacement.
        Default::Required | Default::Unless(_) => {
            let message = format!("{} needs `{}`", group.name, key.name);
            cx.error("missing-key", place, message).expected(key.kind.describe());
            return None;
        }
    };
    let value = T::read(&node, key.name, cx)?;
    Some(At { value, place, written: false })
}

/// Declares a table: `/// doc` `Name "[name]" { /// doc` `key: Type, Default; ... }`.
macro_rules! group {
    ($(#[doc = $doc:literal])* $name:ident $title:literal {
        $($(#[doc = $meaning:literal])* $key:ident: $type:ty, $default:expr;)*
    }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug)]
        #[allow(dead_code, reason = "not every table's place is needed, nor the keys meant for readers")]
        pub(crate) struct $name {
            pub place: $crate::format::context::Place,
            /// Whether a key was written that is unknown or cannot be read; then what is absent is not missing.
            pub wrong: bool,
            $($(#[doc = $meaning])* pub $key: Option<$crate::format::keys::At<$type>>,)*
        }

        impl $crate::format::keys::Section for $name {
            const GROUP: &'static $crate::format::keys::Group =
                &$crate::format::keys::Group {
                    id: stringify!($name),
                    name: $title,
                    doc: concat!($($doc, "\n"),*),
                    keys: &[$($crate::format::keys::Key {
                        name: stringify!($key),
                        kind: <$type as $crate::format::keys::Read>::KIND,
                        default: $default,
                        doc: concat!($($meaning, "\n"),*),
                    }),*],
                };
        }

        impl $crate::format::keys::Read for $name {
            const KIND: $crate::format::keys::Kind =
                $crate::format::keys::Kind::Table(
                    <$name as $crate::format::keys::Section>::GROUP,
                );

            fn read(
                node: &$crate::format::node::Node,
                key: &str,
                cx: &mut $crate::format::context::Context,
            ) -> Option<Self> {
                let group = <$name as $crate::format::keys::Section>::GROUP;
                let before = cx.reports();
                let table = $crate::format::keys::open(node, key, group, cx)?;
                let mut keys = group.keys.iter();
                $(let $key = $crate::format::keys::field(table, node.place, group, keys.next()?, cx);)*
                Some($name { place: node.place, wrong: cx.reports() > before, $($key,)* })
            }
        }
    };
}
pub(crate) use group;
