//! Socket options by the kernel's names, without options that other keys set. The simulator has a few of them.

use super::context::Context;
use super::keys::{Kind, Read, unknown, wrong_type};
use super::node::{Node, Value};
use super::sysctl::size;
use super::values::integer;
use fullpipe_base::bounds::Bounds;
use fullpipe_base::sockopt::{SOCKOPTS, Sockopt};
use std::collections::BTreeMap;

/// Options with their values.
#[derive(Clone, Debug)]
pub struct Sockopts(pub BTreeMap<&'static str, i64>);

/// Options that another key sets.
const ELSEWHERE: &[(&str, &str)] = &[
    ("SO_SNDBUF", "`sndbuf` of the flow"),
    ("SO_RCVBUF", "`rcvbuf` of the flow"),
    ("TCP_CONGESTION", "`congestion` of the flow"),
    ("TCP_MAXSEG", "`mtu` of the path"),
];

/// Options that are bytes, which may have a unit.
pub const SIZES: &[&str] = &["TCP_NOTSENT_LOWAT"];

fn value(option: &Sockopt, node: &Node, cx: &mut Context) -> Option<i64> {
    let Bounds { min, max } = option.bounds;
    match SIZES.contains(&option.name) {
        true => size(option.name, node, min as u64..=max as u64, cx).map(|bytes| bytes as i64),
        false => integer(option.name, node, option.bounds.range(), cx),
    }
}

impl Read for Sockopts {
    const KIND: Kind = Kind::Sockopt;
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        let Value::Table(table) = &node.value else {
            wrong_type(node, key, &Self::KIND, cx);
            return None;
        };
        let mut read = BTreeMap::new();

        // Errors of single options drop all, after each was reported.
        let before = cx.reports();
        for entry in &table.entries {
            match Sockopt::find(&entry.key) {
                Some(known) => {
                    let value = value(known, &entry.node, cx);
                    read.extend(value.map(|value| (known.name, value)));
                }
                None => {
                    let known = SOCKOPTS.iter().map(|option| option.name);
                    unknown("socket option", entry.place, &entry.key, ELSEWHERE, known, cx);
                }
            }
        }
        (cx.reports() == before).then_some(Sockopts(read))
    }
}
