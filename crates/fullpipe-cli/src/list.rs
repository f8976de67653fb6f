//! `fullpipe list`: everything that has a name.

use crate::args::ListArguments;
use crate::failure::Failure;
use crate::output::Output;
use fullpipe::engine::engines;
use fullpipe::scenario::metric::{self, Metric, Unit};
use fullpipe::scenario::{self, Recipe, congestion, slow_start};
use fullpipe::trace::limits::limit_names;
use fullpipe_sim::cc::{self, Parameter};
use fullpipe_sim::tcp::profile::PROFILES;
use serde::Serialize;
use std::fmt::Write;

/// Version of the JSON document.
const FORMAT: u32 = 1;

/// All names.
#[derive(Serialize)]
struct Listing {
    format: u32,
    recipes: Vec<RecipeEntry>,
    congestion: Vec<CongestionEntry>,
    genuine_congestion: Vec<CongestionEntry>,
    slow_starts: Vec<CongestionEntry>,
    kernels: Vec<&'static str>,
    unjudged_kernels: Vec<&'static str>,
    genuine_kernels: Vec<&'static str>,
    limits: Vec<&'static str>,
    metrics: Vec<MetricEntry>,
}

#[derive(Serialize)]
struct RecipeEntry {
    name: &'static str,
    title: &'static str,
    variants: Vec<String>,
}

#[derive(Serialize)]
struct CongestionEntry {
    name: &'static str,
    title: &'static str,
    kernels: Vec<String>,
    parameters: Vec<ParameterEntry>,
}

#[derive(Serialize)]
struct ParameterEntry {
    name: &'static str,
    meaning: &'static str,
    unit: &'static str,
    min: u32,
    max: u32,
    defaults: Vec<DefaultEntry>,
}

#[derive(Serialize)]
struct DefaultEntry {
    since: String,
    value: u32,
}

#[derive(Serialize)]
struct MetricEntry {
    name: String,
    unit: &'static str,
    meaning: &'static str,
}

/// Prints all names.
pub fn list(arguments: &ListArguments, output: &Output) -> Result<(), Failure> {
    let listing = Listing::new();
    match arguments.json {
        true => output.json(&listing),
        false => output.print(&listing.text()),
    }
}

impl Listing {
    fn new() -> Listing {
        let flow = metric::FLOW.iter().map(|m| MetricEntry::new("flow.NAME", m));
        let limits = std::iter::once(MetricEntry::limits());
        let fairness = metric::FAIRNESS.iter().map(|m| MetricEntry::new("fairness", m));
        let datagrams = metric::DATAGRAMS.iter();
        let datagrams = datagrams.map(|m| MetricEntry::new("datagrams.NAME", m));
        let nfs = metric::NFS.iter().map(|m| MetricEntry::new("nfs.NAME", m));
        let stage = metric::STAGE.iter().map(|m| MetricEntry::new("stage.NAME", m));
        Listing {
            format: FORMAT,
            recipes: scenario::recipes().iter().map(RecipeEntry::new).collect(),
            congestion: cc::algorithms().iter().map(CongestionEntry::new).collect(),
            genuine_congestion: congestion::genuine().iter().map(CongestionEntry::new).collect(),
            slow_starts: slow_start::slow_starts().iter().map(CongestionEntry::new).collect(),
            kernels: PROFILES.iter().map(|profile| profile.name).collect(),
            unjudged_kernels: PROFILES.iter().filter(|p| p.unjudged).map(|p| p.name).collect(),
            genuine_kernels: engines().iter().flat_map(|engine| engine.kernels()).collect(),
            limits: limit_names().collect(),
            metrics: flow
                .chain(limits)
                .chain(fairness)
                .chain(datagrams)
                .chain(nfs)
                .chain(stage)
                .collect(),
        }
    }

    /// One section per kind. Writing to a string cannot fail.
    fn text(&self) -> String {
        let mut out = String::from("Recipes (fullpipe run NAME), with their variants\n");
        for recipe in &self.recipes {
            let _ = writeln!(out, "  {:<20} {}", recipe.name, recipe.title);
            for variant in &recipe.variants {
                let _ = writeln!(out, "  {:<20}   {variant}", "");
            }
        }
        out += "\nCongestion controls of the simulator, with their parameters\n";
        for congestion in &self.congestion {
            congestion.write(&mut out);
        }
        out += "\nCongestion controls of genuine kernels\n";
        for congestion in &self.genuine_congestion {
            congestion.write(&mut out);
        }
        out += "\nSlow starts (of a flow), with their parameters\n";
        for slow_start in &self.slow_starts {
            slow_start.write(&mut out);
        }
        let kernels: Vec<String> =
            self.kernels.iter().map(|kernel| scenario::shown(kernel)).collect();
        let _ = writeln!(out, "\nKernels of the simulator\n  {}", kernels.join(", "));
        let genuine = self.genuine_kernels.join(", ");
        let _ = writeln!(out, "\nGenuine kernels (--engine linux)\n  {genuine}");
        let _ = writeln!(out, "\nLimits (what held a flow back)\n  {}", self.limits.join("\n  "));
        out += "\nMetrics (of expectations)\n";
        for metric in &self.metrics {
            let _ = writeln!(out, "  {}{}", metric.name, unit_in_words(metric.unit));
            let _ = writeln!(out, "    {}", metric.meaning);
        }
        out
    }
}

impl RecipeEntry {
    /// A built-in scenario always loads; a test sees to that.
    fn new(recipe: &Recipe) -> RecipeEntry {
        let loaded = scenario::load(&recipe.source(), &[], &[]);
        let plans = loaded.as_ref().map_or(&[][..], |scenario| scenario.plans());
        let mut variants: Vec<String> = plans.iter().map(|plan| plan.variant.clone()).collect();
        variants.dedup();
        RecipeEntry { name: recipe.name, title: recipe.title(), variants }
    }
}

impl CongestionEntry {
    fn new(described: &cc::Description) -> CongestionEntry {
        CongestionEntry {
            name: described.name,
            title: described.title,
            kernels: described.kernels.clone(),
            parameters: described.parameters.iter().map(ParameterEntry::new).collect(),
        }
    }

    fn write(&self, out: &mut String) {
        let _ = writeln!(out, "  {:<12} {}", self.name, self.title);
        for p in &self.parameters {
            let defaults: Vec<String> = match p.defaults.as_slice() {
                [one] => vec![one.value.to_string()],
                several => {
                    several.iter().map(|d| format!("{} from {}", d.value, d.since)).collect()
                }
            };
            let (name, min, max) = (p.name, p.min, p.max);
            let _ = writeln!(out, "    {name} ({min} to {max}; default {})", defaults.join(", "));
            let _ = writeln!(out, "      {}{}", p.meaning, unit_in_words(p.unit));
        }
    }
}

fn unit_in_words(unit: &str) -> String {
    match unit {
        "" => String::new(),
        unit => format!(" [{unit}]"),
    }
}

impl ParameterEntry {
    fn new(p: &Parameter) -> ParameterEntry {
        let default = |(since, value): &(cc::KernelVersion, u32)| DefaultEntry {
            since: since.to_string(),
            value: *value,
        };
        ParameterEntry {
            name: p.name,
            meaning: p.meaning,
            unit: p.unit,
            min: p.min,
            max: p.max,
            defaults: p.defaults.iter().map(default).collect(),
        }
    }
}

impl MetricEntry {
    fn new(prefix: &str, metric: &Metric) -> MetricEntry {
        MetricEntry {
            name: format!("{prefix}.{}", metric.name),
            unit: unit(metric.unit),
            meaning: metric.doc,
        }
    }

    fn limits() -> MetricEntry {
        let mut entry = MetricEntry::new("flow.NAME", &metric::LIMITS);
        entry.name += ".LIMIT";
        entry
    }
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Bytes => "bytes",
        Unit::Packets => "packets",
        Unit::Rounds => "rounds",
        Unit::Mbit => "Mb/s",
        Unit::Seconds => "s",
        Unit::Milliseconds => "ms",
        Unit::Share => "share",
        Unit::Number => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recipe_loads_and_has_a_variant() {
        for recipe in scenario::recipes() {
            assert!(!RecipeEntry::new(recipe).variants.is_empty(), "{}", recipe.name);
        }
    }
}
