//! The writing applications of the sending host: steps of copying, the socket's lock and its backlog.

use super::{Copying, SendingHost, TIMERS_PER_FLOW, WRITE_TIMER};
use crate::config::App;
use crate::sim::clock::Clockwork;
use crate::sim::{Shared, copy_time};
use crate::tcp::sender::Writer;
use crate::units::Time;

impl SendingHost {
    /// A step of the application is done, or one may begin.
    pub(crate) fn on_process(&mut self, now: Time, shared: &mut Shared) {
        let mut cpu = now;
        let flow = match self.copying.take() {
            Some(copying) => {
                self.cpu.end_step();
                cpu = self.finish_copy(copying, cpu, now, shared);
                copying.flow
            }
            None => match self.runnable.pop_front() {
                Some(flow) => flow,
                None => return,
            },
        };
        let cpu = self.continue_writing(flow, cpu, now, shared);
        self.cpu.urgent(now, cpu);
        if let Some(step) = self.copying {
            self.cpu.begin_step(cpu, copy_time(&self.host, u64::from(step.bytes)));
        }
        self.after(flow, now, shared);
    }

    fn finish_copy(&mut self, step: Copying, cpu: Time, now: Time, shared: &mut Shared) -> Time {
        let cpu = self.with_port(step.flow, cpu, shared, now, |flow, port| {
            flow.written += u64::from(step.bytes);
            flow.write_left -= step.bytes;
            flow.tcp.copied(step.bytes, flow.goal, flow.write_left > 0, port);
        });
        self.note_buffer(step.flow);
        cpu
    }

    /// Follows what the flow's send buffer holds.
    pub(super) fn note_buffer(&mut self, flow: usize) {
        let state = &mut self.flows[flow];
        let holds = state.written - state.tcp.bytes_acked();
        self.buffer.change(state.buffered, holds);
        state.buffered = holds;
    }

    /// Goes on writing until a step costs CPU time, the writer sleeps, or it is another's turn.
    fn continue_writing(
        &mut self,
        flow: usize,
        mut cpu: Time,
        now: Time,
        shared: &mut Shared,
    ) -> Time {
        if self.flows[flow].releasing {
            cpu = self.release(flow, cpu, now, shared);
            let state = &self.flows[flow];
            if state.releasing || state.tcp.writer == Writer::NoSpace {
                return cpu;
            }
        }
        loop {
            if self.flows[flow].write_left == 0 && self.flows[flow].locked {
                cpu = self.end_write(flow, cpu, now, shared);
                if self.flows[flow].releasing {
                    return cpu;
                }
                if !self.runnable.is_empty() {
                    self.runnable.push_back(flow);
                    return cpu;
                }
            }
            if self.flows[flow].write_left == 0 && !self.begin_write(flow, now) {
                return self.close(flow, cpu, now, shared);
            }
            let state = &mut self.flows[flow];
            if !state.locked {
                state.locked = true;
                state.goal = state.tcp.size_goal();
            }
            let Some(bytes) = state.tcp.next_copy(state.goal, state.write_left) else {
                return self.sleep(flow, cpu, now, shared);
            };
            let step = Copying { flow, bytes };
            if copy_time(&self.host, u64::from(bytes)) > Time::ZERO {
                self.copying = Some(step);
                return cpu;
            }
            cpu = self.finish_copy(step, cpu, now, shared);
        }
    }

    fn end_write(&mut self, flow: usize, cpu: Time, now: Time, shared: &mut Shared) -> Time {
        let cpu = self.with_port(flow, cpu, shared, now, |f, port| f.tcp.end_write(port));
        self.release(flow, cpu, now, shared)
    }

    /// release_sock: the ACKs that came while the socket was locked, then a timer that waits for this.
    /// After an ACK that cost a walk the process goes on when the softirq has had its turn.
    fn release(&mut self, flow: usize, cpu: Time, now: Time, shared: &mut Shared) -> Time {
        let walks_cost = self.host.cpu.walk > Time::ZERO;
        let mut walked = false;
        let cpu = self.with_port(flow, cpu, shared, now, |f, port| {
            let before = f.tcp.counters.walked;
            while !walked && let Some((ack, serial)) = f.backlog.pop_front() {
                f.on_ack(&ack, serial, port);
                walked = walks_cost && f.tcp.counters.walked != before;
            }
        });
        (self.flows[flow].locked, self.flows[flow].releasing) = (walked, walked);
        let mut cpu = cpu;
        if core::mem::take(&mut self.flows[flow].wakes_when_released) {
            cpu = self.with_port(flow, cpu, shared, now, |f, p| f.tcp.on_released(p));
        }
        self.note_buffer(flow);
        if walked {
            self.runnable.push_front(flow);
            return cpu;
        }
        match self.flows[flow].put_off.take_if(|(_, until)| until.is_none()) {
            Some(_) => self.run_timer(flow, cpu, now, shared),
            None => cpu,
        }
    }

    fn sleep(&mut self, flow: usize, cpu: Time, now: Time, shared: &mut Shared) -> Time {
        self.flows[flow].tcp.writer = Writer::NoSpace;
        self.flows[flow].no_space.0 = Some(now);
        let cpu = self.with_port(flow, cpu, shared, now, |f, port| f.tcp.push_before_sleep(port));
        self.release(flow, cpu, now, shared)
    }

    /// An application that is done closes its side of the socket.
    fn close(&mut self, flow: usize, cpu: Time, now: Time, shared: &mut Shared) -> Time {
        if self.flows[flow].tcp.writer != Writer::Done {
            return cpu;
        }
        self.with_port(flow, cpu, shared, now, |f, port| f.tcp.close(port))
    }

    /// Starts the next write(); false when there is none now.
    fn begin_write(&mut self, flow: usize, now: Time) -> bool {
        let state = &mut self.flows[flow];
        let left = state.config.bytes.map_or(u64::MAX, |bytes| bytes - state.written);
        let over = state.config.duration.is_some_and(|d| now >= state.config.start + d);
        if left == 0 || over {
            state.tcp.writer = Writer::Done;
            return false;
        }
        if let App::Rate(rate) = state.config.app {
            if core::mem::take(&mut state.paces) {
                // What the last write has waited for the buffer is not made up for.
                let pace = rate.time_for(u64::from(state.config.write));
                state.next_write = now.max(state.next_write + pace);
            }
            if now < state.next_write {
                state.tcp.writer = Writer::Paused;
                let number = flow * TIMERS_PER_FLOW + WRITE_TIMER;
                self.timers.set(number, Some(state.next_write), Clockwork::Own);
                return false;
            }
            state.paces = true;
        }
        state.tcp.writer = Writer::Active;
        state.write_left = u64::from(state.config.write).min(left) as u32;
        true
    }
}
