//! `fullpipe schema`: the JSON schemas of documents and of scenarios.

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
  fullpipe schema scenario > scenario.schema.json      for an editor that completes scenarios\n\n")]
pub struct SchemaArguments {
    /// Format that the schema describes
    #[arg(value_enum, default_value_t = Described::Summary)]
    pub what: Described,
}

/// A format that has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Described {
    /// The document of all runs: `run --json`, summary.json
    Summary,
    /// A scenario
    Scenario,
}

/// Prints the schema.
pub fn schema(arguments: &SchemaArguments, output: &Output) -> Result<(), Failure> {
    output.print(&match arguments.what {
        Described::Summary => formats::json_schema(),
        Described::Scenario => reference::json_schema(),
    })
}
