//! Behaviour of a kernel version: for each concern a choice among strategies, and constants.
//!
//! Versions differ in the rows of `rows/`, not in code. A flip of a row changes a golden conversation (`tests/golden`)
//! if the profile reads the row (`behaviour/needs.rs`), or a test of its own.
//!
//! Limits:
//! - Memory of a packet beyond its data is a constant, as in user-mode Linux: at first 256 bytes received and 512 sent.
//!   In 6.1 it is 768 both ways, from 6.12 on 832 both ways.

pub use super::rows::*;

use super::versions::Version;
use alloc::rc::Rc;
use core::ops::Deref;

/// A profile that all flows of a host share.
#[derive(Clone, Debug)]
pub struct SharedProfile(Rc<Profile>);

impl Deref for SharedProfile {
    type Target = Profile;

    fn deref(&self) -> &Profile {
        &self.0
    }
}

impl From<&Profile> for SharedProfile {
    fn from(profile: &Profile) -> SharedProfile {
        SharedProfile(Rc::new(*profile))
    }
}

impl From<&SharedProfile> for SharedProfile {
    fn from(profile: &SharedProfile) -> SharedProfile {
        profile.clone()
    }
}

/// Declares the profile by its rows.
macro_rules! profile {
    (
        { $($(#[$since:meta])* $row:ident: $type:ident {
            means: $means:literal,
            read_in: $read:literal,
            values: { $($version:ident: $value:tt),+ $(,)? },
            $(needs: [$($need:expr),+ $(,)?],)?
            $(tests: [$($test:literal),+ $(,)?],)?
        })* }
        { $($(#[$about:meta])* $constant:ident: $number:ident {
            $(read_in: $where:literal,)?
            values: { $($from:ident: $amount:tt),+ $(,)? },
        })* }
    ) => {
        /// The behaviour of one kernel version.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Profile {
            /// Name in scenarios.
            pub name: &'static str,
            /// Whether the profile is unvalidated: no real kernel was compared. It is another version's with later
            /// published changes.
            pub unvalidated: bool,
            $(
                #[doc = $means]
                ///
                $(#[$since])*
                pub $row: $type,
            )*
            $($(#[$about])* pub $constant: $number,)*
        }

        impl Profile {
            /// Profile of a version.
            const fn of(version: Version) -> Profile {
                Profile {
                    name: version.name(),
                    unvalidated: version.is_unvalidated(),
                    $($row: version.of(&[$((Version::$version, value!($type, $value))),+]),)*
                    $($constant: version.of(&[$((Version::$from, value!($number, $amount))),+]),)*
                }
            }
        }

        /// Constants with a known source.
        pub const CONSTANTS: &[Constant] = &[$($(Constant {
            name: stringify!($constant),
            read: $where,
            of: |profile| profile.$constant as u64,
        },)?)*];
    };
}

all_rows!(profile);

/// A number of a profile, which no scenario overrides.
pub struct Constant {
    /// Name, which is the name of the field of [`Profile`].
    pub name: &'static str,
    /// Name in the kernel.
    pub read: &'static str,
    /// Value in a profile.
    pub of: fn(&Profile) -> u64,
}

const TABLE: [Profile; Version::ALL.len()] = {
    let mut table = [Profile::of(Version::ALL[0]); Version::ALL.len()];
    let mut i = 1;
    while i < table.len() {
        table[i] = Profile::of(Version::ALL[i]);
        i += 1;
    }
    table
};

/// All known profiles, oldest first.
pub const PROFILES: &[Profile] = &TABLE;

/// The profile called `name`.
pub fn find(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|p| p.name == name)
}

impl Profile {
    /// Whether an ACK changes cwnd before losses are looked for, as before 4.6. This order has code of its own, with
    /// rows of its own (`behaviour/needs.rs`).
    pub(crate) fn cwnd_first(&self) -> bool {
        self.ack_order == AckOrder::CwndFirst
    }

    /// Whether a congestion control may set the whole window. This needs samples of the delivery rate with RACK, and
    /// pacing by departure times.
    pub(crate) fn lets_control(&self) -> bool {
        !self.cwnd_first() && self.sack_marking == SackMarking::Rack && self.departure_times
    }
}
