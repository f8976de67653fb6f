//! The accepting end of a connection, until the handshake is over.
//!
//! Source: Linux 6.12 `tcp_conn_request`, `tcp_check_req`, `reqsk_timer_handler`, `inet_rtx_syn_ack`,
//! `inet_csk_listen_start`.
//!
//! Limits:
//! - The SYN-ACK has a timer of its own, as today. Kernels before 4.3 looked every 200 ms for SYN-ACKs that were due.
//! - After five timeouts Linux forgets the connection. The simulator keeps it.

use super::Host;
use super::cpu::Cursor;
use super::receiving::ReverseAck;
use super::sending::Accepted;
use super::shared::Shared;
use super::timers::Timer;
use crate::packet::Train;
use crate::tcp::ecn;
use crate::trace::EventKind;
use crate::units::Time;

/// Most repetitions of a SYN-ACK by its timer (sysctl tcp_synack_retries).
const SYNACK_RETRIES: u32 = 5;

impl Host {
    /// Handles a SYN, which may ask for ECN. Only the first one sets the state; each gets a SYN-ACK.
    pub(super) fn on_syn(&mut self, flow: usize, syn: &Train, cursor: Cursor, shared: &mut Shared) {
        let state = &mut self.receives[flow];

        // tcp_ecn_create_request: the first SYN decides on ECN; each further one is a repetition.
        if state.syn_seen.is_none() {
            state.tcp.use_ecn(syn.ece && ecn::agrees(&self.host));
        } else if !state.accepted {
            self.out.opening_again += 1;
        }
        state.syn_seen.get_or_insert(syn.tsval);
        if state.accepted {
            // The answer to a repeated SYN is a challenge ACK (syn_challenge in tcp_validate_incoming).
            let ack = state.tcp.make_ack();
            return self.send_ack(flow, cursor.cpu, &ack, shared);
        }

        // inet_rtx_syn_ack: until the connection is accepted, each SYN gets a SYN-ACK.
        self.answer_syn(flow, cursor, shared);
    }

    /// Repeats the SYN-ACK after its timer, and doubles the time to the next repetition.
    pub(super) fn on_answer_timer(&mut self, flow: usize, now: Time, shared: &mut Shared) {
        self.timers.set_wheel(flow, Timer::Answer, None);
        let state = &mut self.receives[flow];
        if state.answer_timeouts < SYNACK_RETRIES {
            state.answer_timeouts += 1;
            self.out.opening_again += 1;
            let cpu = now.max(self.cpu.free);
            self.answer_syn(flow, Cursor { cpu, now }, shared);
        }
    }

    fn answer_syn(&mut self, flow: usize, cursor: Cursor, shared: &mut Shared) {
        let Cursor { cpu, now } = cursor;
        let state = &mut self.receives[flow];
        let Some(tsecr) = state.syn_seen else { return };
        let tsval = state.tcp.on_syn(cpu);
        let (window, agreed) = (state.tcp.window.syn_ack_window(), state.tcp.uses_ecn());
        let wait = (state.timeout_init_s << state.answer_timeouts) * self.host.hz;
        let again = self.timers.expiry(now, wait);
        self.timers.set_wheel(flow, Timer::Answer, Some(again));
        self.out.count_opening(false);
        self.answer(flow, cpu, shared, |output| output.send_syn_ack(window, tsval, tsecr, agreed));
    }

    /// Takes the first packet after the SYN: the connection is there. `answers`: the flow that answers, and the ACK
    /// of its data in the packet.
    pub(super) fn accept(
        &mut self,
        packet: &Train,
        answers: Option<ReverseAck>,
        cursor: Cursor,
        shared: &mut Shared,
    ) {
        let Cursor { cpu, now } = cursor;
        let flow = usize::from(packet.flow);
        let state = &mut self.receives[flow];
        state.accepted = true;
        state.tcp.open_in_memory();
        let answered = state.tcp.on_accept(cpu, packet.tsecr, packet.len > 0);
        state.tcp.take_metrics(&self.metrics[self.peers[flow]]);
        let ecn = state.tcp.uses_ecn();
        self.timers.set_wheel(flow, Timer::Answer, None);
        shared.event(now, packet.flow, EventKind::Accepted, 0);
        if let Some(ReverseAck { flow, ack }) = answers {
            let accepted = Accepted { answered, ecn, window: ack.window };
            self.accept_answers(flow, cursor, accepted, shared);
        }
    }

    /// Sets TCP_QUICKACK, where the flow's program does so. A listening socket forgets what its program has set (6.12
    /// `inet_csk_listen_start`), so a program that accepts sets the option when it has the connection.
    pub(super) fn set_quickack(&mut self, flow: usize, now: Time, shared: &mut Shared) {
        let state = &mut self.receives[flow];
        let Some(quickack) = state.quickack else { return };
        if let Some(ack) = &state.tcp.set_quickack(now, quickack.on) {
            self.send_ack(flow, now, ack, shared);
        }
    }
}
