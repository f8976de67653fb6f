//! What a sweep ends in: all its runs as one table, its cells, and what they say.

use crate::failure::Failure;
use crate::output::{Output, note};
use fullpipe::report::surface::{Failures, Surfaces, Tables, missed, page};
use fullpipe::report::terminal;
use fullpipe::sweep::cells::{Cell, cells};
use fullpipe::sweep::competition::{Company, competition};
use fullpipe::sweep::versus::{Judged, versus};
use fullpipe::sweep::{Merged, Shard, Unjudged, csv, manifest};
use serde::Serialize;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

/// File of the cells.
const CELLS: &str = "cells.json";
/// File of all runs as a table.
const TABLE: &str = "results.csv";
/// File of the figures.
pub const REPORT: &str = "report.html";
/// Expectations that are told one by one.
const MOST_TOLD: usize = 20;
/// Version of [`CELLS`].
const FORMAT: u32 = 1;

/// The cells of a sweep, as they stand in [`CELLS`].
#[derive(Serialize)]
pub struct Finished {
    format: u32,
    name: String,
    title: String,
    engine: String,
    axes: Vec<manifest::Axis>,
    runs: u64,
    failed: u64,
    missing: u64,
    cells: Vec<Cell>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    competition: Vec<Company>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    versus: Vec<Judged>,
    #[serde(skip)]
    broken: u64,
    #[serde(skip)]
    unjudged: Unjudged,
}

/// How a sweep is told.
#[derive(Clone, Copy)]
pub struct Telling {
    /// As one JSON document in place of tables.
    pub json: bool,
    /// Without where the results are.
    pub quiet: bool,
    /// Runs that are missing were not asked for.
    pub sampled: bool,
}

impl Finished {
    /// Puts the runs together and writes what follows from them.
    pub fn write(merged: &Merged, directory: &Path) -> Result<Finished, Failure> {
        let mut broken = 0;
        replace(&directory.join(TABLE), |out| {
            csv::table(merged, out, |record| {
                broken += u64::from(record.facts.as_ref().is_some_and(|f| !f.failed.is_empty()));
            })
        })?;
        let finished = Finished { broken, ..Finished::of(merged)? };
        replace(&directory.join(CELLS), |out| {
            serde_json::to_writer_pretty(&mut *out, &finished).map_err(|e| e.to_string())?;
            writeln!(out).map_err(|e| e.to_string())
        })?;
        finished.draw(merged, &directory.join(REPORT))?;
        Ok(finished)
    }

    /// Writes the page alone, of the runs that are there.
    pub fn redraw(merged: &Merged, file: &Path) -> Result<(), Failure> {
        Finished::of(merged)?.draw(merged, file)
    }

    /// The cells, what follows from them, and how many runs there are.
    fn of(merged: &Merged) -> Result<Finished, Failure> {
        let manifest = &merged.manifest;
        let cells = cells(merged)?;
        Ok(Finished {
            format: FORMAT,
            name: manifest.name.clone(),
            title: manifest.title.clone(),
            engine: manifest.engine.clone(),
            axes: manifest.axes.clone(),
            runs: merged.runs() - merged.failed(),
            failed: merged.failed(),
            missing: merged.missing(),
            competition: competition(merged)?,
            versus: versus(merged)?,
            broken: 0,
            unjudged: Unjudged::of(manifest, &cells),
            cells,
        })
    }

    fn draw(&self, merged: &Merged, file: &Path) -> Result<(), Failure> {
        let manifest = &merged.manifest;
        let mut surfaces = Surfaces::new(manifest, &self.cells, Failures::of(merged)?);
        let (cells, compared) =
            ((&*self.cells, !manifest.axes.is_empty()), (&*self.competition, &*self.versus));
        surfaces.tables = Tables::new(cells, compared, &self.unjudged);
        let page = page(&surfaces, &self.lead());
        replace(file, |out| out.write_all(page.as_bytes()).map_err(|e| e.to_string()))
    }

    /// How many runs there are, in a sentence or two.
    fn lead(&self) -> String {
        let (cells, runs) = (self.cells.len(), self.runs);
        let known = || self.cells.iter().filter(|cell| cell.runs > 0);
        let steady = |cell: &&Cell| cell.flows.iter().all(|flow| flow.steady == cell.runs);
        let (steady, known) = (known().filter(steady).count(), known().count());
        let mut text = format!(
            "{runs} runs at {cells} points on engine {}; {known} points have rates, of which {steady} are steady in all repetitions.",
            self.engine
        );
        let held = |passed: Vec<bool>, of: &str| match passed.len() {
            0 => String::new(),
            all => {
                let held = passed.iter().filter(|passed| **passed).count();
                format!(" {held} of {all} expectations of {of} hold.")
            }
        };
        let points = self.cells.iter().flat_map(|cell| &cell.expected);
        text += &held(points.map(|own| own.passed).collect(), "points");
        text += &held(self.versus.iter().map(|own| own.passed).collect(), "two variants");
        text += &self.unjudged.told().map_or_else(String::new, |told| format!(" {told}."));
        if self.failed + self.missing > 0 {
            text += &format!(" {} runs failed, {} are missing.", self.failed, self.missing);
        }
        text
    }

    /// The cells, how flows share the path in them, and what they do to each other.
    fn text(&self, style: terminal::Style) -> String {
        let cells = terminal::cells(&self.title, &self.cells, style);
        cells
            + &terminal::company(&self.cells, &self.competition, style)
            + &terminal::versus(&self.versus, style)
    }

    /// Prints the cells, and says what is not whole.
    pub fn show(&self, directory: &Path, telling: Telling, output: &Output) -> Result<(), Failure> {
        match telling.json {
            true => output.json(self)?,
            false => output.print(&self.text(output.style()))?,
        }
        if !telling.quiet {
            let report = directory.join(REPORT);
            note(&format!("results: {}\nreport: {}", directory.display(), report.display()));
        }
        let judged = self.judge();
        if self.failed > 0 {
            let what = format!("{} runs failed; --retry makes them again", self.failed);
            return Err(Failure::Environment(what));
        }
        if self.missing > 0 && telling.sampled {
            let all = self.runs + self.missing;
            note(&format!("{} of {all} runs are there: all of the points drawn", self.runs));
        } else if self.missing > 0 {
            let what = format!("{} runs are missing: start their parts again", self.missing);
            return Err(Failure::Environment(what));
        }
        judged
    }

    /// Tells what was expected and is not so.
    fn judge(&self) -> Result<(), Failure> {
        let missed: Vec<String> = self.cells.iter().flat_map(missed).collect();
        let all: usize = self.cells.iter().map(|cell| cell.expected.len()).sum();
        if all > 0 {
            note(&format!("{} of {all} expectations of points hold", all - missed.len()));
        }
        let failed = self.versus.iter().filter(|judged| !judged.passed).count();
        if !self.versus.is_empty() {
            let all = self.versus.len();
            note(&format!("{} of {all} expectations of two variants hold", all - failed));
        }
        if let Some(told) = self.unjudged.told() {
            note(&told);
        }
        missed.iter().take(MOST_TOLD).for_each(|text| note(text));
        if missed.len() > MOST_TOLD {
            note(&format!("{} more: `expected` in {CELLS}", missed.len() - MOST_TOLD));
        }
        if self.broken > 0 {
            let broken = self.broken;
            note(&format!("{broken} runs miss an expectation of intervals (`failed` in {TABLE})"));
        }
        match missed.is_empty() && failed == 0 && self.broken == 0 {
            true => Ok(()),
            false => Err(Failure::Expectation),
        }
    }
}

/// Copies records and manifest of several directories to a new one.
pub fn gather(merged: &Merged, directory: &Path) -> Result<(), Failure> {
    let there = |e: std::io::Error| {
        let hint = "name a new directory with --out";
        Failure::Input(format!("{}: cannot be made: {e}; {hint}", directory.display()))
    };
    if let Some(parent) = directory.parent() {
        fs::create_dir_all(parent).map_err(there)?;
    }
    fs::create_dir(directory).map_err(there)?;
    let text = serde_json::to_string_pretty(&merged.manifest);
    let text = text.map_err(|e| Failure::environment("cannot write the manifest", e))?;
    replace(&directory.join(manifest::FILE), |out| {
        writeln!(out, "{text}").map_err(|e| e.to_string())
    })?;
    replace(&directory.join(Shard::WHOLE.file()), |out| {
        let line = |record| {
            serde_json::to_writer(&mut *out, &record)
                .map_err(|e| fullpipe::trace::Error::new(directory, e))?;
            writeln!(out).map_err(|e| fullpipe::trace::Error::new(directory, e))
        };
        merged.each(line).map_err(|e| e.to_string())
    })
}

/// Writes a file that follows from the records under another name, then gives it its own.
fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), String>,
) -> Result<(), Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let hidden = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let failed =
        |why: String| Failure::environment(format!("cannot write {}", path.display()), why);
    let file = File::create(&hidden).map_err(|e| failed(e.to_string()))?;
    let mut out = BufWriter::new(file);
    write(&mut out).and_then(|()| out.flush().map_err(|e| e.to_string())).map_err(failed)?;
    fs::rename(&hidden, path).map_err(|e| failed(e.to_string()))
}
