//! Random hosts.

use super::{capacity, decade, log_uniform, round};
use fullpipe_sim::config::{Cpu, Host, ReceivePath, Sysctl};
use fullpipe_sim::tcp::profile::PROFILES;
use fullpipe_sim::units::{Rate, Time};
use proptest::prelude::*;

/// Any host.
pub fn host() -> impl Strategy<Value = Host> {
    let hz = prop::sample::select(vec![100, 250, 300, 1000]);
    let nic = prop_oneof![
        3 => log_uniform(10_000_000, 40_000_000_000).prop_map(round),
        1 => log_uniform(1_000_000, 10_000_000),
        2 => decade(10_000_000, 10_000_000_000),
    ];
    let interrupt_gap = prop::sample::select(vec![Time(0), Time::us(25), Time::us(100)]);
    let path = prop::sample::select(vec![ReceivePath::Napi, ReceivePath::NetifRx]);
    let sizes = (capacity(2000), capacity(2000), capacity(4000));
    let offloads = (any::<bool>(), any::<bool>());
    let kernels: Vec<_> = PROFILES.iter().map(|profile| profile.name).collect();
    let kernel = (prop::sample::select(kernels), hz);
    (kernel, offloads, sysctl(), sizes, nic, (interrupt_gap, path), cpu()).prop_map(
        |(
            kernel,
            (timestamps, tso),
            sysctl,
            sizes,
            nic_rate,
            (interrupt_gap, receive_path),
            cpu,
        )| {
            Host {
                hz: kernel.1,
                timestamps,
                tso,
                sysctl,
                qdisc_limit: sizes.0 as u32,
                tx_ring: sizes.1 as u32,
                rx_ring: sizes.2 as u32,
                nic_rate: Rate(nic_rate),
                interrupt_gap,
                receive_path,
                cpu,
                ..Host::plain(kernel.0)
            }
        },
    )
}

/// Packets of a backlog: mostly few, as little else fills one.
fn backlog() -> impl Strategy<Value = u64> {
    prop_oneof![3 => log_uniform(1, 30), 1 => log_uniform(30, 3000)]
}

fn sysctl() -> impl Strategy<Value = Sysctl> {
    let most = || log_uniform(4_096, 100_000_000);
    let three = || {
        (log_uniform(1, 20_000), log_uniform(4_096, 1_000_000), most())
            .prop_map(|(least, usual, most)| [least, usual, most.max(usual)])
    };
    let switches = (any::<bool>(), prop::bool::weighted(0.9), prop::bool::weighted(0.9));
    let more = any::<(bool, bool, bool)>();
    let levels = (0..=2u32, prop_oneof![4 => Just(3u32), 1 => 1..8u32], 0..=4u32);
    let recovery = (more, levels);
    let sizes = (most(), most(), three(), three());
    (sizes, -2..=3i32, backlog(), switches, recovery).prop_map(
        |(sizes, tcp_adv_win_scale, backlog, switches, (more, levels))| Sysctl {
            rmem_max: sizes.0,
            wmem_max: sizes.1,
            tcp_rmem: sizes.2,
            tcp_wmem: sizes.3,
            tcp_adv_win_scale,
            netdev_max_backlog: backlog as u32,
            tcp_slow_start_after_idle: switches.0,
            tcp_window_scaling: switches.1,
            tcp_sack: switches.2,
            tcp_fack: more.0,
            tcp_dsack: more.1,
            tcp_frto: levels.0,
            tcp_reordering: levels.1,
            tcp_early_retrans: levels.2,
            tcp_no_metrics_save: more.2,
            ..Sysctl::LINUX_2_6_20
        },
    )
}

fn cpu() -> impl Strategy<Value = Cpu> {
    let some = || prop_oneof![log_uniform(1, 20_000), decade(1, 10_000)];
    let cost = || prop_oneof![Just(Time::ZERO), some().prop_map(Time)];
    let copy = prop_oneof![Just(0), log_uniform(1, 5_000), decade(1, 1_000)];
    let walk = prop_oneof![2 => Just(Time::ZERO), 1 => (1..40u64).prop_map(Time)];
    let costs = (copy, cost(), cost(), cost(), walk);
    let some = costs.prop_map(|(copy_ps_per_byte, transmit, receive, ack, walk)| Cpu {
        copy_ps_per_byte,
        transmit,
        receive,
        ack,
        walk,
        capture: Time::ZERO,
        ..Cpu::default()
    });
    prop_oneof![1 => Just(Cpu::default()), 2 => some]
}
