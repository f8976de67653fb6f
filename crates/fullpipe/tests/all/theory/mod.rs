//! The simulator against the predictions of theory, where the theory holds.
//!
//! No formula has a constant of ours: formulas are those of their papers. A formula's input that is not in the scenario
//! (packets per ACK) is measured. Each tolerance is stated with its reason before the table. Rows "at rest" of CUBIC
//! and BIC begin at the formula's answer. The scenarios are scenarios/theory/*.toml, the tables are docs/theory.md
//! (`UPDATE_EXPECT=1` rewrites them).

mod bic;
mod compound;
mod cubic;
mod cubic_random;
mod laws;
mod losses;
mod page;
mod random_loss;
mod responses;
mod runs;
mod sawtooth;
mod scalable;
mod slow_start;
