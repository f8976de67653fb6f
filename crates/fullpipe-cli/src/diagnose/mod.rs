//! `fullpipe diagnose`: what limits a live connection, a captured one, or one of which somebody has pasted a text.

mod advising;
pub(crate) mod captured;
mod captured_text;
pub(crate) mod inputs;
mod pasted;
mod pasted_text;
pub(crate) mod search;
pub(crate) mod text;
mod watching;

use crate::diagnose_arguments::DiagnoseArguments;
use crate::failure::Failure;
use crate::interrupt::{self, Temporary};
use crate::output::{Output, note};
use crate::packets;
use fullpipe::analysis::document::{self, Document, Run};
use fullpipe::observation::{self, Judged, Observation};
use fullpipe::report::{html, time_sequence};
use fullpipe::results::provenance::Provenance;
use fullpipe::results::rundir::{self, Place, RunDir, Writer};
use fullpipe::trace::recording::Recording;
use search::Watched;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};
pub(crate) use text::line;

/// Text that the first signal prints.
const STOPPING: &str =
    "stopping; the answer is from what was seen so far (once more to quit at once)";

/// Observes the wanted connections, and says what limits them.
pub fn diagnose(arguments: &DiagnoseArguments, output: &Output) -> Result<(), Failure> {
    arguments.check().map_err(Failure::Input)?;
    let place = arguments.save.clone().map(Place::Exactly);
    place.as_ref().map_or(Ok(()), Place::check)?;
    let other = arguments.with.as_deref().map(rundir::open).transpose();
    let other = other.map_err(|why| Failure::Input(why.to_string()))?;
    interrupt::listen(STOPPING)?;

    let (started, clock) = (SystemTime::now(), Instant::now());
    let files = inputs::Inputs::open(&arguments.files())?;
    if files.are_captures()? {
        return captured::answer(&files, arguments, output, place.as_ref());
    }
    arguments.check_texts().map_err(Failure::Input)?;
    let mut texts = match files.all() {
        [] => None,
        all => Some(pasted::Texts::read(all, arguments)?),
    };
    let watched = match &mut texts {
        None => search::observe(arguments)?,
        Some(texts) => match texts.only_looks() {
            Some(looks) => looks,
            None => return texts.answer(arguments, output),
        },
    };
    let observation = seen(watched, arguments)?;
    let mut judged = observation.runs();
    if let Some(other) = &other {
        judged.iter_mut().for_each(|own| join(own, other, arguments));
    }
    let runs: Vec<Run> = judged.iter().map(|own| own.run.clone()).collect();
    let document = observation::document(&title(&observation), runs);

    // The answer is shown before it is kept: a full disk must not hide it.
    if !arguments.json {
        output.print(&text::text(&document, &observation, &judged, output.style()))?;
    }
    let advised = match arguments.advise {
        true => Some(advising::on_sockets(&observation, &judged, arguments)?),
        false => None,
    };
    match &advised {
        Some(own) if arguments.json => output.json(&advising::Both { document: &document, own })?,
        None if arguments.json => output.json(&document)?,
        Some(own) => output.print(&own.text(output.style().width))?,
        None => {}
    }
    let Some(place) = place else { return Ok(()) };
    let provenance = Provenance::here(command(), started, clock.elapsed());
    let kept = keep(&place, &document, &judged, provenance)?;
    if let Some(own) = &advised {
        own.keep(&kept)?;
    }
    if !arguments.quiet {
        note(&format!("kept: {}; `fullpipe report` shows it again", kept.display()));
    }
    Ok(())
}

/// The observation, where there was something to observe.
fn seen(watched: Watched, arguments: &DiagnoseArguments) -> Result<Observation, Failure> {
    match watched {
        Watched::Seen(observation) => Ok(*observation),
        Watched::Connecting(seen) => Err(Failure::Input(text::connecting(&seen))),
        Watched::Nothing(seen) => Err(Failure::Input(text::none(&arguments.sought(), &seen))),
        Watched::Gone => Err(Failure::Input(format!(
            "the {} closed before it was looked at",
            arguments.sought()
        ))),
    }
}

/// Joins the verdict of the other end, where its observation has that connection.
fn join(own: &mut Judged, other: &RunDir, arguments: &DiagnoseArguments) {
    match observation::other_end(&own.run, &other.document) {
        Some(run) => observation::join(&mut own.run, run),
        None if !arguments.quiet => {
            note(&format!("note: {} has no other end of {}", other.path.display(), own.run.variant))
        }
        None => {}
    }
}

/// Title of the document.
pub(crate) fn title(observation: &Observation) -> String {
    let names: Vec<String> =
        observation.followed.subjects[..observation.judged].iter().map(text::name).collect();
    format!("Connection {}", names.join(", "))
}

pub(crate) fn command() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Writes a run directory, which exists under its name only when all is written.
pub(crate) fn keep(
    place: &Place,
    document: &Document,
    judged: &[Judged],
    provenance: Provenance,
) -> Result<PathBuf, Failure> {
    let keeping = Keeping::begin(place)?;
    judged.iter().try_for_each(|own| keeping.add(&own.run, &own.recording))?;
    keeping.finish(document, &provenance)
}

/// A run directory that is being written.
pub(crate) struct Keeping {
    writer: Writer,
    _removed_by_signal: Temporary,
}

impl Keeping {
    /// An empty directory, which a second signal removes.
    pub(crate) fn begin(place: &Place) -> Result<Keeping, Failure> {
        let writer = place.create()?;
        let _removed_by_signal = Temporary::new(writer.directory());
        Ok(Keeping { writer, _removed_by_signal })
    }

    /// Writes a run with its trace.
    pub(crate) fn add(&self, run: &Run, recording: &Recording) -> Result<(), Failure> {
        self.writer.run(run, None, recording)?;
        Ok(())
    }

    /// Writes a captured connection with its trace, its packets and their time-sequence graph.
    fn add_captured(
        &self,
        title: &str,
        run: &mut Run,
        recording: &Recording,
        packets: impl FnOnce(&Path) -> Result<document::Packets, String>,
    ) -> Result<(), Failure> {
        let table = packets::captured(&self.writer, run, packets)?;
        self.add(run, recording)?;
        let folder = table.take(&self.writer, run)?;
        time_sequence::write(&folder, title, run)?;
        Ok(())
    }

    /// Writes the document and the report, and gives the directory its name.
    pub(crate) fn finish(
        self,
        document: &Document,
        provenance: &Provenance,
    ) -> Result<PathBuf, Failure> {
        let report = html::render_in_place(document, "");
        let kept = self.writer.finish(document, provenance, Some(&report))?;
        Ok(Path::new(&kept).to_path_buf())
    }
}
