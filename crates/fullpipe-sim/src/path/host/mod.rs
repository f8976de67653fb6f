//! Stages of a host, one file each, in the order in which packets pass them.

pub mod receive;
pub mod transmit;

use crate::trace::StageInfo;
use alloc::format;

/// The description of a host's stage; index and direction are filled in by the run.
pub fn info(
    host: &str,
    kind: &'static str,
    unit: &'static str,
    capacity: Option<u64>,
) -> StageInfo {
    StageInfo { index: 0, name: format!("{host}.{kind}"), kind, direction: "", unit, capacity }
}
