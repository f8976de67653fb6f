//! The parity suite: scenarios/parity/*.toml on real Linux, kept as golden tables in scenarios/parity/golden, so that
//! these tests need no kernel.
//!
//! `make parity-record` records the tables again, `make parity` writes the simulator's distances to them into the
//! pages. `fullpipe parity` runs and judges the same.

mod again;
mod causes;
mod distances;
mod drawing;
mod kept;
mod overlay;
mod page;
mod random;
mod record;
mod red;
mod runs;
mod sane;
mod suite;
