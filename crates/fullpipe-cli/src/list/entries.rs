//! Entries of a listing, as JSON has them.

use fullpipe::limits;
use fullpipe::scenario::metric::{self, Metric, Unit};
use fullpipe::scenario::{self, Recipe};
use fullpipe::sim::cc::{self, Parameter};
use serde::Serialize;

/// A recipe.
#[derive(Serialize)]
pub struct RecipeEntry {
    pub name: &'static str,
    pub title: &'static str,
    pub variants: Vec<String>,
}

/// A congestion control or a slow start.
#[derive(Serialize)]
pub struct CongestionEntry {
    pub name: &'static str,
    pub title: &'static str,
    pub kernels: Vec<String>,
    pub parameters: Vec<ParameterEntry>,
}

/// A parameter of a congestion control or a slow start.
#[derive(Serialize)]
pub struct ParameterEntry {
    pub name: &'static str,
    pub meaning: &'static str,
    pub unit: &'static str,
    pub min: u32,
    pub max: u32,
    pub defaults: Vec<DefaultEntry>,
}

/// A default value, and the first kernel that has it.
#[derive(Serialize)]
pub struct DefaultEntry {
    pub since: String,
    pub value: u32,
}

/// A metric of expectations.
#[derive(Serialize)]
pub struct MetricEntry {
    pub name: String,
    pub unit: &'static str,
    pub meaning: &'static str,
}

/// A limit of a flow.
#[derive(Serialize)]
pub struct LimitEntry {
    pub name: &'static str,
    /// The name in texts and reports.
    pub label: &'static str,
    pub meaning: &'static str,
}

impl RecipeEntry {
    /// A built-in scenario always loads; a test sees to that.
    pub fn new(recipe: &Recipe) -> RecipeEntry {
        let loaded = scenario::load(&recipe.source(), &[], &[]);
        let plans = loaded.as_ref().map_or(&[][..], |scenario| scenario.plans());
        let mut variants: Vec<String> = plans.iter().map(|plan| plan.variant.clone()).collect();
        variants.dedup();
        RecipeEntry { name: recipe.name, title: recipe.title(), variants }
    }
}

impl CongestionEntry {
    pub fn new(described: &cc::Description) -> CongestionEntry {
        CongestionEntry {
            name: described.name,
            title: described.title,
            kernels: described.kernels.clone(),
            parameters: described.parameters.iter().map(ParameterEntry::new).collect(),
        }
    }
}

impl ParameterEntry {
    pub fn new(p: &Parameter) -> ParameterEntry {
        ParameterEntry {
            name: p.name,
            meaning: p.meaning,
            unit: p.unit,
            min: p.min,
            max: p.max,
            defaults: p
                .defaults
                .iter()
                .map(|(since, value)| DefaultEntry { since: since.to_string(), value: *value })
                .collect(),
        }
    }
}

impl MetricEntry {
    pub fn new(prefix: &str, metric: &Metric) -> MetricEntry {
        MetricEntry {
            name: format!("{prefix}.{}", metric.name),
            unit: unit(metric.unit),
            meaning: metric.doc,
        }
    }

    pub fn limits() -> MetricEntry {
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

impl LimitEntry {
    /// All limits, in the order of their shares.
    pub fn all() -> Vec<LimitEntry> {
        limits::by_index()
            .map(|own| LimitEntry { name: own.name, label: own.label, meaning: own.meaning })
            .collect()
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
