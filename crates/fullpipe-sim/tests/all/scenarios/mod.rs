//! Random configurations over everything that [`Config`] can say.
//!
//! Sizes are drawn on a logarithmic scale, so that a ring of one descriptor is as likely as one of a
//! thousand. The run's length follows from its bottleneck, so that no case takes long.

mod dumbbell;
mod hosts;
pub use dumbbell::dumbbell;
pub use hosts::host;
pub mod paths;

use fullpipe_sim::config::{
    App, Config, DatagramKind, DatagramReader, Datagrams, Direction, Element, Flow, Host, Pauses,
    Reader, SlowStart, System,
};
use fullpipe_sim::units::{Rate, Time};
use proptest::prelude::*;

/// Bounds of a case's size.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Data packets that the bottleneck can carry until the end, about.
    pub packets: u64,
    /// Most samples.
    pub samples: u64,
}

/// A number from `low` to `high`, small ones as likely as large ones.
pub fn log_uniform(low: u64, high: u64) -> impl Strategy<Value = u64> {
    let bits = (high / low.max(1)).max(1).ilog2() + 1;
    (0..=bits, 0u64..1 << 16).prop_map(move |(bit, fraction)| {
        let base = low.max(1) << bit;
        let value = (u128::from(base) * u128::from((1 << 16) + fraction)) >> 17;
        (value as u64).clamp(low, high)
    })
}

/// A number with no more than three digits that are not zero: what people configure.
pub fn round(value: u64) -> u64 {
    let unit = 10u64.pow(value.max(1).ilog10().saturating_sub(2));
    value / unit * unit
}

/// Any configuration of this size.
pub fn config(size: Size) -> impl Strategy<Value = Config> {
    let ways = (paths::elements("forward", 0..=4), paths::elements("back", 0..=3));
    let hosts = (hosts::host(), hosts::host());
    let flows = prop::collection::vec(flow(), 1..=4);
    let times = (1..=1000u64, 1..=size.samples, 0..1000u64);
    let mtu = prop_oneof![576..=9000u32, prop::sample::select(vec![962, 1212, 1500, 9000])];
    (ways, hosts, flows, mtu, times, any::<u64>()).prop_map(
        move |((forward, back), (sender, receiver), flows, mtu, times, seed)| {
            let flows = flows.into_iter().enumerate();
            let flows = flows.map(|(i, f)| Flow { name: format!("flow{i}"), ..f }).collect();
            let end = Time::secs(20);
            let (sample, mtu) = (end, mtu);
            let mut config = Config {
                seed,
                end,
                sample,
                counters: None,
                mtu,
                forward,
                back,
                sender,
                receiver,
                neighbours: Vec::new(),
                datagrams: Vec::new(),
                rpc: Default::default(),
                flows,
            };
            let (share, samples, odd) = times;
            fit(&mut config, size, share, samples, odd);
            (config.sender.bql, config.receiver.bql) = (seed >> 12 & 1 == 1, seed >> 13 & 1 == 1);
            with_gro(&mut config.sender, seed >> 14);
            with_gro(&mut config.receiver, seed >> 18);
            with_driver(&mut config.sender, seed >> 22);
            with_driver(&mut config.receiver, seed >> 34);
            with_rx_coalesce(&mut config.sender, seed >> 46);
            with_rx_coalesce(&mut config.receiver, seed >> 51);
            let drawn = seed.wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 32;
            with_window(&mut config.sender, mtu, drawn);
            with_window(&mut config.receiver, mtu, drawn >> 16);
            config
        },
    )
}

/// GRO is off for a quarter of the numbers, and waits beyond a poll for half of them.
fn with_gro(host: &mut Host, number: u64) {
    host.gro = number & 3 != 0;
    host.gro_flush_timeout =
        [Time::ZERO, Time::us(3), Time::ZERO, Time::us(70)][number as usize >> 2 & 3];
}

/// The driver notices transmissions late for an eighth of the numbers. It stops its queue before the ring is full for a
/// quarter.
fn with_driver(host: &mut Host, number: u64) {
    let [late, early, size] = [0, 3, 5].map(|bit| number >> bit);
    if late & 7 == 0 {
        host.tx_coalesce = [Time(1), Time::us(10), Time::us(125), Time::ms(1)][size as usize & 3];
    }
    if early & 3 == 0 {
        let ring = u64::from(host.tx_ring);
        let wake = (size % 97) * ring / 97 + 1;
        (host.tx_stop, host.tx_wake) = ((size % wake + 1) as u32, wake as u32);
    }
}

/// The interrupt waits for the packets behind the first for an eighth of the numbers.
fn with_rx_coalesce(host: &mut Host, number: u64) {
    if number & 7 == 0 {
        host.rx_coalesce =
            [Time(1), Time::us(10), Time::us(125), Time::ms(1)][number as usize >> 3 & 3];
        host.rx_frames = [0, 1, 2, 7, 30, 64, 300, 0][number as usize >> 5 & 7];
    }
}

/// Fixes the window of the host for an eighth of the numbers, at eight packets or more.
fn with_window(host: &mut Host, mtu: u32, number: u64) {
    if number & 7 == 0 {
        let least = 8 * u64::from(mtu);
        let bytes = (least << (number >> 3 & 15)) + (number >> 7 & 511);
        host.system = System::FixedWindow(bytes.min(65_535 << 14));
    }
}

/// The configuration with ECN for every fourth seed, between hosts that have it, and with marks. Other random choices
/// stay.
pub fn with_ecn(mut config: Config) -> Config {
    let seed = config.seed;
    if seed.is_multiple_of(4) {
        for host in [&mut config.sender, &mut config.receiver] {
            host.kernel = "6.12".into();
        }
        config.sender.sysctl.tcp_ecn = Some(1);
        config.receiver.sysctl.tcp_ecn =
            [None, Some(0), Some(1), Some(2)][(seed >> 2) as usize % 4];
        config.forward.insert(0, Element::Mark(paths::marks(seed >> 4)));
    }
    config
}

/// Configuration with calls of programs that take up to 20 us, for two of three seeds.
pub fn with_calls(mut config: Config) -> Config {
    let draw = config.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 16;
    let cost = |draw: u64| if draw.is_multiple_of(4) { Time::ZERO } else { Time(draw % 20_000) };
    if !draw.is_multiple_of(3) {
        for (at, host) in (0..).zip([&mut config.sender, &mut config.receiver]) {
            host.cpu.write = cost(draw >> (8 * at));
            host.cpu.read = cost(draw >> (8 * at + 20));
        }
    }
    config
}

/// The configuration with flows that have a pace, or a bound of unsent data, for two of three seeds. The sending host's
/// kernel must have these options.
pub fn with_options(mut config: Config) -> Config {
    let draw = config.seed >> 20;
    if draw.is_multiple_of(3) {
        return config;
    }
    let bytes = bottleneck(&config) / 8;
    let paces = |host: &Host| host.kernel.starts_with('6');
    let [forward, backward] = [paces(&config.sender), paces(&config.receiver)];
    for (at, flow) in (0..).zip(&mut config.flows) {
        if !(if flow.direction == Direction::Forward { forward } else { backward }) {
            continue;
        }
        let draw = draw >> (4 * at);
        // From a fortieth of the path's rate to more than twice as much.
        let paced = !draw.is_multiple_of(4);
        flow.sockopt.max_pacing_rate = paced.then_some((bytes / 40 * (draw % 97)).max(1000));
        // Half of these have a control that paces by itself.
        if (draw >> 8).is_multiple_of(2) {
            (flow.congestion, flow.parameters) = ("bbr".into(), Vec::new());
            flow.slow_start = None;
        }
        flow.sockopt.notsent_lowat =
            [None, Some(1), Some(20_000), Some(0)][(draw >> 2) as usize % 4];
    }
    for host in [&mut config.sender, &mut config.receiver].into_iter().filter(|host| paces(host)) {
        host.sysctl.tcp_notsent_lowat = [None, Some(100_000)][(draw >> 1) as usize % 2];
        host.sysctl.tcp_pacing_ss_ratio = [None, Some(50)][(draw >> 3) as usize % 2];
        host.sysctl.tcp_comp_sack_slack_ns = [None, Some(0)][(draw >> 5) as usize % 2];
        host.sysctl.tcp_comp_sack_nr = [None, None, Some(3), Some(0)][(draw >> 6) as usize % 4];
    }
    config
}

/// The configuration with datagrams in addition to the flows, by the seed: one kind or both, from a hundredth of the
/// path's rate to twice as much.
pub fn with_datagrams(mut config: Config) -> Config {
    let draw = config.seed >> 24;
    let bits = bottleneck(&config);
    let end = config.end.0;
    let size = 1 + (draw % u64::from(config.mtu - 28)) as u32;
    let datagram_ns = u64::from(size) * 8_000_000_000;
    // No more than some thousand of them.
    let slowest = |rate: u64| rate.min(datagram_ns.saturating_mul(3000) / end).max(1);
    let direction = |draw: u64| match draw % 3 {
        0 => Direction::Backward,
        _ => Direction::Forward,
    };
    let time = |draw: u64| Time((end / (1 + draw % 50)).max(1));
    let pauses = Pauses { on: time(draw >> 13), off: time(draw >> 15) };
    let rate = Rate(slowest(bits / 50 * (1 + (draw >> 14) % 100)));
    let reader = match (draw >> 16) % 3 {
        0 => DatagramReader { rate: Some(rate), pauses: None },
        1 => DatagramReader { rate: None, pauses: Some(pauses) },
        _ => DatagramReader { rate: Some(rate), pauses: Some(pauses) },
    };
    let plain = Datagrams {
        name: "udp".into(),
        direction: direction(draw >> 3),
        from: None,
        to: None,
        kind: DatagramKind::Udp {
            rate: Rate(slowest(bits / 50 * (1 + (draw >> 5) % 100))),
            rcvbuf: [None, Some(1 + (draw >> 7) % 20_000)][(draw >> 2) as usize % 2],
            reader: [None, Some(reader)][(draw >> 12) as usize % 2],
        },
        size,
        start: Time((draw >> 9) % 1000 * 1000),
        count: [None, Some(1 + (draw >> 11) % 500)][(draw >> 4) as usize % 2],
        duration: [None, Some(Time(end / 2))][(draw >> 6) as usize % 2],
    };
    let interval = Time((end / (1 + (draw >> 8) % 300)).max(1000));
    let echo = Datagrams {
        name: "ping".into(),
        direction: direction(draw >> 10),
        kind: DatagramKind::Echo { interval },
        ..plain.clone()
    };
    config.datagrams = match draw % 4 {
        0 => vec![plain],
        1 => vec![echo],
        _ => vec![echo, plain],
    };
    config
}

/// A power of ten from `low` to `high`: where these meet, things happen at the same time.
pub fn decade(low: u64, high: u64) -> impl Strategy<Value = u64> {
    (low.ilog10()..=high.ilog10()).prop_map(|digits| 10u64.pow(digits))
}

/// A capacity: often ample, sometimes tiny.
pub fn capacity(most: u64) -> impl Strategy<Value = u64> {
    prop_oneof![1 => log_uniform(1, 30), 2 => log_uniform(30, most)]
}

/// Bits per second of data that can leave the hosts and pass the path, where it passes faster.
fn bottleneck(config: &Config) -> u64 {
    let used = |direction| config.flows.iter().any(|flow| flow.direction == direction);
    let ways = [
        (Direction::Forward, &config.forward, &config.sender),
        (Direction::Backward, &config.back, &config.receiver),
    ];
    let used = ways.into_iter().filter(|(direction, ..)| used(*direction));
    used.map(|(_, way, host)| narrowest(way, host)).max().expect("a flow")
}

/// Bits per second that can leave a host and pass a way.
fn narrowest(way: &[Element], host: &Host) -> u64 {
    let links = way.iter().filter_map(|e| match e {
        Element::Link(link) => Some(link.rate.0),
        Element::VaryingLink(link) => link.steps.iter().map(|s| s.rate.0).filter(|r| *r > 0).min(),
        Element::Policer(policer) => Some(policer.rate.0),
        Element::Shaper(shaper) => Some(shaper.rate.0),
        Element::TraceLink(link) => {
            let period = u64::from(*link.opportunities.last()?);
            Some(link.opportunities.len() as u64 * 12_000_000 / period)
        }
        _ => None,
    });
    links.chain([host.nic_rate.0]).min().expect("a host has a card")
}

/// Bits per second that the buffers allow, about; none: as many as come.
fn window_rate(config: &Config) -> Option<u64> {
    let delay = |e: &Element| match e {
        Element::Delay(delay) => delay.delay.0,
        Element::Jitter(jitter) => jitter.delay.0,
        Element::FlowDelay(delay) => delay.delay.0,
        Element::Reorder(reorder) => reorder.delay.0,
        _ => 0,
    };
    let round_trip = config.forward.iter().chain(&config.back).map(delay).sum::<u64>();
    let windows = config.flows.iter().map(|f| {
        let [sender, receiver] = config.hosts_of(f).map(|host| host.host);
        let send = f.sndbuf.unwrap_or(sender.sysctl.tcp_wmem[2]);
        send.min(f.rcvbuf.unwrap_or(receiver.sysctl.tcp_rmem[2])) * 2
    });
    let bits = windows.sum::<u64>().saturating_mul(8_000_000_000);
    bits.checked_div(round_trip).map(|rate| rate.max(1000))
}

/// Sets the end and the interval of a configuration, and keeps its writes and reads from being too many. The end is
/// `share` thousandths of the time that `size.packets` take. The interval is a share of it, and `odd` ns more.
fn fit(config: &mut Config, size: Size, share: u64, samples: u64, odd: u64) {
    let rate = bottleneck(config).min(window_rate(config).unwrap_or(u64::MAX));
    let packet_ns = 8_000_000_000 * u64::from(config.mtu) / rate;
    let full = (size.packets * packet_ns.max(1)).clamp(1_000_000, config.end.0);
    let longest_start = config.flows.iter().map(|f| f.start.0).max().unwrap_or(0);
    config.end = Time(full * share / 1000 + 1000 + longest_start % full.max(1));
    config.sample = Time((config.end.0 / samples + odd).max(1000));
    let seconds = config.end.0 as f64 / 1e9;
    let most = |bits: u64| (bits as f64 / 8.0 * seconds / size.packets as f64) as u32;
    let bulk = most(rate);
    for flow in &mut config.flows {
        let least = match flow.app {
            App::Bulk => bulk,
            App::Rate(rate) => most(rate.0),
            App::OnOff { .. } | App::Messages { .. } => bulk,
        };
        flow.write = flow.write.max(least).max(1);
        if let Some(reader) = &mut flow.reader {
            reader.read = reader.read.max(most(reader.rate.0.min(rate)));
        }
    }
}

/// An application with that rate, or one that pauses.
fn paced(drawn: u64) -> App {
    let (on, off) = (Time::us(20 << (drawn / 3 % 12)), Time::us(50 << (drawn / 36 % 14)));
    if drawn.is_multiple_of(3) { App::OnOff { on, off } } else { App::Rate(Rate(round(drawn))) }
}

fn flow() -> impl Strategy<Value = Flow> {
    let app = prop_oneof![
        3 => Just(App::Bulk),
        1 => log_uniform(100_000, 20_000_000_000).prop_map(paced),
    ];
    let buffers = (prop::option::of(buffer()), prop::option::of(buffer()));
    let span = |most| prop::option::of(log_uniform(1, most));
    let start = prop_oneof![Just(0), decade(1000, 10_000_000), log_uniform(1, 50_000_000)];
    (
        congestion(),
        buffers,
        start,
        app,
        span(3_000_000),
        span(10_000_000_000),
        log_uniform(1, 300_000),
    )
        .prop_map(|((congestion, parameters), buffers, start, app, bytes, duration, write)| {
            Flow {
                name: String::new(),
                direction: direction(write),
                from: None,
                to: None,
                answers: None,
                quickack: None,
                congestion,
                parameters,
                slow_start: slow_start(write),
                sndbuf: buffers.0,
                rcvbuf: buffers.1,
                sockopt: Default::default(),
                start: Time(start),
                after: None,
                app,
                bytes,
                duration: duration.map(Time),
                write: write as u32,
                reader: reader(write, start),
            }
        })
}

/// Mostly forward; by a number that is drawn for something else.
fn direction(drawn: u64) -> Direction {
    match (drawn / 11) % 3 {
        0 => Direction::Backward,
        _ => Direction::Forward,
    }
}

/// Mostly one that reads at once; by numbers that are drawn for something else.
fn reader(drawn: u64, other: u64) -> Option<Reader> {
    let rate = Rate(round(100_000 << (drawn / 5 % 14)));
    let read = 1 + (other.wrapping_mul(7919) % (drawn + 1)) as u32;
    drawn.is_multiple_of(5).then_some(Reader { rate, read })
}

/// Mostly the kernel's; by a number that is drawn for something else.
fn slow_start(drawn: u64) -> Option<SlowStart> {
    let name = ["limited", "hystart++", "search"].get((drawn % 8) as usize)?;
    Some(SlowStart { name: (*name).into(), parameters: Vec::new() })
}

fn buffer() -> impl Strategy<Value = u64> {
    log_uniform(1_000, 20_000_000)
}

fn congestion() -> impl Strategy<Value = (String, Vec<(String, i64)>)> {
    let threshold = |name: &'static str| {
        prop::option::of(0..=200i64).prop_map(move |threshold| {
            let parameters = threshold.map(|t| ("initial_ssthresh".to_string(), t));
            (name.to_string(), parameters.into_iter().collect())
        })
    };
    prop_oneof![Just(("reno".to_string(), Vec::new())), threshold("bic"), threshold("cubic"),]
}
