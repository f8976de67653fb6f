//! Extra hosts at the sender's or the receiver's end: what they inherit from it, and which flows are theirs.
//!
//! Limits:
//! - The hosts of one end need a way that delays what they send.

use super::format::context::Context;
use super::format::keys::{At, Default, Read, Section};
use super::format::node::Node;
use super::format::set;
use super::format::values::{Kept, Name};
use super::path::{Element, Path};
use super::resolved::{ENDS, Host, Hosts, Neighbour};
use super::written;
use fullpipe_base::units::Time;
use fullpipe_sim::config::Direction;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// Most hosts of a run.
const MOST_HOSTS: usize = 1000;

/// The extra hosts that `written` describes, next to `hosts` at the ends of `path`; `host` resolves a table of keys.
/// None if any cannot be read.
pub(super) fn resolve(
    run: &written::Run,
    hosts: &Hosts,
    path: Option<&Path>,
    host: impl Fn(&written::Host, &mut Context) -> Option<Host>,
    cx: &mut Context,
) -> Option<Vec<Neighbour>> {
    let Some(written) = &run.host else { return Some(Vec::new()) };
    let own = &run.hosts.as_ref()?.value;
    let all = &written.value.0;
    if all.len() > MOST_HOSTS {
        cx.error("too-large", written.place, "too many hosts")
            .expected(format!("at most {MOST_HOSTS} hosts"));
        return None;
    }
    distinct(all, cx);
    let one = |neighbour: &written::Neighbour| {
        // An extra host begins with the keys of the host beside it.
        let (beside, base, direction) = match side(neighbour.beside.as_ref()?, cx)? {
            Direction::Forward => (own.sender.as_ref()?, &hosts.sender, Direction::Forward),
            Direction::Backward => (own.receiver.as_ref()?, &hosts.receiver, Direction::Backward),
        };
        let node = changed(beside, neighbour, cx);
        let before = cx.reports();
        let read = written::Host::read(&node, "set", cx)?;

        // Errors of the changed keys drop the host.
        let host = host(&read, cx).filter(|_| cx.reports() == before)?;
        same_options(neighbour, &host, base, cx);
        path.is_none_or(|path| later(path, direction, neighbour, cx)).then_some(())?;
        let name = neighbour.name.as_ref()?.value.0.clone();

        // Only the differences are kept, as the scenario would write them.
        Some(Neighbour { name, direction, set: difference(&host, base), host })
    };
    all.iter().map(one).collect::<Vec<_>>().into_iter().collect()
}

/// Direction of the host's data, from the name of its neighbour.
fn side(beside: &At<Name>, cx: &mut Context) -> Option<Direction> {
    match beside.value.0.as_str() {
        "sender" => Some(Direction::Forward),
        "receiver" => Some(Direction::Backward),
        other => {
            let message =
                format!("a host stands beside the sender or the receiver, not \"{other}\"");
            cx.error("unknown-name", beside.place, message).names(other, ENDS);
            None
        }
    }
}

/// The keys of the host that an extra host copies, those of `set` replaced.
fn changed(
    beside: &At<Kept<written::Host>>,
    neighbour: &written::Neighbour,
    cx: &mut Context,
) -> Node {
    let mut node = beside.value.node.clone();
    for (key, value) in neighbour.set.iter().flat_map(|set| &set.value.0) {
        set::set(&mut node, written::Host::GROUP, key, value, cx);
    }
    node
}

/// Whether a host's packets arrive later at the other side, which the simulator needs where there are several.
fn later(
    path: &Path,
    direction: Direction,
    neighbour: &written::Neighbour,
    cx: &mut Context,
) -> bool {
    let (way, name) = match direction {
        Direction::Forward => (&path.forward, "forward"),
        Direction::Backward => (&path.back, "back"),
    };

    // A constant delay lets the simulator look ahead; a timer may let packets pass at once.
    let later = way.iter().any(|element| match element {
        Element::Delay(delay) => delay.delay > Time::ZERO && delay.timer.is_none(),
        _ => false,
    });
    if !later {
        let place = neighbour.beside.as_ref().map_or(neighbour.place, |beside| beside.place);
        let message = "what several hosts send has to be delayed, and this way delays nothing";
        cx.error("conflict", place, message).expected(format!(
            "an element of `path.{name}` with kind = \"delay\" without a timer, or a delay of that way in the short form"
        ));
    }
    later
}

/// Checks options on which hosts of a side have to agree: the simulator has one size of segments for all flows.
fn same_options(neighbour: &written::Neighbour, host: &Host, base: &Host, cx: &mut Context) {
    let options = |host: &Host| {
        let sysctl = &host.config.sysctl;
        [
            ("timestamps", host.config.timestamps),
            ("net.ipv4.tcp_sack", sysctl.tcp_sack),
            ("net.ipv4.tcp_window_scaling", sysctl.tcp_window_scaling),
        ]
    };

    // Options pair by their order in both lists.
    let pairs = options(host).into_iter().zip(options(base));
    for ((name, _), _) in pairs.filter(|(own, other)| own.1 != other.1) {
        let place = neighbour.set.as_ref().map_or(neighbour.place, |set| set.place);
        cx.error("conflict", place, format!("`{name}` differs from that of the host beside it"))
            .expected("the same with all hosts of a side");
    }
}

fn distinct(all: &[written::Neighbour], cx: &mut Context) {
    // Counters of shared parts have the name "kernel".
    let mut seen: Vec<&str> = ENDS.into_iter().chain(["kernel"]).collect();
    for name in all.iter().filter_map(|neighbour| neighbour.name.as_ref()) {
        if seen.contains(&name.value.0.as_str()) {
            let message = format!("two hosts are named `{}`", name.value.0);
            cx.error("duplicate-name", name.place, message).expected("another name");
        }
        seen.push(&name.value.0);
    }
}

/// Keys of `host` whose values differ from those of `base`.
fn difference(host: &Host, base: &Host) -> BTreeMap<String, Json> {
    let keys = |host| match serde_json::to_value(host) {
        Ok(Json::Object(keys)) => keys,
        _ => Map::new(),
    };
    let (mut own, base) = (keys(host), keys(base));
    for (key, value) in &base {
        own.entry(key.clone()).or_insert_with(|| hidden(key, value));
    }
    own.into_iter().filter(|(key, value)| base.get(key) != Some(value)).collect()
}

/// The value of a key of hosts that is not shown, and is `other` of another host: its default.
fn hidden(key: &str, other: &Json) -> Json {
    let declared = written::Host::GROUP.keys.iter().find(|known| known.name == key);
    match (declared.map(|known| &known.default), other) {
        (Some(Default::Is(text)), _) => serde_json::from_str(text).unwrap_or(Json::from(*text)),
        (_, Json::Object(_)) => Json::Object(Map::new()),
        // `tx_wake`, which is not shown where it is one.
        _ => Json::from("1 descriptors"),
    }
}

/// Reports flows from or to hosts that are not at that end; whether there are none.
pub(super) fn flows_fit(
    written: &[written::Flow],
    neighbours: &[Neighbour],
    cx: &mut Context,
) -> bool {
    let before = cx.reports();
    for flow in written {
        let Some(direction) = flow.direction.as_ref().map(|at| at.value) else { continue };
        ends_fit([&flow.from, &flow.to], direction, neighbours, cx);
    }
    cx.reports() == before
}

/// Reports hosts that are not at the ends of that direction.
pub(super) fn ends_fit(
    [from, to]: [&Option<At<Name>>; 2],
    direction: Direction,
    neighbours: &[Neighbour],
    cx: &mut Context,
) {
    for (name, direction) in [(from, direction), (to, direction.turned())] {
        if let Some(name) = name {
            at_end(name, direction, neighbours, cx);
        }
    }
}

fn at_end(name: &At<Name>, direction: Direction, neighbours: &[Neighbour], cx: &mut Context) {
    let end = match direction {
        Direction::Forward => ENDS[0],
        Direction::Backward => ENDS[1],
    };
    let there = neighbours.iter().filter(|own| own.direction == direction);

    let (name, place) = (name.value.0.as_str(), name.place);
    // The host at the path's end counts among those that stand there.
    let there: Vec<&str> = there.map(|own| own.name.as_str()).chain([end]).collect();
    if !there.contains(&name) {
        // A known host at the wrong end deserves another message.
        let is_known = neighbours.iter().any(|own| own.name == name) || ENDS.contains(&name);
        let message = match is_known {
            true => format!("`{name}` stands at the other end of the path"),
            false => format!(
                "no host at this end of the path is called \"{name}\" (a [[host]] with `beside`)"
            ),
        };
        cx.error("unknown-name", place, message).names(name, there);
    }
}

/// The names as a flow has them: none for the hosts that there always are.
pub(super) fn named(ends: [&Option<At<Name>>; 2]) -> [Option<String>; 2] {
    ends.map(|name| {
        let name = name.as_ref().map(|at| at.value.0.clone());
        name.filter(|name| !ENDS.contains(&name.as_str()))
    })
}

/// The host that sends a flow's data.
pub(super) fn sender_of<'a>(
    flow: &written::Flow,
    hosts: &'a Hosts,
    neighbours: &'a [Neighbour],
) -> Option<&'a Host> {
    let [from, _] = named([&flow.from, &flow.to]);
    match from {
        Some(name) => neighbours.iter().find(|own| own.name == name).map(|own| &own.host),
        None => Some(match flow.direction.as_ref()?.value {
            Direction::Forward => &hosts.sender,
            Direction::Backward => &hosts.receiver,
        }),
    }
}
