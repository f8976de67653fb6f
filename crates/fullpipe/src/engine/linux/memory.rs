//! Where guests' memory lies: files without a name in one directory, which wants to be in memory and executable.

use super::kernel::needs;
use std::path::{Path, PathBuf};

/// Names the directory.
const VARIABLE: &str = "FULLPIPE_MEMORY_DIR";
/// Where it usually is.
const SHARED: &str = "/dev/shm";
/// With less left a guest is ended: it would die at the next page, without a word. Some times what a guest takes
/// between two looks at it.
const LEAST: u64 = 16 << 20;

/// The directory of this user, from the root on: the guest works elsewhere.
pub fn directory() -> PathBuf {
    let named = std::env::var_os(VARIABLE).filter(|name| !name.is_empty());
    let place = named.map_or_else(|| SHARED.into(), PathBuf::from);
    std::path::absolute(&place).unwrap_or(place)
}

/// Why a guest whose memory lies in `place` cannot go on; none while there is room.
pub(super) fn full(place: &Path) -> Option<String> {
    let free = needs::free_space(place)?;
    (free < LEAST).then(|| {
        format!(
            "{} has no room for the guest's memory ({} MB free); remove files there, make it larger (mount -o \
             remount,size=4g {0}), or name another tmpfs by {VARIABLE}",
            place.display(),
            free / 1_000_000
        )
    })
}
