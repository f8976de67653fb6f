//! Reliefs of the hosts at the ends of the path.

use super::keys::{set, text};
use super::path::{fastest, swallowing};
use crate::analysis::main_way;
use crate::scenario::{
    App, DatagramKind, Flow, Host, NfsOperation, QdiscKind, Resolved, SetOption, TIMEO,
};
use fullpipe_base::units::{Rate, Time};
use fullpipe_sim::config::{Autotuning, Direction, QueueLimit, System};
use fullpipe_sim::tcp::modelled::are_modelled;

/// TCP's largest window, bytes.
const LARGEST_WINDOW: u64 = 65_535 << 14;
/// Descriptors of a ring that is never full.
const RING: u32 = 1_000_000;
/// Packets of a queue that is never full.
const PACKETS: u32 = 1_000_000_000;
/// Packets of a backlog that is never full.
const BACKLOG: u32 = i32::MAX as u32;
/// Pages of memory that sockets never fill: 1 TiB.
const PAGES: u64 = 1 << 28;
/// Read-ahead of a mount that asks for a whole file, bytes.
const READ_AHEAD: u64 = 1 << 30;
/// Most threads of an NFS server.
const THREADS: u32 = 1024;
/// Bytes of a socket that holds the datagrams of any pause.
const SOCKET: u64 = 1 << 29;
/// Rate of a card that holds nothing back, in rates of the path's fastest link.
const CARD: u64 = 10;
/// Largest `maxrate` that fq of Linux takes.
const MAXRATE: &str = "34Gbit";
/// Largest rate of a pace that is one, bits per second.
const PACED: u64 = 34_000_000_000;

/// Both ends with their names.
fn ends(run: &Resolved) -> [(&'static str, &Host); 2] {
    [("sender", &run.hosts.sender), ("receiver", &run.hosts.receiver)]
}

/// The ends in the order of the judged flows: the one that sends their data first.
pub fn of_data(run: &Resolved) -> [(&'static str, &Host); 2] {
    let [sender, receiver] = ends(run);
    match main_way(run) {
        Some(Direction::Backward) => [receiver, sender],
        _ => [sender, receiver],
    }
}

/// Window scaling at both ends.
pub fn window_scaling(run: &Resolved) -> Vec<SetOption> {
    let off = ends(run).into_iter().filter(|(_, host)| !host.config.sysctl.tcp_window_scaling);
    off.map(|(name, _)| sysctl(name, "net.ipv4.tcp_window_scaling", 1)).collect()
}

/// Memory for all sockets of a host that bounds it (net.ipv4.tcp_mem).
pub fn tcp_mem(run: &Resolved) -> Vec<SetOption> {
    let is_less = |host: &Host| host.config.sysctl.tcp_mem.is_some_and(|own| own[0] < PAGES);
    let bounded = ends(run).into_iter().filter(|(_, host)| is_less(host));
    let value = [PAGES; 3].map(|pages| pages.to_string()).join(" ");
    bounded.map(|(name, _)| sysctl(name, "net.ipv4.tcp_mem", value.clone())).collect()
}

/// Largest window for a receiving host with a fixed one.
pub fn window(run: &Resolved) -> Vec<SetOption> {
    let [_, (name, host)] = of_data(run);
    let is_less = matches!(host.config.system, System::FixedWindow(own) if own < LARGEST_WINDOW);
    is_less
        .then(|| set(&["hosts", name, "window"], text(format!("{LARGEST_WINDOW}B"))))
        .into_iter()
        .collect()
}

/// The highest autotuning level of a Windows host, where data arrive.
pub fn autotuning(run: &Resolved) -> Vec<SetOption> {
    let [_, (name, host)] = of_data(run);
    let highest = Autotuning::Experimental;
    let is_lower = matches!(host.config.system, System::Windows(own) if own != highest);
    is_lower
        .then(|| set(&["hosts", name, "autotuning"], text(highest.name())))
        .into_iter()
        .collect()
}

/// Packets of a first window that Linux takes for a route, and which shallow queues stand.
const FIRST_WINDOW: u32 = 32;

/// A larger first window of transfers of a fixed size.
pub fn first_window(run: &Resolved) -> Vec<SetOption> {
    let [(name, host), _] = of_data(run);
    let is_less = host.config.initcwnd.is_none_or(|own| own < FIRST_WINDOW);
    let ends = super::judged(run).iter().all(|at| run.flow[*at].bytes.is_some());
    let key = set(&["hosts", name, "initcwnd"], text(format!("{FIRST_WINDOW} packets")));
    (is_less && ends).then_some(key).into_iter().collect()
}

/// No new slow start after pauses, where a program has some.
pub fn no_idle_restart(run: &Resolved) -> Vec<SetOption> {
    let [(name, host), _] = of_data(run);
    let mut flows = super::judged(run).into_iter().map(|at| &run.flow[at]);
    let pauses = |flow: &Flow| match flow.app {
        App::OnOff { .. } => true,
        App::Messages { period, .. } => period.is_some() || run.reverse_flow(flow).is_some(),
        _ => false,
    };
    let key = sysctl(name, "net.ipv4.tcp_slow_start_after_idle", 0);
    let helps = host.config.sysctl.tcp_slow_start_after_idle && flows.any(pauses);
    helps.then_some(key).into_iter().collect()
}

/// A sender that searches for the path MTU, where a link swallows full packets; its kernel is one with that search in the simulator.
pub fn mtu_probing(run: &Resolved) -> Vec<SetOption> {
    let [(name, host), _] = of_data(run);
    let is_silent = host.config.sysctl.tcp_mtu_probing.unwrap_or(0) == 0;
    let searches = are_modelled(&host.config).unwrap_or(false);
    let key = sysctl(name, "net.ipv4.tcp_mtu_probing", 1);
    let helps = is_silent && searches && swallowing(run).next().is_some();
    helps.then_some(key).into_iter().collect()
}

/// SACK at both ends.
pub fn sack(run: &Resolved) -> Vec<SetOption> {
    let off = ends(run).into_iter().filter(|(_, host)| !host.config.sysctl.tcp_sack);
    off.map(|(name, _)| sysctl(name, "net.ipv4.tcp_sack", 1)).collect()
}

/// A read-ahead of 1 GiB of each mount that reads.
pub fn read_ahead(run: &Resolved) -> Vec<SetOption> {
    let less = run
        .nfs
        .iter()
        .filter(|own| own.operation == NfsOperation::Read)
        .filter(|own| own.readahead.is_none_or(|bytes| bytes < READ_AHEAD));
    less.map(|own| set(&["nfs", &own.name, "readahead"], text(format!("{READ_AHEAD}B")))).collect()
}

/// The usual wait for an answer, of each mount that waits for less.
pub fn timeo(run: &Resolved) -> Vec<SetOption> {
    let hasty = run.nfs.iter().filter(|own| own.timeo.is_some_and(|timeo| timeo < TIMEO));
    hasty.map(|own| set(&["nfs", &own.name, "timeo"], text(TIMEO))).collect()
}

/// Sockets that hold the datagrams of a program's pause.
pub fn datagram_sockets(run: &Resolved) -> Vec<SetOption> {
    let udp = run.datagrams.iter().filter(|own| own.kind == DatagramKind::Udp);
    let small = udp.filter(|own| own.reader.is_some() && own.rcvbuf.is_none_or(|has| has < SOCKET));
    small
        .flat_map(|own| {
            let end = if own.direction == Direction::Forward { "receiver" } else { "sender" };
            let host = own.to.as_deref().unwrap_or(end);
            let size = set(&["datagrams", &own.name, "rcvbuf"], text(format!("{SOCKET}B")));
            [sysctl(host, "net.core.rmem_max", SOCKET), size]
        })
        .collect()
}

/// A server that answers at once.
pub fn server_work(run: &Resolved) -> Vec<SetOption> {
    let busy = run.nfs.iter().filter(|own| own.service > Time::ZERO);
    busy.map(|own| set(&["nfs", &own.name, "service"], text("0s"))).collect()
}

/// As many threads of a server that works on its calls as it may have.
pub fn server_threads(run: &Resolved) -> Vec<SetOption> {
    let few = run.nfs.iter().filter(|own| own.service > Time::ZERO && own.threads < THREADS);
    few.map(|own| set(&["nfs", &own.name, "threads"], THREADS)).collect()
}

/// The longest calls of each mount, and the slots of a kernel where nothing is set.
pub fn calls(run: &Resolved) -> Vec<SetOption> {
    run.nfs
        .iter()
        .flat_map(|own| {
            let named = |key: &str, value: String| set(&["nfs", &own.name, key], value);
            let longer = own.longer_calls();
            let longer = longer.map(|own| named(own.option, text(format!("{}B", own.most))));

            let more = own.more_slots().map(|slots| named("slots", slots.to_string()));
            longer.into_iter().chain(more).collect::<Vec<_>>()
        })
        .collect()
}

/// A sysctl of an end.
pub fn sysctl(host: &str, name: &str, value: impl std::fmt::Display) -> SetOption {
    set(&["hosts", host, "sysctl", name], value)
}

/// A receive ring and a backlog that are never full, where data arrive.
pub fn receive_ring(run: &Resolved) -> Vec<SetOption> {
    let [_, (name, host)] = of_data(run);
    if host.config.rx_ring >= RING {
        return Vec::new();
    }
    let ring = set(&["hosts", name, "rx_ring"], text(format!("{RING} descriptors")));
    vec![ring, sysctl(name, "net.core.netdev_max_backlog", BACKLOG)]
}

/// An interrupt for each packet, where data arrive.
pub fn interrupts(run: &Resolved) -> Vec<SetOption> {
    let [_, (name, host)] = of_data(run);
    let is_late = host.config.rx_coalesce > Time::ZERO;
    is_late.then(|| set(&["hosts", name, "rx_coalesce"], text("0s"))).into_iter().collect()
}

/// A transmit ring that is never full, with a driver that learns of each packet at once.
pub fn transmit_ring(run: &Resolved) -> Vec<SetOption> {
    let [(name, host), _] = of_data(run);
    let own = &host.config;
    if own.tx_ring >= RING && own.tx_coalesce == Time::ZERO {
        return Vec::new();
    }
    let ring = set(&["hosts", name, "tx_ring"], text(format!("{RING} descriptors")));
    vec![ring, set(&["hosts", name, "tx_coalesce"], text("0s"))]
}

/// A queue between TCP and the driver that drops nothing.
pub fn qdisc(run: &Resolved) -> Vec<SetOption> {
    let [(name, host), _] = of_data(run);
    let qdisc = &host.qdisc;

    // Each unit has a limit that nothing reaches.
    let (limit, is_endless) = match qdisc.limit {
        QueueLimit::Packets(n) => (format!("{PACKETS} packets"), n >= PACKETS),
        QueueLimit::Bytes(n) => ("4000MB".into(), n >= 4_000_000_000),
    };
    if is_endless {
        return Vec::new();
    }

    let key = |key: &str, value: &str| set(&["hosts", name, "qdisc", key], text(value));
    let mut sets = vec![key("limit", &limit)];

    // Some disciplines drop by other keys than their limit.
    match qdisc.kind {
        QdiscKind::Fq => sets.push(key("flow_limit", &limit)),
        QdiscKind::Codel | QdiscKind::FqCodel => sets.push(key("target", "60s")),
        _ => {}
    }
    sets
}

/// No rate that the host holds the judged flows to.
pub fn no_pace(run: &Resolved) -> Vec<SetOption> {
    let [(name, host), _] = of_data(run);
    let maxrate = host.qdisc.maxrate.filter(|rate| rate.0 < PACED);
    let of_host = maxrate.map(|_| set(&["hosts", name, "qdisc", "maxrate"], text(MAXRATE)));
    of_host.into_iter().chain(super::flows::no_pace(run)).collect()
}

/// Cards ten times as fast as the path.
pub fn card(run: &Resolved) -> Vec<SetOption> {
    let Some(Rate(fastest)) = fastest(run) else { return Vec::new() };
    let wanted = Rate(fastest.saturating_mul(CARD));
    let slow = ends(run).into_iter().filter(|(_, host)| host.config.nic_rate < wanted);
    slow.map(|(name, _)| set(&["hosts", name, "nic_rate"], text(wanted))).collect()
}

/// No CPU cost of the host that sends data.
pub fn sender_cpu(run: &Resolved) -> Vec<SetOption> {
    let (name, host) = of_data(run)[0];
    free(name, host)
}

/// No CPU cost of the host that receives data.
pub fn receiver_cpu(run: &Resolved) -> Vec<SetOption> {
    let (name, host) = of_data(run)[1];
    free(name, host)
}

fn free(name: &str, host: &Host) -> Vec<SetOption> {
    let cpu = &host.config.cpu;
    let costs = [cpu.write, cpu.read, cpu.transmit, cpu.receive, cpu.ack, cpu.walk, cpu.capture];
    if cpu.copy_ps_per_byte == 0 && costs.iter().all(|cost| *cost == Time::ZERO) {
        return Vec::new();
    }
    vec![set(&["hosts", name, "cpu"], "{}")]
}
