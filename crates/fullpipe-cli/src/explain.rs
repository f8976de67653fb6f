//! `fullpipe explain`: the page of a cause, the meaning of a limit, or a table of all causes and limits.

use crate::args::TEMPLATE;
use crate::failure::Failure;
use crate::output::Output;
use clap::Args;
use fullpipe::analysis::rules::{self, CAUSES, Known, RULES, When};
use fullpipe::base::limits::{self, About, TABLE};
use fullpipe::plan::page::wrapped;
use fullpipe::scenario::near_names;
use serde::Serialize;

/// Version of the JSON document.
const FORMAT: u32 = 1;

/// Options of `fullpipe explain`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, before_help = "Examples:
  fullpipe explain                 all causes, by group, and all limits
  fullpipe explain sndbuf          how to recognise, measure and cure a small send buffer
  fullpipe explain short-queue     the cause that a rule finds
  fullpipe explain send_buffer     a limit, as the shares of time in a report name it
  fullpipe explain policer --json\n\n")]
pub struct ExplainArguments {
    /// Code of a cause, or name of a rule or a limit, as a report writes it; all causes and limits without it
    pub code: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Causes as JSON.
#[derive(Serialize)]
struct Explained {
    format: u32,
    causes: Vec<Cause>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<Meaning>,
    /// All limits, where no name is asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    limits: Vec<Meaning>,
}

/// A limit as JSON.
#[derive(Serialize)]
struct Meaning {
    name: &'static str,
    label: &'static str,
    meaning: &'static str,
}

impl From<&'static About> for Meaning {
    fn from(About { name, label, meaning, .. }: &'static About) -> Meaning {
        Meaning { name, label, meaning }
    }
}

/// A cause as JSON.
#[derive(Serialize)]
struct Cause {
    code: &'static str,
    group: &'static str,
    title: &'static str,
    rules: Vec<&'static str>,
    twins: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    would_decide: Option<&'static str>,
    page: &'static str,
}

impl From<&'static Known> for Cause {
    fn from(own: &'static Known) -> Cause {
        Cause {
            code: own.code,
            group: own.group,
            title: own.title,
            rules: rules::names_of(own.code),
            twins: rules::twins(own.code, false),
            would_decide: rules::would_decide(own.code, false),
            page: own.page,
        }
    }
}

/// Prints the page of a cause, or all causes.
pub fn explain(arguments: &ExplainArguments, output: &Output) -> Result<(), Failure> {
    // A name is that of a cause or of a limit; causes come first.
    let (known, limit) = match arguments.code.as_deref() {
        None => (None, None),
        Some(name) => match (named(name), limit(name)) {
            (None, None) => return Err(Failure::Input(unknown(name))),
            (Some(known), _) => (Some(known), None),
            (None, limit) => (None, limit),
        },
    };
    if arguments.json {
        let causes: Vec<Cause> = match (known, limit) {
            (Some(known), _) => vec![known.into()],
            // A limit's causes are the codes of its rules.
            (None, Some(limit)) => causes_of(limit).into_iter().map(Cause::from).collect(),
            (None, None) => CAUSES.iter().map(Cause::from).collect(),
        };
        let limits = if known.is_none() && limit.is_none() { &TABLE[..] } else { &[] };
        let limits = limits.iter().map(Meaning::from).collect();
        let limit = limit.map(Meaning::from);
        return output.json(&Explained { format: FORMAT, causes, limit, limits });
    }
    match (known, limit) {
        (Some(known), _) => output.print(known.page),
        (None, Some(limit)) => output.print(&meaning(limit)),
        (None, None) => output.print(&overview()),
    }
}

/// Meaning of a limit, and the causes that it indicates.
fn meaning(limit: &About) -> String {
    let About { name, label, meaning, .. } = limit;
    let text = format!(
        "{name} ({label}) is a limit: what a flow waits for. A verdict names the cause of a limit. Time counts for it \
         while this holds: {meaning}."
    );
    let mut out = String::new();
    wrapped(&mut out, "", &text);
    let own = causes_of(limit);
    match own.is_empty() {
        true => format!("{out}\n`fullpipe explain` lists all causes.\n"),
        false => {
            format!("{out}\nCauses that show as this limit\n{}\n{MORE_OF_CODE}\n", table(own))
        }
    }
}

/// Causes that rules look for where a limit held the flow.
fn causes_of(limit: &About) -> Vec<&'static Known> {
    let codes: Vec<&str> = RULES
        .iter()
        .filter(|rule| matches!(rule.when, When::Held(names) if names.contains(&limit.name)))
        .map(|rule| rule.code)
        .collect();
    CAUSES.iter().filter(|own| codes.contains(&own.code)).collect()
}

/// The cause that a code or a rule's name means, however it is written.
fn named(name: &str) -> Option<&'static Known> {
    let lower = name.trim().to_lowercase();
    let spellings = [lower.clone(), lower.replace('-', "_"), lower.replace(['_', ' '], "-")];
    spellings.iter().find_map(|name| rules::by_name(name))
}

/// The limit of a name, or of a label in a table.
fn limit(name: &str) -> Option<&'static About> {
    let name = name.trim();
    limits::named(&name.to_lowercase()).or_else(|| limits::labelled(name))
}

fn unknown(name: &str) -> String {
    let codes = CAUSES.iter().map(|own| own.code);
    let near = near_names(name, codes.chain(RULES.iter().map(|rule| rule.name)));
    let hint = match near.as_slice() {
        [] => "`fullpipe explain` lists all codes".to_string(),
        near => format!("did you mean: {}", near.join(", ")),
    };
    format!("no cause or rule is called \"{name}\"; {hint}")
}

/// Where the pages are.
const MORE_OF_CODE: &str = "`fullpipe explain CODE` says how to recognise, measure and cure it.";

/// Tables of all causes and of all limits.
fn overview() -> String {
    format!(
        "Causes: why a flow is slow, by the place of the cure\n\n{}\n{MORE_OF_CODE}\n\n\
         Limits: what a flow waits for, as the shares of time in a report\n\n{}\n\
         `fullpipe explain LIMIT` names the causes that show as this limit.\n",
        table(CAUSES),
        limits_table(),
    )
}

/// Limits and their meanings.
fn limits_table() -> String {
    let width = TABLE.iter().map(|own| own.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for own in &TABLE {
        wrapped(&mut out, &format!("  {:width$}  ", own.name), own.meaning);
    }
    out
}

/// Causes below their groups.
fn table(causes: impl IntoIterator<Item = &'static Known>) -> String {
    let width = CAUSES.iter().map(|own| own.code.len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    let mut last = "";
    for own in causes {
        if own.group != last {
            lines.push(own.group.to_string());
            last = own.group;
        }
        lines.push(format!("  {:width$}  {}", own.code, own.title));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_rules_are_found_however_they_are_written() {
        for (name, code) in [
            ("sndbuf", "sndbuf"),
            ("RWND-AUTO", "rwnd_auto"),
            ("short-queue", "small_buffer"),
            ("short_queue", "small_buffer"),
            ("aqm", "none"),
        ] {
            assert_eq!(named(name).map(|own| own.code), Some(code), "{name}");
        }
        assert!(named("").is_none());
    }

    #[test]
    fn a_limit_is_explained_and_leads_to_causes() {
        let text = meaning(limits::named("send_buffer").expect("a limit"));
        assert!(text.starts_with("send_buffer (send buffer) is a limit"), "{text}");
        assert!(text.contains("the send buffer is too small"), "{text}");
        assert!(!text.contains("small_mss"), "{text}");
        let text = meaning(limits::named("application").expect("a limit"));
        assert!(
            ["app_write", "app_window", "turns", "nagle"].iter().all(|code| text.contains(code)),
            "{text}"
        );
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn a_wrong_code_names_near_ones() {
        assert!(unknown("sndbuff").contains("did you mean: sndbuf"), "{}", unknown("sndbuff"));
        assert!(unknown("zzzzzzzz").ends_with("lists all codes"));
    }

    #[test]
    fn the_tables_name_each_code_and_limit_and_fit() {
        let text = overview();
        let names: Vec<&str> =
            text.lines().filter_map(|line| line.split_whitespace().next()).collect();
        for own in CAUSES {
            assert!(names.contains(&own.code), "{}: {text}", own.code);
        }
        for own in &TABLE {
            assert!(names.contains(&own.name), "{}: {text}", own.name);
        }
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
