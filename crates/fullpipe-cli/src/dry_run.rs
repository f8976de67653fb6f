//! `fullpipe run --dry-run`: what would be run, what it would take, and what the engines say to it.

use crate::args::RunArguments;
use crate::engines;
use crate::estimate::{Estimate, estimate};
use crate::failure::Failure;
use crate::output::Output;
use fullpipe::analysis::phases;
use fullpipe::engine::{Engine, Support};
use fullpipe::experiment::{answers, permission};
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

/// What an engine says to the scenario.
#[derive(Serialize)]
struct Asked {
    engine: &'static str,
    /// Keys that it would do otherwise if it were allowed to, with what; keys that it refuses, with why.
    substituted: Vec<Said>,
    refused: Vec<Said>,
}

#[derive(Serialize)]
struct Said {
    key: String,
    what: String,
    /// Option that allows it, where one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_by: Option<String>,
}

/// Prints the complete scenario of each run and what it will take.
///
/// # Errors
/// An engine that there is not.
pub fn dry_run(
    scenario: &Scenario,
    arguments: &RunArguments,
    output: &Output,
) -> Result<(), Failure> {
    let engines = engines::named(arguments)?;
    let asked: Vec<Asked> = engines.iter().map(|engine| Asked::new(*engine, scenario)).collect();
    let planned = scenario.plans().iter().map(|plan| Planned::new(plan, &engines));
    let planned: Vec<Planned> = planned.collect();
    if arguments.json {
        return output.json(&json!({ "format": 1, "engines": asked, "runs": planned }));
    }
    let said: String = asked.iter().map(Asked::text).collect();
    let texts: Vec<String> = planned.iter().map(Planned::text).collect();
    output.print(&(said + &texts.join("\n")))
}

impl Asked {
    fn new(engine: &'static dyn Engine, scenario: &Scenario) -> Asked {
        let mut asked = Asked { engine: engine.name(), substituted: vec![], refused: vec![] };
        for (key, support) in answers(engine, scenario.plans()) {
            match support {
                Support::Exact => {}
                Support::Substituted(what) => {
                    let allowed_by = Some(permission(engine, &key));
                    asked.substituted.push(Said { key, what, allowed_by });
                }
                Support::Told(what) => {
                    asked.substituted.push(Said { key, what, allowed_by: None });
                }
                Support::Refused(what) => {
                    asked.refused.push(Said { key, what, allowed_by: None });
                }
            }
        }
        asked
    }

    /// Comments, one per key.
    fn text(&self) -> String {
        let line = |does: &str, said: &Said| {
            let how = said.allowed_by.as_ref().map(|how| format!("; to allow it: {how}"));
            let how = how.unwrap_or_default();
            format!("# engine {} {does} {}: {}{how}\n", self.engine, said.key, said.what)
        };
        let substituted = self.substituted.iter().map(|said| line("does otherwise", said));
        substituted.chain(self.refused.iter().map(|said| line("cannot do", said))).collect()
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
