//! Samples of flows and stages at the trace's interval.

use super::Simulation;
use super::datagram_counters::DatagramCounters;
use super::host_counters::HostCounters;
use super::rpc_counters::RpcCounters;
use super::rpc_limits::RpcLimits;
use crate::config::{self, Config};
use crate::host::Host;
use crate::host::stage::info;
use crate::tcp::receiver::window::ReceiveWindow;
use crate::tcp::sender::INFINITE_SSTHRESH;
use crate::tcp::sender::socket::Scales;
use crate::trace::{FlowSample, Sink, StageInfo, StageSample, Turns};
use crate::units::Time;
use alloc::vec::Vec;

/// Sampler of flows and stages.
pub(crate) struct Sampler {
    interval: Time,
    end: Time,
    /// Time of the next sample.
    pub(crate) next: Time,
    datagrams: DatagramCounters,
    hosts: HostCounters,
    rpc: (RpcLimits, RpcCounters),
    /// Flows that have samples now.
    turns: Turns,
    /// Last samples of the stages.
    samples: Vec<StageSample>,
}

impl Sampler {
    /// Announces the stages to `sink`.
    pub(crate) fn new(config: &Config, run: &mut Simulation, sink: &mut dyn Sink) -> Sampler {
        let stages = stage_infos(run);

        // A capture names stages in its packets by their numbers.
        if let Some(capture) = &mut run.shared.capture {
            let hosts: Vec<&str> = run.hosts.iter().map(|host| &host.name[..]).collect();
            capture.number(&stages, &hosts);
        }
        sink.stages(&stages);
        let next = config.sample.min(config.end);
        Sampler {
            interval: config.sample,
            end: config.end,
            next,
            datagrams: DatagramCounters::new(config),
            hosts: HostCounters::new(config, &stages),
            rpc: (RpcLimits::new(config), RpcCounters::new(config)),
            turns: config.turns(),
            samples: Vec::new(),
        }
    }

    /// Writes the state at the sample that is due to `sink`, and schedules the next one.
    pub(crate) fn sample(&mut self, run: &mut Simulation, sink: &mut dyn Sink) {
        let now = self.next;

        // Events of the interval precede the samples at its end.
        for event in run.shared.take_events() {
            self.turns.event(&event);
            sink.event(&event);
        }
        self.datagrams.emit(run, now, sink);
        let (limits, counters) = &mut self.rpc;
        limits.book(run, now);
        counters.emit(run, now, sink);
        for flow in 0..run.shared.acks.flows() {
            if !self.turns.has_sample(flow) {
                continue;
            }
            let mut sample = flow_sample(run, flow, now);

            // RPC's own limits replace those of TCP, which waits for calls.
            if let Some(booked) = limits.of(flow) {
                sample.limits = booked;
            }
            self.turns.taken(flow, sample.bytes_delivered >= sample.bytes_acked);
            sink.flow(&sample);
        }
        let samples = Self::stage_samples(run, now);
        for (index, sample) in samples.iter().enumerate() {
            sink.stage(&StageSample { time: now, stage: index as u16, ..*sample });
        }
        if self.hosts.are_due(now) {
            self.hosts.emit(run, &samples, now, sink);
        }
        self.samples = samples;
        self.next = (now + self.interval).min(self.end);
    }

    /// Ends the run with the sample at `now`, which may be earlier than planned.
    pub(crate) fn end(&mut self, run: &mut Simulation, now: Time, sink: &mut dyn Sink) {
        self.hosts.end(run, &self.samples, now, sink);
    }

    /// Samples in the order of `stage_infos`.
    fn stage_samples(run: &mut Simulation, now: Time) -> Vec<StageSample> {
        let [there, back] = &mut run.ways;
        let (near, far) = run.hosts.split_at_mut(back.hosts.start);
        let mut samples = Vec::new();

        // Forward: from the sending applications through the path to the receiving hosts.
        for host in &mut *near {
            samples.extend(writing(host, now));
            samples.push(busy(host.cpu.busy_ns(now), now));
            samples.extend(host.out.transmit.sample(now));
        }
        samples.extend(there.chain.stages_mut().map(|s| s.sample(now)));
        for host in &mut *far {
            samples.extend(host.receive.sample(now));
            samples.push(receive_buffer(host));
            samples.extend(udp_socket(host, now));
            samples.push(busy(host.cpu.busy_ns(now), now));
        }

        // Backward, in the order in which ACKs pass.
        for host in &mut *far {
            if sends_data(host) {
                samples.extend(writing(host, now));
            }
            samples.extend(host.out.transmit.sample(now));
        }
        samples.extend(back.chain.stages_mut().map(|s| s.sample(now)));
        for host in near {
            samples.extend(host.receive.sample(now));
            if receives_data(host) {
                samples.push(receive_buffer(host));
            }
            samples.extend(udp_socket(host, now));
        }
        samples
    }
}

/// Whether a host sends flows. The receiver's stages of these flows belong to the backward direction.
fn sends_data(host: &Host) -> bool {
    !host.sends.is_empty()
}

/// Whether a host receives flows. The sender's stages of these flows belong to the backward direction.
fn receives_data(host: &Host) -> bool {
    !host.receives.is_empty()
}

/// Samples of applications that write, and of their sockets. With many flows none of them is in a cache, so each is
/// visited once.
fn writing(host: &mut Host, now: Time) -> [StageSample; 2] {
    let (waiting, peak) = host.send_buffer.take();
    let mut send_buffer = StageSample { waiting, peak, ..StageSample::default() };
    for flow in host.sends.iter() {
        send_buffer.waiting_bytes += flow.tcp.wmem_queued();
        send_buffer.entered += flow.written;
        send_buffer.left += flow.tcp.bytes_acked();
        send_buffer.blocked_ns += flow.blocked_ns(now);
    }
    let written = send_buffer.entered;
    let application =
        StageSample { entered: written, left: written, ..StageSample::without_room(now) };
    [application, send_buffer]
}

fn receive_buffer(host: &mut Host) -> StageSample {
    let (waiting, peak) = host.receive_buffer.take();
    let mut buffer = StageSample { waiting, peak, ..StageSample::default() };
    for flow in host.receives.iter() {
        buffer.waiting_bytes += flow.tcp.window.rmem_alloc;
        buffer.entered += flow.tcp.segments_queued;
        buffer.left += flow.tcp.segments_read;
        buffer.dropped += flow.tcp.dropped;
    }
    buffer
}

/// Sample of the sockets in which datagrams wait, of a host that receives some.
fn udp_socket(host: &mut Host, now: Time) -> Option<StageSample> {
    let sockets = &mut host.udp_sockets;
    sockets.capacity.map(|_| sockets.sample(now))
}

fn busy(busy_ns: u64, now: Time) -> StageSample {
    StageSample { busy_ns, ..StageSample::without_room(now) }
}

/// Descriptions of the samples of [`writing`].
fn writing_infos(host: &Host) -> [StageInfo; 2] {
    let name = &host.name;
    let sndbuf = host.sends.iter().map(|f| f.tcp.send_buffer_limit()).sum::<Option<u64>>();
    let sndbuf = sndbuf.filter(|_| sends_data(host));
    [info(name, "application", "byte", None), untimed(info(name, "send_buffer", "byte", sndbuf))]
}

/// Description of the sockets' receive buffers, in which segments wait.
fn receive_buffer_info(host: &Host) -> StageInfo {
    let limits = host.receives.iter().map(|flow| flow.tcp.receive_buffer_limit());
    let rcvbuf = limits.sum::<Option<u64>>().filter(|_| receives_data(host));
    let unit = if rcvbuf.is_some() { "byte" } else { "segment" };
    untimed(info(&host.name, "receive_buffer", unit, rcvbuf))
}

/// Description of the sockets' buffers in which datagrams wait.
fn udp_socket_info(host: &Host) -> Option<StageInfo> {
    let capacity = host.udp_sockets.capacity;
    capacity.map(|bytes| info(&host.name, "udp_socket", "byte", Some(bytes)))
}

/// Marks a stage that only samples describe.
fn untimed(info: StageInfo) -> StageInfo {
    StageInfo { timed: false, ..info }
}

fn stage_infos(run: &mut Simulation) -> Vec<StageInfo> {
    let [there, way_back] = &mut run.ways;
    let (near, far) = run.hosts.split_at(way_back.hosts.start);
    let (mut forward, mut back) = (Vec::new(), Vec::new());

    // Forward: from the sending applications through the path to the receiving hosts.
    for host in near {
        forward.extend(writing_infos(host));
        forward.push(info(&host.name, "cpu", "segment", None));
        forward.extend(host.out.transmit.infos(&host.name));
    }
    forward.extend(there.chain.stages_mut().map(|s| s.info()));
    for host in far {
        forward.extend(host.receive.infos(&host.name));
        forward.push(receive_buffer_info(host));
        forward.extend(udp_socket_info(host));
        forward.push(info(&host.name, "cpu", "segment", None));
    }

    // Backward, in the order in which ACKs pass.
    for host in far {
        if sends_data(host) {
            back.extend(writing_infos(host));
        }
        back.extend(host.out.transmit.infos(&host.name));
    }
    back.extend(way_back.chain.stages_mut().map(|s| s.info()));
    for host in near {
        back.extend(host.receive.infos(&host.name));
        if receives_data(host) {
            back.push(receive_buffer_info(host));
        }
        back.extend(udp_socket_info(host));
    }
    let directed = forward.into_iter().map(|i| (i, "forward"));
    let directed = directed.chain(back.into_iter().map(|i| (i, "back")));
    let numbered = directed.enumerate();
    numbered.map(|(n, (i, direction))| StageInfo { index: n as u16, direction, ..i }).collect()
}

/// Window scale that a host offers for a connection of a program that sets no buffer, bits.
fn unset_scale(host: &config::Host) -> u32 {
    let own = host.system.window(None, host.sysctl.tcp_window_scaling);
    own.map_or_else(|| ReceiveWindow::unset_scale(&host.sysctl), |own| own.scale)
}

/// Window scales of a flow from `from` to `to`; none unless both hosts have the option.
fn scales(run: &Simulation, index: usize, [from, to]: [&Host; 2]) -> Option<Scales> {
    if ![from, to].iter().all(|host| host.sysctl().tcp_window_scaling) {
        return None;
    }
    let own = run.shared.reverse_of[index].and_then(|reverse| from.receives.get(reverse));
    let rcv = own.map_or_else(|| unset_scale(from.config()), |own| own.tcp.wscale());
    Some(Scales { snd: to.receives[index].tcp.wscale(), rcv })
}

fn flow_sample(run: &Simulation, index: usize, now: Time) -> FlowSample {
    let [forward, back] = [0, 1].map(|way| &run.hosts[run.ways[way].to[index]]);

    // A flow may have its sending end at either end of the path.
    let (from, to) =
        if back.sends.get(index).is_some() { (back, forward) } else { (forward, back) };
    let (sending, receiving) = (&from.sends[index], &to.receives[index]);
    let tcp = &sending.tcp;
    FlowSample {
        time: now,
        flow: index as u16,
        bytes_delivered: receiving.tcp.bytes_read,
        segments_delivered: receiving.tcp.segments_read,
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
        ssthresh: tcp.ssthresh().min(INFINITE_SSTHRESH),
        srtt_us: tcp.srtt_us(),
        rto_us: tcp.rto_us(),
        in_flight: tcp.in_flight(),
        snd_wnd: tcp.snd_wnd(),
        unsent: tcp.unsent(),
        ca_state: tcp.ca_state() as u8,
        limits: sending.limits.read(now),
        sender: sending.socket(now, scales(run, index, [from, to])),
        receiver: receiving.tcp.socket(),
    }
}
