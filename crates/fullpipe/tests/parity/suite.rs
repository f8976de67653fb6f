//! The scenarios of the suite, and where their tables are.

use fullpipe::scenario::{self, Plan, Scenario, Source};
use fullpipe_sim::rng::Rng;
use std::path::{Path, PathBuf};

/// One run of the suite.
pub struct Case {
    /// Stem of the scenario's file.
    pub file: String,
    /// Name of the variant.
    pub variant: String,
    pub scenario: Scenario,
}

/// The folder of the suite.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/parity")
}

/// All runs, by file and variant.
pub fn all() -> Vec<Case> {
    files(&folder(), "toml").iter().flat_map(|path| cases(path)).collect()
}

/// All files of a folder that end so, by name.
pub fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|e| e == ending)).collect();
    paths.sort();
    paths
}

/// A case for each variant of a file, each a scenario of its own.
fn cases(path: &Path) -> Vec<Case> {
    let source = Source::read(path).unwrap_or_else(|e| panic!("{e}"));
    let load = |variants: &[String]| {
        scenario::load(&source, &[], variants).unwrap_or_else(|e| panic!("{e}"))
    };
    let file = path.file_stem().expect("a name").to_string_lossy().into_owned();
    let names: Vec<String> = load(&[]).plans().iter().map(Plan::name).collect();
    let case = |variant: String| Case {
        file: file.clone(),
        scenario: load(std::slice::from_ref(&variant)),
        variant,
    };
    names.into_iter().map(case).collect()
}

impl Case {
    pub fn plan(&self) -> &Plan {
        &self.scenario.plans()[0]
    }

    pub fn name(&self) -> String {
        format!("{}/{}", self.file, self.variant)
    }

    /// Where its table is.
    pub fn table(&self) -> PathBuf {
        folder().join("golden").join(&self.file).join(format!("{}.csv", self.variant))
    }

    /// What runs it.
    pub fn command(&self) -> String {
        let Case { file, variant, .. } = self;
        format!("fullpipe run scenarios/parity/{file}.toml --variant {variant} --engine linux")
    }

    /// A hash of all that the scenario means, every default written out.
    pub fn hash(&self) -> String {
        format!("{:016x}", Rng::new(0, &self.plan().resolved.to_toml()).next_u64())
    }
}
