//! Threads of a command.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

/// Runs at a time: as many as were asked for, else one for each core.
pub fn jobs(asked: Option<NonZeroUsize>) -> usize {
    asked.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get)
}
