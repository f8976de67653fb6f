//! Sweeps made here, and sweeps with records kept in scenarios/sweeps/golden.

mod bars;
mod competition;
mod kept;
mod points;
mod record;

use fullpipe::experiment::Allowed;
use fullpipe::scenario::{SetOption, Source};
use fullpipe::sweep::{Ask, Job, Manifest, Merged, Sample, Shard, Share, Store, ask, make};
use std::path::Path;
use std::thread::available_parallelism;

/// Scenario and options of a sweep.
pub struct Asked<'a> {
    /// The scenario.
    pub source: &'a Source,
    /// Changes of all runs.
    pub sets: &'a [String],
    /// Variants; none: all.
    pub variants: &'a [String],
    /// Name of the engine.
    pub engine: &'a str,
    /// Points drawn of each variant; none: all.
    pub points: Option<u64>,
}

impl Asked<'_> {
    /// The runs, and the manifest of the sweep.
    pub fn job(&self) -> (Job, Manifest) {
        let sets: Vec<SetOption> = self.sets.iter().cloned().map(SetOption).collect();
        let allowed = Allowed { as_kernel: None, without: &[] };
        let (variants, engine) = (self.variants, self.engine);
        let what = Ask { sets: &sets, variants, engine, allowed };
        ask(self.source, &what).unwrap_or_else(|e| panic!("{e:?}"))
    }

    /// Makes the runs that the directory does not have, on all cores.
    pub fn made(&self, directory: &Path) -> Merged {
        let (job, manifest) = self.job();
        let sample = self.points.map(|points| Sample::draw(&manifest, points));
        let store = Store::open(directory, &manifest, Shard::WHOLE).expect("a store");
        let share = Share { shard: Shard::WHOLE, sample: sample.as_ref(), retry: false };
        let runs = share.rest(&store, manifest.runs);
        let cores = available_parallelism().map_or(1, usize::from);
        make(&job, &runs, cores, &|| false, &|record| store.append(record)).expect("kept");
        drop(store);
        let merged = Merged::open(&[directory.to_path_buf()]).expect("records");
        assert_eq!((merged.lacking(sample.as_ref()), merged.failed()), (0, 0));
        merged
    }
}
