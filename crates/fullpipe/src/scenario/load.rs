//! From a file and options to plans.

use super::diagnostic::Diagnostics;
use super::expect;
use super::format::context::{Context, Place};
use super::format::dotted::Dotted;
use super::format::keys::{At, Key, Read, Section};
use super::format::node::{self, Node, Table, Value};
use super::format::set::set;
use super::format::values::twice;
use super::format::written::{Asked, Run, Variant};
use super::places::Places;
use super::plan::{Plan, Scenario};
use super::published::{self, Data};
use super::resolve;
use super::source::{SetOption, Source};
use serde_json::{Map, Value as Json};

/// Most runs of one scenario.
const MOST_RUNS: usize = 10_000;
/// Most connections of all runs together.
const MOST_FLOWS: usize = 100_000;
/// Problems after which further runs are not tried.
const ENOUGH: usize = 50;

/// Checks a scenario and resolves it into its runs.
///
/// Later changes win: variant, then sweep point, then `sets`. A `--set` of a key that is an axis of
/// the sweep replaces the axis. `variants` limits the runs to those variants; empty: all of them.
///
/// # Errors
/// Everything that is wrong with the scenario and the options, as far as it can be found at once.
pub fn load(
    source: &Source,
    sets: &[SetOption],
    variants: &[String],
) -> Result<Scenario, Diagnostics> {
    let mut cx = Context::default();
    let file = cx.add(&source.name, &source.text);
    let scenario = node::parse(&source.text, file, &mut cx)
        .and_then(|root| scenario(root, source, sets, variants, &mut cx));
    cx.finish(scenario)
}

fn scenario(
    root: Node,
    source: &Source,
    sets: &[SetOption],
    variants: &[String],
    cx: &mut Context,
) -> Option<Scenario> {
    let (run, asked) = split(root, cx)?;
    let asked = Asked::read(&asked, "the scenario", cx)?;
    let sets: Vec<_> = sets.iter().enumerate().map(|(n, text)| option(n, text, cx)).collect();
    let sets: Vec<Change> = sets.into_iter().flatten().collect();
    let published = asked.published.as_ref().map(|at| figures(at, source, cx));
    let published = published.flatten();
    let chosen = alternatives(&asked, &source.variants, variants, cx);
    let points = points(&asked, &sets, chosen.len(), cx);
    check_names(&asked, published.as_ref(), cx);
    let mut maker = Maker { run: &run, asked: &asked, sets: &sets, name: stem(source), source, cx };
    let plans = maker.plans(&chosen, &points);
    let first = plans.first()?;
    let (title, seed) = (first.resolved.title.clone(), first.resolved.seed);
    Some(Scenario { name: stem(source).into(), title, seed, published, plans })
}

/// The source's name without directories and ending.
fn stem(source: &Source) -> &str {
    let name = source.name.rsplit(['/', '\\']).next().unwrap_or(&source.name);
    name.strip_suffix(".toml").unwrap_or(name)
}

/// Keys that describe the run, and keys that ask about it. Reports keys that are neither.
fn split(root: Node, cx: &mut Context) -> Option<(Node, Node)> {
    let place = root.place;
    let Value::Table(table) = root.value else {
        return None;
    };
    let (run, asked) = (Run::GROUP.keys, Asked::GROUP.keys);
    let is = |keys: &[Key], name: &str| keys.iter().any(|k| k.name == name);
    let names = || run.iter().chain(asked).map(|key| key.name);
    for entry in table.entries.iter().filter(|e| !is(run, &e.key) && !is(asked, &e.key)) {
        let message = format!("unknown key `{}` in the scenario", entry.key);
        cx.error("unknown-key", entry.place, message).names(&entry.key, names());
    }
    let part = |keys| {
        let entries = table.entries.iter().filter(|entry| is(keys, &entry.key)).cloned().collect();
        Node::new(Value::Table(Table { entries, dotted: false }), place)
    };
    Some((part(run), part(asked)))
}

/// A dotted key with its new value.
type Change = (Dotted, Node);

/// Reads `key=value`. The value is TOML, or else a string without quotes.
fn option(number: usize, option: &SetOption, cx: &mut Context) -> Option<Change> {
    let text = &option.0;
    let source = cx.add(&format!("--set #{}", number + 1), text);
    let Some((key, value)) = text.split_once('=') else {
        let place = Place { source, start: 0, end: text.len() };
        cx.error("bad-set", place, "there is no `=`")
            .expected("key=value, such as path.rate=1Gbit");
        return None;
    };
    let dotted = Dotted::parse(key.trim(), Place { source, start: 0, end: key.len() }, cx)?;
    let from = key.len() + 1;
    Some((dotted, node::fragment(value, Place { source, start: from, end: text.len() })))
}

/// The figures that the scenario names.
fn figures(at: &At<String>, source: &Source, cx: &mut Context) -> Option<Data> {
    match source.beside(&at.value) {
        Ok((name, bytes)) => published::read(&name, &bytes, cx),
        Err(why) => {
            cx.error("cannot-read", at.place, format!("cannot read \"{}\": {why}", at.value))
                .expected("a file beside the scenario");
            None
        }
    }
}

/// A variant, or what there is without variants.
struct Alternative<'a> {
    name: &'a str,
    changes: &'a [Change],
    published_run: Option<&'a At<String>>,
}

/// The variants that were chosen, of those that are offered; none: all of the text's.
fn alternatives<'a>(
    asked: &'a Asked,
    offered: &[String],
    chosen: &[String],
    cx: &mut Context,
) -> Vec<Alternative<'a>> {
    let variants = asked.variant.as_ref().map_or(&[][..], |list| &list.value.0);
    let names = names(variants).into_iter().map(|(name, _)| name);
    let offers = |name: &&str| offered.is_empty() || offered.iter().any(|offered| offered == name);
    let names: Vec<&str> = names.filter(offers).collect();
    for (n, name) in chosen.iter().enumerate() {
        let source = cx.add(&format!("--variant #{}", n + 1), name);
        if !names.contains(&name.as_str()) {
            let place = Place { source, start: 0, end: name.len() };
            let message = format!("no variant is called \"{name}\"");
            cx.error("unknown-name", place, message).names(name, names.iter().copied());
        }
    }
    if variants.is_empty() {
        let published_run = asked.published_run.as_ref();
        return vec![Alternative { name: "base", changes: &[], published_run }];
    }
    // With a wrong name all variants are checked; nothing will run anyway.
    let all = chosen.is_empty() || chosen.iter().any(|name| !names.contains(&name.as_str()));
    let wanted =
        |name: &str| names.contains(&name) && (all || chosen.iter().any(|wanted| wanted == name));
    let alternative = |variant: &'a Variant| {
        let name = variant.name.as_ref()?.value.as_str();
        let changes = variant.set.as_ref().map_or(&[][..], |set| &set.value.0);
        let published_run = variant.published_run.as_ref();
        wanted(name).then_some(Alternative { name, changes, published_run })
    };
    variants.iter().filter_map(alternative).collect()
}

fn names(variants: &[Variant]) -> Vec<(&str, Place)> {
    let names = variants.iter().filter_map(|variant| variant.name.as_ref());
    names.map(|name| (name.value.as_str(), name.place)).collect()
}

/// Names that other parts of the scenario refer to.
fn check_names(asked: &Asked, published: Option<&Data>, cx: &mut Context) {
    let variants = asked.variant.as_ref().map_or(&[][..], |list| &list.value.0);
    let names = names(variants);
    twice(&names, "variants", cx);
    let expects = asked.expect.iter().flat_map(|list| &list.value.0);
    for variant in expects.filter_map(|expect| expect.variant.as_ref()) {
        if !names.iter().any(|(name, _)| *name == variant.value) {
            let message = format!("no variant is called \"{}\"", variant.value);
            cx.error("unknown-name", variant.place, message)
                .names(&variant.value, names.iter().map(|(name, _)| *name));
        }
    }
    let runs = variants.iter().map(|variant| &variant.published_run);
    for run in runs.chain([&asked.published_run]).flatten() {
        let known = || published.iter().flat_map(|data| &data.runs).map(|run| run.name.as_str());
        if asked.published.is_none() {
            cx.error("missing-key", run.place, "`published_run` without `published`")
                .expected("published = \"FILE\" before the first table");
        } else if published.is_some() && !known().any(|name| name == run.value) {
            let message = format!("no published run is called \"{}\"", run.value);
            cx.error("unknown-name", run.place, message).names(&run.value, known());
        }
    }
}

/// Points of the sweep, the last axis fastest; one empty point without a sweep.
fn points(asked: &Asked, sets: &[Change], variants: usize, cx: &mut Context) -> Vec<Vec<Change>> {
    let mut points = vec![Vec::new()];
    let axes = asked.sweep.iter().flat_map(|at| &at.value.0);
    for (key, values) in axes {
        if sets.iter().any(|(set, _)| set.parts == key.parts) {
            continue;
        }
        let shown: Vec<String> = values.iter().map(|value| value.json().to_string()).collect();
        let named: Vec<_> =
            shown.iter().map(String::as_str).zip(values.iter().map(|v| v.place)).collect();
        twice(&named, "points of an axis", cx);
        if points.len().saturating_mul(values.len()).saturating_mul(variants) > MOST_RUNS {
            cx.error("too-large", key.place, "the sweep has too many points")
                .expected(format!("at most {MOST_RUNS} runs"));
            return vec![Vec::new()];
        }
        let longer = |point: &Vec<Change>| {
            let with = |value: &Node| [point.as_slice(), &[(key.clone(), value.clone())]].concat();
            values.iter().map(with).collect::<Vec<_>>()
        };
        points = points.iter().flat_map(longer).collect();
    }
    points
}

/// Makes plans.
struct Maker<'a> {
    run: &'a Node,
    asked: &'a Asked,
    sets: &'a [Change],
    name: &'a str,
    source: &'a Source,
    cx: &'a mut Context,
}

impl Maker<'_> {
    /// One plan per alternative and point, until there is enough to complain about.
    fn plans(&mut self, chosen: &[Alternative], points: &[Vec<Change>]) -> Vec<Plan> {
        let mut plans = Vec::new();
        let mut flows = 0;
        for alternative in chosen {
            for point in points {
                let plan = self.plan(alternative, point);
                flows += plan.as_ref().map_or(0, |plan| plan.resolved.flow.len());
                plans.extend(plan);
                if flows > MOST_FLOWS {
                    let place = self.run.place;
                    self.cx
                        .error("too-large", place, "the runs have too many flows together")
                        .expected(format!("at most {MOST_FLOWS}"));
                }
                if flows > MOST_FLOWS || self.cx.count() >= ENOUGH {
                    return plans;
                }
            }
        }
        plans
    }

    fn plan(&mut self, alternative: &Alternative, point: &[Change]) -> Option<Plan> {
        let mut root = self.run.clone();
        self.conflicts(alternative.changes, point);
        for (key, value) in alternative.changes.iter().chain(point).chain(self.sets) {
            set(&mut root, Run::GROUP, key, value, self.cx);
        }
        let written = Run::read(&root, "the scenario", self.cx)?;
        let resolved = resolve::run(&written, self.name, self.source, self.cx)?;
        let expects = self.asked.expect.as_ref().map_or(&[][..], |list| &list.value.0);
        let expectations = expect::read(expects, alternative.name, &resolved, self.cx);
        Some(Plan {
            variant: alternative.name.into(),
            sweep: shown(point),
            set: shown(alternative.changes.iter().chain(point).chain(self.sets)),
            places: Places::of(&root, self.cx),
            resolved,
            expectations,
            published_run: alternative.published_run.map(|at| at.value.clone()),
        })
    }

    /// Reports axes that would make a variant's change ineffective.
    fn conflicts(&mut self, changes: &[Change], point: &[Change]) {
        for (key, _) in point {
            if changes.iter().any(|(changed, _)| changed.parts == key.parts) {
                let message = format!("`{}` is an axis and is set by a variant", key.text());
                self.cx.error("conflict", key.place, message).expected("one of the two");
            }
        }
    }
}

/// Changes as key to value.
fn shown<'a>(changes: impl IntoIterator<Item = &'a Change>) -> Map<String, Json> {
    changes.into_iter().map(|(key, value)| (key.text(), value.json())).collect()
}
