//! Options and sysctls of a sending socket that concern its pace and its unsent data.
//!
//! Source: Linux 6.1 and 6.12, which agree. Earlier kernels were not read: [`unknown`].

use crate::config::{Config, Flow, Host, Station};
use crate::tcp::behaviour::profile_of;
use crate::tcp::modelled::{are_modelled, modelled_since};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Settings with unknown behaviour in a sending host's kernel, by the scenario's keys, and the reason.
///
/// # Errors
/// An unknown kernel.
pub fn unknown(config: &Config) -> Result<Vec<(String, String)>, String> {
    let mut unknown = Vec::new();
    for Station { name, host, .. } in config.hosts() {
        let flows: Vec<_> =
            config.flows.iter().filter(|flow| config.hosts_of(flow)[0].name == name).collect();
        let profile = profile_of(host)?;
        if host.sysctl.tcp_limit_output_bytes.is_some() && !profile.small_queues {
            let key = format!("hosts.{name}.sysctl.net.ipv4.tcp_limit_output_bytes");
            unknown.push((key, format!("Linux {} has no small queues", host.kernel)));
        }
        if !profile.compresses_sacks {
            let why = format!("Linux {} compresses no SACKs", host.kernel);
            unknown.extend(of_compression(name, host).map(|key| (key, why.clone())));
        }
        let is_modelled = are_modelled(host)?;
        if host.sysctl.tcp_mem.is_some() && !is_modelled {
            let key = format!("hosts.{name}.sysctl.net.ipv4.tcp_mem");
            unknown.push((key, not_read(host)));
        }
        if !flows.is_empty() && !is_modelled {
            let why = not_read(host);
            let keys = sysctls(name, host).chain(flows.into_iter().flat_map(options));
            unknown.extend(keys.map(|key| (key, why.clone())));
        }
    }
    Ok(unknown)
}

fn not_read(host: &Host) -> String {
    format!("not modelled of Linux {}, only of {} and later", host.kernel, modelled_since())
}

/// Keys of the sysctls of compressed SACKs that are set.
fn of_compression<'a>(name: &'a str, host: &Host) -> impl Iterator<Item = String> + use<'a> {
    let sysctls = [
        ("tcp_comp_sack_delay_ns", host.sysctl.tcp_comp_sack_delay_ns),
        ("tcp_comp_sack_slack_ns", host.sysctl.tcp_comp_sack_slack_ns),
        ("tcp_comp_sack_nr", host.sysctl.tcp_comp_sack_nr),
    ];
    keys(name, sysctls)
}

fn sysctls<'a>(name: &'a str, host: &Host) -> impl Iterator<Item = String> + use<'a> {
    let sysctls = [
        ("tcp_mtu_probing", host.sysctl.tcp_mtu_probing.filter(|&level| level > 0)),
        ("tcp_notsent_lowat", host.sysctl.tcp_notsent_lowat),
        ("tcp_pacing_ss_ratio", host.sysctl.tcp_pacing_ss_ratio),
        ("tcp_pacing_ca_ratio", host.sysctl.tcp_pacing_ca_ratio),
    ];
    keys(name, sysctls)
}

/// Keys of those of a host's sysctls that are set.
fn keys<const N: usize>(
    name: &str,
    sysctls: [(&'static str, Option<u32>); N],
) -> impl Iterator<Item = String> {
    let set = sysctls.into_iter().filter(|(_, value)| value.is_some());
    set.map(move |(sysctl, _)| format!("hosts.{name}.sysctl.net.ipv4.{sysctl}"))
}

fn options(flow: &Flow) -> impl Iterator<Item = String> {
    let options = [
        ("SO_MAX_PACING_RATE", flow.sockopt.max_pacing_rate.is_some()),
        ("TCP_NOTSENT_LOWAT", flow.sockopt.notsent_lowat.is_some()),
    ];
    let set = options.into_iter().filter(|(_, is_set)| *is_set);
    set.map(|(option, _)| format!("flow.{}.sockopt.{option}", flow.name))
}

/// Checks that all settings have known behaviour in the sending hosts' kernels.
///
/// # Errors
/// The first unknown setting, or an unknown kernel.
pub fn check(config: &Config) -> Result<(), String> {
    match unknown(config)?.first() {
        Some((key, why)) => Err(format!("{key}: {why}")),
        None => Ok(()),
    }
}
