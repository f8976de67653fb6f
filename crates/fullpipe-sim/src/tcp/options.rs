//! What a sending socket is told of its pace and of what may wait to be sent, by options and sysctls.
//!
//! Read in Linux 6.1 and 6.12, which agree; what earlier kernels do was not read: [`unknown`].

use super::behaviour::profile_of;
use super::profile::AckOrder;
use crate::config::Config;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What is set and is not known of the sender's kernel, by the scenario's keys.
///
/// # Errors
/// An unknown kernel.
pub fn unknown(config: &Config) -> Result<Vec<String>, String> {
    let host = &config.sender;
    if profile_of(host)?.ack_order == AckOrder::CwndLast {
        return Ok(Vec::new());
    }
    let sysctls = [
        ("tcp_notsent_lowat", host.sysctl.tcp_notsent_lowat),
        ("tcp_pacing_ss_ratio", host.sysctl.tcp_pacing_ss_ratio),
        ("tcp_pacing_ca_ratio", host.sysctl.tcp_pacing_ca_ratio),
    ];
    let sysctls = sysctls.into_iter().filter(|(_, value)| value.is_some());
    let sysctls = sysctls.map(|(name, _)| format!("hosts.sender.sysctl.net.ipv4.{name}"));
    let options = config.flows.iter().flat_map(|flow| {
        let set = [
            ("SO_MAX_PACING_RATE", flow.sockopt.max_pacing_rate.is_some()),
            ("TCP_NOTSENT_LOWAT", flow.sockopt.notsent_lowat.is_some()),
        ];
        let set = set.into_iter().filter(|(_, is_set)| *is_set);
        set.map(|(name, _)| format!("flow.{}.sockopt.{name}", flow.name))
    });
    Ok(sysctls.chain(options).collect())
}

/// Whether all that is set is known of the sender's kernel.
///
/// # Errors
/// The first thing that is not, or an unknown kernel.
pub fn check(config: &Config) -> Result<(), String> {
    match unknown(config)?.first() {
        Some(key) => Err(format!("{key}: {}", why(&config.sender.kernel))),
        None => Ok(()),
    }
}

/// Why what is set is not known of this kernel.
pub fn why(kernel: &str) -> String {
    format!("not modelled of Linux {kernel}, only of 6.1 and 6.12")
}
