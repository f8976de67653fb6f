//! Where guests' memory lies: files without a name in one directory, which wants to be in memory and executable.

use super::rootfs;
use std::path::{Path, PathBuf};

/// Names the directory.
const VARIABLE: &str = "FULLPIPE_MEMORY_DIR";
/// Where it usually is.
const SHARED: &str = "/dev/shm";
/// Free memory below which a guest is ended: it would die at the next page, without a message. It is some times the
/// memory that a guest takes between two looks.
const LEAST: u64 = 16 << 20;

/// The directory of this user, from the root on: the guest works elsewhere.
pub fn directory() -> PathBuf {
    let named = std::env::var_os(VARIABLE).filter(|name| !name.is_empty());
    let place = named.map_or_else(|| SHARED.into(), PathBuf::from);
    std::path::absolute(&place).unwrap_or(place)
}

/// Whether it is there.
///
/// # Errors
/// It is not.
pub(crate) fn check() -> Result<(), String> {
    let place = directory();
    if place.is_dir() {
        return Ok(());
    }
    let named = (place != Path::new(SHARED)).then_some(VARIABLE);
    let what_for = format!("the guest's memory lies in {SHARED}, or where {VARIABLE} says");
    Err(rootfs::no_directory(named, &place, &what_for))
}

/// Why a guest with its memory in `place` cannot go on with so much room left; none while there is enough. A guest that
/// has `ended` by itself may have used the room up after the last look.
pub(super) fn full(place: &Path, room: Option<u64>, ended: bool) -> Option<String> {
    let free = room?;
    (free < if ended { 4 * LEAST } else { LEAST }).then(|| {
        format!(
            "{} has no room for the guest's memory ({} MB free); remove files there, make it larger (mount -o \
             remount,size=4g {0}), or name another tmpfs by {VARIABLE}",
            place.display(),
            free / 1_000_000
        )
    })
}
