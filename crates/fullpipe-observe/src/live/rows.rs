//! Rows of a trace from the states of a connection's own socket.

use crate::flow::{FlowState, SendingEnd};
use crate::sockets::Connection;
use crate::tcp_info::TcpInfo;
use fullpipe_base::trace::{Event, EventKind, FlowSample, ReceiverSocket, SenderSocket};
use fullpipe_base::units::Time;

/// The two flows of a connection: that of its own data, then that of the other host's.
pub(super) struct Flows {
    /// Indices in the trace.
    index: [u16; 2],
    own: FlowState,
    /// Cumulative values at the first look.
    first: FlowSample,
    /// State at the first look.
    begun: TcpInfo,
    /// State at the last look.
    last: TcpInfo,
}

impl Flows {
    /// The flows of a connection, from its first look on; the first one has this index.
    pub(super) fn new(index: u16, first: &Connection) -> Flows {
        let info = first.info.clone();
        let mut own = FlowState::from(SendingEnd::default(), &info);
        own.sender = info.clone();
        let (sample, _) = own.sample(Time::ZERO, index, info.snd_mss);
        Flows { index: [index, index + 1], own, first: sample, begun: info.clone(), last: info }
    }

    /// The time until then is not the connection's.
    pub(super) fn begin(&mut self, time: Time) {
        self.own.begin(time);
    }

    /// The rows of a look, and the events since the one before.
    pub(super) fn rows(&mut self, time: Time, look: &Connection) -> ([FlowSample; 2], Vec<Event>) {
        let info = look.info.clone().after(&self.last);
        self.last = info.clone();
        self.own.sender = info.clone();
        let (sample, mut events) = self.own.sample(time, self.index[0], info.snd_mss);
        for event in events.iter_mut().filter(|event| event.kind == EventKind::Timeout) {
            event.value = event.value.saturating_sub(self.first.sender.total_rto);
        }
        let sent = since(&sample, &self.first);
        let received = self.received(time, &info);
        ([sent, received], events)
    }

    /// The row of the other host's data. Of its socket only the options are known, to which both ends have agreed.
    fn received(&self, time: Time, info: &TcpInfo) -> FlowSample {
        let mut receiver = FlowState::new(SendingEnd::default());
        receiver.receiver = info.clone();
        let (sample, _) = receiver.sample(time, self.index[1], info.rcv_mss);
        let read = info.data_read().saturating_sub(self.begun.data_read());
        let before = self.begun.receiver_socket();
        let now = sample.receiver;
        FlowSample {
            bytes_delivered: read,
            segments_delivered: read / u64::from(info.rcv_mss.max(1)),
            acks_received: 0,
            limits: Default::default(),
            sender: SenderSocket {
                options: info.sender_socket(0).options,
                ..SenderSocket::default()
            },
            receiver: ReceiverSocket {
                rcv_ooopack: now.rcv_ooopack.saturating_sub(before.rcv_ooopack),
                bytes_received: now.bytes_received.saturating_sub(before.bytes_received),
                ..now
            },
            ..sample
        }
    }
}

/// A row with its cumulative values counted from the first look on.
fn since(now: &FlowSample, first: &FlowSample) -> FlowSample {
    let acked = now.bytes_acked.saturating_sub(first.bytes_acked);
    let mut row = now.clone();
    row.bytes_acked = acked;
    row.bytes_delivered = acked;
    row.segments_delivered = acked / u64::from(now.sender.snd_mss.max(1));
    row.segments_sent = now.segments_sent.saturating_sub(first.segments_sent);
    row.segments_retransmitted =
        now.segments_retransmitted.saturating_sub(first.segments_retransmitted);
    row.bytes_sent = now.bytes_sent.saturating_sub(first.bytes_sent);
    row.bytes_retransmitted = now.bytes_retransmitted.saturating_sub(first.bytes_retransmitted);
    row.acks_received = now.acks_received.saturating_sub(first.acks_received);

    let (own, before) = (&mut row.sender, &first.sender);
    own.reord_seen = own.reord_seen.saturating_sub(before.reord_seen);
    own.dsack_dups = own.dsack_dups.saturating_sub(before.dsack_dups);
    own.busy_time_us = own.busy_time_us.saturating_sub(before.busy_time_us);
    own.rwnd_limited_us = own.rwnd_limited_us.saturating_sub(before.rwnd_limited_us);
    own.sndbuf_limited_us = own.sndbuf_limited_us.saturating_sub(before.sndbuf_limited_us);
    own.delivered = own.delivered.saturating_sub(before.delivered);
    own.delivered_ce = own.delivered_ce.saturating_sub(before.delivered_ce);
    own.total_rto = own.total_rto.saturating_sub(before.total_rto);

    // The other host's socket is not seen.
    row.receiver = ReceiverSocket::default();
    row
}

/// Bytes that the program asked for with SO_SNDBUF; none where the buffer may be one that the kernel tunes.
///
/// Linux enlarges a buffer that it may tune to twice the memory of cwnd, up to tcp_wmem. It does so when a writer waits
/// and cwnd has room (6.12 `tcp_should_expand_sndbuf`, `tcp_sndbuf_expand`). A writer that waits is woken when a third is
/// free (`sk_stream_min_wspace`), so the buffer stays nearly full. A constant buffer that is full and smaller was asked
/// for. The kernel doubles the request (`sock_setsockopt`).
pub(super) fn requested(looks: &[TcpInfo], tuned: Option<u64>) -> Option<u64> {
    let tuned = tuned.unwrap_or(u64::MAX);
    let sndbuf = looks.last()?.memory.sndbuf;
    let constant = looks.iter().all(|own| own.memory.sndbuf == sndbuf);
    let stays = |own: &&TcpInfo| {
        own.in_flight() < own.snd_cwnd && u64::from(sndbuf) < of_cwnd(own).min(tuned)
    };
    let stays = looks.iter().filter(stays).count();

    // A slow writer empties it now and then, and a look may come before a waiting one runs.
    let is_full = |own: &&TcpInfo| 5 * u64::from(own.memory.wmem_queued) >= 3 * u64::from(sndbuf);
    let full = looks.iter().filter(is_full).count();
    let waits = 10 * full >= 9 * looks.len() && 2 * stays > looks.len();
    let asked = u64::from(sndbuf) > tuned || constant && waits;
    asked.then_some(u64::from(sndbuf) / 2)
}

/// Least memory that Linux gives a buffer for cwnd: data alone, twice.
fn of_cwnd(info: &TcpInfo) -> u64 {
    2 * u64::from(info.snd_cwnd) * u64::from(info.snd_mss)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp_info::Memory;

    fn connection(info: TcpInfo) -> Connection {
        Connection {
            here: ([10, 0, 0, 1], 4000).into(),
            there: ([10, 0, 0, 2], 5001).into(),
            cookie: [1; 8],
            inode: 7,
            congestion: "cubic".into(),
            info,
        }
    }

    /// A socket that has sent `acked` bytes and received as many.
    fn busy(acked: u64) -> TcpInfo {
        TcpInfo {
            state: 1,
            snd_mss: 1000,
            rcv_mss: 500,
            snd_cwnd: 10,
            bytes_acked: acked,
            bytes_sent: acked + 5000,
            bytes_received: acked,
            total_retrans: acked / 1000,
            data_segs_out: acked / 1000 + 5,
            busy_time: acked,
            rcv_ooopack: acked / 500,
            total_rto: Some((acked / 10_000) as u16),
            ..TcpInfo::default()
        }
    }

    #[test]
    fn counters_begin_with_the_observation() {
        let mut flows = Flows::new(4, &connection(busy(100_000)));
        let ([sent, received], events) = flows.rows(Time::ms(100), &connection(busy(130_000)));
        assert_eq!((sent.flow, received.flow), (4, 5));
        assert_eq!(
            (sent.bytes_acked, sent.bytes_delivered, sent.bytes_sent),
            (30_000, 30_000, 30_000)
        );
        assert_eq!((sent.segments_retransmitted, sent.segments_sent), (30, 30));
        assert_eq!((sent.sender.busy_time_us, sent.sender.total_rto), (30_000, 3));
        assert_eq!(sent.receiver, ReceiverSocket::default());
        assert_eq!((received.bytes_delivered, received.segments_delivered), (30_000, 60));
        assert_eq!(received.receiver.rcv_ooopack, 60);
        assert_eq!(received.receiver.bytes_received, 30_000);

        // Timeouts are counted from the observation on, and each is an event.
        let values: Vec<u64> = events.iter().map(|event| event.value).collect();
        assert_eq!(values, [1, 2, 3]);
        let ([sent, _], _) = flows.rows(Time::ms(200), &connection(busy(140_000)));
        assert_eq!(sent.bytes_acked, 40_000);
    }

    #[test]
    fn time_before_the_observation_is_no_ones() {
        let mut flows = Flows::new(0, &connection(busy(60_000_000)));
        let ([sent, _], _) = flows.rows(Time::ms(100), &connection(busy(60_040_000)));
        assert_eq!(sent.limits.iter().sum::<u64>(), 100_000_000);
        let application = fullpipe_base::trace::Limit::Application as usize;
        assert_eq!(sent.limits[application], 100_000_000, "nothing waits to be sent");
    }

    #[test]
    fn a_full_buffer_that_stays_small_was_asked_for() {
        let look = |sndbuf: u32, wmem_queued: u32, unacked: u32| TcpInfo {
            snd_cwnd: 400,
            snd_mss: 1000,
            unacked,
            memory: Memory { sndbuf, wmem_queued, ..Memory::default() },
            ..TcpInfo::default()
        };
        let of = |look: TcpInfo, most| requested(&vec![look; 10], most);
        assert_eq!(of(look(400_000, 300_000, 200), Some(4 << 20)), Some(200_000));
        assert_eq!(of(look(400_000, 300_000, 400), Some(4 << 20)), None, "cwnd is full");
        assert_eq!(of(look(400_000, 30_000, 20), Some(4 << 20)), None, "a slow writer");
        let mut pieces = vec![look(400_000, 300_000, 200); 8];
        pieces.extend([look(400_000, 0, 0), look(400_000, 100_000, 60)]);
        assert_eq!(requested(&pieces, None), None, "a writer of pieces");
        assert_eq!(of(look(900_000, 600_000, 200), Some(4 << 20)), None, "twice cwnd");
        assert_eq!(of(look(400_000, 300_000, 200), Some(400_000)), None, "the kernel's bound");
        assert_eq!(of(look(900_000, 1, 1), Some(400_000)), Some(450_000), "beyond the bound");
        assert_eq!(requested(&[], None), None);
    }
}
