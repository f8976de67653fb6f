//! Descriptions of a host's stages.

use crate::trace::StageInfo;
use alloc::format;

/// The description of a host's stage, one that is timed; index and direction are filled in by the run.
pub fn info(
    host: &str,
    kind: &'static str,
    unit: &'static str,
    capacity: Option<u64>,
) -> StageInfo {
    StageInfo {
        index: 0,
        name: format!("{host}.{kind}"),
        kind,
        direction: "",
        unit,
        capacity,
        timed: true,
    }
}
