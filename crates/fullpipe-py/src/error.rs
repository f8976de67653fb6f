//! Exceptions, with the texts that the command prints behind "error: ".

use fullpipe::experiment::Unfit;
use fullpipe::trace;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    fullpipe,
    Error,
    PyException,
    "What fullpipe cannot do; its text is the command's."
);
create_exception!(
    fullpipe,
    ScenarioError,
    Error,
    "The scenario, or what was asked of it, makes no sense (exit code 2 of the command)."
);
create_exception!(
    fullpipe,
    EnvironmentError,
    Error,
    "This machine cannot, or lacks something (exit code 3 of the command)."
);

/// Adds the exceptions to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("Error", py.get_type::<Error>())?;
    module.add("ScenarioError", py.get_type::<ScenarioError>())?;
    module.add("EnvironmentError", py.get_type::<EnvironmentError>())
}

/// The request makes no sense.
pub fn scenario(why: impl ToString) -> PyErr {
    ScenarioError::new_err(why.to_string().trim_end().to_string())
}

/// The machine cannot.
pub fn environment(why: impl ToString) -> PyErr {
    EnvironmentError::new_err(why.to_string().trim_end().to_string())
}

/// Results cannot be written; or their name is taken, and the user names another one.
pub fn results(why: trace::Error) -> PyErr {
    if why.taken { scenario(why) } else { environment(why) }
}

/// The exception for a misfit: of the scenario, or of the environment.
pub fn unfit(why: Unfit) -> PyErr {
    match why {
        Unfit::Input(why) => scenario(why),
        Unfit::Environment(why) => environment(why),
    }
}
