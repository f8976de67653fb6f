//! Versions of Linux, as scenarios, options and `uname -r` name them.

use super::profile::{self, KERNELS};
use std::fmt;
use std::str::FromStr;

/// A Linux version, ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version([u16; 3]);

/// The oldest version with known behaviour.
pub const OLDEST: Version = Version::new(2, 6, 20);

/// Characters that may follow the numbers of a version: "6.1.0-18-amd64", "5.10.0+", "6.8~rc1".
const SUFFIXES: [char; 4] = ['-', '+', '~', '_'];

impl Version {
    /// `major.minor.patch`; the patch counts only in 2.6.
    pub const fn new(major: u16, minor: u16, patch: u16) -> Version {
        Version([major, minor, patch])
    }

    /// Whether it is newer than every profile that was compared with its kernel.
    pub fn is_unvalidated(self) -> bool {
        profiles().filter(|(_, judged)| *judged).all(|(version, _)| version < self)
    }

    /// Reads the version at the beginning of a text, known or not; `None` if there is none.
    pub fn read(text: &str) -> Option<Version> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (head, rest) = text.split_at(end);

        // Other text behind the number is no kernel's name.
        if !(rest.is_empty() || rest.starts_with(SUFFIXES) || head.ends_with('.')) {
            return None;
        }

        let parts: Result<Vec<u16>, _> =
            head.trim_end_matches('.').split('.').take(3).map(str::parse).collect();
        match parts.ok()?[..] {
            // Before 3.0 the third number counts: 2.6.x are different kernels.
            [2, minor, patch] => Some(Version::new(2, minor, patch)),
            [major, minor] | [major, minor, _] => Some(Version::new(major, minor, 0)),
            _ => None,
        }
    }
}

/// The profiles: version, and whether it was compared with its kernel.
fn profiles() -> impl Iterator<Item = (Version, bool)> {
    KERNELS.iter().filter_map(|kernel| {
        Some((Version::read(kernel.name)?, !profile::is_unvalidated(kernel.name)))
    })
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [2, minor, patch] => write!(f, "2.{minor}.{patch}"),
            [major, minor, _] => write!(f, "{major}.{minor}"),
        }
    }
}

impl FromStr for Version {
    type Err = String;

    /// Reads "2.6.20", "6.12", "6.1.0-18-amd64" (the output of `uname -r`).
    fn from_str(text: &str) -> Result<Version, String> {
        let Some(version) = Version::read(text) else {
            return Err(format!(
                "\"{text}\" is not a Linux version; expected for example 2.6.20 or 6.12"
            ));
        };
        if version < OLDEST {
            return Err(format!("Linux {text} is older than {OLDEST}, the oldest one known here"));
        }
        Ok(version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn versions_are_read_as_uname_prints_them() {
        let table = [
            ("2.6.20", "2.6.20"),
            ("2.6.32-5-amd64", "2.6.32"),
            ("2.6.32-754.35.1.el6.x86_64", "2.6.32"),
            ("3.10.0-1160.el7.x86_64", "3.10"),
            ("4.18.0-553.el8_10.x86_64", "4.18"),
            ("5.15.0-91-generic", "5.15"),
            ("6.1.0-18-amd64", "6.1"),
            ("6.8.0-1010-aws", "6.8"),
            ("6.12", "6.12"),
            ("6.14.0+", "6.14"),
            ("5.10.16.3-microsoft-standard-WSL2", "5.10"),
        ];
        for (text, version) in table {
            assert_eq!(v(text).to_string(), version, "{text}");
        }
        assert!(v("6.10") > v("6.9") && v("3.0") > v("2.6.39"));
    }

    #[test]
    fn what_is_not_a_version_is_said_to_be_none() {
        for text in
            ["", "6", "six", "6.", ".6", "6..1", "-6.1", "99999999.1", "v6.1", "6.1x", "6.12 LTS"]
        {
            assert!(text.parse::<Version>().unwrap_err().contains("not a Linux version"), "{text}");
        }
        assert!("2.4.20".parse::<Version>().unwrap_err().contains("older than 2.6.20"));
    }

    #[test]
    fn versions_that_nothing_judges_are_marked() {
        let table = [
            ("6.12", false),
            ("6.5", false),
            ("6.13", true),
            ("6.18.3-amd64", true),
            ("7.0", true),
        ];
        for (version, unvalidated) in table {
            assert_eq!(v(version).is_unvalidated(), unvalidated, "{version}");
        }
    }
}
