//! Any bytes as a scenario: what the tests hold of a scenario's answer holds.
#![no_main]

// The shared check knows the parser as `fullpipe::scenario`. The rest of fullpipe would take minutes to compile.
extern crate self as fullpipe;
pub use fullpipe_scenario as scenario;

#[path = "../../crates/fullpipe/tests/all/scenario_check/mod.rs"]
mod scenario_check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| scenario_check::check(bytes, &[]));
