//! Sweeps: the runs by number, wherever they are made, and the directory that keeps them.

use crate::axes;
use crate::error;
use crate::runs::until;
use fullpipe::experiment::Allowed;
use fullpipe::scenario::{self, Beside, SetOption, Source};
use fullpipe::sweep::output;
use fullpipe::sweep::{self, Ask, Job, Manifest, Merged, Record, Shard, Share};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyDict};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

/// Name of a scenario, its text, the directory beside it, and its recipe.
#[derive(FromPyObject)]
struct Parts(String, String, Option<PathBuf>, Option<String>);

/// Runs of a sweep.
#[pyclass(frozen, module = "fullpipe._fullpipe")]
pub struct Sweep {
    job: Job,
    manifest: Manifest,
}

#[pymethods]
impl Sweep {
    /// Reads the result of [`Scenario::parts`](crate::scenario::Scenario), with the options.
    #[new]
    #[pyo3(signature = (parts, sets, variants, engine, as_kernel, without))]
    fn new(
        py: Python<'_>,
        parts: Parts,
        sets: Vec<String>,
        variants: Vec<String>,
        engine: String,
        as_kernel: Option<String>,
        without: Vec<String>,
    ) -> PyResult<Sweep> {
        let source = source(parts);
        let sets: Vec<SetOption> = sets.into_iter().map(SetOption).collect();
        let allowed = Allowed { as_kernel: as_kernel.as_deref(), without: &without };
        let ask = Ask { sets: &sets, variants: &variants, engine: &engine, allowed };
        let (job, manifest) = py.detach(|| sweep::ask(&source, &ask)).map_err(error::unfit)?;
        Ok(Sweep { job, manifest })
    }

    /// A scenario's text with axes and seeds.
    #[staticmethod]
    #[pyo3(signature = (text, axes, seeds))]
    fn text(text: &str, axes: Option<&Bound<'_, PyDict>>, seeds: Option<u32>) -> PyResult<String> {
        axes::with(text, axes, seeds)
    }

    /// A value as TOML writes it.
    #[staticmethod]
    fn toml(value: &Bound<'_, PyAny>) -> PyResult<String> {
        Ok(axes::toml(value)?.to_string().trim().to_string())
    }

    /// Number of runs.
    #[getter]
    fn runs(&self) -> u64 {
        self.manifest.runs
    }

    /// Manifest of the sweep, as its directory has it.
    #[getter]
    fn manifest(&self) -> String {
        serde_json::to_string(&self.manifest).unwrap_or_default()
    }

    /// The record of a run as its line of JSON.
    fn record(&self, py: Python<'_>, run: u64) -> PyResult<String> {
        let line = Mutex::new(None);
        let keep = |record: &Record| {
            let text = serde_json::to_string(record).map_err(|e| e.to_string())?;
            *line.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
            Ok(())
        };
        py.detach(|| self.make(&[run], 1, &keep))?;
        let line = line.into_inner().unwrap_or_else(PoisonError::into_inner);
        line.ok_or_else(|| error::environment("the run was stopped"))
    }

    /// Makes these runs with `jobs` threads here, and keeps each record at once.
    #[pyo3(signature = (store, runs, jobs))]
    fn work(&self, py: Python<'_>, store: &Store, runs: Vec<u64>, jobs: usize) -> PyResult<()> {
        py.detach(|| self.make(&runs, jobs, &|record| store.keep(record)))
    }
}

impl Sweep {
    /// Makes runs while this thread looks for signals.
    fn make(
        &self,
        runs: &[u64],
        jobs: usize,
        keep: &(dyn Fn(&Record) -> Result<(), String> + Sync),
    ) -> PyResult<()> {
        let stop = AtomicBool::new(false);
        let stopped = || stop.load(Ordering::SeqCst);
        let lost = thread::scope(|scope| {
            let (done, ended) = mpsc::channel::<()>();
            let work = scope.spawn(|| {
                // It is dropped with the thread, however that ends.
                let _done = done;
                sweep::make(&self.job, runs, jobs, &stopped, keep)
            });
            until(&ended, &stop)?;
            Ok::<_, PyErr>(work.join())
        })?;
        let broken = |_| error::environment("a bug of fullpipe: the threads of a sweep");
        lost.map_err(broken)?.map_err(error::environment)
    }
}

fn source(parts: Parts) -> Source {
    let Parts(name, text, beside, recipe) = parts;
    let recipe = recipe.and_then(|name| scenario::recipe(&name).ok()).map(|own| own.source());
    match (recipe, beside) {
        (Some(own), _) => Source { name, text, ..own },
        (None, beside) => {
            let beside = beside.map_or(Beside::Nothing, Beside::Directory);
            Source { beside, ..Source::text(&name, &text) }
        }
    }
}

/// The directory of a sweep, to which this process appends.
#[pyclass(frozen, module = "fullpipe._fullpipe")]
pub struct Store {
    /// None when it is closed.
    store: Mutex<Option<Arc<sweep::Store>>>,
    runs: u64,
}

#[pymethods]
impl Store {
    /// Opens or makes it.
    #[new]
    fn new(sweep: &Sweep, directory: PathBuf) -> PyResult<Store> {
        let store = sweep::Store::open(&directory, &sweep.manifest, Shard::WHOLE);
        let store = store.map_err(error::scenario)?;
        let store = Mutex::new(Some(Arc::new(store)));
        Ok(Store { store, runs: sweep.manifest.runs })
    }

    /// Runs that are still to be made.
    fn rest(&self, retry: bool) -> PyResult<Vec<u64>> {
        let store = self.open().map_err(error::environment)?;
        Ok(Share { shard: Shard::WHOLE, sample: None, retry }.rest(&store, self.runs))
    }

    /// Lets others work at it. An exception can keep this object alive for long.
    fn close(&self) {
        *self.store.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Keeps a record at once.
    fn append(&self, line: &str) -> PyResult<()> {
        let record: Record = serde_json::from_str(line).map_err(error::environment)?;
        self.keep(&record).map_err(error::environment)
    }
}

impl Store {
    fn keep(&self, record: &Record) -> Result<(), String> {
        self.open()?.append(record).map_err(|why| why.to_string())
    }

    fn open(&self) -> Result<Arc<sweep::Store>, String> {
        let store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        store.clone().ok_or_else(|| "the sweep's directory is closed".into())
    }
}

/// A sweep with its runs merged: its directory has what `fullpipe merge` writes.
#[pyclass(frozen, module = "fullpipe._fullpipe")]
pub struct Finished {
    merged: Merged,
    passed: bool,
}

#[pymethods]
impl Finished {
    /// Writes the table of all runs, the cells and the page into the directory.
    #[new]
    fn new(py: Python<'_>, directory: PathBuf) -> PyResult<Finished> {
        let made = py.detach(|| {
            let merged = Merged::open(std::slice::from_ref(&directory))?;
            let passed = output::Finished::write(&merged, &directory)?.passed();
            Ok::<_, fullpipe::trace::Error>(Finished { merged, passed })
        });
        made.map_err(error::environment)
    }

    /// Whether everything holds that was expected.
    #[getter]
    fn passed(&self) -> bool {
        self.passed
    }

    /// Number of recorded runs, failed ones included.
    #[getter]
    fn runs(&self) -> u64 {
        self.merged.runs()
    }

    /// Runs that failed.
    #[getter]
    fn failed(&self) -> u64 {
        self.merged.failed()
    }

    /// Runs that are not there.
    #[getter]
    fn missing(&self) -> u64 {
        self.merged.missing()
    }

    /// Records of runs that are there already.
    #[getter]
    fn again(&self) -> u64 {
        self.merged.again
    }

    /// Records in the sweep's order as lines of JSON: `most` of them after the first `start`.
    fn records(&self, py: Python<'_>, start: usize, most: usize) -> PyResult<Vec<String>> {
        let read = || {
            let mut lines = Vec::new();
            self.merged.part(start, most, |record| {
                lines.push(serde_json::to_string(&record).unwrap_or_default());
                Ok(())
            })?;
            Ok::<_, fullpipe::trace::Error>(lines)
        };
        py.detach(read).map_err(error::environment)
    }
}
