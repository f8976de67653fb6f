//! Plan of hosts for the guest, and its deviations.

use super::{Answers, refused};
use crate::kernel::Family;
use fullpipe_base::units::Time;
use fullpipe_guest::plan;
use fullpipe_scenario::config::{Cpu, Driver, System};
use fullpipe_scenario::engine::Support;
use fullpipe_scenario::profile;
use fullpipe_scenario::{Host, Resolved};

/// The keys of a host, `hosts.NAME`, that are not done exactly.
pub(super) fn answers(key: &str, host: &Host, family: Family, answers: &mut Answers) {
    let substituted =
        |part: &str, why: String| (format!("{key}.{part}"), Support::Substituted(why));

    // A family's kernel stands for its other versions; some versions have no source to build from.
    if profile::is_unvalidated(&host.config.kernel) {
        let why = format!(
            "Linux {} is unvalidated: there is no source package to build it from, the simulator alone has it",
            host.config.kernel
        );
        answers.push(refused(&format!("{key}.kernel"), &why));
    } else if host.config.kernel != family.name() {
        answers.push(substituted("kernel", format!("Linux {family} for {}", host.config.kernel)));
    }
    if !host.config.behaviour.is_empty() {
        answers.push(refused(&format!("{key}.behaviour"), "a genuine kernel behaves as it does"));
    }
    let of_another = match host.config.system {
        System::Linux => None,
        System::FixedWindow(_) => Some((
            "window",
            "a genuine kernel makes its window of memory; --engine sim has a fixed one",
        )),
        System::Windows(_) => {
            Some(("system", "the engine is Linux; --engine sim has what is published of Windows"))
        }
    };
    if let Some((part, why)) = of_another {
        answers.push(refused(&format!("{key}.{part}"), why));
    }

    // A card is a queue discipline in the guest: it has no descriptors, and it refuses no skb.
    if host.config.bql {
        let why =
            "its card is a queue discipline, which has no byte queue limits; --engine sim has them";
        answers.push(refused(&format!("{key}.bql"), why));
    }
    if host.config.driver == Driver::Requeues {
        let why =
            "its card is a queue discipline, which refuses no skb; --engine sim has such drivers";
        answers.push(refused(&format!("{key}.driver"), why));
    }
    let moderated = (host.config.tx_coalesce > Time::ZERO).then_some("tx_coalesce");
    let thresholds = [("tx_stop", host.config.tx_stop), ("tx_wake", host.config.tx_wake)];
    let thresholds = thresholds.into_iter().filter(|(_, descriptors)| *descriptors > 1);
    for part in moderated.into_iter().chain(thresholds.map(|(part, _)| part)) {
        let why = "its card is a queue discipline, which has no descriptors; --engine sim has them";
        answers.push(refused(&format!("{key}.{part}"), why));
    }
    for name in host.sysctls_missing_in(family.name()) {
        let why = format!("Linux {family} does not have it");
        answers.push(refused(&format!("{key}.sysctl.{name}"), &why));
    }

    // The guest's CPU takes no time, so nothing waits for it, nor for an interrupt.
    if host.config.cpu != Cpu::default() {
        answers.push(substituted("cpu", "its CPU takes no time".into()));
    }
    let modelled = &host.config.sysctl;
    for (name, budget) in [
        ("net.core.netdev_budget", modelled.netdev_budget),
        ("net.core.netdev_budget_usecs", modelled.netdev_budget_usecs),
    ] {
        if budget.is_some() {
            let why = "it is not set: the CPU takes no time, so softirqs leave programs all of it";
            answers.push(substituted(&format!("sysctl.{name}"), why.into()));
        }
    }
    for (part, wait) in
        [("coalesce", host.config.interrupt_gap), ("rx_coalesce", host.config.rx_coalesce)]
    {
        if wait > Time::ZERO {
            answers.push(substituted(part, "packets are received as they come".into()));
        }
    }
    if host.config.rx_frames > 0 {
        answers.push(substituted("rx_frames", "packets are received as they come".into()));
    }
}

/// Pages of memory for all of TCP where no host sets them: no limit.
const NO_TCP_MEM: [u64; 3] = [100_000_000; 3];

/// net.ipv4.tcp_mem is of a kernel, not of a network namespace: the sockets of all hosts have one memory.
pub(super) fn one_tcp_mem(run: &Resolved, answers: &mut Answers) {
    let first = set_tcp_mem(run).next();
    for station in run.stations() {
        let Some(own) = station.host.config.sysctl.tcp_mem else { continue };
        let key = format!("{}.sysctl.net.ipv4.tcp_mem", station.key());
        if first != Some(own) {
            let why = "hosts differ in it, and all hosts are in one kernel, which has one; --engine sim has one for each host";
            answers.push(refused(&key, why));
        } else {
            let why = "the sockets of all hosts share it: they are in one kernel, which has one";
            answers.push((key, Support::Substituted(why.into())));
        }
    }
}

/// Values of net.ipv4.tcp_mem that hosts set, in their order.
fn set_tcp_mem(run: &Resolved) -> impl Iterator<Item = [u64; 3]> {
    let of_hosts: Vec<_> =
        run.stations().iter().map(|own| own.host.config.sysctl.tcp_mem).collect();
    of_hosts.into_iter().flatten()
}

/// net.ipv4.tcp_mem of the kernel, as text.
pub(super) fn tcp_mem(run: &Resolved) -> String {
    triple(set_tcp_mem(run).next().unwrap_or(NO_TCP_MEM))
}

fn triple(three: [u64; 3]) -> String {
    three.map(|n| n.to_string()).join(" ")
}

/// The host without its way out.
pub(super) fn host(host: &Host) -> plan::Host {
    let sysctl = &host.config.sysctl;
    let switch = |on: bool| u32::from(on).to_string();

    // These settings are always known; those of `if_set` only where the scenario has them.
    let modelled = [
        ("tcp_timestamps", switch(host.config.timestamps)),
        ("tcp_rmem", triple(sysctl.tcp_rmem)),
        ("tcp_wmem", triple(sysctl.tcp_wmem)),
        ("tcp_adv_win_scale", sysctl.tcp_adv_win_scale.to_string()),
        ("tcp_slow_start_after_idle", switch(sysctl.tcp_slow_start_after_idle)),
        ("tcp_window_scaling", switch(sysctl.tcp_window_scaling)),
        ("tcp_sack", switch(sysctl.tcp_sack)),
        ("tcp_dsack", switch(sysctl.tcp_dsack)),
        ("tcp_frto", sysctl.tcp_frto.to_string()),
        ("tcp_reordering", sysctl.tcp_reordering.to_string()),
        ("tcp_early_retrans", sysctl.tcp_early_retrans.to_string()),
        ("tcp_no_metrics_save", switch(sysctl.tcp_no_metrics_save)),
    ];
    let if_set = [
        ("tcp_ecn", sysctl.tcp_ecn),
        ("tcp_notsent_lowat", sysctl.tcp_notsent_lowat),
        ("tcp_pacing_ss_ratio", sysctl.tcp_pacing_ss_ratio),
        ("tcp_pacing_ca_ratio", sysctl.tcp_pacing_ca_ratio),
        ("tcp_limit_output_bytes", sysctl.tcp_limit_output_bytes),
        ("tcp_comp_sack_delay_ns", sysctl.tcp_comp_sack_delay_ns),
        ("tcp_comp_sack_slack_ns", sysctl.tcp_comp_sack_slack_ns),
        ("tcp_comp_sack_nr", sysctl.tcp_comp_sack_nr),
        ("tcp_mtu_probing", sysctl.tcp_mtu_probing),
        ("tcp_base_mss", sysctl.tcp_base_mss),
        ("tcp_mtu_probe_floor", sysctl.tcp_mtu_probe_floor),
        ("tcp_min_snd_mss", sysctl.tcp_min_snd_mss),
        ("tcp_probe_interval", sysctl.tcp_probe_interval),
        ("tcp_probe_threshold", sysctl.tcp_probe_threshold),
    ];
    let if_set = if_set.into_iter().filter_map(|(name, value)| Some((name, value?.to_string())));
    let modelled = modelled.into_iter().chain(if_set);
    let modelled = modelled.map(|(name, value)| (format!("net/ipv4/{name}"), value));
    // By the sender's hash fq and fq_codel of a path distinguish flows; a router on the way to another host would not see that
    // a flow that has timed out has another one.
    let fixed = [("net/core/txrehash".to_string(), switch(false))];
    let real = host.real_sysctl.iter();
    let real = real.map(|(name, value)| (name.replace('.', "/"), value.to_string()));
    plan::Host {
        sysctl: modelled.chain(fixed).chain(real).collect(),
        gso_max_segs: (!host.config.tso).then_some(1),
        initcwnd: host.config.initcwnd,
        mtu: host.config.mtu,
        gro_flush_timeout_ns: if host.config.gro { host.config.gro_flush_timeout.0 } else { 0 },
        out: plan::Way::default(),
    }
}
