//! Events while a process owns a socket: a path that drops bursts, and a CPU with expensive writes, reads and walks
//! along the send queue. So ACKs wait in backlogs and timers find sockets locked.

use crate::parity::{Seen, same, show};
use crate::random;
use crate::scenarios::{Size, config, decade, log_uniform};
use fullpipe_sim::config::{App, Config, Delay, Discipline, Drop, Element, Host, Link, QueueLimit};
use fullpipe_sim::tcp::profile::{AckOrder, find};
use fullpipe_sim::units::{Framing, Rate, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Mutex;

static SEEN: Seen = Mutex::new(BTreeMap::new());

/// The path's rate, queue and delay, and a run of segments that it loses.
fn path() -> impl Strategy<Value = Vec<Element>> {
    let rate = log_uniform(20_000_000, 200_000_000);
    let lost = (log_uniform(1, 1_000), 0..300u64);
    (rate, 5..100u32, decade(1_000_000, 10_000_000), lost).prop_map(|(rate, limit, delay, lost)| {
        let segments = (lost.0..lost.0 + lost.1).collect();
        let drop = Drop { name: "drop".into(), flow: 0, segments, acks: Vec::new() };
        let link = Link {
            name: "link".into(),
            rate: Rate(rate),
            framing: Framing::Ethernet,
            limit: QueueLimit::Packets(limit),
            discipline: Discipline::Fifo,
        };
        let delay = Delay { name: "delay".into(), delay: Time(delay), limit: 100_000, timer: None };
        vec![Element::Drop(drop), Element::Link(link), Element::Delay(delay)]
    })
}

fn busy(host: &mut Host, copy_ps_per_byte: u64) {
    let sysctl = &mut host.sysctl;
    (sysctl.tcp_sack, sysctl.tcp_window_scaling) = (true, true);
    (sysctl.rmem_max, sysctl.wmem_max) = (1 << 24, 1 << 24);
    sysctl.tcp_adv_win_scale = 2;
    host.nic_rate = Rate::gbit(10);
    (host.qdisc_limit, host.rx_ring) = (1000.max(host.qdisc_limit), 64.max(host.rx_ring));
    host.cpu.copy_ps_per_byte = copy_ps_per_byte;
}

/// A host's costs, and whether its kernel walks though its version does not (none since 4.6 can).
fn case() -> impl Strategy<Value = Config> {
    let copies = (log_uniform(10_000, 300_000), log_uniform(100, 1_000_000));
    let walks = (prop_oneof![1 => Just(0), 9 => log_uniform(1_000, 2_000_000)], any::<bool>());
    let buffers = (log_uniform(30_000, 600_000), log_uniform(60_000, 2_000_000));
    let write = log_uniform(20_000, 1_000_000);
    let small = Size { packets: 3000, samples: 100 };
    (config(small), path(), copies, walks, buffers, write, 300..2000u64).prop_map(
        |(mut config, path, copies, (walk, forced), buffers, write, ms)| {
            config.forward = path;
            config.back.clear();
            busy(&mut config.sender, copies.0);
            busy(&mut config.receiver, copies.1);
            config.sender.cpu.walk = Time(walk);
            if forced {
                let kernel = &mut config.sender.kernel;
                if find(kernel).is_some_and(|known| known.ack_order == AckOrder::CwndLast) {
                    *kernel = "3.14".into();
                }
                let row = ("walks_queue".to_string(), "true".to_string());
                config.sender.behaviour.push(row);
            }
            config.flows.truncate(2);
            for flow in &mut config.flows {
                (flow.app, flow.start, flow.duration) = (App::Bulk, Time::ZERO, None);
                (flow.sndbuf, flow.rcvbuf) = (Some(buffers.0), Some(buffers.1));
                flow.bytes = flow.bytes.map(|bytes| bytes.max(500_000));
                flow.write = write as u32;
                flow.slow_start = None;
            }
            config.mtu = config.mtu.min(1500);
            (config.end, config.sample) = (Time::ms(ms), Time::ms(ms / 100));
            config
        },
    )
}

fn compare(config: &Config) -> Result<(), String> {
    let (_, done) = same(config)?;
    let by_walks = done.pauses > 0;
    let [write, delack] = done.locked_timers;
    let kinds = [
        ("a backlog worked off one by one", by_walks),
        ("a write timer that finds the socket locked", write > 0),
        ("a delayed ACK's timer that finds the socket locked", delack > 0),
        ("both a backlog and a write timer", by_walks && write > 0),
    ];
    kinds.iter().filter(|(_, seen)| *seen).for_each(|(what, _)| show(&SEEN, what));
    Ok(())
}

#[test]
#[ignore = "a study: make studies"]
fn study_locked_sockets() {
    random::check(1400, case(), compare);
    let seen = SEEN.lock().unwrap();
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert!(seen.values().all(|&cases| cases >= 20), "{seen:?}");
}
