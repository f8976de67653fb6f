//! Sending ends of flows: their writers, their TCP, and arriving ACKs.
//!
//! The application copies one skb per step with the socket locked. ACKs that arrive meanwhile wait in the socket's
//! backlog until the write ends (Linux 2.6.20 `release_sock`). Where ACKs cost walks along the send queue, the backlog
//! is processed ACK by ACK. Softirqs continue meanwhile, as on another CPU; on the same one 2.6.20 has them off. Their
//! ACKs join the backlog, because the socket stays locked until it is empty.

use super::cpu::Cursor;
use super::flow_table::FlowTable;
use super::output::HostOutput;
pub(crate) use super::sending_flow::SendingFlow;
use super::shared::Shared;
use super::timers::Timer;
use super::turn::Dialogue;
use super::{Host, Process};
use crate::config::{Config, Station};
use crate::packet::{Kind, Train};
use crate::tcp::profile::SharedProfile;
use crate::tcp::sender::Writer;
use crate::tcp::{Ack, ecn, received_mss};
use crate::trace::EventKind;
use crate::units::Time;
use alloc::string::String;

/// A step of a write in progress.
#[derive(Clone, Copy)]
pub(super) struct Copying {
    pub(super) flow: usize,
    pub(super) bytes: u32,
}

/// Outcome of a handshake at the accepting end.
#[derive(Clone, Copy)]
pub(super) struct Accepted {
    /// Time of the SYN-ACK that was answered, where it gives an RTT sample.
    pub(super) answered: Option<Time>,
    /// Whether ECN is agreed.
    pub(super) ecn: bool,
    /// Window that the peer offers, bytes.
    pub(super) window: u64,
}

/// Sending ends of this host.
pub(super) fn sending_ends(
    own: Station,
    profile: &SharedProfile,
    config: &Config,
    mss: u32,
) -> Result<FlowTable<SendingFlow>, String> {
    let (reverse_of, followers) = (config.reverse_flows(), config.followers());
    let flows = config.flows.iter().zip(reverse_of).enumerate().map(|(at, (flow, reverse))| {
        // RPC writes by messages; other connections with data both ways take turns.
        let carries_messages = config.rpc_connection_of(at).is_some();
        let takes_turns = reverse.filter(|_| !carries_messages);
        let dialogue = match reverse {
            Some(_) => takes_turns.map(|reverse| Dialogue::new(flow, &config.flows[reverse])),
            None => Dialogue::one_way(flow),
        };
        (config.hosts_of(flow)[0].name == own.name)
            .then(|| {
                let state = SendingFlow::new(flow, own.host, profile, config.seed, mss)?;
                let mut state = SendingFlow { dialogue, next: followers[at], ..state };

                // The MSS in the peer's SYN follows from the peer's MTU and from clamps on the way.
                state.tcp.take_peer_mss(received_mss(config, config.hosts_of(flow)[1].host));
                if carries_messages {
                    state.tcp.carry_messages();
                    state.limits.keep_changes();
                }
                Ok::<_, String>(state)
            })
            .transpose()
    });
    Ok(FlowTable::new(flows.collect::<Result<_, _>>()?))
}

impl Host {
    /// Runs `work` for a flow with the CPU at `cpu`; returns the CPU's time after it.
    pub(super) fn with_output(
        &mut self,
        flow: usize,
        cpu: Time,
        shared: &mut Shared,
        now: Time,
        work: impl FnOnce(&mut SendingFlow, &mut HostOutput),
    ) -> Time {
        // TSQ and the reverse flow's receiver leave their tables, so that output can borrow all of them.
        let mut tsq = core::mem::take(&mut self.sends[flow].tsq);
        let reverse = shared.reverse_of[flow];
        let mut other = reverse.and_then(|reverse| Some((self.receives.take(reverse)?, reverse)));
        let state = &mut self.sends[flow];
        if let Some((end, _)) = &other {
            state.tcp.note_options(end.tcp.option_bytes());
            state.tcp.follow_clock(end.tcp.clock());
        }
        let mut output = self.out.output(flow, cpu, shared);
        output.reverse_receiver = other.as_mut().map(|(end, reverse)| (&mut end.tcp, *reverse));
        output.tsq = state.overhead.map(|overhead| (&mut tsq, overhead));
        output.retransmitted = core::mem::take(&mut self.resent);
        work(state, &mut output);
        let (cpu, of_others) = (output.cpu, output.of_others);
        self.resent = output.retransmitted;
        state.tsq = tsq;
        state.too_large = state.tcp.take_too_large().or(state.too_large);

        // Both flows are one socket and have one RTT estimate and one clock.
        if let Some((mut end, reverse)) = other {
            end.tcp.acks.rtt.clone_from(state.tcp.rtt());
            end.tcp.follow_clock(state.tcp.last_clock());
            self.receives.put_back(reverse, end);
        }
        self.follow_qdisc(of_others);
        for seq in self.resent.drain(..) {
            shared.event(now, flow as u16, EventKind::Retransmit, seq);
        }
        cpu
    }

    /// Runs `work` for a flow in a timer's softirq.
    pub(super) fn in_softirq(
        &mut self,
        flow: usize,
        cpu: Time,
        shared: &mut Shared,
        now: Time,
        work: impl FnOnce(&mut SendingFlow, &mut HostOutput),
    ) -> Time {
        self.sends[flow].packets_at = None;
        self.in_packet_softirq(flow, cpu, shared, now, work)
    }

    /// Runs `work` for a flow in a softirq of packets that arrived at `now`. It frees no skbs before it has processed
    /// all of them (6.12 `process_backlog`).
    fn in_packet_softirq(
        &mut self,
        flow: usize,
        cpu: Time,
        shared: &mut Shared,
        now: Time,
        work: impl FnOnce(&mut SendingFlow, &mut HostOutput),
    ) -> Time {
        let goes_on = self.sends[flow].packets_at.replace(now) == Some(now);
        let cpu = self.with_output(flow, cpu, shared, now, |state, output| {
            output.begin_softirq(goes_on);
            work(state, output);
        });
        self.sends[flow].tsq.end_softirq();
        if self.sends[flow].too_large.is_some() && !self.sends[flow].locked {
            return self.handle_deferred_mtu(flow, cpu, now, shared);
        }
        cpu
    }

    /// Leaves TCP's waiting work to a writer that was woken but has not had the CPU. The writer gets the CPU before the
    /// rest of the softirqs. The TSQ tasklet runs while the writer has the socket locked, so its work is left to the
    /// writer's release of the socket (TCP_TSQ_DEFERRED). This also holds in virtual time.
    fn leave_to_writer(&mut self, flow: usize, now: Time) {
        let waits = self.all_in_ksoftirqd == Some(now);
        if !waits && self.runnable.contains(&Process::Writer(flow)) {
            self.put_off_to_release(flow, now);
        }
    }

    /// Leaves transmission to the writer, which owns the socket or will own it next, although the host has room again.
    pub(super) fn put_off_to_release(&mut self, flow: usize, now: Time) {
        if self.woken_first && self.may_go_on(flow, now) {
            self.sends[flow].wakes_when_released = true;
            self.timers.set(flow, Timer::Leaves, None);
        }
    }

    /// Whether TCP waits for room in the host and an skb of the flow has left it.
    pub(super) fn may_go_on(&self, flow: usize, now: Time) -> bool {
        let state = &self.sends[flow];
        state.tcp.waits_for_host() && state.tsq.next().is_some_and(|leaves| leaves <= now)
    }

    /// Sets a timer for the next skb that leaves the host, if TCP waits for room there.
    pub(super) fn await_leaving(&mut self, flow: usize) {
        let state = &self.sends[flow];
        if state.tcp.waits_for_host() && !state.wakes_when_released {
            self.timers.set(flow, Timer::Leaves, state.tsq.next());
        }
    }

    /// Handles a packet of the receiving end. Returns the CPU's time after it.
    pub(super) fn receive_answer(
        &mut self,
        packet: &Train,
        cpu: Time,
        now: Time,
        shared: &mut Shared,
    ) -> Time {
        let flow = usize::from(packet.flow);
        let mut cpu = cpu;
        if packet.kind == Kind::SynAck {
            shared.capture_delivery(packet);
            cpu = self.on_syn_ack(flow, packet, cpu, now, shared);
        } else {
            let ack = shared.acks.take(flow, packet.number);
            let Some(ack) = &ack else { return cpu };

            // Both flows share ts_recent and the echoed timestamp.
            if let Some(reverse) = shared.reverse_of[flow] {
                let tcp = &mut self.receives[reverse].tcp;
                tcp.take_ack_timestamp(ack.seq, ack.tsval);
                tcp.take_echo(ack.tsecr);
            }

            // tcp_add_backlog: a program owns the socket, so the ACK waits for its release.
            if self.sends[flow].locked {
                self.sends[flow].backlog.push_back((*ack, packet.serial));
            } else {
                let slow = self.end_on_slow_path(flow, ack, shared);
                cpu = self.in_packet_softirq(flow, cpu, shared, now, |f, p| {
                    f.on_ack(ack, packet.serial, p)
                });
                self.ack_after_pure_ack(slow, cpu, shared);
            }
        }
        self.after_sending(flow, now, shared);
        cpu
    }

    fn on_syn_ack(
        &mut self,
        flow: usize,
        answer: &Train,
        cpu: Time,
        now: Time,
        shared: &mut Shared,
    ) -> Time {
        let state = &mut self.sends[flow];
        if state.tcp.is_established() {
            // The answer to a repeated SYN-ACK is a challenge ACK (syn_challenge in tcp_validate_incoming).
            return self.with_output(flow, cpu, shared, now, |state, output| {
                state.tcp.answer_empty(output)
            });
        }
        let Some(sent) = state.syn_sent else { return cpu };

        // A repeated SYN gives no RTT sample (Karn); the echo shows which SYN was answered.
        let measured = (state.syn_repeats == 0).then_some(sent);
        let agreed = answer.ece && ecn::asks(&self.host, 0);
        state.tcp.use_ecn(agreed);
        let late = self.host.timestamps && answer.tsecr == state.tcp.tsval(sent);
        state.tcp.repeated_syn(state.syn_repeats, late);
        state.tcp.take_timestamp(answer.tsval);
        if measured.is_none() {
            state.tcp.sample_handshake_rtt(cpu, answer.tsecr);
        }

        // tcp_finish_connect takes the peer's cached metrics (tcp_init_metrics).
        state.tcp.established(cpu, answer.number, measured, Some(&self.metrics[self.peers[flow]]));
        state.next_write = now;
        self.timers.set_wheel(flow, Timer::Connect, None);
        self.runnable.push_back(Process::Writer(flow));
        if let Some(reverse) = shared.reverse_of[flow] {
            self.receives[reverse].connected(cpu, answer.tsval, agreed);
        }
        shared.event(now, flow as u16, EventKind::Established, (now - sent).0);
        self.connected(flow, now, shared);
        if shared.reverse_of[flow]
            .is_some_and(|reverse| self.receives[reverse].delays_last_of_handshake())
        {
            return cpu;
        }
        // The third packet of the handshake is an ACK of nothing, carried as an empty segment.
        let cpu = self.with_output(flow, cpu, shared, now, |state, output| {
            output.send_empty(state.tcp.empty());
        });
        self.begin_path_mtu(flow);
        cpu
    }

    /// Accepts the connection of the flow that this one answers, after its SYN was answered.
    pub(super) fn accept_answers(
        &mut self,
        flow: usize,
        cursor: Cursor,
        accepted: Accepted,
        shared: &mut Shared,
    ) {
        let (Accepted { answered, ecn, window }, Cursor { cpu, now }) = (accepted, cursor);
        self.begin_path_mtu(flow);
        let state = &mut self.sends[flow];
        state.tcp.use_ecn(ecn);
        state.tcp.accepted(cpu, window, answered, Some(&self.metrics[self.peers[flow]]));
        shared.event(now, flow as u16, EventKind::Established, 0);
        shared.event(now, flow as u16, EventKind::Accepted, 0);
        self.runnable.push_back(Process::Writer(flow));
    }

    /// Handles an ACK of this flow's data in a segment of the reverse flow. The flow continues only after that segment
    /// is taken.
    pub(super) fn process_ack_with_data(
        &mut self,
        flow: usize,
        ack: &Ack,
        cursor: Cursor,
        shared: &mut Shared,
    ) -> Time {
        self.in_packet_softirq(flow, cursor.cpu, shared, cursor.now, |f, output| {
            f.tcp.process_ack(ack, true, output)
        })
    }

    /// Continues the flow after such a segment is taken.
    pub(super) fn go_on_after_ack(
        &mut self,
        flow: usize,
        cursor: Cursor,
        shared: &mut Shared,
    ) -> Time {
        self.in_packet_softirq(flow, cursor.cpu, shared, cursor.now, |f, output| {
            f.tcp.go_on_after_ack(output)
        })
    }

    /// Updates the limit and TCP's timer, wakes the writer, and reports a change of state.
    pub(super) fn after_sending(&mut self, flow: usize, now: Time, shared: &mut Shared) {
        self.note_buffer(flow);
        let state = &mut self.sends[flow];

        // sk_stream_write_space wakes the writer when enough of the buffer is free.
        let sleeps = state.tcp.writer() == Writer::NoSpace && !state.releasing;
        if sleeps && state.tcp.has_write_space() {
            self.end_sleep(flow, now, shared);
        }
        let state = &mut self.sends[flow];

        // tcp_update_metrics keeps the metrics of a finished connection for the next one.
        if !state.finished && state.tcp.is_finished() {
            state.finished = true;
            state.tcp.leave_metrics(&mut self.metrics[self.peers[flow]]);
        }
        if state.finished || state.reader_closed {
            self.begin_next(flow, now);
        }
        let state = &mut self.sends[flow];

        // All work on the socket is done, so its limit and timers can follow.
        state.limits.set(now, state.tcp.limit());
        self.timers.set_wheel(flow, Timer::Tcp, state.timer());
        self.leave_to_writer(flow, now);
        self.await_leaving(flow);
        let state = &mut self.sends[flow];
        if state.tcp.is_paced() {
            self.timers.set(flow, Timer::Pacing, state.tcp.pacing_timer());
        }
        let ca_state = state.tcp.ca_state() as u8;
        if ca_state != state.ca_state {
            state.ca_state = ca_state;
            shared.event(now, flow as u16, EventKind::CaState, u64::from(ca_state));
        }
        for (kind, sent) in state.tcp.take_rounds() {
            shared.event(now, flow as u16, kind, sent);
        }
    }

    /// Wakes a writer that sleeps for want of memory, because data has arrived at its socket. It sleeps on without
    /// memory. The kernel's own writer of calls does not sleep on the socket.
    pub(super) fn wake_by_data(&mut self, flow: usize, now: Time, shared: &Shared) {
        let state = &self.sends[flow];
        let goes_on = !state.releasing && state.tcp.goes_on_when_woken();
        if goes_on && !self.rpc.writes_calls(flow) {
            self.sends[flow].tcp.wake_by_data();
            self.end_sleep(flow, now, shared);
        }
    }

    /// Ends the sleep of a writer for want of memory.
    fn end_sleep(&mut self, flow: usize, now: Time, shared: &Shared) {
        self.sends[flow].wakes(now);
        self.timers.set(flow, Timer::Write, None);
        self.runnable.push_back(Process::Writer(flow));
        self.go_on_serving(flow, now, shared);
    }

    pub(super) fn on_sending_timer(
        &mut self,
        flow: usize,
        timer: Timer,
        now: Time,
        shared: &mut Shared,
    ) {
        let begin = now.max(self.cpu.free);
        let mut cpu = begin;
        let locked = self.sends[flow].locked;
        match timer {
            // tcp_write_timer leaves the timeout to the release of an owned socket.
            Timer::Tcp if locked => self.sends[flow].put_timer_off(now, &self.host),
            Timer::Tcp => cpu = self.run_timer(flow, cpu, now, shared),
            Timer::Start => {
                self.begin_flow(flow, now, shared);
                cpu = self.connect(flow, cpu, now, shared);
            }
            Timer::Connect => cpu = self.connect(flow, cpu, now, shared),
            // tcp_tasklet_func leaves the skbs to the release of an owned socket (TCP_TSQ_DEFERRED).
            Timer::Leaves if locked => self.sends[flow].wakes_when_released = true,
            Timer::Leaves => {
                cpu = self.in_softirq(flow, cpu, shared, now, |f, p| f.tcp.on_room_in_host(p));
            }
            // tcp_pace_kick: the tasklet sends, unless a program owns the socket.
            Timer::Pacing => {
                self.sends[flow].wakes_when_released |= locked;
                cpu = self
                    .in_softirq(flow, cpu, shared, now, |f, p| f.tcp.on_pacing_timer(locked, p));
            }
            _ => {
                let state = &mut self.sends[flow];
                state.interrupted = state.no_space.0.is_some() && state.stops() == Some(now);
                state.wakes(now);
                self.runnable.push_back(Process::Writer(flow));
                self.go_on_serving(flow, now, shared);
            }
        }
        self.cpu.urgent(begin, cpu);
        self.after_sending(flow, now, shared);
    }

    /// Runs TCP's timer.
    pub(super) fn run_timer(
        &mut self,
        flow: usize,
        cpu: Time,
        now: Time,
        shared: &mut Shared,
    ) -> Time {
        let before = self.sends[flow].tcp.counters.timeouts;
        let cpu = self.in_softirq(flow, cpu, shared, now, |f, output| f.tcp.on_timer(output));
        let timeouts = self.sends[flow].tcp.counters.timeouts;
        if timeouts > before {
            shared.event(now, flow as u16, EventKind::Timeout, timeouts);
        }
        cpu
    }

    fn connect(&mut self, flow: usize, cpu: Time, now: Time, shared: &mut Shared) -> Time {
        self.begin_path_mtu(flow);
        let state = &mut self.sends[flow];
        state.tcp.open_in_memory();

        // tcp_retransmit_timer: an earlier SYN without an answer has timed out.
        if state.syn_sent.is_some() {
            state.syn_repeats += 1;
            state.tcp.note_syn_timeout(state.syn_repeats == 1);
        }
        let wait = state.syn_wait_s() * self.host.hz;
        state.syn_sent.get_or_insert(now);
        let again = self.timers.expiry(now, wait);
        self.timers.set_wheel(flow, Timer::Connect, Some(again));

        // tcp_ecn_clear_syn: only the first SYN asks for ECN.
        let asks = ecn::asks(&self.host, state.syn_repeats);
        self.out.count_opening(state.syn_repeats > 0);
        self.with_output(flow, cpu, shared, now, |state, output| {
            output.send_syn(state.tcp.tsval(cpu), asks);
        })
    }
}
