//! From a resolved scenario to the simulator: every key arrives, and stages are called as the
//! scenario's metrics call them.

use fullpipe::engine::sim::{Simulator, config};
use fullpipe::engine::{Engine, engines};
use fullpipe::scenario::metric::stages;
use fullpipe::scenario::{Resolved, Source, load};
use fullpipe::trace::recording::Recording;
use fullpipe_sim::config::{App, Element, QueueLimit, ReceivePath};
use fullpipe_sim::trace::Control;
use fullpipe_sim::units::{Framing, Rate, Time};
use std::collections::BTreeSet;

/// Every key differs from its default and from every other key of its kind.
const EVERY_KEY: &str = r#"
title = "Every key"
seed = 11
duration = "12s"
report = { interval = "200ms", first_interval = "201ms", clock_offset = "3ms", sample = "7ms" }

[path]
mtu = 1400
[[path.forward]]
kind = "loss"
name = "l"
probability = "1%"
[[path.forward]]
kind = "link"
name = "k"
rate = "13Mbit"
framing = "ethernet"
queue = { limit = "14 packets" }
[[path.back]]
kind = "delay"
name = "d"
delay = "15ms"
limit = "16 packets"
timer = { hz = 100, phase = "1700us" }

[hosts.sender]
kernel = "2.6.20"
hz = 1000
timestamps = false
tso = false
qdisc = { limit = "18 packets" }
tx_ring = "19 descriptors"
tx_coalesce = "4us"
tx_stop = "5 descriptors"
tx_wake = "6 descriptors"
bql = true
rx_ring = "20 descriptors"
nic_rate = "21Mbit"
rx_coalesce = "9us"
coalesce = "22us"
gro = false
gro_flush_timeout = "7us"
receive_path = "netif_rx"
cpu = { copy = "23ps/byte", transmit = "24ns/packet", receive = "25ns/packet", ack = "26ns/packet" }
[hosts.sender.sysctl]
net.core.rmem_max = 27000
net.core.wmem_max = 28000
net.ipv4.tcp_rmem = "29000 30000 31000"
net.ipv4.tcp_wmem = "32000 33000 34000"
net.ipv4.tcp_adv_win_scale = -3
net.core.netdev_max_backlog = 36
net.ipv4.tcp_slow_start_after_idle = 0
net.ipv4.tcp_window_scaling = 0
net.ipv4.tcp_sack = 0

[hosts.receiver]
kernel = "2.6.20"

[[flow]]
name = "f"
congestion = { name = "bic", beta = 37 }
sndbuf = "38000B"
rcvbuf = "39000B"
start = "40ms"
duration = "4s"
bytes = "42kB"
app = { kind = "rate", rate = "43kbit" }
write = "44B"
"#;

fn resolved(text: &str) -> Resolved {
    let scenario = load(&Source::text("every.toml", text), &[], &[]);
    scenario.unwrap_or_else(|e| panic!("{e}")).plans()[0].resolved.clone()
}

#[test]
fn run_and_path_arrive() {
    let config = config(&resolved(EVERY_KEY));
    assert_eq!(config.check(), Ok(()));
    assert_eq!((config.seed, config.end, config.sample), (11, Time::secs(12), Time::ms(7)));
    assert_eq!(config.mtu, 1400);
    let [Element::Loss(loss), Element::Link(link)] = config.forward.as_slice() else { panic!() };
    assert_eq!((loss.name.as_str(), loss.probability), ("l", 0.01));
    assert_eq!((link.name.as_str(), link.rate), ("k", Rate::mbit(13)));
    assert_eq!((link.framing, link.limit), (Framing::Ethernet, QueueLimit::Packets(14)));
    let [Element::Delay(delay)] = config.back.as_slice() else { panic!() };
    assert_eq!((delay.name.as_str(), delay.delay, delay.limit), ("d", Time::ms(15), 16));
    let timer = delay.timer.expect("written");
    assert_eq!((timer.period, timer.phase), (Time::ms(10), Time::us(1700)));
}

#[test]
fn hosts_arrive() {
    let config = config(&resolved(EVERY_KEY));
    let host = &config.sender;
    assert_eq!((host.kernel.as_str(), host.hz), ("2.6.20", 1000));
    assert!(!host.timestamps && !host.tso);
    assert_eq!((host.qdisc_limit, host.tx_ring, host.rx_ring), (18, 19, 20));
    assert_eq!((host.tx_coalesce, host.tx_stop, host.tx_wake), (Time::us(4), 5, 6));
    let by_default =
        (config.receiver.tx_coalesce, config.receiver.tx_stop, config.receiver.tx_wake);
    assert_eq!(by_default, (Time::ZERO, 1, 1));
    assert!(host.bql && !config.receiver.bql);
    assert_eq!(config.receiver.rx_coalesce, Time::ZERO);
    assert_eq!(
        (host.nic_rate, host.interrupt_gap, host.rx_coalesce),
        (Rate::mbit(21), Time::us(22), Time::us(9))
    );
    assert_eq!((host.gro, host.gro_flush_timeout), (false, Time::us(7)));
    assert!(config.receiver.gro, "by default");
    assert_eq!(host.receive_path, ReceivePath::NetifRx);
    let cpu = host.cpu;
    assert_eq!((cpu.copy_ps_per_byte, cpu.transmit), (23, Time::ns(24)));
    assert_eq!((cpu.receive, cpu.ack), (Time::ns(25), Time::ns(26)));
    let sysctl = host.sysctl;
    assert_eq!((sysctl.rmem_max, sysctl.wmem_max), (27_000, 28_000));
    assert_eq!(sysctl.tcp_rmem, [29_000, 30_000, 31_000]);
    assert_eq!(sysctl.tcp_wmem, [32_000, 33_000, 34_000]);
    assert_eq!((sysctl.tcp_adv_win_scale, sysctl.netdev_max_backlog), (-3, 36));
    assert!(!sysctl.tcp_slow_start_after_idle && !sysctl.tcp_window_scaling && !sysctl.tcp_sack);
    assert_eq!(config.receiver.sysctl.tcp_adv_win_scale, 2, "the hosts are not mixed up");
}

#[test]
fn flows_arrive() {
    let config = config(&resolved(EVERY_KEY));
    let [flow] = config.flows.as_slice() else { panic!() };
    assert_eq!((flow.name.as_str(), flow.congestion.as_str()), ("f", "bic"));
    let beta = flow.parameters.iter().find(|(name, _)| name == "beta");
    assert_eq!(beta.map(|(_, value)| *value), Some(37));
    assert_eq!((flow.sndbuf, flow.rcvbuf), (Some(38_000), Some(39_000)));
    assert_eq!((flow.start, flow.duration), (Time::ms(40), Some(Time::secs(4))));
    assert_eq!((flow.bytes, flow.write), (Some(42_000), 44));
    assert_eq!(flow.app, App::Rate(Rate(43_000)));
}

#[test]
fn a_scenario_of_every_key_parses_to_itself() {
    let run = resolved(EVERY_KEY);
    assert_eq!(resolved(&run.to_toml()), run);
}

struct Always;
impl Control for Always {
    fn go_on(&mut self, _: Time) -> bool {
        true
    }
}

#[test]
fn stages_of_a_run_are_those_that_metrics_know() {
    let run = resolved(&EVERY_KEY.replace("duration = \"12s\"", "duration = \"100ms\""));
    let mut recording = Recording::default();
    Simulator.run(&run, &mut recording, &mut Always).expect("it runs");
    let announced: BTreeSet<String> =
        recording.stages.iter().map(|stage| stage.name.clone()).collect();
    assert_eq!(announced.len(), recording.stages.len());
    assert_eq!(announced, stages(&run).into_iter().collect());
}

#[test]
fn every_kernel_of_the_scenario_is_known_to_the_simulator() {
    let kernels = fullpipe_sim::tcp::profile::PROFILES.iter().map(|profile| profile.name);
    for kernel in kernels {
        let text = EVERY_KEY.replace("\"2.6.20\"", &format!("\"{kernel}\""));
        assert_eq!(resolved(&text).hosts.sender.config.kernel, kernel);
    }
    assert!(engines().iter().any(|engine| engine.name() == "sim"));
}
