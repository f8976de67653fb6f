//! `fullpipe schema`: the JSON schemas of results and of scenarios, and the reference pages of both.

use crate::args::TEMPLATE;
use crate::failure::Failure;
use crate::output::Output;
use clap::{Args, ValueEnum};
use fullpipe::results::formats;
use fullpipe::scenario::reference;

/// Options of `fullpipe schema`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, before_help = "Examples:
  fullpipe schema                      of `fullpipe run --json` and of summary.json
  fullpipe schema scenario > scenario.schema.json      for an editor that completes scenarios
  fullpipe schema scenario --markdown  every key of a scenario, with values, defaults and meaning
  fullpipe schema --markdown           every file, column and field of results\n\n")]
pub struct SchemaArguments {
    /// Format that the schema describes
    #[arg(value_enum, default_value_t = Described::Summary)]
    pub what: Described,
    /// Print the reference page (Markdown) in place of the schema
    #[arg(long)]
    pub markdown: bool,
}

/// A format that has a schema and a reference page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Described {
    /// The document of all runs: `run --json`, summary.json
    Summary,
    /// A scenario
    Scenario,
}

/// Prints the schema or the page.
pub fn schema(arguments: &SchemaArguments, output: &Output) -> Result<(), Failure> {
    output.print(&match (arguments.what, arguments.markdown) {
        (Described::Summary, false) => formats::json_schema(),
        (Described::Summary, true) => formats::markdown(),
        (Described::Scenario, false) => reference::json_schema(),
        (Described::Scenario, true) => reference::markdown(),
    })
}
