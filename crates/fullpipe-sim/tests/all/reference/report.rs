//! Output for the trace.

use super::World;
use super::host::Host;
use super::receive::Receive;
use super::transmit::Transmit;
use fullpipe_sim::config::Direction;
use fullpipe_sim::tcp::sender::socket::Around;
use fullpipe_sim::trace::{FlowSample, SenderSocket, Sink, StageInfo, StageSample};
use fullpipe_sim::units::Time;

fn info(name: &str, unit: &'static str, capacity: Option<u64>) -> StageInfo {
    let kinds = [
        "application",
        "send_buffer",
        "receive_buffer",
        "udp_socket",
        "cpu",
        "qdisc",
        "tx_ring",
        "rx_ring",
    ];
    let kind = kinds.into_iter().find(|k| name.ends_with(k)).unwrap_or("backlog");
    let timed = !["send_buffer", "receive_buffer"].contains(&kind);
    StageInfo { index: 0, name: name.into(), kind, direction: "", unit, capacity, timed }
}

fn out_infos(host: &str, qdisc: u64, tx_ring: u64) -> [StageInfo; 2] {
    [
        info(&format!("{host}.qdisc"), "skb", Some(qdisc)),
        info(&format!("{host}.tx_ring"), "segment", Some(tx_ring)),
    ]
}

fn in_infos(host: &str, rx_ring: u64, backlog: u64) -> [StageInfo; 2] {
    [
        info(&format!("{host}.rx_ring"), "segment", Some(rx_ring)),
        info(&format!("{host}.backlog"), "segment", Some(backlog)),
    ]
}

fn near(world: &World) -> impl Iterator<Item = &Host> {
    world.hosts.iter().filter(|host| host.way == Direction::Forward)
}

fn far(world: &World) -> impl Iterator<Item = &Host> {
    world.hosts.iter().filter(|host| host.way == Direction::Backward)
}

/// All stages, in the order in which packets pass them, forward and then back.
pub fn stages(world: &World) -> Vec<StageInfo> {
    let mut infos = Vec::new();
    for host in near(world) {
        infos.extend(source_infos(host));
        infos.push(info(&format!("{}.cpu", host.name), "segment", None));
        let (qdisc, tx_ring) = host.transmit.sizes();
        infos.extend(out_infos(&host.name, qdisc, tx_ring));
    }
    infos.extend(world.forward.iter().map(|e| e.info()));
    for host in far(world) {
        let (rx_ring, backlog) = host.receive.sizes();
        infos.extend(in_infos(&host.name, rx_ring, backlog));
        infos.push(drain_info(host));
        infos.extend(socket_info(host));
        infos.push(info(&format!("{}.cpu", host.name), "segment", None));
    }
    let forward = infos.len();
    for host in far(world) {
        if !host.sends.is_empty() {
            infos.extend(source_infos(host));
        }
        let (qdisc, tx_ring) = host.transmit.sizes();
        infos.extend(out_infos(&host.name, qdisc, tx_ring));
    }
    infos.extend(world.back.iter().map(|e| e.info()));
    for host in near(world) {
        let (rx_ring, backlog) = host.receive.sizes();
        infos.extend(in_infos(&host.name, rx_ring, backlog));
        if !host.receives.is_empty() {
            infos.push(drain_info(host));
        }
        infos.extend(socket_info(host));
    }
    for (n, info) in infos.iter_mut().enumerate() {
        info.index = n as u16;
        info.direction = if n < forward { "forward" } else { "back" };
    }
    infos
}

/// The applications that write, and their buffers.
fn source_infos(host: &Host) -> Vec<StageInfo> {
    let name = &host.name;
    let mut buffers = Some(0);
    for flow in host.sends.values() {
        buffers = buffers.zip(flow.tcp.send_buffer_limit()).map(|(a, b)| a + b);
    }
    if host.sends.is_empty() {
        buffers = None;
    }
    vec![
        info(&format!("{name}.application"), "byte", None),
        info(&format!("{name}.send_buffer"), "byte", buffers),
    ]
}

/// The buffers of the applications that read.
fn drain_info(host: &Host) -> StageInfo {
    let name = format!("{}.receive_buffer", host.name);
    let mut buffers = 0;
    for flow in host.receives.values() {
        match flow.tcp.receive_buffer_limit() {
            Some(limit) => buffers += limit,
            None => return info(&name, "segment", None),
        }
    }
    match host.receives.is_empty() {
        true => info(&name, "segment", None),
        false => info(&name, "byte", Some(buffers)),
    }
}

/// The sockets of the programs that read datagrams.
fn socket_info(host: &Host) -> Option<StageInfo> {
    let room: u64 = host.sockets.values().map(|socket| socket.room).sum();
    let name = format!("{}.udp_socket", host.name);
    (!host.sockets.is_empty()).then(|| info(&name, "byte", Some(room)))
}

/// Writes events since the last sample, and the state at `now`, to `sink`.
pub fn sample(world: &mut World, now: Time, sink: &mut dyn Sink) {
    for event in world.context.events.drain(..) {
        sink.event(&event);
    }
    super::datagrams::emit(world, now, sink);
    for flow in 0..world.hosts.iter().map(|host| host.sends.len()).sum() {
        sink.flow(&flow_sample(world, flow, now));
    }
    for (index, sample) in stage_samples(world, now).into_iter().enumerate() {
        sink.stage(&StageSample { time: now, stage: index as u16, ..sample });
    }
}

fn flow_sample(world: &World, flow: usize, now: Time) -> FlowSample {
    let sending = world.hosts.iter().find_map(|host| host.sends.get(&flow));
    let receiving = world.hosts.iter().find_map(|host| host.receives.get(&flow));
    let (sending, receiving) = sending.zip(receiving).expect("a flow has two ends");
    let (tcp, receiving) = (&sending.tcp, &receiving.tcp);
    FlowSample {
        time: now,
        flow: flow as u16,
        bytes_delivered: receiving.bytes_read,
        segments_delivered: receiving.segments_read,
        segments_sent: tcp.counters.segments_sent,
        segments_retransmitted: tcp.counters.segments_retransmitted,
        bytes_sent: tcp.counters.bytes_sent,
        bytes_retransmitted: tcp.counters.bytes_retransmitted,
        bytes_acked: tcp.bytes_acked(),
        acks_received: tcp.counters.acks_received,
        walked_for_sacks: tcp.counters.walked.for_sacks,
        walked_to_mark: tcp.counters.walked.to_mark,
        walked_to_resend: tcp.counters.walked.to_resend,
        cwnd: tcp.cwnd(),
        ssthresh: tcp.ssthresh(),
        srtt_us: tcp.srtt_us(),
        rto_us: tcp.rto_us(),
        in_flight: tcp.in_flight(),
        snd_wnd: tcp.snd_wnd(),
        unsent: tcp.unsent(),
        ca_state: tcp.ca_state() as u8,
        limits: sending.limits(now),
        // The parts that the host and the peer add are missing.
        sender: SenderSocket { total_rto: 0, ..tcp.socket(now, Around::default()) },
        receiver: receiving.socket(),
    }
}

fn stage_samples(world: &mut World, now: Time) -> Vec<StageSample> {
    let World { hosts, forward, back, .. } = world;
    let (mut near, mut far): (Vec<_>, Vec<_>) =
        hosts.iter_mut().partition(|host| host.way == Direction::Forward);
    let mut samples = Vec::new();
    for host in &mut near {
        samples.extend(source(host, now));
        samples.push(cpu(host.cpu.busy_up_to(now), now));
        samples.extend(way_out(&mut host.transmit, now));
    }
    samples.extend(forward.iter_mut().map(|e| e.sample(now)));
    for host in &mut far {
        samples.extend(way_in(&mut host.receive, now));
        samples.push(receive_buffer(host));
        samples.extend(host.sockets_sample(now));
        samples.push(cpu(host.cpu.busy_up_to(now), now));
    }
    for host in &mut far {
        if !host.sends.is_empty() {
            samples.extend(source(host, now));
        }
        samples.extend(way_out(&mut host.transmit, now));
    }
    samples.extend(back.iter_mut().map(|e| e.sample(now)));
    for host in &mut near {
        samples.extend(way_in(&mut host.receive, now));
        if !host.receives.is_empty() {
            samples.push(receive_buffer(host));
        }
        samples.extend(host.sockets_sample(now));
    }
    samples
}

fn source(host: &mut Host, now: Time) -> Vec<StageSample> {
    let written = host.sends.values().map(|f| f.written).sum();
    let waiting = host.not_acknowledged();
    let peak = std::mem::replace(&mut host.written_peak, waiting);
    let flows = host.sends.values();
    let buffer = StageSample {
        waiting,
        waiting_bytes: flows.clone().map(|f| f.tcp.wmem_queued()).sum(),
        peak,
        entered: written,
        left: flows.clone().map(|f| f.tcp.bytes_acked()).sum(),
        blocked_ns: flows.map(|f| f.blocked_ns(now)).sum(),
        ..StageSample::default()
    };
    vec![StageSample { entered: written, left: written, ..StageSample::without_room(now) }, buffer]
}

fn receive_buffer(host: &mut Host) -> StageSample {
    let waiting = host.not_read();
    let peak = std::mem::replace(&mut host.queued_peak, waiting);
    let flows = host.receives.values();
    StageSample {
        waiting,
        waiting_bytes: flows.clone().map(|f| f.tcp.window.rmem_alloc).sum(),
        peak,
        entered: flows.clone().map(|f| f.tcp.segments_queued).sum(),
        left: flows.clone().map(|f| f.tcp.segments_read).sum(),
        dropped: flows.map(|f| f.tcp.dropped).sum(),
        ..StageSample::default()
    }
}

fn cpu(busy_ns: u64, now: Time) -> StageSample {
    StageSample { busy_ns, ..StageSample::without_room(now) }
}

fn way_out(transmit: &mut Transmit, now: Time) -> [StageSample; 2] {
    let qdisc = transmit.qdisc_counter.sample(now);
    let ring = transmit.ring_counter.sample(now);
    let (busy_ns, blocked_ns) = (transmit.busy.up_to(now), transmit.blocked_up_to(now));
    [qdisc, StageSample { busy_ns, blocked_ns, ..ring }]
}

fn way_in(receive: &mut Receive, now: Time) -> [StageSample; 2] {
    [receive.ring_counter.sample(now), receive.backlog_counter.sample(now)]
}
