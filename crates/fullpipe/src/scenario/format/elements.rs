//! Elements of the path, each with the keys of its kind.

use super::context::Context;
use super::keys::{Group, Kind, Read, Section, wrong_type};
use super::node::{Node, Value};
use super::values::items;
use super::written::{DelayElement, LinkElement, LossElement};

/// An element of the path.
#[derive(Clone, Debug)]
pub enum Element {
    Link(LinkElement),
    Delay(DelayElement),
    Loss(LossElement),
}

/// The groups of elements by their kind.
pub const ELEMENTS: &[(&str, &Group)] =
    &[("link", LinkElement::GROUP), ("delay", DelayElement::GROUP), ("loss", LossElement::GROUP)];

/// Elements in the order in which packets pass them.
#[derive(Clone, Debug)]
pub struct Elements(pub Vec<Element>);

impl Read for Elements {
    const KIND: Kind = Kind::Elements(ELEMENTS);
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        let nodes = items(node, key, &Self::KIND, cx)?;
        let read: Vec<_> = nodes.iter().map(|node| element(node, key, cx)).collect();
        read.into_iter().collect::<Option<Vec<_>>>().map(Elements)
    }
}

fn element(node: &Node, key: &str, cx: &mut Context) -> Option<Element> {
    let names = || ELEMENTS.iter().map(|(name, _)| *name);
    let Value::Table(table) = &node.value else {
        wrong_type(node, key, &Kind::Elements(ELEMENTS), cx);
        return None;
    };
    let Some(kind) = table.get("kind") else {
        cx.error("missing-key", node.place, format!("an element of `{key}` needs `kind`"))
            .names("", names());
        return None;
    };
    let text = String::read(&kind.node, "kind", cx)?;
    match text.as_str() {
        "link" => LinkElement::read(node, key, cx).map(Element::Link),
        "delay" => DelayElement::read(node, key, cx).map(Element::Delay),
        "loss" => LossElement::read(node, key, cx).map(Element::Loss),
        _ => {
            cx.error("bad-value", kind.node.place, format!("no element is called \"{text}\""))
                .names(&text, names());
            None
        }
    }
}
