//! Sweeps that take minutes to hours: their records are kept, without fields that no table needs.

use super::Asked;
use fullpipe::scenario::{self, SetOption, Source, Space};
use fullpipe::sweep::output::Finished;
use fullpipe::sweep::{Merged, Record, Unjudged, cells::cells, make};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A sweep with kept records.
pub struct Kept {
    /// Its folder in scenarios/sweeps/golden.
    pub name: &'static str,
    /// A recipe, or a scenario by its path from the repository's root.
    scenario: &'static str,
    /// Engine of the runs.
    engine: &'static str,
    /// Beginnings of the variants and changes of all runs, and points drawn of each; none: the whole scenario.
    part: Option<Part>,
}

struct Part {
    variants: &'static [&'static str],
    sets: &'static [&'static str],
    points: u64,
}

const fn whole(name: &'static str, scenario: &'static str, engine: &'static str) -> Kept {
    Kept { name, scenario, engine, part: None }
}

/// Some points of cern-loss-delay, of shorter runs.
const fn some(name: &'static str, engine: &'static str) -> Kept {
    let variants = &TUNED;
    let part = Part { variants, sets: &["duration=20s", "flow.iperf3.duration=20s"], points: 20 };
    Kept { name, scenario: "cern-loss-delay", engine, part: Some(part) }
}

const TUNED: [&str; 5] = [
    "reno, tuned buffers",
    "bic, tuned buffers",
    "cubic, tuned buffers",
    "scalable, tuned buffers",
    "htcp, tuned buffers",
];
const CONTROLS: &str = "scenarios/sweeps/controls.toml";

/// All of them.
pub const KEPT: [Kept; 10] = [
    whole("cern-today", "cern-today", "sim"),
    whole("cern-today-linux", "cern-today", "linux"),
    whole("cern-rtt-fairness", "cern-rtt-fairness", "sim"),
    whole("cern-fairness", "cern-fairness", "sim"),
    whole("cern-friendliness", "cern-friendliness", "sim"),
    whole("cern-pairs", "cern-pairs", "sim"),
    whole("controls", CONTROLS, "sim"),
    whole("controls-linux", CONTROLS, "linux"),
    some("loss-delay", "sim"),
    some("loss-delay-linux", "linux"),
];

impl Kept {
    /// The scenario.
    pub fn source(&self) -> Source {
        if let Ok(recipe) = scenario::recipe(self.scenario) {
            return recipe.source();
        }
        let text = std::fs::read_to_string(root().join(self.scenario)).expect("a scenario");
        let stem = Path::new(self.scenario).file_stem().and_then(|stem| stem.to_str());
        Source::text(stem.expect("a name"), &text)
    }

    /// Calls `judge` with the sweep's scenario and options.
    pub fn asked<T>(&self, judge: impl FnOnce(Asked) -> T) -> T {
        let texts = |of: fn(&Part) -> &'static [&'static str]| -> Vec<String> {
            self.part.iter().flat_map(|part| of(part).iter().map(|text| (*text).into())).collect()
        };
        judge(Asked {
            source: &self.source(),
            sets: &texts(|part| part.sets),
            variants: &texts(|part| part.variants),
            engine: self.engine,
            points: self.part.as_ref().map(|part| part.points),
        })
    }

    /// Where its records are kept.
    pub fn folder(&self) -> PathBuf {
        root().join("scenarios/sweeps/golden").join(self.name)
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The records of a sweep.
pub fn records(name: &str) -> Merged {
    let kept = KEPT.iter().find(|kept| kept.name == name).expect("a sweep that is kept");
    Merged::open(&[kept.folder()]).unwrap_or_else(|e| panic!("{e}"))
}

/// The first repetition of each point is that of today's scenario: a change of the scenario needs a new record.
#[test]
fn records_are_of_todays_scenarios() {
    for kept in &KEPT {
        let merged = records(kept.name);
        let manifest = &merged.manifest;
        let sets: Vec<SetOption> = manifest.set.iter().cloned().map(SetOption).collect();
        let variants = kept.asked(|asked| asked.variants.to_vec());
        let space = |source: &Source| {
            Space::parse(source, &sets, &variants).unwrap_or_else(|e| panic!("{e}"))
        };
        let then = space(&Source::text(&manifest.name, &manifest.scenario));
        let (now, runs) = (space(&kept.source()), manifest.runs);
        assert_eq!(runs, now.runs(), "{}: `make sweeps-record` makes it anew", kept.name);
        let all = |record: Record| {
            if record.repetition == 0 {
                let plan = |space: &Space| space.plan(&space.point(record.run)).expect("a plan");
                let (then, now) = (plan(&then), plan(&now));
                let same = then.resolved.to_toml() == now.resolved.to_toml();
                assert!(same && now.variant == record.variant, "{}: {}", kept.name, record.run);
            }
            Ok(())
        };
        merged.each(all).expect("records");
    }
}

/// A run of each control is the same, to the byte. Where the simulator does something else, all sweeps have to be
/// recorded again.
#[test]
fn the_simulator_makes_the_same_runs() {
    let kept = KEPT.iter().find(|kept| kept.name == "controls").expect("a sweep");
    let (job, manifest) = kept.asked(|asked| asked.job());
    let each = manifest.runs / manifest.variants.len() as u64;
    // Not the first point of each.
    let runs: Vec<u64> = (0..manifest.runs).filter(|run| run % each == each / 2 + 1).collect();
    let made = Mutex::new(BTreeMap::new());
    let bytes = |record: &Record| record.facts.as_ref().map(|facts| facts.flows[0].bytes);
    let keep = |record: &Record| {
        made.lock().expect("no panic").insert(record.run, bytes(record));
        Ok::<(), ()>(())
    };
    make(&job, &runs, 2, &|| false, &keep).expect("kept");
    let mut then = BTreeMap::new();
    let all = |record: Record| {
        then.insert(record.run, bytes(&record));
        Ok(())
    };
    records(kept.name).each(all).expect("records");
    then.retain(|run, _| runs.contains(run));
    assert_eq!(made.into_inner().expect("no panic"), then);
}

/// Expectations of scenarios hold on each engine on which they were run.
#[test]
fn what_is_expected_holds() {
    let mut judged = 0;
    let whole = KEPT.iter().filter(|kept| kept.part.is_none());
    for merged in whole.map(|kept| records(kept.name)) {
        let directory = tempfile::tempdir().expect("a directory");
        let finished = Finished::write(&merged, directory.path()).expect("written");
        let name = format!("{} on {}", merged.manifest.name, merged.manifest.engine);
        assert!(finished.passed(), "{name}: {:?} {:?}", finished.judgement, finished.versus);
        let cells = cells(&merged).expect("cells");
        assert_eq!(Unjudged::of(&merged.manifest, &cells).count(), 0, "{name}");
        judged += finished.judgement.all + finished.versus.len() as u64;
    }
    assert!(judged > 0);
}

/// Records are small.
#[test]
fn records_take_less_than_a_megabyte() {
    let files = KEPT.iter().filter_map(|kept| std::fs::read_dir(kept.folder()).ok()).flatten();
    let sizes = files.map(|file| file.and_then(|file| file.metadata()).expect("a file").len());
    let bytes: u64 = sizes.sum();
    assert!((1..1_000_000).contains(&bytes), "{bytes}");
}
