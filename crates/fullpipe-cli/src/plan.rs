//! `fullpipe plan`: what a path asks of its hosts.

use crate::args::PlanArguments;
use crate::failure::Failure;
use crate::output::Output;
use fullpipe::plan::{Question, plan as answer, text};

/// Answers and prints.
pub fn plan(arguments: &PlanArguments, output: &Output) -> Result<(), Failure> {
    let question = Question {
        rate: arguments.rate,
        rtt: arguments.rtt,
        mtu: arguments.mtu,
        framing: arguments.framing.into(),
        kernel: arguments.kernel,
        timestamps: !arguments.no_timestamps,
    };
    let plan = answer(&question).map_err(|wrong| Failure::Input(wrong.to_string()))?;
    match arguments.json {
        true => output.json(&plan),
        false => output.print(&text::render(&plan)),
    }
}
