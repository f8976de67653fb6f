//! Descriptions of a host's stages.

use crate::trace::StageInfo;
use alloc::format;

/// Description of a host's stage with times; the run fills in index and direction.
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
