//! All tests of this crate, in one program: compiled and linked once.

mod capture;
mod capture_tools;
mod common;
mod doctor;
mod failures;
mod help;
mod interrupt;
mod kernel;
mod linux_aborts;
mod linux_engine;
mod linux_failures;
mod linux_limits;
mod linux_options;
mod linux_path;
mod linux_process;
mod linux_queues;
mod linux_refusals;
mod linux_repeats;
mod list;
mod parity;
mod plan;
mod readme;
mod results;
mod run;
mod streams;
mod workshop;
