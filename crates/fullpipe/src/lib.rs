//! fullpipe: describe a path, its hosts and flows; run them; see where every packet waits or is
//! dropped; learn what limits the flow.
//!
//! The modules are the pipeline: [`scenario`] → [`engine`] → [`trace`] → [`analysis`] → [`report`].

pub mod advice;
pub use fullpipe_analysis as analysis;
pub use fullpipe_base as base;
pub mod capture;
pub mod captured;
pub use fullpipe_linux::doctor;
pub mod engine;
pub mod experiment;
mod gain;
pub use fullpipe_analysis::numbers;
pub use fullpipe_base::limits;
pub mod observation;
pub mod parity;
pub mod pasted;
pub mod plan;
pub mod relieve;
pub use fullpipe_report as report;
pub use fullpipe_scenario::response;
pub mod results;
pub use fullpipe_analysis::sizing;
pub use fullpipe_scenario as scenario;
pub use fullpipe_sim as sim;
pub mod steady;
pub mod sweep;
pub mod threads;
pub use fullpipe_trace as trace;
pub mod twin;
