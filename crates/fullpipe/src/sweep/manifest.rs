//! Identity of a sweep: equal manifests are the same sweep.
//!
//! Limits:
//! - A sweep is the text of its scenario: another comment, title, expectation or number of repetitions is another
//!   sweep, which does not continue in the same directory.
//! - Another build of the same version is not noticed. A changed file that the scenario names (rates of a link over
//!   time) is noticed only if two results of one run are merged.

use crate::scenario::{Competes, SetOption, Source, Space, Versus};
use crate::trace::{Error, checksum};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Version of the manifest and of records.
pub const FORMAT: u32 = 1;
/// File that holds it, in the sweep's directory.
pub const FILE: &str = "sweep.json";

/// Remedy for a damaged manifest.
const DAMAGED: &str = "restore it: the same sweep into another directory (--out) writes it again";

/// Scenario and engine of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of this format.
    pub format: u32,
    /// Version of the program: another one may give other results.
    pub fullpipe: String,
    /// Recipe name or file stem.
    pub name: String,
    /// Title from the scenario.
    pub title: String,
    /// The scenario's text.
    pub scenario: String,
    /// Changes of all runs, as after `--set`.
    pub set: Vec<String>,
    /// Names of the variants.
    pub variants: Vec<String>,
    /// The axes, the last one runs fastest.
    pub axes: Vec<Axis>,
    /// Variants that are compared.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub competition: Vec<Competes>,
    /// Expectations of two of them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub versus: Vec<Versus>,
    /// Repetitions of each point.
    pub seeds: u32,
    /// Runs in all.
    pub runs: u64,
    /// Engine that makes them, with its kernel where one was named.
    pub engine: String,
    /// Keys that it may do otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub without: Vec<String>,
}

/// Keys that change together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// The dotted keys with commas between them.
    pub name: String,
    /// Values of the axis at each point, as written.
    pub points: Vec<Vec<Value>>,
}

impl Manifest {
    /// Manifest of a scenario with options, on an engine of that name.
    pub fn new(
        space: &Space,
        source: &Source,
        title: &str,
        sets: &[SetOption],
        engine: &str,
        without: &[String],
    ) -> Manifest {
        let axes = space.axes().into_iter().map(|(name, points)| Axis { name, points });
        Manifest {
            format: FORMAT,
            fullpipe: env!("CARGO_PKG_VERSION").into(),
            name: space.name().into(),
            title: title.into(),
            scenario: source.text.clone(),
            set: sets.iter().map(|set| set.0.clone()).collect(),
            variants: space.variants().map(str::to_string).collect(),
            axes: axes.collect(),
            competition: space.competition(),
            versus: space.versus(),
            seeds: space.repeat().seeds,
            runs: space.runs(),
            engine: engine.into(),
            without: without.to_vec(),
        }
    }

    /// Eight hexadecimal digits that differ where sweeps do.
    pub fn digest(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        format!("{:08x}", checksum::of(text.as_bytes()) >> 32)
    }

    /// Reads the manifest of a directory.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn read(directory: &Path) -> Result<Manifest, Error> {
        let file = directory.join(FILE);
        let text = fs::read_to_string(&file).map_err(|e| {
            Error::new(&file, e).hint("name a directory that `fullpipe sweep` has made")
        })?;
        let manifest: Manifest = serde_json::from_str(&text).map_err(|e| {
            Error::new(&file, format!("is no manifest of a sweep: {e}")).hint(DAMAGED)
        })?;

        // Another format may have other meanings under the same names.
        if manifest.format != FORMAT {
            let what = format!("has format {}, and this program knows {FORMAT}", manifest.format);
            return Err(Error::new(&file, what)
                .hint("use the program that made it, or name another directory with --out"));
        }
        Ok(manifest)
    }

    /// The scenario with its options and these variants, all where none is named; none where it cannot be read here.
    pub(super) fn space(&self, variants: &[String]) -> Option<Space> {
        let source = Source::text(&self.name, &self.scenario);
        let sets: Vec<SetOption> = self.set.iter().cloned().map(SetOption).collect();
        Space::parse(&source, &sets, variants).ok()
    }

    /// First difference between two manifests, as a clause; none where they are the same sweep.
    pub fn difference(&self, other: &Manifest) -> Option<&'static str> {
        [
            (self.fullpipe != other.fullpipe, "another version of the program"),
            (self.scenario != other.scenario, "another scenario"),
            (self.set != other.set, "other --set options"),
            (self.variants != other.variants, "other variants"),
            (self.engine != other.engine, "another engine"),
            (self.without != other.without, "other --without options"),
            (self != other, "another sweep"),
        ]
        .into_iter()
        .find_map(|(differs, what)| differs.then_some(what))
    }
}
