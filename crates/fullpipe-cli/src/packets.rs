//! `--packets`, `report.packets`: the packets of a run as a table, and their time-sequence graph.

use crate::failure::Failure;
use crate::progress::Progress;
use fullpipe::analysis::document::{self, Run};
use fullpipe::base::trace::Sink;
use fullpipe::capture::Trains;
use fullpipe::report::time_sequence;
use fullpipe::results::rundir::Writer;
use fullpipe::scenario::Resolved;
use fullpipe::trace::packets::FILE;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The packets of a run that are being kept.
pub struct Packets {
    trains: Trains,
    growing: Growing,
    at: String,
}

impl Packets {
    /// Begins their table; none if the scenario asks for none.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn begin(writer: &Writer, run: &Resolved) -> Result<Option<Packets>, Failure> {
        let Some(asked) = &run.report.packets else { return Ok(None) };
        let (growing, at) = (Growing(writer.growing()), asked.at.clone());
        let trains = Trains::create(&growing.0, run)?;
        Ok(trains.map(|trains| Packets { trains, growing, at }))
    }

    /// Becomes true when the file cannot be written.
    pub fn failed(&self) -> Arc<AtomicBool> {
        self.trains.failed()
    }

    /// A sink that keeps packets, and passes everything on to `sink`.
    pub fn before<'a>(&'a mut self, sink: &'a mut dyn Sink) -> impl Sink + 'a {
        self.trains.before(sink)
    }

    /// Ends the table.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(self, run: &mut Run) -> Result<Table, Failure> {
        let kept = self.trains.finish()?;
        let (packets, segments, trains) = (kept.packets, kept.segments, kept.trains);
        run.packets = Some(document::Packets { at: self.at, packets, segments, trains });
        Ok(Table(self.growing))
    }
}

/// The table of a run, which has no folder yet.
pub struct Table(Growing);

/// The packets of a captured connection as a table, which `keep` writes to a path.
///
/// # Errors
/// The table cannot be written.
pub fn captured(
    writer: &Writer,
    run: &mut Run,
    keep: impl FnOnce(&Path) -> Result<document::Packets, String>,
) -> Result<Table, Failure> {
    let growing = Growing(writer.growing());
    run.packets = Some(keep(&growing.0).map_err(Failure::Input)?);
    Ok(Table(growing))
}

impl Table {
    /// Takes it into the run's folder, which is returned.
    ///
    /// # Errors
    /// The file cannot be moved.
    pub fn take(self, writer: &Writer, run: &Run) -> Result<PathBuf, Failure> {
        Ok(writer.take(&run.variant, &self.0.0, FILE)?)
    }
}

/// Draws the graph of a run into the `folder` of its table.
///
/// # Errors
/// A file cannot be written.
pub fn draw(folder: &Path, title: &str, run: &Run, progress: &Progress) -> Result<(), Failure> {
    time_sequence::write(folder, title, run)?;
    if let Some(document::Packets { packets, trains, .. }) = run.packets {
        let name = &run.variant;
        progress.say(&format!("{name}: {packets} packets kept, in {trains} trains"));
    }
    Ok(())
}

/// Path of a growing table. If its run fails, the file is removed.
struct Growing(PathBuf);

impl Drop for Growing {
    fn drop(&mut self) {
        // Most often the table was taken; else there is no caller to report to.
        let _ = std::fs::remove_file(&self.0);
    }
}
