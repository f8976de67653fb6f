//! SYNs, their answers, and how often both go.

use super::host::{Host, Process, timer};
use super::packet::Body;
use super::receiving::ANSWER;
use super::sending::CONNECT;
use super::timers::in_wheel;
use super::{At, Context};
use fullpipe_sim::jiffy_clock::Expiry;
use fullpipe_sim::tcp::{EmptySegment, Segment, ecn};
use fullpipe_sim::trace::EventKind;
use fullpipe_sim::units::Time;

/// Content of a SYN-ACK.
pub struct SynAck {
    pub window: u64,
    pub tsval: u32,
    pub echo: u32,
    /// Whether it agrees to ECN.
    pub agrees: bool,
}

impl Host {
    fn after_seconds(&self, now: Time, seconds: u64) -> Expiry {
        let hz = u64::from(self.host.hz);
        in_wheel(self.wheel, hz, now, seconds * hz)
    }

    /// The application connects, or nobody has answered.
    pub fn connect(&mut self, flow: usize, at: At, cx: &mut Context) -> Time {
        let At { now, cpu } = at;
        let before = self.sends[flow].syns.len();
        // Only the first SYN asks for ECN (RFC 3168, section 6.1.1.1).
        let asks = before == 0 && self.host.sysctl.tcp_ecn == Some(1);
        self.sends[flow].syns.push(now);
        let doublings = before.saturating_sub(self.linear_timeouts).min(10);
        let again = self.after_seconds(now, (self.timeout_init << doublings).min(120));
        self.timers.set_in(self.wheel, timer(flow, CONNECT), Some(again));
        let options = cx.opening - cx.headers;
        self.work(flow, at, cx, |state, port| {
            let tsval = state.tcp.tsval(cpu);
            port.offer(vec![(Body::Syn { asks, tsval }, options)], port.cpu, 0);
        })
    }

    pub fn syn_ack(&mut self, flow: usize, answer: SynAck, at: At, cx: &mut Context) -> Time {
        let At { now, cpu } = at;
        let SynAck { window, tsval, echo, agrees } = answer;
        let state = &mut self.sends[flow];
        if state.tcp.is_established() {
            return self.work(flow, at, cx, |state, port| state.tcp.answer_empty(port));
        }
        let late = self.host.timestamps && echo == state.tcp.tsval(state.syns[0]);
        state.tcp.repeated_syn(state.syns.len() as u32 - 1, late);
        state.tcp.take_timestamp(tsval);
        let measured = Some(state.syns[0]).filter(|_| state.syns.len() == 1);
        if state.syns.len() > 1 {
            state.tcp.sample_handshake_rtt(cpu, echo);
        }
        state.tcp.use_ecn(agrees && self.host.sysctl.tcp_ecn == Some(1));
        state.tcp.established(cpu, window, measured, Some(&self.metrics[&self.peers[&flow]]));
        state.next_write = now;
        cx.record(now, flow, EventKind::Established, (now - state.syns[0]).0);
        self.timers.set(timer(flow, CONNECT), None, None);
        self.runnable.push_back(Process::Writer(flow));
        self.empty(flow, at, cx)
    }

    fn empty(&mut self, flow: usize, at: At, cx: &mut Context) -> Time {
        self.work(flow, at, cx, |state, port| {
            let EmptySegment { seq, tsecr } = state.tcp.empty();
            let ack = Segment { seq, tsecr, ..Segment::default() };
            port.offer(vec![(Body::Data(ack), 0)], port.cpu, 0);
        })
    }

    /// Takes a SYN with timestamp `sent`; `asks`: it asks for ECN.
    pub fn syn(&mut self, flow: usize, asks: bool, sent: u32, at: At, cx: &mut Context) {
        let state = &mut self.receives[flow];
        if !std::mem::replace(&mut state.syn_seen, true) {
            state.tcp.use_ecn(asks && ecn::agrees(&self.host));
            state.echo = sent;
        }
        if state.accepted {
            let ack = state.tcp.make_ack();
            return self.send(flow, at.cpu, Body::Ack(ack), cx.headers, &mut cx.agenda);
        }
        self.answer_syn(flow, at, cx);
    }

    /// The timer of the answer: five times, with twice the pause each.
    pub fn answer_again(&mut self, flow: usize, now: Time, cx: &mut Context) {
        if self.receives[flow].answered_again == 5 {
            return;
        }
        self.receives[flow].answered_again += 1;
        let cpu = now.max(self.cpu.free);
        self.answer_syn(flow, At { now, cpu }, cx);
    }

    fn answer_syn(&mut self, flow: usize, at: At, cx: &mut Context) {
        let At { now, cpu } = at;
        let state = &mut self.receives[flow];
        let (tsval, tsecr) = (state.tcp.on_syn(cpu), state.echo);
        let (window, agrees) = (state.tcp.window.syn_ack_window(), state.tcp.uses_ecn());
        let pause = self.timeout_init << state.answered_again;
        let again = self.after_seconds(now, pause);
        self.timers.set_in(self.wheel, timer(flow, ANSWER), Some(again));
        let body = Body::SynAck { window, tsval, tsecr, agrees };
        self.send(flow, cpu, body, cx.opening, &mut cx.agenda);
    }
}
