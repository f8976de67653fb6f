//! All tests of this crate, in one program.

mod drawing;
mod scoring;
