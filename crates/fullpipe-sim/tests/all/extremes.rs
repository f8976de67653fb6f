//! Whatever a configuration says, a run refuses it or comes to its end: nothing panics.

use crate::random;
use crate::record::{Record, ToTheEnd};
use crate::scenarios;
use crate::scenarios::Size;
use fullpipe_sim::config::{App, Config, Element, Flow, Host, QueueLimit};
use fullpipe_sim::sim;
use fullpipe_sim::units::{Rate, Time};
use proptest::prelude::*;

/// A number that somebody may write by mistake, for field number `field`.
fn odd(field: usize, choice: u64) -> u64 {
    let numbers = [0, 1, 2, 1 << 31, (1 << 32) - 1, 1 << 40, 1 << 62, u64::MAX];
    numbers[(choice as usize >> (3 * (field % 20))) % numbers.len()]
}

fn odd32(field: usize, choice: u64) -> u32 {
    odd(field, choice).min(u64::from(u32::MAX)) as u32
}

fn share(field: usize) -> f64 {
    [0.0, 1.0, -1.0, f64::NAN][field % 4]
}

fn spoil_element(element: &mut Element, field: usize, choice: u64) {
    match element {
        Element::Link(link) if field.is_multiple_of(2) => link.rate = Rate(odd(field, choice)),
        Element::Link(link) => link.limit = QueueLimit::Bytes(odd(field, choice)),
        Element::Delay(delay) => match (field % 4, &mut delay.timer) {
            (0, _) => delay.delay = Time(odd(field, choice)),
            (1, _) => delay.limit = odd32(field, choice),
            (2, Some(timer)) => timer.period = Time(odd(field, choice)),
            (_, Some(timer)) => timer.phase = Time(odd(field, choice)),
            _ => {}
        },
        Element::Loss(loss) => loss.probability = share(field),
        Element::GilbertElliott(model) => match field / 4 % 3 {
            0 => model.p = share(field),
            1 => model.r = share(field),
            _ => (model.loss_bad, model.loss_good) = (share(field), share(field / 4)),
        },
        Element::Drop(drop) => drop.segments = vec![odd(field, choice), odd(field + 1, choice)],
        Element::Mark(mark) => mark.segments = vec![odd(field, choice), odd(field + 1, choice)],
        Element::Reorder(reorder) => match field % 3 {
            0 => reorder.chosen_delay = Time(odd(field, choice)),
            1 => reorder.gap = odd32(field, choice),
            _ => reorder.probability = share(field),
        },
        Element::FlowDelay(delay) => delay.delay = Time(odd(field, choice)),
        Element::Duplicate(duplicate) => duplicate.correlation = share(field),
        Element::Jitter(jitter) if field.is_multiple_of(2) => {
            jitter.jitter = Time(odd(field, choice));
        }
        Element::Jitter(jitter) => jitter.correlation = share(field),
        Element::Policer(policer) if field.is_multiple_of(2) => {
            policer.rate = Rate(odd(field, choice));
        }
        Element::Policer(policer) => policer.burst = odd(field, choice),
        Element::Mtu(narrow) if field.is_multiple_of(2) => narrow.mtu = odd(field, choice) as u32,
        Element::Mtu(narrow) => narrow.mss_clamp = Some(odd32(field, choice)),
        Element::Shaper(shaper) => {
            shaper.rate = Rate(odd(field, choice));
            shaper.burst = odd(field + 1, choice);
        }
        Element::VaryingLink(link) => {
            let at = field % link.steps.len();
            link.steps[at].at = Time(odd(field, choice));
            link.steps[at].rate = Rate(odd(field + 1, choice));
        }
        Element::TraceLink(link) => link.opportunities = vec![odd32(field, choice)],
    }
}

fn spoil_host(host: &mut Host, field: usize, choice: u64) {
    let (number, small) = (odd(field, choice), odd32(field, choice));
    match field % 29 {
        0 => host.hz = small,
        23 => host.sysctl.netdev_budget = Some(small),
        24 => host.sysctl.netdev_budget_usecs = Some(small),
        19 => host.initcwnd = Some(small),
        20 => host.tx_coalesce = Time(number),
        21 => host.tx_stop = small,
        22 => host.tx_wake = small,
        1 => host.qdisc_limit = small,
        2 => host.tx_ring = small,
        3 => host.rx_ring = small,
        4 => host.nic_rate = Rate(number),
        5 => host.interrupt_gap = Time(number),
        25 => host.rx_coalesce = Time(number),
        18 => host.gro_flush_timeout = Time(number),
        6 => host.cpu.copy_ps_per_byte = number,
        26 => host.cpu.write = Time(number),
        27 => host.cpu.read = Time(number),
        7 => host.cpu.transmit = Time(number),
        8 => host.cpu.receive = Time(number),
        9 => host.cpu.ack = Time(number),
        10 => host.sysctl.rmem_max = number,
        11 => host.sysctl.wmem_max = number,
        12 => host.sysctl.tcp_rmem[field / 19 % 3] = number,
        13 => host.sysctl.tcp_wmem[field / 19 % 3] = number,
        14 => host.sysctl.tcp_adv_win_scale = (small % 63) as i32 - 31,
        15 => host.sysctl.netdev_max_backlog = small,
        16 => host.sysctl.tcp_ecn = Some(small),
        17 => host.kernel = "2.6.1".into(),
        _ => host.sysctl.tcp_adv_win_scale = 32,
    }
}

fn spoil_flow(flow: &mut Flow, field: usize, choice: u64) {
    let number = odd(field, choice);
    match field % 9 {
        0 => flow.sndbuf = Some(number),
        1 => flow.rcvbuf = Some(number),
        2 => flow.start = Time(number),
        3 => flow.app = App::Rate(Rate(number)),
        4 => flow.bytes = Some(number),
        5 => flow.duration = Some(Time(number)),
        6 => flow.write = odd32(field, choice),
        7 => flow.parameters.push(("initial_ssthresh".into(), number as i64)),
        _ => flow.congestion = "cdg".into(),
    }
}

fn spoil(config: &mut Config, field: usize, choice: u64) {
    let which = field / 7;
    match field % 7 {
        0 => match choice % 4 {
            0 => config.mtu = odd32(field, choice),
            1 => config.mtu = 48 + (choice >> 32) as u32 % 100,
            2 => config.sample = Time(odd(field, choice).min(1 << 40)),
            _ => config.end = Time(odd(field, choice).min(1000)),
        },
        1 | 2 => {
            let elements = config.forward.iter_mut().chain(&mut config.back);
            let mut elements: Vec<_> = elements.collect();
            if !elements.is_empty() {
                let at = (choice >> 60) as usize % elements.len();
                spoil_element(elements[at], which, choice);
            }
        }
        3 => spoil_host(&mut config.sender, which, choice),
        4 => spoil_host(&mut config.receiver, which, choice),
        _ => {
            let at = (choice >> 60) as usize % config.flows.len();
            spoil_flow(&mut config.flows[at], which, choice);
        }
    }
}

fn spoilt() -> impl Strategy<Value = Config> {
    let size = Size { packets: 1000, samples: 50 };
    let spots = prop::collection::vec((0..4000usize, any::<u64>()), 1..4);
    (scenarios::config(size), spots).prop_map(|(mut config, spots)| {
        config.end = config.end.min(Time::ms(20));
        let mut config = scenarios::with_ecn(config);
        spots.iter().for_each(|&(field, choice)| spoil(&mut config, field, choice));
        config
    })
}

fn ends(config: &Config) -> Result<(), String> {
    let mut record = Record::default();
    match sim::run(config, &mut record, &mut ToTheEnd) {
        Err(why) if why.is_empty() => Err("refused without a reason".into()),
        Ok(outcome) if outcome.end != config.end => Err(format!("{outcome:?}")),
        _ => Ok(()),
    }
}

#[test]
fn nothing_panics() {
    random::check(6000, spoilt(), ends);
}
