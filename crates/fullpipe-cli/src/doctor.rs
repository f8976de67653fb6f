//! `fullpipe doctor`: needs of runs on a real kernel, and the remedy for a missing one.

use crate::args::DoctorArguments;
use crate::failure::Failure;
use crate::output::Output;
use fullpipe::doctor::{Check, Diagnosis, diagnose};

/// Prints the checks; something missing is a failure of the environment.
pub fn doctor(arguments: &DoctorArguments, output: &Output) -> Result<(), Failure> {
    let diagnosis = diagnose();
    match arguments.json {
        true => output.json(&diagnosis)?,
        false => output.print(&text(&diagnosis))?,
    }
    let missing = diagnosis.checks.iter().filter(|check| !check.ok).count();
    match missing {
        0 => Ok(()),
        1 => Err(Failure::Environment("one thing is missing for genuine Linux runs".into())),
        n => Err(Failure::Environment(format!("{n} things are missing for genuine Linux runs"))),
    }
}

/// A line for each check; below a failed one, the reason and the remedy.
fn text(diagnosis: &Diagnosis) -> String {
    diagnosis.checks.iter().map(line).collect()
}

fn line(check: &Check) -> String {
    let Check { name, found, why, remedy, .. } = check;
    match check.ok {
        true => format!("ok       {name}: {found}\n"),
        false => {
            format!("missing  {name}: {found}\n         {why}; remedy:\n             {remedy}\n")
        }
    }
}
