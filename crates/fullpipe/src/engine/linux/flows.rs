//! Samples of flows from what the kernel says of both sockets.

use super::tcp_info::TcpInfo;
use fullpipe_sim::trace::{Event, EventKind, FlowSample, Limit};
use fullpipe_sim::units::Time;

/// The kernel's infinite ssthresh (TCP_INFINITE_SSTHRESH).
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;
/// Linux's TCP_ESTABLISHED: no FIN was sent or received.
const ESTABLISHED: u8 = 1;
/// Linux's TCP_CLOSE.
const CLOSE: u8 = 7;
/// Linux's CA_CWR: from here on cwnd is being reduced, or was by a loss.
const CA_CWR: u8 = 2;

/// What is known of a flow.
#[derive(Default)]
pub(super) struct FlowState {
    pub(super) sender: TcpInfo,
    pub(super) receiver: TcpInfo,
    limits: Limits,
    ca_state: u8,
    timeouts: u16,
}

/// Time by what held the flow back.
#[derive(Default)]
struct Limits {
    /// ns by [`Limit`], and the moment up to which they add up.
    spent: [u64; Limit::COUNT],
    until: u64,
    /// Of what the kernel has counted: by the receiver's window, the send buffer, anything else.
    credited: [u64; 3],
}

impl FlowState {
    /// The kernel has given the connection up: what was in flight or waited is thrown away, and it is not told of
    /// any more.
    pub(super) fn abort(&mut self) {
        let sender = &mut self.sender;
        sender.state = CLOSE;
        (sender.unacked, sender.sacked, sender.lost, sender.retrans) = (0, 0, 0, 0);
        sender.notsent_bytes = 0;
    }

    /// The sample at `time`, and what has happened since the last one.
    pub(super) fn sample(&mut self, time: Time, flow: u16, mss: u32) -> (FlowSample, Vec<Event>) {
        let (info, receiver) = (&self.sender, &self.receiver);
        self.limits.advance(time.0, info);
        let delivered = receiver.data_received();
        let sample = FlowSample {
            time,
            flow,
            bytes_delivered: delivered,
            segments_delivered: delivered / u64::from(mss.max(1)),
            segments_sent: info.data_segs_out,
            segments_retransmitted: info.total_retrans,
            bytes_acked: info.data_acked(),
            acks_received: info.segs_in.saturating_sub(info.data_segs_in),
            walked_for_sacks: 0,
            walked_to_mark: 0,
            walked_to_resend: 0,
            cwnd: info.snd_cwnd,
            ssthresh: if info.snd_ssthresh >= INFINITE_SSTHRESH {
                u32::MAX
            } else {
                info.snd_ssthresh
            },
            srtt_us: info.rtt,
            rto_us: info.rto,
            in_flight: info.in_flight(),
            snd_wnd: info.snd_wnd.into(),
            unsent: info.notsent_bytes.into(),
            ca_state: info.ca_state,
            limits: self.limits.spent,
        };
        (sample, self.events(time, flow))
    }

    /// Changes that the kernel does not date: they count as of the sample that shows them.
    fn events(&mut self, time: Time, flow: u16) -> Vec<Event> {
        let mut events = Vec::new();
        let (state, timeouts) = (self.sender.ca_state, self.sender.total_rto);
        if state != self.ca_state {
            events.push(Event { time, flow, kind: EventKind::CaState, value: state.into() });
        }
        if timeouts != self.timeouts {
            events.push(Event { time, flow, kind: EventKind::Timeout, value: timeouts.into() });
        }
        (self.ca_state, self.timeouts) = (state, timeouts);
        events
    }
}

impl Limits {
    /// Shares the time up to `now` out. The kernel counts in jiffies (tcp_chrono_start, tcp_chrono_stop), so
    /// what it says beyond the time that has passed is taken later.
    fn advance(&mut self, now: u64, info: &TcpInfo) {
        let mut left = now.saturating_sub(self.until);
        let told = [info.rwnd_limited, info.sndbuf_limited];
        let rest = info.busy_time.saturating_sub(told[0] + told[1]);
        let kinds = [Limit::ReceiveWindow, Limit::SendBuffer, phase(info)];
        for (i, us) in [told[0], told[1], rest].into_iter().enumerate() {
            let share = (us * 1000).saturating_sub(self.credited[i]).min(left);
            self.credited[i] += share;
            self.spent[kinds[i] as usize] += share;
            left -= share;
        }
        // Until it has closed the connection the application could write.
        let quiet = if info.state == ESTABLISHED { Limit::Application } else { Limit::Idle };
        self.spent[quiet as usize] += left;
        self.until = now;
    }
}

/// What holds back a sender that has something in flight, by its state now.
fn phase(info: &TcpInfo) -> Limit {
    if info.notsent_bytes == 0 && info.in_flight() < info.snd_cwnd {
        Limit::Application
    } else if info.ca_state >= CA_CWR {
        Limit::CwndRecovery
    } else if info.snd_cwnd <= info.snd_ssthresh {
        Limit::CwndSlowStart
    } else {
        Limit::CwndAvoidance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(state: &mut FlowState, ms: u64) -> Vec<(&'static str, u64)> {
        let (sample, _) = state.sample(Time::ms(ms), 0, 1448);
        let all = Limit::NAMES.into_iter().zip(sample.limits.map(|ns| ns / 1_000_000));
        all.filter(|(_, ms)| *ms > 0).collect()
    }

    #[test]
    fn time_is_shared_out_as_the_kernel_counts_it() {
        let mut state = FlowState::default();
        assert_eq!(shares(&mut state, 10), [("idle", 10)]);
        state.sender = TcpInfo {
            snd_cwnd: 10,
            unacked: 10,
            snd_ssthresh: INFINITE_SSTHRESH,
            notsent_bytes: 1,
            busy_time: 30_000,
            rwnd_limited: 5_000,
            ..TcpInfo::default()
        };
        let slow_start = [("idle", 20), ("cwnd_slow_start", 25), ("receive_window", 5)];
        assert_eq!(shares(&mut state, 50), slow_start);
        // Jiffies: the kernel says more than has passed, and is believed later.
        state.sender = TcpInfo { snd_ssthresh: 5, busy_time: 42_000, ..state.sender };
        let both =
            [("idle", 20), ("cwnd_slow_start", 25), ("cwnd_avoidance", 10), ("receive_window", 5)];
        assert_eq!(shares(&mut state, 60), both);
        let (sample, _) = state.sample(Time::ms(70), 0, 1448);
        // Nothing in flight: before the end the application could write, after it there is nothing to do.
        let mut quiet = FlowState::default();
        quiet.sender.state = ESTABLISHED;
        assert_eq!(shares(&mut quiet, 5), [("application", 5)]);
        quiet.sender.state = 4;
        assert_eq!(shares(&mut quiet, 7), [("idle", 2), ("application", 5)]);
        assert_eq!(sample.limits.iter().sum::<u64>(), 70_000_000);
        assert_eq!(sample.limits[Limit::CwndAvoidance as usize], 12_000_000);
    }

    #[test]
    fn a_change_of_state_is_told_once() {
        let mut state = FlowState::default();
        state.sender.ca_state = 3;
        let (_, events) = state.sample(Time::ms(1), 2, 1448);
        let expected = Event { time: Time::ms(1), flow: 2, kind: EventKind::CaState, value: 3 };
        assert_eq!(events, [expected]);
        assert_eq!(state.sample(Time::ms(2), 2, 1448).1, []);
    }
}
