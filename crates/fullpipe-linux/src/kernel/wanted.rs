//! The wanted kernel: version, HZ, and fullpipe's contents.

use super::{change, config};
use std::fmt;
use std::str::FromStr;

/// A series of kernel versions for which a distribution has a source package.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// 6.1; without block devices it mounts hostfs only with `root=none` on its command line.
    V6_1,
    /// 6.12
    #[default]
    V6_12,
}

impl Family {
    /// All of them, the default one first.
    pub const ALL: [Family; 2] = [Family::V6_12, Family::V6_1];

    /// Name, as in the source package.
    pub fn name(self) -> &'static str {
        match self {
            Family::V6_1 => "6.1",
            Family::V6_12 => "6.12",
        }
    }

    /// Lines that `make` prints while it compiles, as counted once; only progress hangs on it.
    pub(super) fn lines(self) -> u64 {
        match self {
            Family::V6_1 => 1_050,
            Family::V6_12 => 1_110,
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Family {
    type Err = String;

    fn from_str(text: &str) -> Result<Family, String> {
        let found = Family::ALL.into_iter().find(|family| family.name() == text);
        found.ok_or_else(|| {
            let known = Family::ALL.map(Family::name);
            format!("kernels that can be built: {}", known.join(", "))
        })
    }
}

/// Timer interrupts per second: the grain of TCP's timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hz(u32);

impl Hz {
    /// Values that Linux offers (kernel/Kconfig.hz).
    pub const ALL: [Hz; 4] = [Hz(100), Hz(250), Hz(300), Hz(1000)];

    /// Interrupts per second.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl Default for Hz {
    fn default() -> Hz {
        Hz(1000)
    }
}

impl fmt::Display for Hz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl FromStr for Hz {
    type Err = String;

    fn from_str(text: &str) -> Result<Hz, String> {
        let found = Hz::ALL.into_iter().find(|hz| hz.to_string() == text);
        found.ok_or_else(|| "values of HZ that Linux offers: 100, 250, 300, 1000".into())
    }
}

/// Contents of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Contents {
    /// TCP and all around it.
    #[default]
    Tcp,
    /// That, and the NFS client and server.
    Nfs,
}

impl Contents {
    /// All of them, the default one first.
    pub const ALL: [Contents; 2] = [Contents::Tcp, Contents::Nfs];

    /// Name, as in options.
    pub fn name(self) -> &'static str {
        match self {
            Contents::Tcp => "tcp",
            Contents::Nfs => "nfs",
        }
    }

    /// Options beyond allnoconfig, in parts.
    pub(super) fn fragments(self) -> &'static [&'static str] {
        match self {
            Contents::Tcp => &[config::FRAGMENT],
            Contents::Nfs => &[config::FRAGMENT, config::NFS],
        }
    }
}

impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Contents {
    type Err = String;

    fn from_str(text: &str) -> Result<Contents, String> {
        let found = Contents::ALL.into_iter().find(|contents| contents.name() == text);
        found.ok_or_else(|| {
            let known = Contents::ALL.map(Contents::name);
            format!("configurations that can be built: {}", known.join(", "))
        })
    }
}

/// A kernel as a user wants it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Its series.
    pub family: Family,
    /// Its HZ.
    pub hz: Hz,
    /// Contents of the kernel.
    pub contents: Contents,
}

impl Wanted {
    /// Hash of all that this version of fullpipe puts into a kernel beyond its source: another
    /// configuration or change makes another entry of the cache. Sixteen hexadecimal digits (FNV-1a).
    pub fn hash(&self) -> String {
        let parts = [change::SEED, change::CALL, change::STEP, change::SOONEST];
        let parts = parts.into_iter().chain([change::PAD, change::PAD_CALL]);
        let parts = self.contents.fragments().iter().copied().chain(parts);
        let parts = parts.chain(change::LOOK).chain(change::LATE);
        format!("{:016x}", parts.fold(BASIS, extend))
    }

    /// Name in the cache.
    pub fn name(&self) -> String {
        format!("{}{}-hz{}-{}", self.family, self.mark(), self.hz, self.hash())
    }

    /// Lines that `make` prints while it compiles, as counted once; only progress hangs on it.
    pub(super) fn lines(&self) -> u64 {
        match self.contents {
            Contents::Tcp => self.family.lines(),
            Contents::Nfs => self.family.lines() + 210,
        }
    }

    /// Suffix of names for the contents: empty for the usual ones.
    fn mark(&self) -> String {
        match self.contents {
            Contents::Tcp => String::new(),
            other => format!("-{other}"),
        }
    }

    /// The kernel that a name of a cache entry stands for, and the hash in the name.
    pub fn read(name: &str) -> Option<(Wanted, &str)> {
        let (kernel, rest) = name.split_once("-hz")?;
        let (hz, hash) = rest.split_once('-')?;
        let (family, contents) = match kernel.split_once('-') {
            Some((family, contents)) => (family, contents.parse().ok()?),
            None => (kernel, Contents::default()),
        };
        Some((Wanted { family: family.parse().ok()?, hz: hz.parse().ok()?, contents }, hash))
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nfs = if self.contents == Contents::Nfs { " and NFS" } else { "" };
        write!(f, "Linux {} with HZ {}{nfs}", self.family, self.hz)
    }
}

const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// A zero byte parts the texts, so that nothing moves from one into the next unseen.
fn extend(hash: u64, text: &str) -> u64 {
    let bytes = text.bytes().chain([0]);
    bytes.fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for family in Family::ALL {
            assert_eq!(family.to_string().parse(), Ok(family));
        }
        for hz in Hz::ALL {
            assert_eq!(hz.to_string().parse(), Ok(hz));
        }
        for contents in Contents::ALL {
            assert_eq!(contents.to_string().parse(), Ok(contents));
        }
        assert!("ntp".parse::<Contents>().expect_err("unknown").contains("tcp, nfs"));
        assert!("6.2".parse::<Family>().expect_err("unknown").contains("6.12, 6.1"));
        assert!("999".parse::<Hz>().expect_err("unknown").contains("300"));
    }

    #[test]
    fn the_hash_is_that_of_all_texts() {
        let hash = |texts: &[&str]| texts.iter().fold(BASIS, |hash, text| extend(hash, text));
        // The published value of "a", and with its zero byte.
        assert_eq!(
            b"a".iter().fold(BASIS, |h, b| (h ^ u64::from(*b)).wrapping_mul(PRIME)),
            0xaf63_dc4c_8601_ec8c
        );
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
        assert_ne!(hash(&["a", ""]), hash(&["a"]));
    }

    #[test]
    fn the_name_has_version_hz_and_hash() {
        let wanted = Wanted::default();
        let name = wanted.name();
        assert!(name.starts_with("6.12-hz1000-") && name.len() == "6.12-hz1000-".len() + 16);
        assert_eq!(Wanted::read(&name), Some((wanted, &*wanted.hash())));
        let nfs = Wanted { contents: Contents::Nfs, ..wanted };
        assert!(nfs.name().starts_with("6.12-nfs-hz1000-"), "{}", nfs.name());
        assert_eq!(Wanted::read(&nfs.name()), Some((nfs, &*nfs.hash())));
        assert_ne!(nfs.hash(), wanted.hash());
        for wrong in ["6.12", "6.12-hz1000", "6.12-ntp-hz1000-0", "6.2-hz1000-0", "6.12-hz7-0"] {
            assert_eq!(Wanted::read(wrong), None, "{wrong}");
        }
    }
}
