//! From a file and options to the runs that can be made of it.

use super::competes::Competes;
use super::expect::check_points;
use super::format::axes::Axis;
use super::format::context::{Context, Place};
use super::format::diagnostic::Diagnostics;
use super::format::dotted::Dotted;
use super::format::keys::{At, Key, Read, Section};
use super::format::node::{self, Node, Table, Value};
use super::format::values::twice;
use super::plan::{Plan, Scenario};
use super::published::{self, Data};
use super::repeat::Repeat;
use super::source::{SetOption, Source};
use super::space::{Alternative, Change, Space};
use super::versus;
use super::written::{Asked, Run, Variant};

/// Most runs of one scenario.
const MOST_RUNS: u64 = 10_000;
/// Most connections of all runs together.
const MOST_FLOWS: usize = 100_000;
/// Problems after which further runs are not tried.
const ENOUGH: usize = 50;

/// Checks a scenario and resolves it into its runs, of each point the first repetition.
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
    let (space, mut cx) = read(source, sets, variants)?;
    let scenario = space.and_then(|space| {
        let points = few(&space, &mut cx).unwrap_or(1);
        let plans = plans(&space, points, &mut cx);
        let first = plans.first()?;
        let (title, seed) = (first.resolved.title.clone(), first.resolved.seed);
        Some(Scenario { name: space.name, title, seed, published: space.published, plans })
    });
    cx.finish(scenario)
}

/// The points of each variant, where there are not too many to be run at once.
fn few(space: &Space, cx: &mut Context) -> Option<u64> {
    let variants = space.variants.len().max(1) as u64;
    let mut points = 1_u64;
    for axis in &space.axes {
        points = points.saturating_mul(axis.points.len() as u64);
        if points.saturating_mul(variants) > MOST_RUNS {
            cx.error("too-large", axis.place, "the sweep has too many points").expected(format!(
                "at most {MOST_RUNS} runs; `fullpipe sweep` makes as many as you like"
            ));
            return None;
        }
    }
    Some(points)
}

/// Plans of all variants and points, until there are enough problems.
fn plans(space: &Space, points: u64, cx: &mut Context) -> Vec<Plan> {
    let mut plans = Vec::new();
    let mut flows = 0;
    for variant in 0..space.variants.len() {
        for point in 0..points {
            // Wrong points go on: later ones may have other errors.
            let plan = space.resolve(variant, &space.at(point), 0, cx);
            flows += plan.as_ref().map_or(0, |plan| plan.resolved.flow.len());
            plans.extend(plan);

            // Copies multiply: memory is bounded over all runs together.
            if flows > MOST_FLOWS {
                cx.error("too-large", space.run.place, "the runs have too many flows together")
                    .expected(format!("at most {MOST_FLOWS}"));
            }

            // Too many errors help no one.
            if flows > MOST_FLOWS || cx.count() >= ENOUGH {
                return plans;
            }
        }
    }
    plans
}

/// A scenario and its options as they were read, before anything is resolved, and their errors so far. Fails where the
/// text is no TOML at all.
pub(super) fn read(
    source: &Source,
    sets: &[SetOption],
    variants: &[String],
) -> Result<(Option<Space>, Context), Diagnostics> {
    let mut cx = Context::default();
    let file = cx.add(&source.name, &source.text);
    let Some(root) = node::parse(&source.text, file, &mut cx) else {
        return Err(cx.finish(None::<Space>).expect_err("a syntax error was reported"));
    };
    let space = space(root, source, sets, variants, &mut cx);
    Ok((space, cx))
}

fn space(
    root: Node,
    source: &Source,
    sets: &[SetOption],
    variants: &[String],
    cx: &mut Context,
) -> Option<Space> {
    // Keys of the run are resolved for each point, keys about it only once.
    let (run, asked) = split(root, cx)?;
    let asked = Asked::read(&asked, "the scenario", cx)?;
    let sets: Vec<_> = sets.iter().enumerate().map(|(n, text)| option(n, text, cx)).collect();
    let sets: Vec<Change> = sets.into_iter().flatten().collect();
    let published = asked.published.as_ref().map(|at| figures(at, source, cx));
    let published = published.flatten();
    let variants = alternatives(&asked, &source.variants, variants, cx);
    let axes = axes(&asked, &sets, cx);

    // All names are known by now, so references can be checked.
    check_names(&asked, published.as_ref(), cx);
    let repeat = Repeat::of(asked.repeat.as_ref().map(|at| &at.value));
    let expect = asked.expect.map_or_else(Vec::new, |list| list.value.0);
    let asked_axes = asked.sweep.as_ref().map_or(&[][..], |at| &at.value.0);
    // Of axes that were not understood nothing is known.
    if asked.sweep.is_some() || cx.reports() == 0 {
        check_points(&expect, asked_axes, cx);
    }
    expect.iter().for_each(|expect| versus::check(expect, cx));
    let (name, source) = (stem(source).to_string(), source.clone());
    Some(Space { name, source, published, run, sets, variants, axes, repeat, expect })
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

    // Unknown keys are refused here, where both lists are known.
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

/// The chosen variants, among the offered ones; none: all of the text's.
fn alternatives(
    asked: &Asked,
    offered: &[String],
    chosen: &[String],
    cx: &mut Context,
) -> Vec<Alternative> {
    let variants = asked.variant.as_ref().map_or(&[][..], |list| &list.value.0);
    let names = names(variants).into_iter().map(|(name, _)| name);
    let names: Vec<&str> = names
        // A recipe may offer only a part of its variants.
        .filter(|name| offered.is_empty() || offered.iter().any(|offered| offered == name))
        .collect();
    for (n, name) in chosen.iter().enumerate() {
        let source = cx.add(&format!("--variant #{}", n + 1), name);
        if !names.contains(&name.as_str()) {
            let place = Place { source, start: 0, end: name.len() };
            let message = format!("no variant is called \"{name}\"");
            cx.error("unknown-name", place, message).names(name, names.iter().copied());
        }
    }

    // A scenario without variants has one run, called "base".
    if variants.is_empty() {
        let published_run = asked.published_run.as_ref().map(|at| at.value.clone());
        let (name, changes) = ("base".into(), Vec::new());
        return vec![Alternative { name, changes, published_run, competes: None }];
    }
    // With a wrong name all variants are checked; nothing will run anyway.
    let all = chosen.is_empty() || chosen.iter().any(|name| !names.contains(&name.as_str()));
    let wanted =
        |name: &str| names.contains(&name) && (all || chosen.iter().any(|wanted| wanted == name));
    variants
        .iter()
        .filter_map(|variant| {
            let name = variant.name.as_ref()?.value.clone();
            let changes = variant.set.as_ref().map_or_else(Vec::new, |set| set.value.0.clone());
            let published_run = variant.published_run.as_ref().map(|at| at.value.clone());
            let competes = variant.competes.as_ref().and_then(|at| Competes::of(&name, at));
            wanted(&name).then_some(Alternative { name, changes, published_run, competes })
        })
        .collect()
}

fn names(variants: &[Variant]) -> Vec<(&str, Place)> {
    let names = variants.iter().filter_map(|variant| variant.name.as_ref());
    names.map(|name| (name.value.as_str(), name.place)).collect()
}

/// Names that other parts of the scenario refer to.
fn check_names(asked: &Asked, published: Option<&Data>, cx: &mut Context) {
    let variants = asked.variant.as_ref().map_or(&[][..], |list| &list.value.0);
    let names = names(variants);

    // Duplicate names would make all references ambiguous.
    twice(&names, "variants", cx);
    let expects = asked.expect.iter().flat_map(|list| &list.value.0);
    let expects = expects.flat_map(|expect| [&expect.variant, &expect.above, &expect.below]);
    let expects = expects.flatten();

    // Names of variants occur in expectations and in `competes`.
    let competes = variants.iter().filter_map(|variant| variant.competes.as_ref());
    let competes = competes.flat_map(|at| [&at.value.solo, &at.value.like]).flatten();
    for variant in expects.chain(competes) {
        if !names.iter().any(|(name, _)| *name == variant.value) {
            let message = format!("no variant is called \"{}\"", variant.value);
            cx.error("unknown-name", variant.place, message)
                .names(&variant.value, names.iter().map(|(name, _)| *name));
        }
    }
    let runs = variants.iter().map(|variant| &variant.published_run);

    // A published run needs a file, and a name in it.
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

/// The axes that are left of the sweep: a `--set` of all keys of one replaces it.
fn axes(asked: &Asked, sets: &[Change], cx: &mut Context) -> Vec<Axis> {
    let written = asked.sweep.iter().flat_map(|at| &at.value.0);
    let axes: Vec<Axis> = written
        // A partly set axis stays: its other keys still vary.
        .filter(|axis| {
            !axis.keys.iter().all(|key| sets.iter().any(|(set, _)| set.parts == key.parts))
        })
        .cloned()
        .collect();

    // Two axes with one key would contradict each other.
    overlapping(&axes, cx);
    for axis in &axes {
        let shown: Vec<String> = axis.points.iter().map(|point| text(point)).collect();
        let places = axis.points.iter();
        let places = places.map(|point| point.first().map_or(axis.place, |value| value.place));
        let named: Vec<_> = shown.iter().map(String::as_str).zip(places).collect();
        twice(&named, "points of an axis", cx);
    }
    axes
}

/// Reports axes where one overrides another one.
fn overlapping(axes: &[Axis], cx: &mut Context) {
    let keys: Vec<&Dotted> = axes.iter().flat_map(|axis| &axis.keys).collect();
    for (n, key) in keys.iter().enumerate() {
        let over = keys[..n].iter().find(|other| {
            key.parts.starts_with(&other.parts) || other.parts.starts_with(&key.parts)
        });
        if let Some(other) = over {
            let message = format!("`{}` and `{}` are axes of one thing", other.text(), key.text());
            cx.error("conflict", key.place, message).expected(
                "one axis; keys that change together stand in one, with a comma between them",
            );
        }
    }
}

/// The values of a point, as messages show them.
fn text(point: &[Node]) -> String {
    point.iter().map(|value| value.json().to_string()).collect::<Vec<_>>().join(", ")
}
