//! The command `fullpipe` as a library: [`main_with`] is the whole program, so that other entry
//! points run the same.

mod advise;
mod advise_arguments;
mod args;
mod captures;
mod choice;
mod compare;
mod connections;
mod diagnose;
mod diagnose_arguments;
mod doctor;
mod dry_run;
mod engine;
mod engines;
mod estimate;
mod experiment;
mod explain;
mod extract;
mod failure;
mod interrupt;
mod kept;
mod kernel;
mod list;
mod measure;
mod measure_arguments;
mod new;
mod new_file;
mod output;
mod pace;
mod packets;
mod packets_arguments;
mod parity;
mod path_arguments;
mod plan;
mod plan_arguments;
mod plan_nfs;
mod progress;
mod quantity;
mod relieve;
mod report;
mod run;
mod run_arguments;
mod schema;
mod shell;
mod source;
mod sweep;
mod threads;
mod usage;
mod version;
mod view;
mod watch;
mod watch_arguments;

use args::{Arguments, Command};
use clap::Parser;
use failure::Failure;
use output::Output;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the program with these arguments, the first of them its name.
///
/// Exit codes: 0 fine, 1 an expectation failed, 2 bad input, 3 the environment cannot, 130
/// interrupted.
pub fn main_with(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(code_of(arguments))
}

/// Runs the program and returns the number of its exit code; for callers without use for an [`ExitCode`].
pub fn code_of(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = arguments.into_iter().collect();
    let arguments = match Arguments::try_parse_from(&words) {
        Ok(arguments) => arguments,
        Err(message) => return shown_by_clap(&usage::with_way_out(message, &words)),
    };
    match dispatch(&arguments.command) {
        Ok(()) => 0,
        Err(failure) => failure.report(),
    }
}

fn dispatch(command: &Command) -> Result<(), Failure> {
    let output = Output::detect();
    match command {
        Command::List(list) => list::list(list, &output),
        Command::Run(run) => run::run(run, &output),
        Command::Report(report) => report::report(report, &output),
        Command::Compare(compare) => compare::compare(compare, &output),
        Command::Relieve(relieve) => relieve::relieve(relieve, &output),
        Command::Sweep(sweep) => sweep::sweep(sweep, &output),
        Command::Merge(merge) => sweep::merge(merge, &output),
        Command::Parity(parity) => parity::parity(parity, &output),
        Command::New(new) => new::new(new, &output),
        Command::Plan(plan) => plan::plan(plan, &output),
        Command::Advise(advise) => advise::advise(advise, &output),
        Command::Diagnose(diagnose) => diagnose::diagnose(diagnose, &output),
        Command::Packets(packets) => extract::packets(packets),
        Command::Watch(watch) => watch::watch(watch, &output),
        Command::Measure(measure) => measure::measure(measure, &output),
        Command::Explain(explain) => explain::explain(explain, &output),
        Command::Kernel(kernel) => kernel::kernel(&kernel.command, &output),
        Command::Doctor(doctor) => doctor::doctor(doctor, &output),
        Command::Schema(schema) => schema::schema(schema, &output),
        Command::Completions(completions) => shell::completions(completions, &output),
        Command::Man(man) => shell::man(man),
    }
}

/// Help, version, or an error in the arguments. A closed pipe is no error.
fn shown_by_clap(message: &clap::Error) -> u8 {
    let _ = message.print();
    u8::try_from(message.exit_code()).unwrap_or(2)
}
