//! The scenario that proves advice: one variant as it is today, one as advised.
//!
//! The file describes the advised hosts. Variant `today` sets back what the advice changes, so that a reader sees each
//! change on one line.

use super::Case;
use super::edit::{Edit, copies, edited};
use serde_json::{Map, Value as Json};
use std::fmt::Write;

/// Names of the variants.
pub const TODAY: &str = "today";
/// As advised.
pub const ADVISED: &str = "advised";

/// The scenario file.
///
/// # Errors
/// The edited scenario is refused; the message says why.
pub fn scenario(case: &Case, edits: &[&Edit]) -> Result<String, String> {
    let cured = edited(&case.today, edits.iter().copied())?;
    if case.datagrams.is_some() {
        return Ok(forward(case, edits));
    }
    let mut text = cured.plans()[0].resolved.to_toml();
    if edits.is_empty() {
        return Ok(text);
    }
    let today = serde_json::to_value(&case.today).map_err(|why| why.to_string())?;
    let advised =
        serde_json::to_value(&cured.plans()[0].resolved).map_err(|why| why.to_string())?;
    let mut back = Map::new();
    for edit in edits {
        match edit {
            Edit::Set { key, .. } => {
                set_back(key, &first_copy(key, edits, &today), [&today, &advised], &mut back);
            }
            Edit::Copies { flow, count } => {
                let names = copies(&today, flow, *count);
                let surplus = names.iter().skip(1);
                back.extend(surplus.map(|name| (format!("flow.{name}.count"), 0.into())));
            }
        }
    }
    // Writing to a string cannot fail.
    let _ = write!(text, "\n# As it was.\n[[variant]]\nname = \"{TODAY}\"\n[variant.set]\n");
    for (key, value) in &back {
        let _ = writeln!(text, "\"{key}\" = {}", toml(value));
    }
    let _ = write!(text, "\n# As advised.\n[[variant]]\nname = \"{ADVISED}\"\n");
    Ok(text)
}

/// The scenario as it is, with a variant that makes the edits: keys of datagrams cannot be taken away.
fn forward(case: &Case, edits: &[&Edit]) -> String {
    let mut text = case.today.to_toml();
    // Writing to a string cannot fail.
    let _ = write!(text, "\n# As it is.\n[[variant]]\nname = \"{TODAY}\"\n");
    let _ = write!(text, "\n# As advised.\n[[variant]]\nname = \"{ADVISED}\"\n[variant.set]\n");
    for edit in edits {
        if let Edit::Set { key, value: Some(value) } = edit {
            let _ = writeln!(text, "\"{}\" = {}", key.join("."), toml(value));
        }
    }
    text
}

/// The key in the advised scenario: of a flow with copies that of the first copy, which today is alone.
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

/// Puts today's value of a key into `back`; of a key that today has not, the whole table that has it.
fn set_back(
    key: &[String],
    now: &[String],
    [today, advised]: [&Json; 2],
    back: &mut Map<String, Json>,
) {
    for length in (1..=key.len()).rev() {
        let value = at(today, &key[..length]);
        // A table that is empty is not written at all.
        let is_options = key[length - 1] == "sockopt" && at(advised, &now[..length]).is_some();
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
}
