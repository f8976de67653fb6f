//! A list of elements, each with the keys of its kind.

use super::{ELEMENTS, WrittenElement};
use crate::format::context::Context;
use crate::format::keys::{Kind, Read, wrong_type};
use crate::format::node::{Node, Value};
use crate::format::values::items;

/// Elements in the order in which packets pass them.
#[derive(Clone, Debug)]
pub struct Elements(pub Vec<WrittenElement>);

impl Read for Elements {
    const KIND: Kind = Kind::Elements(ELEMENTS);
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        let nodes = items(node, key, &Self::KIND, cx)?;
        let read: Vec<_> = nodes.iter().map(|node| element(node, key, cx)).collect();
        read.into_iter().collect::<Option<Vec<_>>>().map(Elements)
    }
}

fn element(node: &Node, key: &str, cx: &mut Context) -> Option<WrittenElement> {
    let names = || ELEMENTS.iter().map(|(name, _)| *name);
    let Value::Table(table) = &node.value else {
        wrong_type(node, key, &Kind::Elements(ELEMENTS), cx);
        return None;
    };

    // The kind decides which keys exist, so it is read first.
    let Some(kind) = table.get("kind") else {
        cx.error("missing-key", node.place, format!("an element of `{key}` needs `kind`"))
            .names("", names());
        return None;
    };
    let text = String::read(&kind.node, "kind", cx)?;
    WrittenElement::read(&text, node, key, cx).unwrap_or_else(|| {
        cx.error("bad-value", kind.node.place, format!("no element is called \"{text}\""))
            .names(&text, names());
        None
    })
}
