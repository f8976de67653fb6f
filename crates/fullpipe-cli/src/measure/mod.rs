//! `fullpipe measure`: a transfer between two hosts, measured by the protocol of iperf3.

mod following;
mod rows;
mod text;

use crate::failure::Failure;
use crate::interrupt;
use crate::measure_arguments::MeasureArguments;
use crate::output::{Output, note};
use following::Following;
use fullpipe_measure::outcome::{Ended, Outcome};
use fullpipe_measure::server::{Served, Server};
use fullpipe_measure::{Wrong, client};

/// Text that the first signal prints.
const STOPPING: &str = "stopping; the result is from what there is (once more to quit at once)";

/// Makes a test, or waits for clients.
pub fn measure(arguments: &MeasureArguments, output: &Output) -> Result<(), Failure> {
    interrupt::listen(STOPPING)?;
    match arguments.server {
        true => serve(arguments, output),
        false => ask(arguments, output),
    }
}

/// Makes one test.
fn ask(arguments: &MeasureArguments, output: &Output) -> Result<(), Failure> {
    let wanted = arguments.wanted().map_err(Failure::Input)?;
    let mut following = Following::new(arguments.quiet);
    let outcome = client::run(&wanted, &mut following).map_err(failure)?;
    shown(&outcome, output)
}

/// Serves one client after the other.
fn serve(arguments: &MeasureArguments, output: &Output) -> Result<(), Failure> {
    let mut server = Server::bind(arguments.port, arguments.every()).map_err(failure)?;
    note(&format!("waiting for clients at port {}", server.port()));
    loop {
        let mut following = Following::new(arguments.quiet);
        let served = server.serve(&mut following).map_err(failure)?;
        let ended = match &served {
            Served::Stopped => return Ok(()),
            Served::Test(outcome) => shown(outcome, output),
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

/// Shows what there is; a test that broke is a failure all the same.
fn shown(outcome: &Outcome, output: &Output) -> Result<(), Failure> {
    output.print(&text::text(outcome, output.style()))?;
    match &outcome.ended {
        Ended::Whole | Ended::Stopped => Ok(()),
        Ended::ByPeer => {
            let peer = if outcome.is_server { "client" } else { "server" };
            let text = format!(
                "the {peer} {} was stopped: the result is from what there is",
                outcome.peer
            );
            Err(Failure::Environment(text))
        }
        Ended::Broken(why) => Err(Failure::Environment(why.clone())),
    }
}

fn failure(why: Wrong) -> Failure {
    match why {
        Wrong::Request(text) => Failure::Input(text),
        Wrong::Environment(text) => Failure::Environment(text),
    }
}
