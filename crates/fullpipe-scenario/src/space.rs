//! All runs that a scenario asks for, each made when it is asked for: a sweep may have millions.

use super::competes::Competes;
use super::expect;
use super::format::axes::Axis;
use super::format::context::{Context, Place};
use super::format::diagnostic::Diagnostics;
use super::format::dotted::Dotted;
use super::format::keys::{Read, Section};
use super::format::node::{Node, Value};
use super::format::set::set;
use super::load::read;
use super::places::Places;
use super::plan::{Plan, Scenario};
use super::published::Data;
use super::repeat::Repeat;
use super::resolve;
use super::source::{SetOption, Source};
use super::versus::{self, Versus};
use super::written::{self, Run};
use serde_json::{Map, Value as Json};

/// A dotted key with its new value.
pub(super) type Change = (Dotted, Node);

/// Seed of a scenario without a written seed, as `written.rs` has it.
const DEFAULT_SEED: u64 = 1;
/// Problems after which no further points are tried.
const ENOUGH: usize = 50;

/// A variant, or the base without variants.
#[derive(Clone, Debug)]
pub(super) struct Alternative {
    pub name: String,
    pub changes: Vec<Change>,
    pub published_run: Option<String>,
    /// Variants to compare it with, and the place of the key.
    pub competes: Option<(Competes, Place)>,
}

/// The product of a scenario's variants, axes and repetitions.
#[derive(Clone, Debug)]
pub struct Space {
    pub(super) name: String,
    pub(super) source: Source,
    pub(super) published: Option<Data>,
    pub(super) run: Node,
    pub(super) sets: Vec<Change>,
    pub(super) variants: Vec<Alternative>,
    pub(super) axes: Vec<Axis>,
    pub(super) repeat: Repeat,
    pub(super) expect: Vec<written::Expect>,
}

/// Where a run lies in its [`Space`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Index of the variant.
    pub variant: usize,
    /// Index on each axis.
    pub at: Vec<usize>,
    /// Repetition, from 0; its seed is the scenario's plus this number.
    pub repetition: u32,
}

impl Space {
    /// Reads a scenario without trying a point. `sets` and `variants` are as in [`load`](super::load).
    ///
    /// # Errors
    /// Everything that is wrong with its text and the options, as far as it can be found without a run.
    pub fn parse(
        source: &Source,
        sets: &[SetOption],
        variants: &[String],
    ) -> Result<Space, Diagnostics> {
        let (space, cx) = read(source, sets, variants)?;
        cx.finish(space)
    }

    /// Reads a scenario as [`parse`](Space::parse) does, with the plans of its [`crosses`](Space::crosses): each
    /// variant is tried with each value of each axis, the others being at their first one.
    ///
    /// # Errors
    /// Everything that is wrong with the scenario, the options and these points, as far as it can be found at once.
    pub fn open(
        source: &Source,
        sets: &[SetOption],
        variants: &[String],
    ) -> Result<(Space, Vec<Plan>), Diagnostics> {
        let (space, mut cx) = read(source, sets, variants)?;
        let tried = space.map(|space| {
            let mut plans = Vec::new();
            for point in space.crosses() {
                plans.extend(space.resolve(point.variant, &point.at, 0, &mut cx));

                // Further points would repeat the same errors.
                if cx.count() >= ENOUGH {
                    break;
                }
            }
            (space, plans)
        });
        cx.finish(tried)
    }

    /// Recipe name or file stem.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names of the variants; "base" alone where the scenario has none.
    pub fn variants(&self) -> impl Iterator<Item = &str> {
        self.variants.iter().map(|variant| variant.name.as_str())
    }

    /// Variants that are compared, among those that are run.
    pub fn competition(&self) -> Vec<Competes> {
        let own = self.variants.iter().filter_map(|variant| variant.competes.as_ref());
        own.map(|(competes, _)| competes.clone()).collect()
    }

    /// Expectations of two variants, where both are run.
    pub fn versus(&self) -> Vec<Versus> {
        let all = self.expect.iter().filter_map(Versus::of);
        all.filter(|own| self.is_chosen(&own.variant) && self.is_chosen(&own.other)).collect()
    }

    fn is_chosen(&self, name: &str) -> bool {
        self.variants().any(|variant| variant == name)
    }

    /// The axes: names of their keys with commas between them, and the values of these at each point.
    pub fn axes(&self) -> Vec<(String, Vec<Vec<Json>>)> {
        let mut all = Vec::new();
        for axis in &self.axes {
            let points = axis.points.iter().map(|point| point.iter().map(Node::json).collect());
            all.push((axis.name(), points.collect()));
        }
        all
    }

    /// Repetition of the runs.
    pub fn repeat(&self) -> Repeat {
        self.repeat
    }

    /// Number of runs.
    pub fn runs(&self) -> u64 {
        let points = self.axes.iter().map(|axis| axis.points.len() as u64);
        let points = points.fold(self.variants.len() as u64, u64::saturating_mul);
        points.saturating_mul(u64::from(self.repeat.seeds))
    }

    /// Where a run lies: repetitions run fastest, then the last axis, variants slowest.
    pub fn point(&self, run: u64) -> Point {
        let seeds = u64::from(self.repeat.seeds);
        let points = self.axes.iter().map(|axis| axis.points.len() as u64).product::<u64>().max(1);
        let (point, repetition) = (run / seeds, (run % seeds) as u32);
        Point { variant: (point / points) as usize, at: self.at(point % points), repetition }
    }

    /// The indices on the axes of a point of one variant.
    pub(super) fn at(&self, mut point: u64) -> Vec<usize> {
        let mut at = vec![0; self.axes.len()];
        for (axis, index) in self.axes.iter().zip(&mut at).rev() {
            let points = axis.points.len() as u64;
            *index = (point % points) as usize;
            point /= points;
        }
        at
    }

    /// Values of the axes at a point: dotted key to value as written.
    pub fn coordinates(&self, point: &Point) -> Map<String, Json> {
        shown(&self.changes(&point.at))
    }

    /// The seed of a run, also where the scenario is wrong at its point.
    pub fn seed(&self, point: &Point) -> u64 {
        // The seed must be known even if the scenario cannot be resolved.
        let written = match &self.run.value {
            Value::Table(table) => table.get("seed").map(|entry| entry.node.clone()),
            _ => None,
        };
        let variant = self.variants.get(point.variant).into_iter().flat_map(|own| &own.changes);

        // Later changes go before earlier ones, as in `shifted`.
        let changes = variant.cloned().chain(self.changes(&point.at)).chain(self.sets.clone());
        let seeds = changes.filter(|(key, _)| key.text() == "seed").map(|(_, node)| node);

        // A wrong seed is reported elsewhere.
        let first = match written.into_iter().chain(seeds).last().map(|node| node.value) {
            Some(Value::Integer(seed)) => u64::try_from(seed).unwrap_or(DEFAULT_SEED),
            _ => DEFAULT_SEED,
        };
        first.saturating_add(point.repetition.into())
    }

    /// The scenario with some of its runs, without its published figures.
    pub fn scenario(&self, plans: Vec<Plan>) -> Scenario {
        let (name, first) = (self.name.clone(), plans.first());
        let title = first.map_or_else(|| name.clone(), |plan| plan.resolved.title.clone());
        let seed = first.map_or(0, |plan| plan.resolved.seed);
        Scenario { name, title, seed, published: None, plans }
    }

    /// The plan of a point.
    ///
    /// # Errors
    /// Problems of the scenario at this point.
    pub fn plan(&self, point: &Point) -> Result<Plan, Diagnostics> {
        let mut cx = self.context();
        let plan = self.resolve(point.variant, &point.at, point.repetition, &mut cx);
        cx.finish(plan)
    }

    /// A point without the seeds' shifts, except hosts' jitter, which no rule knows; none where it is wrong.
    pub fn unshifted(&self, point: &Point) -> Option<Plan> {
        let mut cx = self.context();
        let repeat = Repeat { host_jitter: self.repeat.host_jitter, ..Repeat::default() };
        let plan = self.shifted(&repeat, point.variant, &point.at, 0, &mut cx);
        cx.finish(plan).ok()
    }

    /// Points that together have each value of each axis with each variant.
    pub fn crosses(&self) -> impl Iterator<Item = Point> {
        let start = vec![0; self.axes.len()];
        let points: Vec<Vec<usize>> = match self.axes.len() {
            0 => vec![Vec::new()],
            axes => (0..axes)
                .flat_map(move |axis| {
                    let start = start.clone();

                    // The first point of all axes comes once, from the first axis.
                    let from = usize::from(axis > 0);
                    (from..self.axes[axis].points.len()).map(move |n| {
                        let mut at = start.clone();
                        at[axis] = n;
                        at
                    })
                })
                .collect(),
        };
        (0..self.variants.len()).flat_map(move |variant| {
            let points = points.clone();
            points.into_iter().map(move |at| Point { variant, at, repetition: 0 })
        })
    }

    /// The texts that places refer to, added in the order of [`read`].
    fn context(&self) -> Context {
        let mut cx = Context::default();
        cx.add(&self.source.name, &self.source.text);
        for (n, (key, node)) in self.sets.iter().enumerate() {
            let text = format!("{}={}", key.text(), node.json());
            cx.add(&format!("--set #{}", n + 1), &text);
        }
        cx
    }

    /// The plan of a point; reports its errors.
    pub(super) fn resolve(
        &self,
        variant: usize,
        at: &[usize],
        repetition: u32,
        cx: &mut Context,
    ) -> Option<Plan> {
        self.shifted(&self.repeat, variant, at, repetition, cx)
    }

    /// The plan of a point, with the seed's shifts by `repeat`.
    fn shifted(
        &self,
        repeat: &Repeat,
        variant: usize,
        at: &[usize],
        repetition: u32,
        cx: &mut Context,
    ) -> Option<Plan> {
        let alternative = self.variants.get(variant)?;
        let point = self.changes(at);
        let mut root = self.run.clone();

        // A variant and an axis must not set the same key.
        conflicts(&alternative.changes, &point, cx);

        // The order decides: options win over axes, axes over variants.
        for (key, value) in alternative.changes.iter().chain(&point).chain(&self.sets) {
            set(&mut root, Run::GROUP, key, value, cx);
        }
        let written = Run::read(&root, "the scenario", cx)?;
        let mut resolved = resolve::run(&written, &self.name, &self.source, cx)?;

        // Repetitions count on from the scenario's seed.
        resolved.seed = resolved.seed.saturating_add(repetition.into());
        repeat.shift(&mut resolved);
        if let Some((competes, place)) = &alternative.competes {
            competes.check(*place, &resolved.flow, cx);
        }

        // Expectations may be about one variant or one point.
        let name = alternative.name.as_str();
        let expectations = expect::read(&self.expect, name, &point, &resolved, cx);
        let compared = versus::compared(&self.expect, name, &point, &resolved, cx);
        Some(Plan {
            variant: alternative.name.clone(),
            sweep: shown(&point),
            set: shown(alternative.changes.iter().chain(&point).chain(&self.sets)),
            places: Places::of(&root, cx),
            resolved,
            expectations,
            compared,
            published_run: alternative.published_run.clone(),
        })
    }

    /// Changes at a point.
    fn changes(&self, at: &[usize]) -> Vec<Change> {
        let axes = self.axes.iter().zip(at);
        let values = axes.flat_map(|(axis, n)| axis.keys.iter().zip(&axis.points[*n]));
        values.map(|(key, value)| (key.clone(), value.clone())).collect()
    }
}

/// Reports axes that would make a variant's change ineffective.
fn conflicts(changes: &[Change], point: &[Change], cx: &mut Context) {
    for (key, _) in point {
        if changes.iter().any(|(changed, _)| changed.parts == key.parts) {
            let message = format!("`{}` is an axis and is set by a variant", key.text());
            cx.error("conflict", key.place, message).expected("one of the two");
        }
    }
}

/// Changes as key to value.
fn shown<'a>(changes: impl IntoIterator<Item = &'a Change>) -> Map<String, Json> {
    changes.into_iter().map(|(key, value)| (key.text(), value.json())).collect()
}
