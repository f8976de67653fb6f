//! All tests of this crate, in one program.

mod drawing;
mod fresh;
mod recorded;
mod scoring;
