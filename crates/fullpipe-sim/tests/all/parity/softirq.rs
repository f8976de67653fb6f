//! Receivers with a CPU that takes packets more slowly than they arrive, and programs that need it too. Small and large
//! budgets of softirqs are used up, and ksoftirqd shares the CPU with the programs.

use crate::parity::{Seen, same, show};
use crate::random;
use crate::scenarios::{self, Size, log_uniform};
use fullpipe_sim::config::{
    App, Config, Cpu, DatagramKind, Datagrams, Delay, Direction, Element, Host, ReceivePath,
};
use fullpipe_sim::trace::Counter;
use fullpipe_sim::units::{Rate, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Mutex;

static SEEN: Seen = Mutex::new(BTreeMap::new());

/// Random properties of a host: its budget, costs of a packet and of copying a byte, and how seldom it is interrupted.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    budget: u64,
    /// CPU time for a packet, ns.
    receive: u64,
    copy_ps_per_byte: u64,
    interrupt_gap_us: u64,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let budget = prop_oneof![2 => Just(300), 2 => log_uniform(1, 1000), 1 => Just(1)];
    let interrupt_gap = prop_oneof![1 => Just(0), 3 => 500..20_000u64];
    (budget, log_uniform(3_000, 40_000), log_uniform(1, 60_000), interrupt_gap).prop_map(
        |(budget, receive, copy_ps_per_byte, interrupt_gap_us)| Drawn {
            budget,
            receive,
            copy_ps_per_byte,
            interrupt_gap_us,
        },
    )
}

fn busy(host: &mut Host, drawn: Drawn) {
    let Drawn { budget, receive, copy_ps_per_byte, interrupt_gap_us } = drawn;
    host.cpu =
        Cpu { copy_ps_per_byte, receive: Time(receive), ack: Time(receive / 2), ..Cpu::default() };
    host.sysctl.netdev_budget = (budget != 300).then_some(budget as u32);
    host.sysctl.netdev_budget_usecs = [None, Some(1), Some(9_000)][receive as usize % 3];
    host.interrupt_gap = Time::us(interrupt_gap_us);
    host.nic_rate = Rate::gbit(10);
    (host.rx_ring, host.qdisc_limit) = (4096, 10_000);
    host.sysctl.netdev_max_backlog = 3000;
    (host.sysctl.rmem_max, host.sysctl.wmem_max) = (1 << 24, 1 << 24);
    host.sysctl.tcp_window_scaling = true;
}

/// Flows, and mostly datagrams, to the receiver, which has a busy CPU. The other host takes no time, except in one case
/// of four.
fn case() -> impl Strategy<Value = Config> {
    let size = Size { packets: 3000, samples: 20 };
    let buffers = log_uniform(500_000, 8_000_000);
    (scenarios::config(size), drawn(), drawn(), buffers, 1000..3000u64).prop_map(
        |(mut config, sender, receiver, buffer, packets)| {
            let free = !packets.is_multiple_of(4);
            busy(&mut config.sender, sender);
            busy(&mut config.receiver, receiver);
            if free {
                config.sender.cpu = Cpu::default();
            }
            let (name, delay) = ("delay".into(), Time::us(200));
            let delay = Delay { name, delay, limit: 100_000, timer: None };
            (config.forward, config.back) = (vec![Element::Delay(delay)], Vec::new());
            config.flows.truncate(2);
            for flow in &mut config.flows {
                (flow.app, flow.start, flow.direction) =
                    (App::Bulk, Time::ZERO, Direction::Forward);
                (flow.bytes, flow.duration, flow.reader) = (None, None, None);
                (flow.sndbuf, flow.rcvbuf) = (Some(buffer), Some(buffer));
                flow.write = flow.write.clamp(2_000, 200_000);
                flow.parameters.clear();
                flow.slow_start = None;
            }
            config.mtu = config.mtu.clamp(1000, 1500);
            // Twice as many as the CPU takes.
            let rate = Rate(16 * 900 * 1_000_000_000 / receiver.receive);
            let flood = Datagrams {
                name: "flood".into(),
                direction: Direction::Forward,
                from: None,
                to: None,
                kind: DatagramKind::Udp { rate, rcvbuf: Some(buffer), reader: None },
                size: 900,
                start: Time::ms(1),
                count: None,
                duration: None,
            };
            config.datagrams = if packets.is_multiple_of(3) { Vec::new() } else { vec![flood] };
            let end = Time((packets * receiver.receive).clamp(15_000_000, 120_000_000));
            (config.end, config.sample) = (end, Time(end.0 / 10));
            config
        },
    )
}

fn compare(config: &Config) -> Result<(), String> {
    let (_, done) = same(config)?;
    let record = crate::plain_path::run(&Config { counters: Some(config.end), ..config.clone() });
    let of = |host: &str| {
        let its = |c: &&Counter| *c.host == *host && *c.name == *"softnet.time_squeeze";
        record.counters().filter(its).last().map_or(0, |c| c.value)
    };
    let squeezed: Vec<_> = config.hosts().iter().map(|host| of(host.name)).collect();
    if squeezed != done.squeezed {
        return Err(format!("squeezed {squeezed:?}, in the reference {:?}", done.squeezed));
    }
    let kernel = &config.receiver.kernel;
    let netif_rx = config.receiver.receive_path == ReceivePath::NetifRx;
    let path = if netif_rx { "netif_rx" } else { "napi" };
    for (what, often) in ["ksoftirqd", "programs"].into_iter().zip(done.turns) {
        if often > 0 {
            show(&SEEN, what);
            show(&SEEN, &format!("{what}, {path}"));
            show(&SEEN, &format!("{what}, {kernel}"));
        }
    }
    if squeezed.iter().sum::<u64>() > 5 {
        show(&SEEN, "squeezed");
    }
    Ok(())
}

#[test]
fn busy_cpus_give_equal_traces() {
    random::check(100, case(), compare);
    let seen = SEEN.lock().unwrap();
    for what in ["squeezed", "ksoftirqd, napi", "ksoftirqd, netif_rx", "programs, napi"]
        .into_iter()
        .chain(["programs, netif_rx", "programs, 6.1", "programs, 6.12", "ksoftirqd, 3.14"])
    {
        assert!(seen.get(what).is_some_and(|&cases| cases >= 4), "hardly any {what}: {seen:?}");
    }
}
