//! Several hosts at an end of the path.

use super::{Size, config, host};
use fullpipe_sim::config::{Config, Delay, Direction, Element, Host, Neighbour};
use fullpipe_sim::units::Time;
use proptest::prelude::*;

/// Configurations with one to three hosts besides the two, and flows between any of them.
pub fn dumbbell(size: Size) -> impl Strategy<Value = Config> {
    let hosts = prop::collection::vec((any::<bool>(), host()), 1..=3);
    (config(size), hosts, any::<u64>())
        .prop_map(|(config, hosts, drawn)| with_hosts(config, hosts, drawn))
}

/// The configuration with further hosts; each flow is between hosts that are drawn.
fn with_hosts(mut config: Config, hosts: Vec<(bool, Host)>, drawn: u64) -> Config {
    for (i, (forward, host)) in hosts.into_iter().enumerate() {
        let (direction, way, next) = match forward {
            true => (Direction::Forward, &mut config.forward, &config.sender),
            false => (Direction::Backward, &mut config.back, &config.receiver),
        };
        let exact = |e: &Element| match e {
            Element::Delay(delay) => delay.delay > Time::ZERO && delay.timer.is_none(),
            _ => false,
        };
        if !way.iter().any(exact) {
            let name = format!("{direction:?}-delay");
            let delay = Time(1 + drawn % 2_000_000);
            way.push(Element::Delay(Delay { name, delay, limit: u32::MAX, timer: None }));
        }
        // Equal hosts on one side act at equal times, so their order matters.
        let mut host = if drawn >> i & 1 == 1 { next.clone() } else { host };
        host.timestamps = next.timestamps;
        host.sysctl.tcp_sack = next.sysctl.tcp_sack;
        host.sysctl.tcp_window_scaling = next.sysctl.tcp_window_scaling;
        config.neighbours.push(Neighbour { name: format!("host{i}"), direction, host });
    }
    for (i, flow) in config.flows.iter_mut().enumerate() {
        let pick = |direction, draw: u64| {
            let there = config.neighbours.iter().filter(|host| host.direction == direction);
            let names: Vec<_> = there.map(|host| Some(host.name.clone())).chain([None]).collect();
            names[draw as usize % names.len()].clone()
        };
        flow.from = pick(flow.direction, drawn >> (4 + 5 * i));
        flow.to = pick(flow.direction.turned(), drawn >> (6 + 5 * i));
        if drawn >> 60 & 1 == 1 {
            flow.start = Time::ZERO;
        }
    }
    config
}
