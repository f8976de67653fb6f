//! Differences between Linux versions, as far as a plan needs them. Each choice names its source.

use super::Version;
use fullpipe_sim::tcp::profile::InitialCwnd;

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
    /// Initial congestion window in packets; ten (RFC 6928) from 2.6.39 on.
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

    /// Whether the share follows payload / truesize of delivered packets.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn v(text: &str) -> Version {
        text.parse().unwrap()
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
