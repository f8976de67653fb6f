//! Congestion controls by kernel: those of `cc/`, and all that real kernels have, with the parameters of their modules
//! (`module_param` in `net/ipv4/tcp_*.c` of Linux 6.1 and 6.12, which agree). [`resolve`] reads a scenario's choice.

use super::format::context::{Context, Place};
use super::format::node::Node;
use super::format::special;
use super::format::values::integer;
use super::profile::{self, Kernel};
use super::resolved::Congestion;
use fullpipe_sim::cc::{self, Description, KernelVersion, Parameter};
use std::collections::BTreeMap;

/// A parameter of a module: name, default, least and greatest value, unit, meaning.
type Row = (&'static str, u32, u32, u32, &'static str, &'static str);

/// A congestion control of a real kernel.
struct Module {
    name: &'static str,
    title: &'static str,
    parameters: &'static [Row],
}

/// The kernel keeps most parameters in an `int`.
const MOST: u32 = i32::MAX as u32;
const SWITCH: &str = "0 or 1";
const PACKETS: &str = "packets";
const OF_1024: &str = "1/1024";

/// `beta` divides by 1024 - beta, so that it stays below.
const BETA: (u32, u32) = (1, 1023);

const MODULES: &[Module] = &[
    Module { name: "reno", title: "Reno", parameters: &[] },
    Module {
        name: "bic",
        title: "Binary increase",
        parameters: &[
            ("beta", 819, BETA.0, BETA.1, OF_1024, "share of cwnd kept after a loss"),
            ("fast_convergence", 1, 0, 1, SWITCH, "a loss below the last maximum lowers it"),
            (INITIAL_SSTHRESH, 0, 0, MOST, PACKETS, "ssthresh at the start; 0 leaves it unset"),
            ("low_window", 14, 0, MOST, PACKETS, "up to this cwnd it grows as Reno does"),
            ("max_increment", 16, 1, MOST, PACKETS, "largest growth per RTT"),
            ("smooth_part", 20, 1, MOST, "RTTs", "time to grow from wmax - B to wmax"),
        ],
    },
    Module {
        name: "cubic",
        title: "CUBIC",
        parameters: &[
            ("beta", 717, BETA.0, BETA.1, OF_1024, "share of cwnd kept after a loss"),
            ("bic_scale", 41, 1, 10_240, "1/1024", "steepness C of the curve"),
            ("fast_convergence", 1, 0, 1, SWITCH, "a loss below the last maximum lowers it"),
            ("hystart", 1, 0, 1, SWITCH, "leave slow start when the queue grows"),
            ("hystart_ack_delta_us", 2000, 0, MOST, "us", "longest gap in an ACK train"),
            ("hystart_detect", 3, 0, 3, "0 to 3", "by ACK trains (1), by delays (2), by both (3)"),
            ("hystart_low_window", 16, 0, MOST, PACKETS, "not below this cwnd"),
            (INITIAL_SSTHRESH, 0, 0, MOST, PACKETS, "ssthresh at the start; 0 leaves it unset"),
            ("tcp_friendliness", 1, 0, 1, SWITCH, "at least as fast as Reno would be"),
        ],
    },
    Module { name: "bbr", title: "BBR (version 1)", parameters: &[] },
    Module {
        name: "cdg",
        title: "CAIA Delay Gradient",
        parameters: &[
            ("backoff_beta", 724, 0, 1024, OF_1024, "share of cwnd kept after a loss"),
            ("backoff_factor", 42, 1, MOST, "us", "gradient that halves the chance of no backoff"),
            ("hystart_detect", 3, 0, 3, "0 to 3", "by ACK trains (1), by delays (2), by both (3)"),
            (
                "use_ineff",
                5,
                0,
                MOST,
                "backoffs",
                "in a row before delay is held ineffective; 0: off",
            ),
            ("use_shadow", 1, 0, 1, SWITCH, "a shadow window keeps what backoffs took"),
            ("use_tolerance", 0, 0, 1, SWITCH, "losses without a sign of congestion are tolerated"),
            ("window", 8, 1, 256, "RTTs", "over which gradients are averaged; a power of 2"),
        ],
    },
    Module {
        name: "dctcp",
        title: "Data Center TCP (needs ECN)",
        parameters: &[
            ("dctcp_alpha_on_init", 1024, 0, 1024, OF_1024, "share of marked packets at the start"),
            ("dctcp_shift_g", 4, 0, 10, "2^-n", "weight of the last window in the share"),
        ],
    },
    Module { name: "highspeed", title: "HighSpeed TCP (RFC 3649)", parameters: &[] },
    Module {
        name: "htcp",
        title: "H-TCP",
        parameters: &[
            ("use_bandwidth_switch", 1, 0, 1, SWITCH, "halve when the throughput has changed much"),
            ("use_rtt_scaling", 1, 0, 1, SWITCH, "growth does not depend on the RTT"),
        ],
    },
    Module {
        name: "hybla",
        title: "Hybla",
        parameters: &[("rtt0", 25, 1, 60_000, "ms", "RTT of the connection to be as fast as")],
    },
    Module {
        name: "illinois",
        title: "Illinois",
        parameters: &[
            ("theta", 5, 0, MOST, "RTTs", "of low delay before the largest growth is taken"),
            ("win_thresh", 15, 0, MOST, PACKETS, "up to this cwnd it behaves as Reno"),
        ],
    },
    Module { name: "lp", title: "Low Priority", parameters: &[] },
    Module {
        name: "nv",
        title: "New Vegas",
        parameters: &[
            ("nv_min_cwnd", 2, 0, MOST, PACKETS, "cwnd is not reduced below"),
            ("nv_pad", 10, 0, MOST, PACKETS, "of queue that are wanted"),
            ("nv_reset_period", 5, 0, MOST, "s", "after which the least RTT is measured anew"),
        ],
    },
    Module { name: "scalable", title: "Scalable TCP", parameters: &[] },
    Module {
        name: "vegas",
        title: "Vegas",
        parameters: &[
            ("alpha", 2, 0, MOST, PACKETS, "in the queue: grow below"),
            ("beta", 4, 0, MOST, PACKETS, "in the queue: shrink above"),
            ("gamma", 1, 0, MOST, PACKETS, "in the queue: slow start ends above"),
        ],
    },
    Module { name: "veno", title: "Veno", parameters: &[] },
    Module { name: "westwood", title: "Westwood+", parameters: &[] },
    Module { name: "yeah", title: "YeAH", parameters: &[] },
];

/// The congestion controls that real kernels have, with their modules' parameters.
pub fn of_real_kernels() -> Vec<Description> {
    MODULES.iter().map(described).collect()
}

fn described(module: &Module) -> Description {
    Description {
        name: module.name,
        title: module.title,
        kernels: profile::real_kernels().map(|kernel| kernel.name.into()).collect(),
        parameters: module
            .parameters
            .iter()
            .map(|&(name, default, min, max, unit, meaning)| Parameter {
                name,
                meaning,
                unit,
                min,
                max,
                defaults: vec![(KernelVersion::FIRST, default)],
            })
            .collect(),
    }
}

/// Congestion controls that a flow may ask for on a host with that kernel.
///
/// A newer kernel that is not validated has those of real kernels, and those of `cc/` that no kernel has. An older
/// kernel's have the behaviour of `cc/`. The list also has those that only an engine with a real kernel runs in its
/// place.
pub fn of_kernel(kernel: &str) -> Vec<Description> {
    let is_real = profile::kernel(kernel).is_some_and(|kernel| kernel.is_real);
    let (mut all, others) = match is_real || profile::is_unvalidated(kernel) {
        true => (of_real_kernels(), cc::algorithms()),
        false => (cc::algorithms(), of_real_kernels()),
    };
    let others = others.into_iter().filter(|other| all.iter().all(|a| a.name != other.name));
    let others: Vec<Description> = others.collect();
    all.extend(others);
    all
}

/// Whether no kernel has it, but the simulator alone.
pub fn is_of_no_kernel(name: &str) -> bool {
    MODULES.iter().all(|module| module.name != name)
}

/// Parameter of a congestion control that has the first ssthresh, packets; 0: none.
pub const INITIAL_SSTHRESH: &str = "initial_ssthresh";

/// All parameters of the algorithm with their defaults in that kernel.
pub fn defaults(algorithm: &Description, kernel: &str) -> BTreeMap<String, i64> {
    let version = KernelVersion::parse(kernel).unwrap_or(KernelVersion::FIRST);
    algorithm.parameters.iter().map(|p| (p.name.to_string(), default(p, version).into())).collect()
}

/// Default of a parameter in a kernel version; its least value before the first version.
fn default(parameter: &Parameter, version: KernelVersion) -> u32 {
    let known = parameter.defaults.iter().take_while(|(since, _)| *since <= version);
    known.last().map_or(parameter.min, |(_, value)| *value)
}

/// The congestion control with all its parameters.
pub(super) fn resolve(
    written: Option<&special::Congestion>,
    kernel: &Kernel,
    cx: &mut Context,
) -> Option<Congestion> {
    let name = written.map_or(kernel.congestion, |written| written.name.value.as_str());
    let place = written.map_or(Place::default(), |written| written.name.place);
    let algorithm = algorithm(name, place, kernel.name, cx)?;
    let mut parameters = defaults(&algorithm, kernel.name);
    let mut whole = true;
    for (key, place, node) in written.iter().flat_map(|written| &written.parameters) {
        match parameter(&algorithm, key, *place, node, cx) {
            Some(value) => _ = parameters.insert(key.clone(), value),
            None => whole = false,
        }
    }
    whole.then(|| Congestion { name: name.into(), parameters })
}

/// The congestion control of that name on that kernel; on none ("") any that there is.
pub(super) fn algorithm(
    name: &str,
    place: Place,
    kernel: &str,
    cx: &mut Context,
) -> Option<Description> {
    let mut algorithms = of_kernel(kernel);
    match algorithms.iter().position(|algorithm| algorithm.name == name) {
        Some(at) => Some(algorithms.swap_remove(at)),
        None => {
            let message = format!("no congestion control is called \"{name}\"");
            cx.error("unknown-name", place, message).names(name, algorithms.iter().map(|a| a.name));
            None
        }
    }
}

/// The value of a parameter, within its bounds.
pub(super) fn parameter(
    algorithm: &Description,
    key: &str,
    place: Place,
    node: &Node,
    cx: &mut Context,
) -> Option<i64> {
    let known = &algorithm.parameters;
    let Some(parameter) = known.iter().find(|parameter| parameter.name == key) else {
        let message = format!("{} has no parameter `{key}`", algorithm.name);
        cx.error("unknown-key", place, message).names(key, known.iter().map(|p| p.name));
        return None;
    };
    integer(key, node, parameter.min.into()..=parameter.max.into(), cx)
}
