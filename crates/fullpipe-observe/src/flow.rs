//! Samples of flows from the kernel's state of their sockets.

use crate::tcp_info::TcpInfo;
use fullpipe_base::tcp::CaState;
use fullpipe_base::trace::{Event, EventKind, FlowSample, Limit};
use fullpipe_base::units::Time;

/// Linux's TCP_ESTABLISHED: no FIN was sent or received.
const ESTABLISHED: u8 = 1;
/// The SYN's answer, which is no ACK of data.
const SYN_ACK: u64 = 1;
/// Linux's TCP_CLOSE.
const CLOSE: u8 = 7;

/// Facts about the end that sends a flow's data, known before the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct SendingEnd {
    /// Its application always has something to write until it is done.
    pub bulk: bool,
    /// The socket that sends its data was accepted, not connected.
    pub accepted: bool,
}

/// State of a flow, from its records.
#[derive(Default)]
pub struct FlowState {
    /// State of the socket that sends.
    pub sender: TcpInfo,
    /// State of the socket that receives.
    pub receiver: TcpInfo,
    end: SendingEnd,
    /// SYNs that were sent again; the kernel counts them with the data's timeouts and retransmissions.
    syns_again: u64,
    limits: Limits,
    ca_state: u8,
    /// Timeouts so far, and consecutive timeouts at the last sample.
    timeouts: u64,
    in_a_row: u8,
}

/// Time by limit of the flow.
#[derive(Default)]
struct Limits {
    /// ns by [`Limit`], and the moment up to which they add up.
    spent: [u64; Limit::COUNT],
    until: u64,
    /// Time that the kernel has counted: by the receiver's window, the send buffer, anything else.
    credited: [u64; 3],
}

impl FlowState {
    /// The state of a flow before any record.
    pub fn new(end: SendingEnd) -> FlowState {
        FlowState { end, ..FlowState::default() }
    }

    /// The state of a flow that is met in the middle of its life: time and timeouts until now are not its.
    pub fn from(end: SendingEnd, info: &TcpInfo) -> FlowState {
        let limited = [info.rwnd_limited, info.sndbuf_limited];
        let rest = info.busy_time.saturating_sub(limited[0] + limited[1]);
        let credited = [limited[0], limited[1], rest].map(|us| us * 1000);
        FlowState {
            end,
            limits: Limits { credited, ..Limits::default() },
            ca_state: info.ca_state,
            timeouts: info.total_rto.unwrap_or(0).into(),
            in_a_row: info.retransmits,
            ..FlowState::default()
        }
    }

    /// The flow before it is over, and its program begins.
    pub fn begin(&mut self, time: Time) {
        self.limits.wait(time.0);
    }

    /// connect() has returned after `syns_again` retransmitted SYNs.
    pub fn connected(&mut self, syns_again: u64) {
        (self.syns_again, self.timeouts) = (syns_again, syns_again);
    }

    /// The kernel has given the connection up. Data in flight and waiting data is discarded, and no more state is
    /// reported.
    pub fn abort(&mut self) {
        let sender = &mut self.sender;
        sender.state = CLOSE;
        (sender.unacked, sender.sacked, sender.lost, sender.retrans) = (0, 0, 0, 0);
        sender.notsent_bytes = 0;
        sender.memory.discard_sent();
    }

    /// The sample at `time`, and the events since the last one.
    pub fn sample(&mut self, time: Time, flow: u16, mss: u32) -> (FlowSample, Vec<Event>) {
        let events = self.events(time, flow);
        let (info, receiver) = (&self.sender, &self.receiver);
        self.limits.advance(time.0, info, self.end.bulk);
        let delivered = receiver.data_read();
        let sample = FlowSample {
            time,
            flow,
            bytes_delivered: delivered,
            segments_delivered: delivered / u64::from(mss.max(1)),
            segments_sent: info.data_segs_out,
            segments_retransmitted: info.total_retrans.saturating_sub(self.syns_again),
            bytes_sent: info.bytes_sent,
            bytes_retransmitted: info.bytes_retrans,
            bytes_acked: info.data_acked(!self.end.accepted),
            acks_received: info.segs_in.saturating_sub(info.data_segs_in + SYN_ACK),
            walked_for_sacks: 0,
            walked_to_mark: 0,
            walked_to_resend: 0,
            cwnd: info.snd_cwnd,
            ssthresh: info.ssthresh(),
            srtt_us: info.rtt,
            rto_us: info.rto,
            in_flight: info.in_flight(),
            snd_wnd: info.snd_wnd.into(),
            unsent: info.notsent_bytes.into(),
            ca_state: info.ca_state,
            limits: self.limits.spent,
            sender: info.sender_socket(self.timeouts),
            receiver: receiver.receiver_socket(),
        };
        (sample, events)
    }

    /// Changes that the kernel does not date: they count as of the sample that shows them.
    fn events(&mut self, time: Time, flow: u16) -> Vec<Event> {
        let mut events = Vec::new();
        let TcpInfo { ca_state, retransmits, total_rto, .. } = self.sender;
        if ca_state != self.ca_state {
            events.push(Event { time, flow, kind: EventKind::CaState, value: ca_state.into() });
        }
        // Before 6.7 only consecutive timeouts are known, and an ACK sets them to 0.
        let in_a_row = u64::from(retransmits.saturating_sub(self.in_a_row));
        let timeouts = total_rto.map_or(self.timeouts + in_a_row, u64::from).max(self.timeouts);
        let numbers = self.timeouts + 1..=timeouts;
        events.extend(numbers.map(|number| {
            let value = number.saturating_sub(self.syns_again);
            Event { time, flow, kind: EventKind::Timeout, value }
        }));
        (self.ca_state, self.in_a_row, self.timeouts) = (ca_state, retransmits, timeouts);
        events
    }
}

impl Limits {
    /// Counts the time up to `now` as idle.
    fn wait(&mut self, now: u64) {
        self.spent[Limit::Idle as usize] += now.saturating_sub(self.until);
        self.until = self.until.max(now);
    }

    /// Shares the time up to `now` out. The kernel counts in jiffies (tcp_chrono_start, tcp_chrono_stop), so a count
    /// beyond the time that has passed is taken later.
    fn advance(&mut self, now: u64, info: &TcpInfo, bulk: bool) {
        let mut left = now.saturating_sub(self.until);
        let limited = [info.rwnd_limited, info.sndbuf_limited];

        // busy_time has the time of both other limits in it (tcp_get_info_chrono_stats).
        let rest = info.busy_time.saturating_sub(limited[0] + limited[1]);
        let window =
            if waits_after_timeout(info) { Limit::CwndRecovery } else { Limit::ReceiveWindow };
        let kinds = [window, Limit::SendBuffer, phase(info, bulk)];

        // Each count is credited once, and at most with the time that has passed.
        for (i, us) in [limited[0], limited[1], rest].into_iter().enumerate() {
            let share = (us * 1000).saturating_sub(self.credited[i]).min(left);
            self.credited[i] += share;
            self.spent[kinds[i] as usize] += share;
            left -= share;
        }
        // Until it has closed the connection an application that does not always write could.
        let quiet = match info.state {
            ESTABLISHED if !bulk => Limit::Application,
            _ => Limit::Idle,
        };
        self.spent[quiet as usize] += left;
        self.until = now;
    }
}

/// Whether cwnd is full after a timeout. The kernel asks for no new data until an ACK comes, so a count that it began for
/// the receive window goes on (6.12 `tcp_write_xmit`).
fn waits_after_timeout(info: &TcpInfo) -> bool {
    info.ca_state == CaState::Loss as u8 && info.in_flight() >= info.snd_cwnd
}

/// Limit of a sender with data in flight, by its state now. A sender that always writes and has nothing left to send
/// waits for room in the send buffer.
fn phase(info: &TcpInfo, bulk: bool) -> Limit {
    // Nothing waits to be sent, so the congestion window is not the limit.
    if info.notsent_bytes == 0 || holds_back_the_last(info) {
        match info.state {
            ESTABLISHED if bulk => Limit::SendBuffer,
            ESTABLISHED => Limit::Application,
            _ => Limit::Idle,
        }
    } else if info.ca_state >= CaState::Cwr as u8 {
        Limit::CwndRecovery
    } else if info.snd_cwnd <= info.snd_ssthresh {
        Limit::CwndSlowStart
    } else {
        Limit::CwndAvoidance
    }
}

/// Whether cwnd has room and less than a segment waits: the application's last bytes, which Nagle's rule holds back
/// (tcp_nagle_check). More data would release them. A FIN does so, too.
fn holds_back_the_last(info: &TcpInfo) -> bool {
    let room = info.in_flight() < info.snd_cwnd;
    info.state == ESTABLISHED && room && info.notsent_bytes < info.snd_mss
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_base::limits::limit_names;
    use fullpipe_base::tcp::INFINITE_SSTHRESH;

    fn shares(state: &mut FlowState, ms: u64) -> Vec<(&'static str, u64)> {
        let (sample, _) = state.sample(Time::ms(ms), 0, 1448);
        let all = limit_names().zip(sample.limits.map(|ns| ns / 1_000_000));
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
    fn the_windows_count_is_recoverys_after_a_timeout() {
        // A black hole: the window held the rest of the first flight back, and no ACK ends that count.
        let held = |ca_state, unacked, lost| {
            let mut flow = FlowState::new(SendingEnd { bulk: true, accepted: false });
            flow.sender = TcpInfo {
                state: ESTABLISHED,
                ca_state: ca_state as u8,
                snd_cwnd: 1,
                unacked,
                lost,
                retrans: 1,
                notsent_bytes: 9_000,
                busy_time: 8_000,
                rwnd_limited: 8_000,
                ..TcpInfo::default()
            };
            shares(&mut flow, 8)[0].0
        };
        assert_eq!(held(CaState::Loss, 7, 7), "cwnd_recovery");
        assert_eq!(held(CaState::Open, 7, 7), "receive_window");
        assert_eq!(held(CaState::Loss, 7, 8), "receive_window", "cwnd has room");
    }

    #[test]
    fn where_nothing_is_left_to_send_the_application_decides() {
        let sent = TcpInfo { state: ESTABLISHED, snd_cwnd: 10, unacked: 4, ..TcpInfo::default() };
        let cases = [
            (true, ESTABLISHED, "send_buffer"),
            (false, ESTABLISHED, "application"),
            (true, 4, "idle"),
            (false, 4, "idle"),
        ];
        for (bulk, state, expected) in cases {
            let mut flow = FlowState::new(SendingEnd { bulk, accepted: false });
            flow.sender = TcpInfo { state, busy_time: 8_000, ..sent.clone() };
            assert_eq!(shares(&mut flow, 8), [(expected, 8)]);
        }
    }

    #[test]
    fn a_part_of_a_segment_is_the_applications_last_where_cwnd_has_room() {
        let waits = |notsent_bytes, unacked, state, bulk| {
            let mut flow = FlowState::new(SendingEnd { bulk, accepted: false });
            let (snd_mss, snd_cwnd, snd_ssthresh) = (1448, 10, INFINITE_SSTHRESH);
            let busy_time = 8_000;
            flow.sender = TcpInfo {
                state,
                snd_mss,
                snd_cwnd,
                snd_ssthresh,
                unacked,
                notsent_bytes,
                busy_time,
                ..TcpInfo::default()
            };
            shares(&mut flow, 8)[0].0
        };
        assert_eq!(waits(1447, 9, ESTABLISHED, false), "application");
        assert_eq!(waits(1447, 9, ESTABLISHED, true), "send_buffer");
        assert_eq!(waits(1448, 9, ESTABLISHED, false), "cwnd_slow_start");
        assert_eq!(waits(1447, 10, ESTABLISHED, false), "cwnd_slow_start");
        assert_eq!(
            waits(1447, 9, 4, false),
            "cwnd_slow_start",
            "after its FIN nothing is held back"
        );
    }

    #[test]
    fn each_timeout_is_an_event_and_none_of_a_syn() {
        let sampled = |state: &mut FlowState, info: TcpInfo, ms| {
            state.sender = info;
            let (sample, events) = state.sample(Time::ms(ms), 0, 1448);
            let timeouts = events.iter().filter(|event| event.kind == EventKind::Timeout);
            let numbers: Vec<u64> = timeouts.map(|event| event.value).collect();
            (numbers, sample.segments_retransmitted)
        };
        let info = |total_rto, retransmits, total_retrans| TcpInfo {
            total_rto,
            retransmits,
            total_retrans,
            ..TcpInfo::default()
        };
        let mut known = FlowState::default();
        known.connected(2);
        assert_eq!(sampled(&mut known, info(Some(2), 0, 2), 1), (vec![], 0));
        assert_eq!(sampled(&mut known, info(Some(5), 1, 6), 2), (vec![1, 2, 3], 4));
        // Linux 6.1 does not count them.
        let mut old = FlowState::default();
        old.connected(1);
        assert_eq!(sampled(&mut old, info(None, 0, 1), 1), (vec![], 0));
        assert_eq!(sampled(&mut old, info(None, 1, 2), 2), (vec![1], 1));
        assert_eq!(sampled(&mut old, info(None, 3, 4), 3), (vec![2, 3], 3));
        assert_eq!(sampled(&mut old, info(None, 0, 4), 4), (vec![], 3));
        assert_eq!(sampled(&mut old, info(None, 1, 5), 5), (vec![4], 4));
    }

    #[test]
    fn a_change_of_state_is_one_event() {
        let mut state = FlowState::default();
        state.sender.ca_state = 3;
        let (_, events) = state.sample(Time::ms(1), 2, 1448);
        let expected = Event { time: Time::ms(1), flow: 2, kind: EventKind::CaState, value: 3 };
        assert_eq!(events, [expected]);
        assert_eq!(state.sample(Time::ms(2), 2, 1448).1, []);
    }
}
