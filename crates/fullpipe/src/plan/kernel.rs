//! What differs between Linux versions, as far as a plan needs it. Each choice names its source.

use crate::scenario::profile::{self, KERNELS};
use fullpipe_sim::tcp::profile::InitialCwnd;
use std::fmt;
use std::str::FromStr;

/// A Linux version, ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version([u16; 3]);

/// The oldest version whose behaviour is known here.
pub const OLDEST: Version = Version::new(2, 6, 20);

/// A share of the receive buffer, as a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Numerator.
    pub num: u64,
    /// Denominator.
    pub den: u64,
    /// Which rule gives it.
    pub rule: &'static str,
}

impl Version {
    /// `major.minor.patch`; the patch counts only in 2.6.
    pub const fn new(major: u16, minor: u16, patch: u16) -> Version {
        Version([major, minor, patch])
    }

    /// Whether it is newer than all that is judged by something genuine.
    pub fn is_unjudged(self) -> bool {
        profiles().filter(|(_, judged)| *judged).all(|(version, _)| version < self)
    }

    /// Initial congestion window in packets; ten (RFC 6928) came with 2.6.39.
    pub fn initial_cwnd(self, mss: u32) -> u32 {
        let rule = match self >= Version::new(2, 6, 39) {
            true => InitialCwnd::Ten,
            false => InitialCwnd::ByMss,
        };
        rule.packets(mss)
    }

    /// Share of a receive buffer that a connection with a fixed buffer can advertise.
    pub fn window_share(self) -> Share {
        let share = |num, den, rule| Share { num, den, rule };
        match self {
            v if v < Version::new(3, 4, 0) => share(3, 4, "tcp_adv_win_scale 2 (before 3.4)"),
            v if v < Version::new(6, 6, 0) => share(1, 2, "tcp_adv_win_scale 1 (3.4 to 6.5)"),
            // 256 x 1200 / 4672 (a page with its sk_buff) at the start (dfa2f0483360); the clamp of
            // a fixed buffer stays there, however good the measured ratio gets
            v if v < Version::new(6, 10, 0) => {
                share(65, 256, "scaling_ratio of a fixed buffer (6.6 to 6.9)")
            }
            // 697a6c8cec03 starts at one half
            _ => share(1, 2, "scaling_ratio at the start (from 6.10)"),
        }
    }

    /// Whether the share follows payload / truesize of what the driver delivers.
    pub fn share_is_measured(self) -> bool {
        self >= Version::new(6, 6, 0)
    }

    /// Whether slow start counts acknowledged packets (9f9843a751d0) or, before, ACKs.
    pub fn slow_start_counts_packets(self) -> bool {
        self >= Version::new(3, 13, 0)
    }

    /// Whether Reno's congestion avoidance counts acknowledged packets ("tcp: fix stretch ACK bugs in
    /// Reno", 4.0) or, before, ACKs.
    pub fn reno_counts_packets(self) -> bool {
        self >= Version::new(4, 0, 0)
    }

    /// Default (middle) value of net.ipv4.tcp_rmem, bytes; 131072 since 4.20 (a337531b942b).
    pub fn default_rcvbuf(self) -> u64 {
        if self >= Version::new(4, 20, 0) { 131_072 } else { 87_380 }
    }
}

/// The newest version that has a profile.
fn newest() -> Version {
    profiles().map(|(version, _)| version).max().unwrap_or(OLDEST)
}

/// The profiles: version, and whether something genuine judges it.
fn profiles() -> impl Iterator<Item = (Version, bool)> {
    KERNELS
        .iter()
        .filter_map(|kernel| Some((read(kernel.name)?, !profile::is_unjudged(kernel.name))))
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

    /// Reads "2.6.20", "6.12", "6.1.0-18-amd64" (what `uname -r` prints).
    fn from_str(text: &str) -> Result<Version, String> {
        let wrong =
            || format!("\"{text}\" is not a Linux version; expected for example 2.6.20 or 6.12");
        let version = read(text).ok_or_else(wrong)?;
        if version > newest() {
            let newest = newest();
            return Err(format!("Linux {text} is newer than {newest}, the newest one known here"));
        }
        if version < OLDEST {
            return Err(format!("Linux {text} is older than {OLDEST}, the oldest one known here"));
        }
        Ok(version)
    }
}

/// The version at the beginning of a text, whether it is known here or not.
fn read(text: &str) -> Option<Version> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let numbers = text[..end.unwrap_or(text.len())].trim_end_matches('.');
    let parts: Result<Vec<u16>, _> = numbers.split('.').take(3).map(str::parse).collect();
    match parts.ok()?[..] {
        [major, minor] => Some(Version::new(major, minor, 0)),
        [2, minor, patch] => Some(Version::new(2, minor, patch)),
        [major, minor, _] => Some(Version::new(major, minor, 0)),
        _ => None,
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
        assert_eq!(v("2.6.20").to_string(), "2.6.20");
        assert_eq!(v("2.6.32-5-amd64").to_string(), "2.6.32");
        assert_eq!(v("6.1.0-18-amd64").to_string(), "6.1");
        assert_eq!(v("6.12").to_string(), "6.12");
        assert!(v("6.10") > v("6.9") && v("3.0") > v("2.6.39"));
    }

    #[test]
    fn what_is_not_a_version_is_said_to_be_none() {
        for text in ["", "6", "six", "6.", ".6", "6..1", "-6.1", "99999999.1", "v6.1"] {
            assert!(text.parse::<Version>().unwrap_err().contains("not a Linux version"), "{text}");
        }
        assert!("2.4.20".parse::<Version>().unwrap_err().contains("older than 2.6.20"));
    }

    #[test]
    fn versions_beyond_the_profiles_are_refused_and_unjudged_ones_marked() {
        let newer = "6.99".parse::<Version>().unwrap_err();
        assert_eq!(newer, "Linux 6.99 is newer than 6.18, the newest one known here");
        assert!("7.0".parse::<Version>().is_err() && "6.19".parse::<Version>().is_err());
        for (version, unjudged) in
            [("6.12", false), ("6.5", false), ("6.13", true), ("6.18.3-amd64", true)]
        {
            assert_eq!(v(version).is_unjudged(), unjudged, "{version}");
        }
    }

    #[test]
    fn the_initial_window_follows_mss_until_ten_is_the_rule() {
        let table =
            [("2.6.20", 8960, 2), ("2.6.38", 1460, 3), ("2.6.38", 1448, 3), ("2.6.20", 1095, 4)];
        for (version, mss, cwnd) in table {
            assert_eq!(v(version).initial_cwnd(mss), cwnd, "{version} {mss}");
        }
        assert_eq!(v("2.6.39").initial_cwnd(8960), 10);
        assert_eq!(v("2.6.20").initial_cwnd(1461), 2);
        assert_eq!(v("2.6.20").initial_cwnd(1096), 3);
    }

    #[test]
    fn the_share_of_the_buffer_changes_with_the_version() {
        let table = [
            ("2.6.20", 0.75),
            ("3.3", 0.75),
            ("3.4", 0.5),
            ("6.5", 0.5),
            ("6.6", 0.254),
            ("6.9", 0.254),
            ("6.10", 0.5),
            ("6.12", 0.5),
        ];
        for (version, expected) in table {
            let share = v(version).window_share();
            assert!((share.num as f64 / share.den as f64 - expected).abs() < 1e-3, "{version}");
        }
    }
}
