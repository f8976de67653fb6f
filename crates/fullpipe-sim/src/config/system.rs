//! TCP of hosts that do not run Linux, as far as it is published.
//!
//! Unvalidated: no kernel of these systems was compared. Everything else (ACKs, recovery, pacing, offloads) is as in
//! the host's Linux profile.
//!
//! Source: Microsoft's "Performance tuning network adapters" (levels and their scales), `netsh int tcp` (65,535 bytes when
//! disabled), KB214397 (`SO_SNDBUF` of Winsock).

/// Operating system of a host, by its bounds of windows and send buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum System {
    /// Linux: memory decides both.
    #[default]
    Linux,
    /// A receive window of so many bytes, whatever memory the data takes, as in lwIP, iPXE and old systems.
    FixedWindow(u64),
    /// Windows.
    Windows(Autotuning),
}

/// Receive window autotuning level of Windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Autotuning {
    /// No scale: 65,535 bytes.
    Disabled,
    /// Scale 2: up to 256 KiB.
    HighlyRestricted,
    /// Scale 4: up to 1 MiB.
    Restricted,
    /// Scale 8: up to 16 MiB. The default.
    Normal,
    /// Scale 14: up to 1 GiB.
    Experimental,
}

/// Largest window without scale, bytes (RFC 7323).
const UNSCALED: u64 = 65_535;

impl Autotuning {
    /// All levels, from the smallest window to the largest.
    pub const ALL: [Autotuning; 5] = [
        Autotuning::Disabled,
        Autotuning::HighlyRestricted,
        Autotuning::Restricted,
        Autotuning::Normal,
        Autotuning::Experimental,
    ];

    /// The level as `netsh` spells it.
    pub fn name(self) -> &'static str {
        match self {
            Autotuning::Disabled => "disabled",
            Autotuning::HighlyRestricted => "highlyrestricted",
            Autotuning::Restricted => "restricted",
            Autotuning::Normal => "normal",
            Autotuning::Experimental => "experimental",
        }
    }

    /// Window scale that the level offers, bits.
    pub fn scale(self) -> u32 {
        match self {
            Autotuning::Disabled => 0,
            Autotuning::HighlyRestricted => 2,
            Autotuning::Restricted => 4,
            Autotuning::Normal => 8,
            Autotuning::Experimental => 14,
        }
    }

    /// Lowest level from [`Autotuning::Normal`] on that tunes to `window` bytes; none if no level does.
    pub fn for_window(window: u64) -> Option<Autotuning> {
        let levels = [Autotuning::Normal, Autotuning::Experimental];
        levels.into_iter().find(|level| level.most() >= window)
    }

    /// Largest window of the level, bytes.
    pub fn most(self) -> u64 {
        UNSCALED << self.scale()
    }
}

/// Receive window of a connection, where it counts bytes of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataWindow {
    /// First window, bytes.
    pub first: u64,
    /// Largest window, bytes.
    pub most: u64,
    /// Window scale, bits.
    pub scale: u32,
}

impl DataWindow {
    /// A window that stays, with the least scale that can express it.
    fn fixed(bytes: u64, scales: bool) -> DataWindow {
        let bytes = if scales { bytes.min(UNSCALED << 14) } else { bytes.min(UNSCALED) };
        let scale = (0..14).find(|&bits| bytes >> bits <= UNSCALED).unwrap_or(14);
        DataWindow { first: bytes, most: bytes, scale }
    }
}

impl System {
    /// Window of a connection with SO_RCVBUF `rcvbuf`; `scales`: both ends have window scaling. None where memory
    /// decides.
    pub fn window(self, rcvbuf: Option<u64>, scales: bool) -> Option<DataWindow> {
        match (self, rcvbuf) {
            (System::Linux, _) => None,
            (System::FixedWindow(bytes), _) => Some(DataWindow::fixed(bytes, scales)),
            (System::Windows(_), Some(asked)) => Some(DataWindow::fixed(asked, scales)),
            (System::Windows(level), None) if scales => {
                Some(DataWindow { first: UNSCALED, most: level.most(), scale: level.scale() })
            }
            (System::Windows(_), None) => Some(DataWindow::fixed(UNSCALED, false)),
        }
    }

    /// Whether the sockets buffer sent data as Winsock does.
    pub fn is_windows(self) -> bool {
        matches!(self, System::Windows(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 64 KB, 256 KB, 1 MB, 16 MB and 1 GB, as the levels are published.
    #[test]
    fn levels_end_where_they_are_published() {
        let most = Autotuning::ALL.map(|level| (level.name(), level.most().div_ceil(1 << 16)));
        let published = [
            ("disabled", 1),
            ("highlyrestricted", 4),
            ("restricted", 16),
            ("normal", 256),
            ("experimental", 16_384),
        ];
        assert_eq!(most, published);
    }

    /// esnet/iperf#481: a capture shows 53248 with a scale of 2.
    #[test]
    fn a_window_that_is_asked_for_has_the_least_scale() {
        let level = Autotuning::Normal;
        let window = System::Windows(level).window(Some(53_248 << 2), true);
        assert_eq!(window, Some(DataWindow { first: 212_992, most: 212_992, scale: 2 }));
        let without = System::Windows(level).window(Some(212_992), false).map(|own| own.most);
        assert_eq!(without, Some(65_535));
        assert_eq!(System::FixedWindow(1460).window(None, true).map(|own| own.scale), Some(0));
    }
}
