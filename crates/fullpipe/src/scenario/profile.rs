//! What a scenario has to know of kernels and congestion controls: names and defaults.

use fullpipe_sim::config::Sysctl;

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

/// Every kernel profile.
pub const KERNELS: &[Kernel] = &[Kernel {
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
    },
}];

/// A congestion control with its parameters.
pub struct Algorithm {
    /// Name in scenarios, the kernel's.
    pub name: &'static str,
    /// Its parameters, the kernel module's.
    pub parameters: &'static [Parameter],
}

/// A parameter of a congestion control.
pub struct Parameter {
    /// Name of the module parameter.
    pub name: &'static str,
    /// Its default in 2.6.20.
    pub default: i64,
    /// Smallest value that makes sense.
    pub min: i64,
    /// Largest value that makes sense.
    pub max: i64,
    /// What it does, with its unit.
    pub doc: &'static str,
}

const fn parameter(
    name: &'static str,
    default: i64,
    (min, max): (i64, i64),
    doc: &'static str,
) -> Parameter {
    Parameter { name, default, min, max, doc }
}

const FAST_CONVERGENCE: Parameter =
    parameter("fast_convergence", 1, (0, 1), "give way to new flows after two losses in a row");
const MAX_INCREMENT: Parameter =
    parameter("max_increment", 16, (1, 65_535), "largest growth per round trip, packets");
const BETA: Parameter =
    parameter("beta", 819, (1, 1023), "share of cwnd kept after a loss, in 1/1024");
const INITIAL_SSTHRESH: Parameter = parameter(
    "initial_ssthresh",
    100,
    (0, i32::MAX as i64),
    "slow start threshold at the start, packets; 0: none",
);

/// Every congestion control. Defaults are those of Linux 2.6.20.
pub const ALGORITHMS: &[Algorithm] = &[
    Algorithm { name: "reno", parameters: &[] },
    Algorithm {
        name: "bic",
        parameters: &[
            FAST_CONVERGENCE,
            MAX_INCREMENT,
            parameter("low_window", 14, (0, 65_535), "window below which it grows as Reno, packets"),
            BETA,
            INITIAL_SSTHRESH,
            parameter("smooth_part", 20, (1, 65_535), "round trips to come within the last packets of the old maximum"),
        ],
    },
    Algorithm {
        name: "cubic",
        parameters: &[
            FAST_CONVERGENCE,
            MAX_INCREMENT,
            BETA,
            INITIAL_SSTHRESH,
            parameter("bic_scale", 41, (1, 1024), "scale of the cubic function, in 1/1024"),
            parameter("tcp_friendliness", 1, (0, 1), "never slower than Reno would be"),
        ],
    },
];

/// The profile of that name.
pub fn kernel(name: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| kernel.name == name)
}

/// The congestion control of that name.
pub fn algorithm(name: &str) -> Option<&'static Algorithm> {
    ALGORITHMS.iter().find(|algorithm| algorithm.name == name)
}
