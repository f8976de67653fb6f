//! `fullpipe list`: everything that has a name.

use crate::args::ListArguments;
use crate::failure::Failure;
use crate::output::Output;

/// Prints all names.
pub fn list(_arguments: &ListArguments, _output: &Output) -> Result<(), Failure> {
    Ok(())
}
