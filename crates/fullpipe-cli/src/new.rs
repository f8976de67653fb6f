//! `fullpipe new`: a scenario file from a few options.

use crate::failure::Failure;
use crate::new_file;
use crate::output::{Output, note};
use crate::path_arguments::NewArguments;

/// Writes the scenario; never over an existing file.
///
/// # Errors
/// The options are incomplete or out of range, the file exists, or it cannot be written.
pub fn new(arguments: &NewArguments, output: &Output) -> Result<(), Failure> {
    let file = &arguments.file;
    let outline = arguments.path.outline(&format!("new {}", file.display()))?;
    new_file::write(file, &outline.text())?;
    note(&format!("wrote {}: {}", file.display(), outline.describe()));
    output.print(&format!("fullpipe run {}\n", file.display()))
}
