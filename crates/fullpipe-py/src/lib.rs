//! The compiled part of the Python package `fullpipe`. The library does the work, and `python/fullpipe` has the
//! interface.

mod axes;
mod error;
mod packets;
mod runs;
mod scenario;
mod sweep;
mod tables;

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command with these arguments, the first of them its name; the exit code.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| fullpipe_cli::code_of(arguments))
}

/// Names and titles of the built-in scenarios.
#[pyfunction]
fn recipes() -> Vec<(&'static str, &'static str)> {
    fullpipe::scenario::recipes().iter().map(|recipe| (recipe.name, recipe.title())).collect()
}

/// The module.
#[pymodule]
fn _fullpipe(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    error::add(module)?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<runs::Outcome>()?;
    module.add_class::<tables::Table>()?;
    module.add_class::<sweep::Sweep>()?;
    module.add_class::<sweep::Store>()?;
    module.add_class::<sweep::Finished>()?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(recipes, module)?)?;
    Ok(())
}
