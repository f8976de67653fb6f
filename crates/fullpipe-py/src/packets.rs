//! Tables of packets: where they grow while a run is made, and where they are read again.

use fullpipe::capture::Trains;
use fullpipe::engine::Failed;
use fullpipe::report::time_sequence;
use fullpipe::results::rundir::Writer;
use fullpipe::scenario::Plan;
use fullpipe::trace::packets::FILE;
use std::fs;
use std::path::PathBuf;

/// Where the tables of a scenario's runs end.
#[derive(Clone, Copy)]
pub enum Kept<'a> {
    /// In the folders of the runs.
    With(&'a Writer),
    /// In folders below this directory; the name of each is its run's number.
    In(&'a PathBuf),
}

/// The table of a run, which `report.packets` asks for. A table that is not taken is removed.
pub struct Growing {
    path: PathBuf,
    pub at: String,
}

impl Growing {
    /// Begins it; none where the scenario asks for none.
    pub fn begin(
        kept: Option<Kept>,
        index: usize,
        plan: &Plan,
    ) -> Result<Option<(Trains, Growing)>, Failed> {
        let (Some(asked), Some(kept)) = (&plan.resolved.report.packets, kept) else {
            return Ok(None);
        };
        let path = match kept {
            Kept::With(writer) => writer.growing(),
            Kept::In(directory) => {
                let folder = directory.join(index.to_string());
                fs::create_dir_all(&folder)
                    .map_err(|e| Failed::Machine(format!("{}: {e}", folder.display())))?;
                folder.join(FILE)
            }
        };
        let growing = Growing { path, at: asked.at.clone() };
        let trains = Trains::create(&growing.path, &plan.resolved).map_err(machine)?;
        Ok(trains.map(|trains| (trains, growing)))
    }

    /// Leaves it where it belongs, with its graph where the run has a folder.
    pub fn keep(
        mut self,
        kept: Kept,
        title: &str,
        run: &fullpipe::analysis::document::Run,
    ) -> Result<(), Failed> {
        if let Kept::With(writer) = kept {
            let folder = writer.take(&run.variant, &self.path, FILE).map_err(machine)?;
            time_sequence::write(&folder, title, run).map_err(machine)?;
        }
        self.path.clear();
        Ok(())
    }
}

impl Drop for Growing {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // There is no caller to report to.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Results cannot be written.
pub fn machine(error: fullpipe::trace::Error) -> Failed {
    Failed::Machine(error.to_string())
}
