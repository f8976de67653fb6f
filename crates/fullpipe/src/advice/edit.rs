//! Edits of a resolved scenario: the effect of a change on a run, as data.
//!
//! An edit names a key as the scenario file does. The edited scenario is loaded again. So a change is checked as a
//! scenario is, and removed keys get the defaults of the kernel.

use crate::scenario::{Resolved, Scenario, Source, load};
use fullpipe_base::path::Direction;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// One edit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Edit {
    /// A key of the scenario gets a value.
    Set {
        /// The key, part by part: hosts, sender, sysctl, net.ipv4.tcp_wmem.
        key: Vec<String>,
        /// The value; none: the key goes, and the default holds.
        value: Option<Json>,
    },
    /// A flow gets parallel copies of itself.
    Copies {
        /// Its name.
        flow: String,
        /// Flows in the place of one.
        count: u32,
    },
}

impl Edit {
    /// Name of the flow or mount that is changed; none of other changes.
    pub fn named(&self) -> Option<&str> {
        match self {
            Edit::Copies { flow, .. } => Some(flow),
            Edit::Set { key, .. } => match &key[..] {
                [kind, name, ..] if kind == "flow" || kind == "nfs" => Some(name),
                _ => None,
            },
        }
    }

    /// A key of a host.
    pub fn host(host: &str, key: &[&str], value: Option<Json>) -> Edit {
        let mut path: Vec<String> = match host {
            "sender" | "receiver" => vec!["hosts".into(), host.into()],
            beside => vec!["host".into(), beside.into(), "set".into()],
        };
        match path.len() {
            2 => path.extend(key.iter().map(|part| (*part).to_string())),
            _ => path.push(key.join(".")),
        }
        Edit::Set { key: path, value }
    }

    /// A key of a flow.
    pub fn flow(flow: &str, key: &[&str], value: Option<Json>) -> Edit {
        let own = ["flow", flow].into_iter().chain(key.iter().copied());
        Edit::Set { key: own.map(str::to_string).collect(), value }
    }

    /// A key of datagrams.
    pub fn datagrams(name: &str, key: &str, value: Option<Json>) -> Edit {
        Edit::Set { key: ["datagrams", name, key].map(str::to_string).to_vec(), value }
    }

    /// A key of an element of the path.
    pub fn element(direction: Direction, name: &str, key: &[&str], value: Option<Json>) -> Edit {
        let own = ["path", direction.way(), name].into_iter().chain(key.iter().copied());
        Edit::Set { key: own.map(str::to_string).collect(), value }
    }

    fn apply(&self, scenario: &mut Json) {
        match self {
            Edit::Set { key, value } => set(scenario, key, value.as_ref()),
            Edit::Copies { flow, count } => copy(scenario, flow, *count),
        }
    }
}

/// A run with edits, checked as a scenario.
///
/// # Errors
/// The edited scenario is refused; the message says why.
pub fn edited<'a>(
    run: &Resolved,
    edits: impl IntoIterator<Item = &'a Edit>,
) -> Result<Scenario, String> {
    let mut scenario = serde_json::to_value(run).map_err(|why| why.to_string())?;
    edits.into_iter().for_each(|edit| edit.apply(&mut scenario));
    let text = fullpipe_scenario::toml(&scenario);
    load(&Source::text("advised.toml", &text), &[], &[]).map_err(|wrong| wrong.to_string())
}

/// Puts a value below tables and named elements of arrays; makes tables that are missing.
fn set(at: &mut Json, key: &[String], value: Option<&Json>) {
    let [first, rest @ ..] = key else { return };

    // Elements and flows are found by name; an unknown name changes nothing.
    if let Json::Array(items) = at {
        let named = items.iter_mut().find(|item| item["name"] == first.as_str());
        if let Some(item) = named {
            set(item, rest, value);
        }
        return;
    }

    // A missing table is made on the way.
    if at.is_null() {
        *at = Json::Object(serde_json::Map::new());
    }
    let Json::Object(table) = at else { return };
    match (rest.is_empty(), value) {
        (true, Some(value)) => _ = table.insert(first.clone(), value.clone()),
        (true, None) => _ = table.remove(first),
        // There is nothing to remove below a missing table.
        (false, None) if !table.contains_key(first) => {}
        (false, _) => set(table.entry(first).or_insert(Json::Null), rest, value),
    }
}

/// Names of the copies of a flow: NAME-1, NAME-2 and so on, or longer where another flow has that name.
pub(super) fn copies(scenario: &Json, flow: &str, count: u32) -> Vec<String> {
    let flows = scenario["flow"].as_array().map_or(&[][..], Vec::as_slice);
    (1..=count)
        .map(|n| {
            let name = format!("{flow}-{n}");
            let is_taken = flows.iter().any(|own| own["name"] == name);
            if is_taken { name + "-copy" } else { name }
        })
        .collect()
}

/// Puts copies of a flow in its place. Each copy has an answering flow of its own where the flow has one.
fn copy(scenario: &mut Json, flow: &str, count: u32) {
    let names = copies(scenario, flow, count);
    let all = scenario["flow"].as_array().map_or(&[][..], Vec::as_slice);
    let answer =
        all.iter().find(|own| own["reply_to"] == flow).and_then(|own| own["name"].as_str());
    let answer = answer.map(|answer| (answer.to_string(), copies(scenario, answer, count)));

    replace(scenario, flow, names.iter().map(|name| vec![("name", name)]));
    if let Some((answer, own)) = &answer {
        let keys = own.iter().zip(&names).map(|(own, to)| vec![("name", own), ("reply_to", to)]);
        replace(scenario, answer, keys);
    }
}

/// Puts copies of a flow in its place, each with other texts in some keys.
fn replace<'a>(
    scenario: &mut Json,
    flow: &str,
    copies: impl Iterator<Item = Vec<(&'static str, &'a String)>>,
) {
    let Some(Json::Array(flows)) = scenario.get_mut("flow") else { return };
    let Some(at) = flows.iter().position(|own| own["name"] == flow) else { return };
    let original = flows.remove(at);
    let copies = copies.map(|keys| {
        let mut copy = original.clone();
        for (key, text) in keys {
            copy[key] = text.clone().into();
        }
        copy
    });
    flows.splice(at..at, copies);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Resolved {
        let text = r#"
            path = { rate = "100Mbit", delay = { forward = "5ms", back = "5ms" } }
            hosts = { sender = { kernel = "6.12", sysctl = { "net.ipv4.tcp_wmem" = "4096 16384 65536" } }, receiver = { kernel = "6.12" } }
            flow = [{ name = "a", duration = "1s", sndbuf = "64KiB" }]
        "#;
        let scenario = load(&Source::text("t", text), &[], &[]).expect("a scenario");
        scenario.plans()[0].resolved.clone()
    }

    #[test]
    fn no_edit_is_the_same_run() {
        let same = edited(&run(), []).expect("a scenario");
        assert_eq!(same.plans()[0].resolved, run());
    }

    #[test]
    fn a_key_that_goes_gets_its_default() {
        let edits = [
            Edit::flow("a", &["sndbuf"], None),
            Edit::host("sender", &["sysctl", "net.ipv4.tcp_wmem"], None),
            Edit::flow("a", &["sockopt", "SO_MAX_PACING_RATE"], Some(1_000_000.into())),
        ];
        let after = edited(&run(), &edits).expect("a scenario").plans()[0].resolved.clone();
        assert_eq!(after.flow[0].sndbuf, None);
        assert_eq!(after.hosts.sender.config.sysctl.tcp_wmem[2], 4 << 20);
        assert_eq!(after.flow[0].sockopt["SO_MAX_PACING_RATE"], 1_000_000);
    }

    #[test]
    fn copies_stand_in_the_place_of_their_flow() {
        let edit = Edit::Copies { flow: "a".into(), count: 3 };
        let after = edited(&run(), [&edit]).expect("a scenario").plans()[0].resolved.clone();
        let names: Vec<&str> = after.flow.iter().map(|flow| flow.name.as_str()).collect();
        assert_eq!(names, ["a-1", "a-2", "a-3"]);
    }

    #[test]
    fn copies_of_a_flow_have_answers_of_their_own() {
        let text = r#"
            path = { rate = "100Mbit", delay = { forward = "5ms", back = "5ms" } }
            hosts = { sender = { kernel = "6.12" }, receiver = { kernel = "6.12" } }
            flow = [{ name = "a", duration = "1s", app = { window = "64KiB" } }]
        "#;
        let scenario = load(&Source::text("t", text), &[], &[]).expect("a scenario");
        let edit = Edit::Copies { flow: "a".into(), count: 2 };
        let after = edited(&scenario.plans()[0].resolved, [&edit]).expect("a scenario");
        let flows = &after.plans()[0].resolved.flow;
        let pairs: Vec<_> =
            flows.iter().map(|own| (&own.name[..], own.reply_to.as_deref())).collect();
        let expected = [
            ("a-1", None),
            ("a-2", None),
            ("a-credits-1", Some("a-1")),
            ("a-credits-2", Some("a-2")),
        ];
        assert_eq!(pairs, expected);
    }

    #[test]
    fn an_edit_that_no_scenario_has_is_refused() {
        let edit = Edit::host("sender", &["sysctl", "net.ipv4.tcp_wmem"], Some("1 2".into()));
        assert!(edited(&run(), [&edit]).unwrap_err().contains("tcp_wmem"));
    }
}
