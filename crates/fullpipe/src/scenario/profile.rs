//! What a scenario has to know of kernels and congestion controls: names and defaults.
//!
//! Congestion controls describe themselves; see [`fullpipe_sim::cc::algorithms`].

use fullpipe_sim::cc::{Description, KernelVersion, Parameter};
use fullpipe_sim::config::Sysctl;
use std::collections::BTreeMap;

/// Defaults of a host that runs a kernel.
pub struct Kernel {
    /// Name in scenarios.
    pub name: &'static str,
    /// CONFIG_HZ.
    pub hz: u32,
    /// net.ipv4.tcp_timestamps
    pub timestamps: bool,
    /// Whether a card offloads segmentation unless told otherwise.
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
    sysctl: Sysctl {
        // sk_init() in net/core/sock.c, for hosts with 512 MiB of memory or more.
        rmem_max: 131_071,
        wmem_max: 131_071,
        // tcp_init() in net/ipv4/tcp.c: the maximum is 1/128 of the memory at which TCP feels
        // pressure, 4 MiB at most; 4 MiB is reached by a host with some GiB of memory.
        tcp_rmem: [4096, 87_380, 4_194_304],
        tcp_wmem: [4096, 16_384, 4_194_304],
        tcp_adv_win_scale: 2,
        netdev_max_backlog: 1000,
        tcp_slow_start_after_idle: true,
        tcp_window_scaling: true,
        tcp_sack: true,
        tcp_fack: true,
        tcp_dsack: true,
        tcp_frto: 0,
        tcp_reordering: 3,
        tcp_early_retrans: 0,
        tcp_no_metrics_save: false,
    },
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
        // SK_RMEM_MAX in include/net/sock.h: 256 packets of 256 bytes, with what they cost.
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

/// Every kernel profile.
pub const KERNELS: &[Kernel] = &[
    LINUX_2_6_20,
    LINUX_2_6_24,
    Kernel { name: "2.6.25", ..LINUX_2_6_24 },
    Kernel { name: "2.6.32", ..LINUX_2_6_24 },
    LINUX_3_14,
];

/// The profile of that name.
pub fn kernel(name: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| kernel.name == name)
}

/// The newest profile that is no newer than a version; none if all are newer or it is no version.
pub fn nearest_older(version: &str) -> Option<&'static Kernel> {
    let version = KernelVersion::parse(version)?;
    let is_older = |k: &&Kernel| KernelVersion::parse(k.name).is_some_and(|known| known <= version);
    KERNELS.iter().rev().find(is_older)
}

/// All parameters of the algorithm with their defaults in that kernel.
pub fn defaults(algorithm: &Description, kernel: &str) -> BTreeMap<String, i64> {
    let version = KernelVersion::parse(kernel).unwrap_or(KernelVersion::FIRST);
    let default = |parameter: &Parameter| {
        let known = parameter.defaults.iter().take_while(|(since, _)| *since <= version);
        known.last().map_or(parameter.min, |(_, value)| *value).into()
    };
    algorithm.parameters.iter().map(|p| (p.name.to_string(), default(p))).collect()
}
