//! Interrupts that cover more packets than a poll takes: what GRO has of a poll waits for the next one.

use crate::parity::same;
use crate::random;
use crate::scenarios::{self, Size};
use fullpipe_sim::config::{App, Config, Cpu, Direction, Element, ReceivePath};
use fullpipe_sim::units::{Rate, Time};
use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Polls that left something in GRO and in the ring.
static LEFT: AtomicU64 = AtomicU64::new(0);

/// The first flow alone, over what delays of a scenario, to hosts that are seldom interrupted.
fn case() -> impl Strategy<Value = Config> {
    let size = Size { packets: 6000, samples: 20 };
    (scenarios::config(size), 500..3000u64).prop_map(|(mut config, coalesce_us)| {
        for host in [&mut config.sender, &mut config.receiver] {
            (host.kernel, host.hz, host.gro) = ("6.12".into(), 1000, true);
            (host.nic_rate, host.cpu) = (Rate::mbit(1000), Cpu::default());
            (host.receive_path, host.rx_ring) = (ReceivePath::Napi, 4096);
            host.interrupt_gap = Time::us(coalesce_us);
        }
        config.forward.retain(|element| matches!(element, Element::Delay(_)));
        config.back.retain(|element| matches!(element, Element::Delay(_)));
        config.flows.truncate(1);
        let flow = &mut config.flows[0];
        (flow.direction, flow.app, flow.start) = (Direction::Forward, App::Bulk, Time::ZERO);
        (flow.bytes, flow.duration, flow.reader) = (None, None, None);
        (flow.sndbuf, flow.rcvbuf, flow.write) = (Some(4 << 20), Some(4 << 20), 1 << 16);
        (config.mtu, config.end, config.sample) = (1500, Time::ms(60), Time::ms(3));
        config
    })
}

fn compare(config: &Config) -> Result<(), String> {
    let (_, done) = same(config)?;
    LEFT.fetch_add(u64::from(done.by_gro[2] > 0), Ordering::Relaxed);
    Ok(())
}

#[test]
fn polls_use_their_budget_up() {
    random::check(100, case(), compare);
    let cases = LEFT.load(Ordering::Relaxed);
    assert!(cases >= 20, "only {cases} polls left something");
}
