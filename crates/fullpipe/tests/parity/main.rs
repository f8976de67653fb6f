//! The parity suite: scenarios/parity/*.toml on genuine Linux, kept as golden tables in
//! scenarios/parity/golden, so that these tests need no kernel.
//!
//! `make parity-record` records the tables anew.

mod again;
mod golden;
mod kept;
mod record;
mod runs;
mod sane;
mod suite;
