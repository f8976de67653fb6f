//! Output of a sweep apart from its records: all runs as one table, the cells, the page, and the text on them.
//!
//! Cells are made one at a time and not kept: a sweep may have a million.

mod document;

pub use crate::sweep::tally::{Few, Judgement};

use crate::sweep::cells::{Cell, each};
use crate::sweep::competition::{Companies, Company};
use crate::sweep::surface::{Drawing, Failures, Tables, page};
use crate::sweep::tally::Tally;
use crate::sweep::unjudged;
use crate::sweep::versus::{self, Judged};
use crate::sweep::{Manifest, Merged, Record, Unjudged, csv};
use crate::trace::Error;
use crate::trace::replace::{replace, unwritten};
use document::Document;
use std::io::Write;
use std::path::Path;

/// File of the cells.
pub const CELLS: &str = "cells.json";
/// File of all runs as a table.
pub const TABLE: &str = "results.csv";
/// File of the figures.
pub const REPORT: &str = "report.html";

/// A sweep with its runs merged.
#[derive(Debug)]
pub struct Finished {
    /// Title of the scenario.
    pub title: String,
    /// Runs with a result.
    pub runs: u64,
    /// Runs that failed.
    pub failed: u64,
    /// Runs that are not there.
    pub missing: u64,
    /// The cells that a terminal shows.
    pub few: Few,
    /// Expectations of points.
    pub judgement: Judgement,
    /// Effects of flows on each other.
    pub competition: Vec<Company>,
    /// Expectations of two variants.
    pub versus: Vec<Judged>,
    /// Runs that miss an expectation of intervals.
    pub broken: u64,
    /// Expectations that are not judged, and why.
    pub unjudged: Unjudged,
}

impl Finished {
    /// Puts the runs together and writes [`TABLE`], [`CELLS`] and [`REPORT`] into a directory.
    ///
    /// # Errors
    /// Records cannot be read, or a file cannot be written.
    pub fn write(merged: &Merged, directory: &Path) -> Result<Finished, Error> {
        // Records are read twice: for the table, and for the cells.
        let mut variants = Variants::new(&merged.manifest);
        let broken = table(merged, &directory.join(TABLE), &mut variants)?;
        let (competition, versus) = variants.finish();
        let mut seen = Seen::new(merged);
        let path = directory.join(CELLS);

        // The file appears under its name only when it is whole.
        replace(&path, |out| {
            Document::new(merged, &mut |cell: &Cell| seen.add(cell), &competition, &versus)
                .write(out)
                .map_err(|e| unwritten(&path, e))
        })?;

        // The page needs all cells, so it comes last.
        let (tally, unjudged) = seen.draw(&competition, &versus, &directory.join(REPORT))?;
        Ok(Finished {
            title: merged.manifest.title.clone(),
            runs: merged.runs() - merged.failed(),
            failed: merged.failed(),
            missing: merged.missing(),
            few: tally.few,
            judgement: tally.judgement,
            competition,
            versus,
            broken,
            unjudged,
        })
    }

    /// Whether everything holds that was expected.
    pub fn passed(&self) -> bool {
        let versus = self.versus.iter().all(|judged| judged.passed);
        self.judgement.missed == 0 && versus && self.broken == 0
    }
}

/// Writes the page alone, of the runs that are there.
///
/// # Errors
/// Records cannot be read, or the file cannot be written.
pub fn redraw(merged: &Merged, file: &Path) -> Result<(), Error> {
    let mut variants = Variants::new(&merged.manifest);
    merged.each(|record| {
        variants.add(&record);
        Ok(())
    })?;
    let (competition, versus) = variants.finish();
    let mut seen = Seen::new(merged);
    each(merged, |cell| {
        seen.add(&cell);
        Ok(())
    })?;
    seen.draw(&competition, &versus, file).map(drop)
}

/// Comparisons of variants, from the records.
struct Variants<'a> {
    competition: Companies<'a>,
    versus: versus::Judging<'a>,
}

impl<'a> Variants<'a> {
    fn new(manifest: &'a Manifest) -> Variants<'a> {
        let (competition, versus) = (Companies::new(manifest), versus::Judging::new(manifest));
        Variants { competition, versus }
    }

    fn add(&mut self, record: &Record) {
        self.competition.add(record);
        self.versus.add(record);
    }

    fn finish(self) -> (Vec<Company>, Vec<Judged>) {
        (self.competition.finish(), self.versus.finish())
    }
}

/// Writes all runs as a table, and passes them on. Returns the number of runs that miss an expectation of intervals.
fn table(merged: &Merged, path: &Path, variants: &mut Variants) -> Result<u64, Error> {
    let mut broken = 0;
    replace(path, |out| {
        let table = csv::table(merged, out, |record| {
            variants.add(record);
            broken += u64::from(record.facts.as_ref().is_some_and(|f| !f.failed.is_empty()));
        });
        table.map_err(|e| unwritten(path, e))
    })?;
    Ok(broken)
}

/// Results of the cells that have passed.
struct Seen<'a> {
    merged: &'a Merged,
    tally: Tally,
    drawing: Drawing<'a>,
    judging: unjudged::Judging,
}

impl<'a> Seen<'a> {
    fn new(merged: &'a Merged) -> Seen<'a> {
        let manifest = &merged.manifest;
        let (drawing, judging) = (Drawing::new(manifest), unjudged::Judging::new(manifest));
        Seen { merged, tally: Tally::default(), drawing, judging }
    }

    fn add(&mut self, cell: &Cell) {
        self.tally.add(cell);
        self.drawing.add(cell);
        self.judging.add(cell);
    }

    /// Writes the page, and returns the remaining results.
    fn draw(
        self,
        competition: &[Company],
        versus: &[Judged],
        file: &Path,
    ) -> Result<(Tally, Unjudged), Error> {
        let Seen { merged, tally, drawing, judging } = self;
        let unjudged = judging.unjudged();
        let mut surfaces = drawing.finish(Failures::of(merged)?);
        let (cells, axes) = (&*tally.few.cells, !merged.manifest.axes.is_empty());
        surfaces.tables =
            Tables::new(cells, axes, competition, versus, &tally.judgement, &unjudged);
        let page = page(&surfaces, &tally.lead(merged, versus, &unjudged));
        replace(file, |out| out.write_all(page.as_bytes()).map_err(|e| unwritten(file, e)))?;
        Ok((tally, unjudged))
    }
}
