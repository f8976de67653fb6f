//! Writing applications: steps of copying, the socket's lock and its backlog.
//!
//! Limits:
//! - A writer that may leave little unsent sleeps until an ACK arrives or for a random time (`sk_stream_wait_memory`).
//!   It does not if its last push sent enough. The random time differs from Linux's.

use super::sending::Copying;
use crate::config::App;
use crate::host::cpu::copy_time;
use crate::host::shared::Shared;
use crate::host::softirq::MOST_PASSES;
use crate::host::timers::Timer;
use crate::host::{Host, Process, Step};
use crate::tcp::sender::Writer;
use crate::units::Time;

impl Host {
    /// Ends a step of copying, and continues the write.
    pub(in crate::host) fn go_on_writing(&mut self, step: Copying, now: Time, shared: &mut Shared) {
        let cpu = self.finish_copy(step, now, now, shared);
        self.write(step.flow, cpu, now, shared);
    }

    /// Gives the writer its turn, with the CPU at `cpu`.
    pub(in crate::host) fn write(
        &mut self,
        flow: usize,
        cpu: Time,
        now: Time,
        shared: &mut Shared,
    ) {
        let mut cpu = self.continue_writing(flow, cpu, now, shared);
        if !self.sends[flow].locked {
            // The writer may not have touched the socket.
            cpu = self.wake_released(flow, cpu, now, shared);
        }
        self.cpu.urgent(now, cpu);
        match self.step {
            Some(Step::Copying(step)) => {
                self.cpu.begin_step(cpu, copy_time(&self.host, u64::from(step.bytes)));
            }
            Some(Step::Calling(_)) => self.cpu.begin_step(cpu, self.host.cpu.write),
            _ => {}
        }
        self.after_sending(flow, now, shared);
    }

    fn finish_copy(&mut self, step: Copying, cpu: Time, now: Time, shared: &mut Shared) -> Time {
        let cpu = self.with_output(step.flow, cpu, shared, now, |flow, output| {
            flow.written += u64::from(step.bytes);
            flow.write_left -= step.bytes;
            flow.tcp.copied(step.bytes, flow.goal, flow.write_left > 0, output);
        });
        self.note_buffer(step.flow);
        cpu
    }

    /// Updates the content of the host's send buffers for the flow.
    pub(super) fn note_buffer(&mut self, flow: usize) {
        let state = &mut self.sends[flow];
        let holds = state.written - state.tcp.bytes_acked();
        self.send_buffer.change(state.buffered, holds);
        state.buffered = holds;
    }

    /// Bytes that SACK blocks of the flow's socket take in each of its segments.
    fn option_bytes(&self, flow: usize, shared: &Shared) -> u32 {
        let reverse = shared.reverse_of[flow].and_then(|reverse| self.receives.get(reverse));
        reverse.map_or(0, |end| end.tcp.option_bytes())
    }

    /// Continues writing until a step costs CPU time, the writer sleeps, or another has its turn.
    fn continue_writing(
        &mut self,
        flow: usize,
        mut cpu: Time,
        now: Time,
        shared: &mut Shared,
    ) -> Time {
        // A release that a walk has interrupted continues before the program writes more.
        if self.sends[flow].releasing {
            cpu = self.release(flow, cpu, now, shared);
            let state = &self.sends[flow];
            if state.releasing || state.tcp.writer() == Writer::NoSpace {
                return cpu;
            }
        }

        // The end of the program's time has interrupted its sleep: its data is pushed.
        if core::mem::take(&mut self.sends[flow].interrupted) {
            cpu =
                self.with_output(flow, cpu, shared, now, |f, output| f.tcp.interrupt_write(output));
        }
        loop {
            // The write is complete: tcp_push, then release_sock, which may take time.
            if self.sends[flow].write_left == 0 && self.sends[flow].locked {
                cpu = self.end_write(flow, cpu, now, shared);
                if self.sends[flow].releasing {
                    return cpu;
                }

                // Other programs that wait run before the next write.
                if !self.runnable.is_empty() {
                    self.runnable.push_back(Process::Writer(flow));
                    return cpu;
                }
            }

            // The next write begins, unless the program is done or has to wait.
            if self.sends[flow].write_left == 0 {
                cpu = self.uncork(flow, cpu, now, shared);
                if !self.begin_write(flow, now, shared) {
                    return self.close(flow, cpu, now, shared);
                }
                // A call takes time before it has the socket. The kernel itself makes the calls of RPC.
                if self.host.cpu.write > Time::ZERO && !self.rpc.has(flow) {
                    self.step = Some(Step::Calling(flow));
                    return cpu;
                }
            }
            let option_bytes = self.option_bytes(flow, shared);
            let state = &mut self.sends[flow];

            // tcp_sendmsg: lock_sock, then tcp_send_mss sets the size goal of the call.
            if !state.locked {
                state.locked = true;
                state.tcp.note_options(option_bytes);
                state.goal = state.tcp.size_goal();
                let begins = core::mem::take(&mut state.begins_call) && state.tcp.is_controlled();
                self.put_off_to_release(flow, cpu);
                if begins {
                    cpu = self
                        .with_output(flow, cpu, shared, now, |f, out| f.tcp.check_app_limited(out));
                }
            }

            // tcp_sendmsg_locked fills an skb up to the goal; without memory the writer sleeps.
            let state = &mut self.sends[flow];
            let mut bytes = state.tcp.next_copy(state.goal, state.write_left);
            if bytes.is_none() && self.rpc.writes_calls(flow) {
                (bytes, cpu) = self.push_and_copy(flow, cpu, now, shared);
            }
            let Some(bytes) = bytes else {
                return self.sleep(flow, cpu, now, shared);
            };
            let step = Copying { flow, bytes };
            if copy_time(&self.host, u64::from(bytes)) > Time::ZERO {
                self.step = Some(Step::Copying(step));
                return cpu;
            }
            cpu = self.finish_copy(step, cpu, now, shared);
        }
    }

    /// Uncorks the socket after a whole message.
    fn uncork(&mut self, flow: usize, cpu: Time, now: Time, shared: &mut Shared) -> Time {
        let state = &mut self.sends[flow];
        let ends = state.dialogue.is_some_and(|dialogue| dialogue.left(state.written) == 0);
        if !state.corked || !ends {
            return cpu;
        }
        state.corked = false;
        self.with_output(flow, cpu, shared, now, |f, output| f.tcp.uncork_message(output))
    }

    fn end_write(&mut self, flow: usize, cpu: Time, now: Time, shared: &mut Shared) -> Time {
        let carries_messages = self.rpc.has(flow);
        if carries_messages {
            self.sends[flow].tcp.cork(self.rpc.has_message(flow));
        }
        let cpu = self.with_output(flow, cpu, shared, now, |f, output| f.tcp.end_write(output));
        let cpu = self.release(flow, cpu, now, shared);
        if carries_messages {
            self.end_message(flow, now, shared);
        }
        cpu
    }

    /// Pushes data and continues, for a writer that must not sleep in the socket. It pushes as a writer does before it
    /// sleeps, and continues if this made room (6.12 `tcp_sendmsg_locked`, `xs_tcp_send_request`).
    fn push_and_copy(
        &mut self,
        flow: usize,
        cpu: Time,
        now: Time,
        shared: &mut Shared,
    ) -> (Option<u32>, Time) {
        let cpu =
            self.with_output(flow, cpu, shared, now, |f, output| f.tcp.push_before_sleep(output));
        let state = &mut self.sends[flow];
        state.tcp.does_not_rest();
        (state.tcp.next_copy(state.goal, state.write_left), cpu)
    }

    /// release_sock: processes the ACKs that arrived while the socket was locked, then a timer that waits for the
    /// release. After an ACK that cost a walk the process continues when the softirq has had its turn.
    fn release(&mut self, flow: usize, cpu: Time, now: Time, shared: &mut Shared) -> Time {
        let walks_cost = self.host.cpu.walk > Time::ZERO;
        let mut walked = false;
        // One ACK on the slow path is enough: what is due after it is due once.
        let waiting = &self.sends[flow].backlog;
        let slow = waiting.iter().find_map(|(ack, _)| self.end_on_slow_path(flow, ack, shared));
        let cpu = self.with_output(flow, cpu, shared, now, |f, output| {
            let before = f.tcp.counters.walked;
            while !walked && let Some((ack, serial)) = f.backlog.pop_front() {
                f.on_ack(&ack, serial, output);
                walked = walks_cost && f.tcp.counters.walked != before;
            }
        });

        self.ack_after_pure_ack(slow, cpu, shared);

        // After a walk the socket stays owned, and the softirq has its turn first.
        (self.sends[flow].locked, self.sends[flow].releasing) = (walked, walked);
        let cpu = self.wake_released(flow, cpu, now, shared);
        self.note_buffer(flow);
        if walked {
            self.runnable.push_front(Process::Writer(flow));
            return cpu;
        }

        // tcp_release_cb runs a timer that found the socket owned.
        let cpu = match self.sends[flow].put_off.take_if(|(_, until)| until.is_none()) {
            Some(_) => self.run_timer(flow, cpu, now, shared),
            None => cpu,
        };
        self.handle_deferred_mtu(flow, cpu, now, shared)
    }

    /// Does TCP's work that waited for the release of the socket. Softirqs are off meanwhile, so no skb is freed
    /// (`release_sock`). Then they run. Skbs that have left let TCP continue at once in every other pass, before the
    /// program does (`handle_softirqs`).
    fn wake_released(&mut self, flow: usize, cpu: Time, now: Time, shared: &mut Shared) -> Time {
        if !core::mem::take(&mut self.sends[flow].wakes_when_released) {
            return cpu;
        }
        let mut cpu = self.in_softirq(flow, cpu, shared, now, |f, p| f.tcp.on_released(p));
        for _ in 0..MOST_PASSES / 2 {
            if !self.may_go_on(flow, cpu) {
                break;
            }
            cpu = self.in_softirq(flow, cpu, shared, now, |f, p| f.tcp.on_room_in_host(p));
        }
        self.sends[flow].packets_at = None;
        cpu
    }

    fn sleep(&mut self, flow: usize, cpu: Time, now: Time, shared: &mut Shared) -> Time {
        self.sends[flow].tcp.set_writer(Writer::NoSpace);
        self.sends[flow].no_space.0 = Some(now);
        // tcp_sendmsg_locked pushes its data before sk_stream_wait_memory.
        let cpu =
            self.with_output(flow, cpu, shared, now, |f, output| f.tcp.push_before_sleep(output));
        let state = &mut self.sends[flow];
        // sk_stream_wait_memory: the sleep has a random bound; a program that stops ends it too.
        let rest = state.tcp.rest(self.host.hz, &mut state.rests);
        let rested = rest.map(|jiffies| self.timers.after(now, jiffies));
        let stops = state.stops().filter(|&stops| stops > now);
        self.timers.set(flow, Timer::Write, rested.into_iter().chain(stops).min());
        self.release(flow, cpu, now, shared)
    }

    /// Closes the socket's sending side after the application's last write.
    fn close(&mut self, flow: usize, cpu: Time, now: Time, shared: &mut Shared) -> Time {
        let answers = self.sends[flow].dialogue.is_some_and(|dialogue| !dialogue.closes());
        let stays = answers || self.rpc.has(flow);
        if self.sends[flow].tcp.writer() != Writer::Done || stays {
            return cpu;
        }
        self.with_output(flow, cpu, shared, now, |f, output| f.tcp.close(output))
    }

    /// Starts the next write(); false when none is due now.
    fn begin_write(&mut self, flow: usize, now: Time, shared: &mut Shared) -> bool {
        if self.rpc.has(flow) {
            return self.begin_message(flow, now, shared);
        }

        // A program with turns writes only after it has read enough.
        let over = self.is_over(flow, now);
        if !self.has_turn(flow, shared.reverse_of[flow], over) {
            self.sends[flow].tcp.set_writer(Writer::Paused);

            // The thread of a program that answers reads again once its write() has returned.
            if let Some(reverse) = shared.reverse_of[flow] {
                self.after_receiving(reverse, now, shared);
            }
            return false;
        }

        // The flow's end: nothing is left, or its time is over.
        let state = &mut self.sends[flow];
        let left = state.config.bytes.map_or(u64::MAX, |bytes| bytes - state.written);
        // The program finishes a message that it has begun.
        let of_message = state.dialogue.map_or(0, |dialogue| dialogue.left(state.written));
        if left == 0 || over && of_message == 0 {
            state.tcp.set_writer(Writer::Done);
            return false;
        }

        // A program with a rate writes at its pace.
        if let App::Rate(rate) = state.config.app {
            if core::mem::take(&mut state.paces) {
                // Time that the last write waited for the buffer is not made up for.
                let pace = rate.time_for(u64::from(state.config.write));
                state.next_write = now.max(state.next_write + pace);
            }
            if now < state.next_write {
                state.tcp.set_writer(Writer::Paused);
                self.timers.set(flow, Timer::Write, Some(state.next_write));
                return false;
            }
            state.paces = true;
        }
        if let Some(pause) = state.config.app.pauses(now.saturating_sub(state.config.start)) {
            return self.pause(flow, now + pause);
        }

        // A request waits for its period; its begin is noted, because answers are timed from there.
        if let Some(dialogue) =
            state.dialogue.filter(|dialogue| dialogue.begins_request(state.written))
        {
            let due = state.config.due(dialogue.begun(state.written));
            if let Some(due) = due.filter(|due| now < *due) {
                return self.pause(flow, due);
            }
            match dialogue.is_one_way() {
                true => shared.began[flow].push_back(now),
                false => state.asked.push_back(now),
            }
        }

        // A message that begins is corked until it is written whole.
        if state.config.corks()
            && state.dialogue.is_some_and(|dialogue| dialogue.left(state.written) == 0)
        {
            state.tcp.cork_message();
            state.corked = true;
        }
        state.tcp.set_writer(Writer::Active);
        state.write_left = state.next_write_size().min(left) as u32;
        state.begins_call = true;
        true
    }

    /// Lets the application pause until `until`, or until its time is over. Returns false: no write begins now.
    fn pause(&mut self, flow: usize, until: Time) -> bool {
        let state = &mut self.sends[flow];
        state.tcp.set_writer(Writer::Paused);
        let goes_on = state.config.stops().map_or(until, |stops| until.min(stops));
        self.timers.set(flow, Timer::Write, Some(goes_on));
        false
    }

    /// Whether the application's time is over.
    fn is_over(&self, flow: usize, now: Time) -> bool {
        self.sends[flow].config.stops().is_some_and(|stops| now >= stops)
    }
}
