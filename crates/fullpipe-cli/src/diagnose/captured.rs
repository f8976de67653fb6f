//! Captures: the verdict on the busiest connection, its figures, and the table of all.

use super::advising::{self, Both};
use super::captured_text::{self, Shown};
use super::inputs::Inputs;
use super::{Keeping, command};
use crate::diagnose_arguments::DiagnoseArguments;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Output, note};
use fullpipe::analysis::document::{Document, Run};
use fullpipe::captured::{self, Control, Judged, LINKS, Listed, Overview, Watch};
use fullpipe::numbers::count;
use fullpipe::observation;
use fullpipe::report::time_sequence;
use fullpipe::results::provenance::Provenance;
use fullpipe::results::rundir::Place;
use serde::Serialize;
use std::time::{Duration, Instant, SystemTime};

/// Time between two lines of progress.
const EVERY: Duration = Duration::from_secs(3);

/// Answers for captures.
///
/// # Errors
/// A file is damaged, no connection fits, or the result cannot be kept.
pub fn answer(
    files: &Inputs,
    arguments: &DiagnoseArguments,
    output: &Output,
    place: Option<&Place>,
) -> Result<(), Failure> {
    arguments.check_captures().map_err(Failure::Input)?;
    let (started, clock) = (SystemTime::now(), Instant::now());
    let mut watch = Reading::new(arguments.quiet);
    let inputs = captured::in_order(files.all().to_vec());
    let is_moved = inputs.iter().zip(files.all()).any(|(own, given)| own.path != given.path);
    if is_moved && !arguments.quiet {
        note("the files are read in the order of their times");
    }
    let inputs = &inputs[..];
    let overview = captured::overview(inputs, &mut watch).map_err(Failure::Input)?;
    let busiest = overview.busiest(&arguments.selection());
    if busiest.is_empty() {
        return Err(Failure::Input(nothing(&overview, &arguments.sought())));
    }
    let chosen = &busiest[..busiest.len().min(usize::from(arguments.top))];
    let judged = overview.judge(inputs, chosen, arguments.at, &mut watch);
    let judged = judged.map_err(Failure::Input)?;

    let runs: Vec<Run> = judged.iter().map(|own| own.run.clone()).collect();
    let document = observation::document(&title(&judged), runs);
    let shown = Shown {
        document: &document,
        judged: &judged,
        listed: busiest.iter().map(|at| Listed::of(&overview.connections.all()[*at])).collect(),
        overview: &overview,
    };
    // The verdict is shown before trials begin.
    if !arguments.json {
        output.print(&captured_text::text(&shown, output.style()))?;
    }
    let advised = match arguments.advise {
        true => Some(advising::on_packets(&judged, arguments)?),
        false => None,
    };
    let with_files = Json::new(&shown);
    match &advised {
        Some(own) if arguments.json => output.json(&Both { document: &with_files, own })?,
        None if arguments.json => output.json(&with_files)?,
        Some(own) => output.print(&own.text(output.style().width))?,
        None => {}
    }
    let Some(place) = place else { return Ok(()) };
    let keeping = Keeping::begin(place)?;
    let mut document = document;
    let title = document.scenario.title.clone();
    for (run, own) in document.runs.iter_mut().zip(&judged) {
        // A signal ends the reading of packets, too.
        if interrupt::stopped() {
            keeping.add(run, &own.recording)?;
            continue;
        }
        keeping.add_captured(&title, run, &own.recording, |path| {
            captured::packets::keep(inputs, &overview, own, path, &mut watch)
        })?;
    }
    let kept = keeping.finish(&document, &Provenance::here(command(), started, clock.elapsed()))?;
    if let Some(own) = &advised {
        own.keep(&kept)?;
    }
    if !arguments.quiet {
        note(&format!("kept: {}; `fullpipe report` shows it again", kept.display()));
        note(&format!("time-sequence graphs: {}/*/{}", kept.display(), time_sequence::FILE));
    }
    Ok(())
}

/// The document with what the files have beside it.
#[derive(Serialize)]
struct Json<'a> {
    #[serde(flatten)]
    document: &'a Document,
    capture: Files<'a>,
}

/// Counts of all files, and their connections.
#[derive(Serialize)]
struct Files<'a> {
    packets: u64,
    tcp_packets: u64,
    dropped: u64,
    cut: &'a [String],
    stopped: bool,
    connections: &'a [Listed],
    congestion_controls: Vec<Guess<'a>>,
}

/// The congestion control of a judged connection; null where losses are few.
#[derive(Serialize)]
struct Guess<'a> {
    connection: &'a str,
    control: Option<Control>,
}

impl<'a> Json<'a> {
    fn new(shown: &'a Shown) -> Json<'a> {
        let own = shown.overview;
        Json {
            document: shown.document,
            capture: Files {
                packets: own.packets,
                tcp_packets: own.segments,
                dropped: own.dropped,
                cut: &own.cut,
                stopped: own.stopped,
                connections: &shown.listed,
                congestion_controls: shown
                    .judged
                    .iter()
                    .map(|own| Guess { connection: &own.run.variant, control: own.control })
                    .collect(),
            },
        }
    }
}

fn title(judged: &[Judged]) -> String {
    let names: Vec<&str> = judged.iter().map(|own| &own.run.variant[..]).collect();
    format!("Captured connection {}", names.join(", "))
}

/// Reason for which there is no answer.
pub(crate) fn nothing(own: &Overview, sought: &str) -> String {
    let links = own.unknown.keys().map(u16::to_string).collect::<Vec<_>>().join(", ");
    match () {
        () if own.packets == 0 => match own.cut.first() {
            Some(why) => format!("no packet can be read: {why}"),
            None => "the capture has no packets".into(),
        },
        () if own.segments == 0 && !links.is_empty() => {
            format!("the link of the capture (LINKTYPE {links}) is not read; {LINKS} are")
        }
        () if own.segments == 0 => {
            format!("none of {} packets is one of TCP", count(own.packets))
        }
        () => format!(
            "there is no {sought} among the {} of the capture",
            captured_text::connections(own.connections.all().len())
        ),
    }
}

/// Progress of a reading; a signal ends it.
pub(crate) struct Reading {
    quiet: bool,
    begun: Instant,
    said: Instant,
}

impl Reading {
    pub(crate) fn new(quiet: bool) -> Reading {
        let now = Instant::now();
        Reading { quiet, begun: now, said: now }
    }
}

impl Watch for Reading {
    fn read(&mut self, packets: u64, reading: u32) -> bool {
        if !self.quiet && self.said.elapsed() >= EVERY {
            let passed = self.begun.elapsed().as_secs_f64();
            note(&format!("{} packets, reading {reading}, {passed:.0} s", count(packets)));
            self.said = Instant::now();
        }
        !interrupt::stopped()
    }
}
