//! `--packets`, `report.packets`: the packets of a run as a table, and their time-sequence graph.

use crate::failure::Failure;
use crate::progress::Progress;
use fullpipe::analysis::document::{self, Run};
use fullpipe::capture::Trains;
use fullpipe::report::time_sequence;
use fullpipe::scenario::Resolved;
use fullpipe::trace::Error;
use fullpipe::trace::packets::FILE;
use fullpipe::trace::rundir::Writer;
use fullpipe_sim::trace::Sink;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The packets of a run that are being kept.
pub struct Packets {
    trains: Trains,
    /// Where, until the run has its folder.
    file: PathBuf,
    at: String,
}

impl Packets {
    /// Begins their table; none if the scenario asks for none.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn begin(writer: &Writer, run: &Resolved) -> Result<Option<Packets>, Failure> {
        let Some(asked) = &run.report.packets else { return Ok(None) };
        let (file, at) = (writer.growing(), asked.at.clone());
        let trains = Trains::create(&file, run).map_err(environment)?;
        Ok(trains.map(|trains| Packets { trains, file, at }))
    }

    /// Becomes true when the file cannot be written.
    pub fn failed(&self) -> Arc<AtomicBool> {
        self.trains.failed()
    }

    /// A sink that keeps packets, and passes on to `sink` what it is told.
    pub fn before<'a>(&'a mut self, sink: &'a mut dyn Sink) -> impl Sink + 'a {
        self.trains.before(sink)
    }

    /// Ends the table, takes it into the run's folder, and draws the graph beside it.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(
        self,
        writer: &Writer,
        title: &str,
        run: &mut Run,
        progress: &Progress,
    ) -> Result<(), Failure> {
        let kept = self.trains.finish().map_err(environment)?;
        let (packets, segments, trains) = (kept.packets, kept.segments, kept.trains);
        run.packets = Some(document::Packets { at: self.at, packets, segments, trains });
        let folder = writer.take(&run.variant, &self.file, FILE).map_err(environment)?;
        time_sequence::write(&folder, title, run).map_err(environment)?;
        progress.say(&format!("{}: {packets} packets kept, in {trains} trains", run.variant));
        Ok(())
    }
}

fn environment(error: Error) -> Failure {
    Failure::Environment(error.to_string())
}
