//! The scenario that proves advice: a variant with today's settings, and one with the advised ones.
//!
//! The file describes the advised hosts. Variant `today` sets the advised keys back, so that a reader sees each change
//! on one line. Variant `advised` has the keys of NFS mounts, of datagrams, and keys that a flow of today does not
//! have: no variant can remove them.

use super::Case;
use super::edit::{Edit, copies, edited};
use serde_json::{Map, Value as Json};
use std::fmt::Write;

/// Names of the variants.
pub const TODAY: &str = "today";
/// Name of the advised variant.
pub const ADVISED: &str = "advised";
/// Tables of socket options, and of what a host has of its own, which are not written where they are empty.
const OPTIONS: [&str; 3] = ["sockopt", "receiver_sockopt", "set"];

/// The scenario file.
///
/// # Errors
/// The edited scenario is refused; the message says why.
pub fn scenario(case: &Case, edits: &[&Edit]) -> Result<String, String> {
    let today = serde_json::to_value(&case.today).map_err(|why| why.to_string())?;

    // Edits that today's file cannot hold go to the variant with the advice.
    let (added, turned): (Vec<&Edit>, Vec<&Edit>) =
        edits.iter().copied().partition(|edit| cannot_go(edit, &today));
    let cured = edited(&case.today, turned.iter().copied())?;
    let mut text = cured.plans()[0].resolved.to_toml();
    if edits.is_empty() {
        return Ok(text);
    }
    let advised =
        serde_json::to_value(&cured.plans()[0].resolved).map_err(|why| why.to_string())?;

    // The file has the advised settings; the variant "as it was" turns them back.
    let mut back = Map::new();
    for edit in &turned {
        match edit {
            Edit::Set { key, .. } => {
                set_back(key, &first_copy(key, edits, &today), [&today, &advised], &mut back);
            }
            // Copies go back to one: the surplus flows count 0.
            Edit::Copies { flow, count } => {
                let names = copies(&today, flow, *count);
                let surplus = names.iter().skip(1);
                back.extend(surplus.map(|name| (format!("flow.{name}.count"), 0.into())));
            }
        }
    }

    // What the file cannot hold comes as keys of the advised variant.
    let forth = added.iter().filter_map(|edit| match edit {
        Edit::Set { key, value: Some(value) } => Some((key.join("."), value.clone())),
        _ => None,
    });
    variant(&mut text, "As it was", TODAY, &back);
    variant(&mut text, "As advised", ADVISED, &forth.collect());
    Ok(text)
}

/// Whether a variant can set an edit's key and cannot remove it: keys of NFS mounts and of datagrams, and keys that a
/// flow of today does not have.
fn cannot_go(edit: &Edit, today: &Json) -> bool {
    let Edit::Set { key, value: Some(_) } = edit else { return false };
    match (&key[0][..], key.len()) {
        ("nfs" | "datagrams", _) => true,
        ("flow", 3) => at(today, key).is_none(),
        _ => false,
    }
}

/// Writes a variant with the keys that it sets.
fn variant(text: &mut String, title: &str, name: &str, set: &Map<String, Json>) {
    // Writing to a string cannot fail.
    let _ = write!(text, "\n# {title}.\n[[variant]]\nname = \"{name}\"\n");
    if !set.is_empty() {
        text.push_str("[variant.set]\n");
    }
    for (key, value) in set {
        let _ = writeln!(text, "\"{key}\" = {}", toml(value));
    }
}

/// The key in the advised scenario. For a flow with copies it is the key of the first copy, which is the only one
/// today.
fn first_copy(key: &[String], edits: &[&Edit], today: &Json) -> Vec<String> {
    let mut key = key.to_vec();
    let [kind, name, ..] = &mut key[..] else { return key };
    let count = edits.iter().find_map(|edit| match edit {
        Edit::Copies { flow, count } if kind == "flow" && flow == name => Some(*count),
        _ => None,
    });
    if let Some(first) = count.and_then(|count| copies(today, name, count).into_iter().next()) {
        *name = first;
    }
    key
}

/// Puts today's value of a key into `back`; for a key that today does not have, the whole table with it.
fn set_back(
    key: &[String],
    now: &[String],
    [today, advised]: [&Json; 2],
    back: &mut Map<String, Json>,
) {
    for length in (1..=key.len()).rev() {
        let value = at(today, &key[..length]);
        // An empty table is not written at all.
        let is_options = OPTIONS.contains(&&key[length - 1][..]);
        let is_options = is_options && at(advised, &now[..length]).is_some();
        let value = value.cloned().or_else(|| is_options.then(|| Json::Object(Map::new())));
        if let Some(value) = value {
            back.insert(now[..length].join("."), value);
            return;
        }
    }
}

fn at<'a>(scenario: &'a Json, key: &[String]) -> Option<&'a Json> {
    key.iter().try_fold(scenario, |own, part| match own {
        Json::Array(items) => items.iter().find(|item| item["name"] == part.as_str()),
        own => own.get(part),
    })
}

/// A value on one line of TOML.
fn toml(value: &Json) -> String {
    match value {
        Json::Object(table) => {
            let pairs = table.iter().filter(|(_, value)| !value.is_null());
            let pairs: Vec<String> =
                pairs.map(|(key, value)| format!("\"{key}\" = {}", toml(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Source, load};

    #[test]
    fn both_variants_are_what_they_say() {
        let text = r#"
            path = { rate = "100Mbit", delay = { forward = "5ms", back = "5ms" } }
            hosts = { sender = { kernel = "6.12" }, receiver = { kernel = "6.12", qdisc = { kind = "fq" } } }
            flow = [{ name = "a", duration = "1s", sndbuf = "64KiB" }]
        "#;
        let scenario = load(&Source::text("t", text), &[], &[]).expect("a scenario");
        let case = Case::new(&scenario, &scenario.plans()[0]).expect("a case");
        let edits = [
            Edit::flow("a", &["sndbuf"], None),
            Edit::flow("a", &["sockopt", "SO_MAX_PACING_RATE"], Some(1_000_000.into())),
            Edit::flow("a", &["receiver_sockopt", "TCP_QUICKACK"], Some(1.into())),
            Edit::host("sender", &["qdisc", "limit"], Some("77 packets".into())),
            Edit::host(
                "sender",
                &["sysctl", "net.ipv4.tcp_wmem"],
                Some("4096 16384 9999999".into()),
            ),
            Edit::host("receiver", &["qdisc", "maxrate"], Some("1Gbit".into())),
            Edit::Copies { flow: "a".into(), count: 2 },
        ];
        let all: Vec<&Edit> = edits.iter().collect();
        let text = super::scenario(&case, &all).expect("a scenario");
        let made = load(&Source::text("t", &text), &[], &[]).expect("a scenario");
        let plans = made.plans();
        assert_eq!([&plans[0].variant, &plans[1].variant], [TODAY, ADVISED]);
        let mut today = plans[0].resolved.clone();
        assert_eq!(today.flow.len(), 1);
        assert_eq!(today.flow[0].name, "a-1");
        today.flow[0].name = "a".into();
        today.title.clone_from(&case.today.title);
        assert_eq!(today, case.today);
        let advised = edited(&case.today, &edits).expect("a scenario").plans()[0].resolved.clone();
        assert_eq!(plans[1].resolved, advised);
    }

    #[test]
    fn a_mount_is_advised_beside_its_hosts() {
        let text = r#"
            duration = "2s"
            path = { rate = "100Mbit", delay = { forward = "5ms", back = "5ms" } }
            hosts = { sender = { kernel = "6.12" }, receiver = { kernel = "6.12" } }
            nfs = [{ name = "home", operation = "read", file = "1MiB" }]
        "#;
        let scenario = load(&Source::text("t", text), &[], &[]).expect("a scenario");
        let case = Case::new(&scenario, &scenario.plans()[0]).expect("a case");
        let readahead = ["nfs", "home", "readahead"].map(str::to_string).to_vec();
        let edits = [
            Edit::Set { key: readahead, value: Some("4MiB".into()) },
            Edit::host(
                "sender",
                &["sysctl", "net.ipv4.tcp_wmem"],
                Some("4096 16384 9999999".into()),
            ),
        ];
        let all: Vec<&Edit> = edits.iter().collect();
        let text = super::scenario(&case, &all).expect("a scenario");
        let made = load(&Source::text("t", &text), &[], &[]).expect("a scenario");
        let mut today = made.plans()[0].resolved.clone();
        today.title.clone_from(&case.today.title);
        assert_eq!(today, case.today);
        let advised = edited(&case.today, &edits).expect("a scenario").plans()[0].resolved.clone();
        assert_eq!(made.plans()[1].resolved, advised);
    }
}
