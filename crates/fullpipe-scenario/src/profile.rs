//! Facts about kernels that a scenario needs: names and defaults.

use super::version::Version;
use fullpipe_sim::config::Sysctl;
use fullpipe_sim::tcp;

/// Defaults of a host that runs a kernel.
pub struct Kernel {
    /// Name in scenarios.
    pub name: &'static str,
    /// Whether an engine runs this very kernel; else the simulator has its profile.
    pub is_real: bool,
    /// CONFIG_HZ.
    pub hz: u32,
    /// net.ipv4.tcp_timestamps
    pub timestamps: bool,
    /// Whether a card offloads segmentation by default.
    pub tso: bool,
    /// txqueuelen of an Ethernet card, packets.
    pub qdisc_limit: u32,
    /// Descriptors of each ring.
    pub ring: u32,
    /// Congestion control of a socket that asks for none.
    pub congestion: &'static str,
    /// sysctls.
    pub sysctl: Sysctl,
}

const LINUX_2_6_20: Kernel = Kernel {
    name: "2.6.20",
    is_real: false,
    // The default of kernel/Kconfig.hz since 2.6.13.
    hz: 250,
    timestamps: true,
    tso: true,
    // ether_setup() in net/ethernet/eth.c.
    qdisc_limit: 1000,
    // The default of the 1-Gb/s drivers of that time (e1000: 256 of each).
    ring: 256,
    // CUBIC replaced BIC as the default in 2.6.19.
    congestion: "cubic",
    sysctl: Sysctl::LINUX_2_6_20,
};

// net/ipv4/tcp_input.c: sysctl_tcp_frto is 2 since 2.6.24.
const LINUX_2_6_24: Kernel = Kernel {
    name: "2.6.24",
    sysctl: Sysctl { tcp_frto: 2, ..LINUX_2_6_20.sysctl },
    ..LINUX_2_6_20
};

const LINUX_3_14: Kernel = Kernel {
    name: "3.14",
    sysctl: Sysctl {
        // SK_RMEM_MAX in include/net/sock.h: 256 packets of 256 bytes, with their overhead.
        rmem_max: 212_992,
        wmem_max: 212_992,
        // tcp_init(): 6 MiB and a scale of 1 since 3.4.
        tcp_rmem: [4096, 87_380, 6_291_456],
        tcp_adv_win_scale: 1,
        // Pauses before early retransmit, and tail loss probes, since 3.10.
        tcp_early_retrans: 3,
        ..LINUX_2_6_24.sysctl
    },
    ..LINUX_2_6_24
};

// Defaults as the kernels themselves show them below /proc/sys; a test compares them.
const LINUX_6_1: Kernel = Kernel {
    name: "6.1",
    is_real: true,
    // arch/x86/configs/x86_64_defconfig.
    hz: 1000,
    // IXGBE_DEFAULT_TXD in drivers/net/ethernet/intel/ixgbe/ixgbe.h.
    ring: 512,
    sysctl: Sysctl {
        // tcp_init(), since 4.20.
        tcp_rmem: [4096, 131_072, 6_291_456],
        // Without effect since 4.15.
        tcp_fack: false,
        ..LINUX_3_14.sysctl
    },
    ..LINUX_3_14
};

const LINUX_6_16: Kernel = Kernel {
    name: "6.16",
    is_real: false,
    sysctl: Sysctl {
        // tcp_init(): 32 MiB since 6.16, with some GiB of memory (commit 572be9bf9d0d "tcp: increase tcp_rmem[2] to
        // 32 MB").
        tcp_rmem: [4096, 131_072, 33_554_432],
        ..LINUX_6_1.sysctl
    },
    ..LINUX_6_1
};

/// Every kernel profile.
pub const KERNELS: &[Kernel] = &[
    LINUX_2_6_20,
    LINUX_2_6_24,
    Kernel { name: "2.6.25", ..LINUX_2_6_24 },
    Kernel { name: "2.6.32", ..LINUX_2_6_24 },
    LINUX_3_14,
    LINUX_6_1,
    Kernel { name: "6.12", ..LINUX_6_1 },
    LINUX_6_16,
    Kernel { name: "6.18", ..LINUX_6_16 },
];

/// The kernels that an engine runs as they are.
pub fn real_kernels() -> impl Iterator<Item = &'static Kernel> {
    KERNELS.iter().filter(|kernel| kernel.is_real)
}

/// Whether the simulator's profile of that name is not validated on a real kernel.
pub fn is_unvalidated(name: &str) -> bool {
    tcp::profile::find(name).is_some_and(|profile| profile.unvalidated)
}

/// A kernel's name as readers see it: of one that is not judged it says so.
pub fn shown(name: &str) -> String {
    if is_unvalidated(name) { format!("{name} (unvalidated)") } else { name.into() }
}

/// The profile of that name.
pub fn kernel(name: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| kernel.name == name)
}

/// The first version that each profile stands for, in order. Where a version has no profile of its own:
///
/// - 3.2 has proportional rate reduction and an initial window of ten (2.6.39), as 3.14 has.
/// - 4.9 paces by itself, and soon after kernels time losses (RACK, 4.18 by default), as 6.1 does.
/// - 6.10 starts with a window share of one half (697a6c8cec03), as 6.12 does.
const STANDS_FOR: [(Version, &str); 9] = [
    (Version::new(2, 6, 20), "2.6.20"),
    (Version::new(2, 6, 24), "2.6.24"),
    (Version::new(2, 6, 25), "2.6.25"),
    (Version::new(2, 6, 32), "2.6.32"),
    (Version::new(3, 2, 0), "3.14"),
    (Version::new(4, 9, 0), "6.1"),
    (Version::new(6, 10, 0), "6.12"),
    (Version::new(6, 16, 0), "6.16"),
    (Version::new(6, 18, 0), "6.18"),
];

/// The profile that represents a version; `None` for versions before the oldest profile.
pub fn for_version(version: Version) -> Option<&'static Kernel> {
    let (_, name) = STANDS_FOR.iter().rev().find(|(first, _)| *first <= version)?;
    kernel(name)
}

/// The profile for a kernel as a scenario or `uname -r` names it, and whether it is that version's own.
pub fn named(name: &str) -> Option<(&'static Kernel, bool)> {
    if let Some(kernel) = kernel(name) {
        return Some((kernel, true));
    }
    let version = Version::read(name)?;
    let kernel = for_version(version)?;
    Some((kernel, Version::read(kernel.name) == Some(version)))
}

/// The name of the profile for a kernel as [`named`] finds it, and whether it is that version's own.
pub fn profile_of(name: &str) -> Option<(&'static str, bool)> {
    named(name).map(|(kernel, own)| (kernel.name, own))
}

/// The first version that each profile represents, and the profile, in order.
pub fn profile_starts() -> impl Iterator<Item = (Version, &'static str)> {
    STANDS_FOR.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_without_a_profile_has_the_nearest_one() {
        let table = [
            ("2.6.20", "2.6.20", true),
            ("2.6.22-14-generic", "2.6.20", false),
            ("2.6.32-5-amd64", "2.6.32", true),
            ("3.0", "2.6.32", false),
            ("3.10.0-1160.el7.x86_64", "3.14", false),
            ("4.8", "3.14", false),
            ("4.9", "6.1", false),
            ("4.18.0-553.el8_10.x86_64", "6.1", false),
            ("5.15.0-91-generic", "6.1", false),
            ("6.1.0-18-amd64", "6.1", true),
            ("6.9", "6.1", false),
            ("6.10", "6.12", false),
            ("6.12.9+bpo-amd64", "6.12", true),
            ("6.15", "6.12", false),
            ("6.16", "6.16", true),
            ("6.17.0-6-generic", "6.16", false),
            ("7.0", "6.18", false),
        ];
        for (name, profile, own) in table {
            let (kernel, is_own) = named(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!((kernel.name, is_own), (profile, own), "{name}");
        }
        assert!(named("2.6.18-398.el5").is_none() && named("6.1x").is_none());
    }

    /// Each profile represents its own version.
    #[test]
    fn every_profile_stands_for_itself() {
        for kernel in KERNELS {
            let version = Version::read(kernel.name).expect("a version");
            assert_eq!(for_version(version).expect("a profile").name, kernel.name);
        }
    }
}
