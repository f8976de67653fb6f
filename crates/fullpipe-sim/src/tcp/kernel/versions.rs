//! Kernel versions that have a profile.
//!
//! Sources of the rows:
//!
//! - `tcp_input.c`, `tcp_output.c` and `tcp.h` of 2.6.20 and 2.6.24 as released, of 2.6.25 as of its last release
//!   candidates
//! - `tcp_input.c` and `tcp.h` of 2.6.32 as of its merge window; 3.14 as released
//! - 6.1 and 6.12 as the kernels of engine `linux` are built; single changes of 6.16 and 6.18
//!
//! `tcp_output.c` of 2.6.32 was read in 2.6.28 and 2.6.33. These agree except for `tso_deferral`, which changed in
//! 2.6.29. `docs/kernels.md` shows the table.
//!
//! Limits:
//! - Profile 3.14 has no autocorking, no partial end of a large skb, no `tcp_notsent_lowat` (3.12) and no
//!   SO_MAX_PACING_RATE (3.13).

/// A kernel version, oldest first.
#[derive(Clone, Copy)]
#[allow(non_camel_case_types, reason = "versions have points")]
pub(super) enum Version {
    V2_6_20,
    V2_6_24,
    V2_6_25,
    V2_6_32,
    V3_14,
    V6_1,
    V6_12,
    /// 6.12.117 with published changes of 6.13 to 6.16 (`docs/kernels.md`); its sources were not read.
    V6_16,
    /// 6.16 with published changes up to 6.18; its sources were not read.
    V6_18,
}

use Version::*;

impl Version {
    /// All versions, oldest first.
    pub(super) const ALL: [Version; 9] =
        [V2_6_20, V2_6_24, V2_6_25, V2_6_32, V3_14, V6_1, V6_12, V6_16, V6_18];

    /// The name in scenarios.
    pub(super) const fn name(self) -> &'static str {
        match self {
            V2_6_20 => "2.6.20",
            V2_6_24 => "2.6.24",
            V2_6_25 => "2.6.25",
            V2_6_32 => "2.6.32",
            V3_14 => "3.14",
            V6_1 => "6.1",
            V6_12 => "6.12",
            V6_16 => "6.16",
            V6_18 => "6.18",
        }
    }

    /// Whether the profile is unvalidated: no real kernel was compared.
    pub(super) const fn is_unvalidated(self) -> bool {
        matches!(self, V6_16 | V6_18)
    }

    /// Value of a row in this version: the newest one of `values` that is not newer.
    ///
    /// `values` begins with the oldest version and ascends; the compiler refuses anything else.
    pub(super) const fn of<T: Copy>(self, values: &[(Version, T)]) -> T {
        assert!(values[0].0 as u8 == V2_6_20 as u8, "a row has a value of the oldest version");

        let mut value = values[0].1;
        let mut i = 1;
        while i < values.len() {
            assert!((values[i - 1].0 as u8) < values[i].0 as u8, "the versions of a row ascend");
            if values[i].0 as u8 <= self as u8 {
                value = values[i].1;
            }
            i += 1;
        }
        value
    }
}
