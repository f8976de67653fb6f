//! All tests of this crate, in one program.

mod advised;
mod drawing;
mod fresh;
mod page;
mod recorded;
mod scoring;
