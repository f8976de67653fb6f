//! `fullpipe plan`: what a path asks of its hosts.

use crate::failure::Failure;
use crate::output::{Output, note};
use crate::plan_arguments::PlanArguments;
use crate::plan_nfs;
use fullpipe::plan::kernel::Version;
use fullpipe::plan::{Question, plan as answer, text};

/// Both hosts' kernel where none is named.
const KERNEL: Version = Version::new(6, 12, 0);

/// Answers and prints.
pub fn plan(arguments: &PlanArguments, output: &Output) -> Result<(), Failure> {
    let question = Question {
        rate: arguments.rate,
        rtt: arguments.rtt,
        mtu: arguments.mtu,
        framing: arguments.framing.into(),
        kernel: arguments.kernel.unwrap_or(KERNEL),
        timestamps: !arguments.no_timestamps,
    };
    if arguments.nfs {
        return plan_nfs::plan(question, arguments, output);
    }
    if arguments.kernel.is_none() {
        note(&format!("note: planned for Linux {KERNEL}; --kernel names another (see `uname -r`)"));
    }
    let plan = answer(&question).map_err(|wrong| Failure::Input(wrong.to_string()))?;
    match arguments.json {
        true => output.json(&plan),
        false => output.print(&text::render(&plan)),
    }
}
