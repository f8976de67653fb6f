//! Genuine Linux in virtual time: user-mode Linux, built on the user's machine from the
//! distribution's source. No engine runs it yet.

pub mod kernel;
