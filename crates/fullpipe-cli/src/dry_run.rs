//! `fullpipe run --dry-run`: the runs that would be made, the time and space that they would take, and the keys that
//! engines would do otherwise.

use crate::estimate::{Estimate, estimate};
use crate::failure::Failure;
use crate::output::Output;
use fullpipe::analysis::phases;
use fullpipe::engine::Engine;
use fullpipe::experiment::{Chosen, answers};
use fullpipe::scenario::{Plan, Resolved, Scenario};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// A run.
#[derive(Serialize)]
struct Planned<'a> {
    variant: String,
    set: &'a Map<String, Value>,
    resolved: &'a Resolved,
    estimate: Estimate,
    /// Runs at other phases of the path's timers, for the band of the published figures.
    repeats: usize,
}

/// Keys that an engine does otherwise than the scenario says, as the user allows.
#[derive(Serialize)]
struct Otherwise {
    engine: &'static str,
    substituted: Vec<Substitution>,
}

#[derive(Serialize)]
struct Substitution {
    key: String,
    what: String,
}

/// Prints the complete scenario of each run and its estimate. The engines have accepted the scenario already.
pub fn dry_run(
    scenario: &Scenario,
    engines: &[Chosen],
    as_json: bool,
    output: &Output,
) -> Result<(), Failure> {
    let engines: Vec<&'static dyn Engine> = engines.iter().map(|chosen| chosen.engine).collect();
    let otherwise = engines.iter().map(|engine| Otherwise::new(*engine, scenario));
    let otherwise: Vec<Otherwise> = otherwise.collect();
    let planned = scenario.plans().iter().map(|plan| Planned::new(plan, &engines));
    let planned: Vec<Planned> = planned.collect();

    if as_json {
        return output.json(&json!({ "format": 1, "engines": otherwise, "runs": planned }));
    }
    let comments: String = otherwise.iter().map(Otherwise::text).collect();
    let texts: Vec<String> = planned.iter().map(Planned::text).collect();
    output.print(&(comments + &texts.join("\n")))
}

impl Otherwise {
    fn new(engine: &'static dyn Engine, scenario: &Scenario) -> Otherwise {
        let keys = answers(engine, scenario.plans()).into_iter();
        let substituted = keys.filter_map(|(key, support)| {
            let what = support.otherwise()?.to_string();
            Some(Substitution { key, what })
        });
        Otherwise { engine: engine.name(), substituted: substituted.collect() }
    }

    /// Comments, one per key.
    fn text(&self) -> String {
        self.substituted
            .iter()
            .map(|own| {
                format!("# engine {} does otherwise {}: {}\n", self.engine, own.key, own.what)
            })
            .collect()
    }
}

impl<'a> Planned<'a> {
    fn new(plan: &'a Plan, engines: &[&dyn Engine]) -> Planned<'a> {
        Planned {
            variant: plan.name(),
            set: &plan.set,
            resolved: &plan.resolved,
            estimate: estimate(&plan.resolved, engines),
            repeats: phases::alternatives(plan).len(),
        }
    }

    /// A scenario file of its own, with the rest as comments.
    fn text(&self) -> String {
        // Repetitions for the band would print the same file again.
        let repeats = match self.repeats {
            0 => String::new(),
            n => format!(" (and {n} more like it, for the band of the published figures)"),
        };
        let Estimate { simulated_s, segments_at_most, core_s_at_most, trace_bytes, .. } =
            self.estimate;
        format!(
            "# {}{repeats}\n# {simulated_s:.1} s simulated; at most {segments_at_most:.0} segments, which take \
             {core_s_at_most:.1} s of a core;\n# trace of about {:.1} MB\n\n{}",
            self.variant,
            trace_bytes / 1e6,
            self.resolved.to_toml()
        )
    }
}
