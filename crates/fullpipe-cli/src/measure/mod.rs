//! `fullpipe measure`: a transfer between two hosts, measured by the protocol of iperf3.

mod following;
mod json;
mod rows;
mod text;
mod verdict;

use crate::diagnose;
use crate::failure::Failure;
use crate::interrupt;
use crate::measure_arguments::MeasureArguments;
use crate::output::{Output, note};
use following::Following;
use fullpipe::results::provenance::Provenance;
use fullpipe::results::rundir::Place;
use fullpipe_measure::outcome::{Ended, Outcome};
use fullpipe_measure::server::{Served, Server};
use fullpipe_measure::{Wrong, client};
use std::time::{Instant, SystemTime};

/// Text that the first signal prints.
const STOPPING: &str = "stopping; the result is from what there is (once more to quit at once)";

/// Makes a test, or waits for clients.
pub fn measure(arguments: &MeasureArguments, output: &Output) -> Result<(), Failure> {
    let place = arguments.save.clone().map(Place::Exactly);
    place.as_ref().map_or(Ok(()), Place::check)?;
    interrupt::listen(STOPPING)?;
    let shows = Shows { arguments, output, place };
    match arguments.server {
        true => serve(&shows),
        false => ask(&shows),
    }
}

/// Makes one test.
fn ask(shows: &Shows) -> Result<(), Failure> {
    let wanted = shows.arguments.wanted().map_err(Failure::Input)?;
    let asked = Some(&wanted.parameters);
    let (mut following, begun) = (Following::new(shows.arguments.quiet, asked), Begun::now());
    let outcome = client::run(&wanted, &mut following).map_err(failure)?;
    shows.outcome(&outcome, following, &begun)
}

/// Serves one client after the other.
fn serve(shows: &Shows) -> Result<(), Failure> {
    let arguments = shows.arguments;
    let mut server = Server::bind(arguments.port, arguments.every()).map_err(failure)?;
    note(&format!("waiting for clients at port {}", server.port()));
    loop {
        let (mut following, begun) = (Following::new(arguments.quiet, None), Begun::now());
        let served = server.serve(&mut following).map_err(failure)?;
        let ended = match &served {
            Served::Stopped => return Ok(()),
            Served::Test(outcome) => shows.outcome(outcome, following, &begun),
            Served::Nothing(why) => Err(Failure::Environment(why.clone())),
        };
        if arguments.one_off || interrupt::stopped() {
            return ended;
        }

        // A client that fails is no reason to end.
        if let Err(failure) = ended {
            failure.report();
        }
    }
}

/// Begin of a test.
struct Begun {
    at: SystemTime,
    clock: Instant,
}

impl Begun {
    fn now() -> Begun {
        Begun { at: SystemTime::now(), clock: Instant::now() }
    }
}

/// Manner in which results are shown and kept.
struct Shows<'a> {
    arguments: &'a MeasureArguments,
    output: &'a Output,
    place: Option<Place>,
}

impl Shows<'_> {
    /// Shows what there is; a test that broke is a failure all the same.
    fn outcome(
        &self,
        outcome: &Outcome,
        following: Following,
        begun: &Begun,
    ) -> Result<(), Failure> {
        let verdict = following.verdict();
        match self.arguments.json {
            true => self.output.json(&json::document(outcome, &verdict, begun.at))?,
            false => self.output.print(&text::text(outcome, &verdict, self.output.style()))?,
        }
        match (&self.place, &verdict) {
            (Some(place), Ok(verdict)) => {
                let provenance =
                    Provenance::here(diagnose::command(), begun.at, begun.clock.elapsed());
                let kept = verdict.keep(place, provenance)?;
                let text = format!("kept: {}; `fullpipe report` shows it again", kept.display());
                self.note(&text);
            }
            (Some(_), Err(why)) => self.note(&format!("note: nothing is kept: {why}")),
            (None, _) => {}
        }
        match &outcome.ended {
            Ended::Whole | Ended::Stopped => Ok(()),
            Ended::ByPeer => {
                let (end, peer) =
                    (if outcome.is_server { "client" } else { "server" }, outcome.peer);
                let text =
                    format!("the {end} {peer} was stopped: the result is from what there is");
                Err(Failure::Environment(text))
            }
            Ended::Broken(why) => Err(Failure::Environment(why.clone())),
        }
    }

    fn note(&self, text: &str) {
        if !self.arguments.quiet {
            note(text);
        }
    }
}

fn failure(why: Wrong) -> Failure {
    match why {
        Wrong::Request(text) => Failure::Input(text),
        Wrong::Environment(text) => Failure::Environment(text),
    }
}
