//! A scenario with the options that change it.

use crate::error;
use crate::runs::{self, Keeping, Outcome};
use fullpipe::experiment::{Allowed, known_keys, several};
use fullpipe::scenario::{self, Beside, Plan, SetOption, Source};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// A checked scenario. The text, the options and where its files lie are all there is to it, so it can be sent elsewhere.
#[pyclass(frozen, module = "fullpipe._fullpipe")]
pub struct Scenario {
    pub(crate) source: Source,
    pub(crate) sets: Vec<SetOption>,
    #[pyo3(get)]
    variants: Vec<String>,
    read: scenario::Scenario,
}

#[pymethods]
impl Scenario {
    /// Reads a file or a recipe.
    #[staticmethod]
    fn load(named: PathBuf, sets: Vec<String>, variants: Vec<String>) -> PyResult<Scenario> {
        let source = Source::named(&named).map_err(error::scenario)?;
        Scenario::of(source, sets, variants)
    }

    /// Takes a text; files that it names are looked for in `beside`.
    #[staticmethod]
    fn text_of(
        name: &str,
        text: &str,
        beside: Option<PathBuf>,
        sets: Vec<String>,
        variants: Vec<String>,
    ) -> PyResult<Scenario> {
        let beside = beside.map_or(Beside::Nothing, Beside::Directory);
        let source = Source { beside, ..Source::text(name, text) };
        Scenario::of(source, sets, variants)
    }

    /// Copy of the scenario with further changes; variants where some are named.
    fn altered(&self, sets: Vec<String>, variants: Option<Vec<String>>) -> PyResult<Scenario> {
        let own = self.sets.iter().map(|set| set.0.clone());
        let variants = variants.unwrap_or_else(|| self.variants.clone());
        Scenario::of(self.source.clone(), own.chain(sets).collect(), variants)
    }

    #[getter]
    fn name(&self) -> &str {
        &self.read.name
    }

    #[getter]
    fn title(&self) -> &str {
        &self.read.title
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.read.seed
    }

    #[getter]
    fn text(&self) -> &str {
        &self.source.text
    }

    #[getter]
    fn sets(&self) -> Vec<&str> {
        self.sets.iter().map(|set| set.0.as_str()).collect()
    }

    /// Name, variant, changes as JSON, and complete description of each run.
    #[getter]
    fn plans(&self) -> Vec<(String, &str, String, String)> {
        let plan = |plan: &'_ Plan| -> (String, String, String) {
            let set = serde_json::to_string(&plan.set).unwrap_or_default();
            (plan.name(), set, plan.resolved.to_toml())
        };
        let plans = self.read.plans().iter();
        plans
            .map(|own| {
                let (name, set, toml) = plan(own);
                (name, own.variant.as_str(), set, toml)
            })
            .collect()
    }

    /// Parts with which a sweep's task reads the scenario again: name, text, folder of its files, and its recipe.
    fn parts(&self) -> (String, String, Option<PathBuf>, Option<String>) {
        let (beside, recipe) = match &self.source.beside {
            Beside::Directory(path) => (Some(absolute(path)), None),
            Beside::BuiltIn(_) => (None, Some(self.source.name.replace(".toml", ""))),
            Beside::Nothing => (None, None),
        };
        (self.source.name.clone(), self.source.text.clone(), beside, recipe)
    }

    /// Whether some run keeps its packets.
    #[getter]
    fn keeps_packets(&self) -> bool {
        self.read.plans().iter().any(|plan| plan.resolved.report.packets.is_some())
    }

    /// Makes all runs with `jobs` threads, and keeps them in `out` where it is named; else tables of packets in `packets`.
    #[expect(clippy::too_many_arguments, reason = "the arguments of a function of Python")]
    fn run(
        &self,
        py: Python<'_>,
        engines: Vec<String>,
        as_kernel: Option<String>,
        without: Vec<String>,
        jobs: Option<usize>,
        out: Option<PathBuf>,
        packets: Option<PathBuf>,
    ) -> PyResult<Outcome> {
        let plans = self.read.plans();
        known_keys(&without, plans.iter().map(|plan| &plan.resolved)).map_err(error::scenario)?;
        let names: Vec<&str> = engines.iter().map(String::as_str).collect();
        let allowed = Allowed { as_kernel: as_kernel.as_deref(), without: &without };
        let chosen = py.detach(|| several(&names, allowed, plans)).map_err(error::unfit)?;
        runs::run(py, &self.read, &chosen, jobs, Keeping { out, packets })
    }
}

impl Scenario {
    fn of(source: Source, sets: Vec<String>, variants: Vec<String>) -> PyResult<Scenario> {
        let sets: Vec<SetOption> = sets.into_iter().map(SetOption).collect();
        let read = scenario::load(&source, &sets, &variants).map_err(error::scenario)?;
        Ok(Scenario { source, sets, variants, read })
    }
}

/// The path from the root, so that a worker that runs elsewhere finds it.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(if path.as_os_str().is_empty() { Path::new(".") } else { path })
        .unwrap_or_else(|_| path.to_path_buf())
}
