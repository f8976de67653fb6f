//! State of a socket: its receive queue, its memory (SK_MEMINFO_ of include/uapi/linux/sock_diag.h), and `struct
//! tcp_info` of Linux 6.12 (include/uapi/linux/tcp.h).
//!
//! An older kernel gives fewer bytes; the rest is zero. The length decides, because distributions add single fields.

use fullpipe_base::tcp::INFINITE_SSTHRESH;
use fullpipe_base::trace::{ReceiverSocket, SenderSocket, option};

/// States of a socket that has had the other side's FIN: TCP_CLOSE, TCP_CLOSE_WAIT, TCP_LAST_ACK.
const AFTER_FIN: [u8; 3] = [7, 8, 9];
/// States of a socket whose own FIN was acknowledged: TCP_FIN_WAIT2, TCP_TIME_WAIT.
const FIN_ACKED: [u8; 2] = [5, 6];

/// State of one TCP socket at the time of a sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Bytes that wait to be read; a FIN counts as one (tcp_diag_get_info).
    pub rqueue: u32,
    /// Memory of the socket.
    pub memory: Memory,
    /// State of TCP.
    pub state: u8,
    /// Congestion state: 0 Open, 1 Disorder, 2 CWR, 3 Recovery, 4 Loss.
    pub ca_state: u8,
    /// Timeouts in a row.
    pub retransmits: u8,
    /// Times that the timeout was doubled, or a window probed.
    pub backoff: u8,
    /// Options that both ends agreed to, and ECN marks seen.
    pub options: u8,
    /// Bits by which windows from the peer are shifted.
    pub snd_wscale: u8,
    /// Bits by which windows to the peer are shifted.
    pub rcv_wscale: u8,
    /// Retransmission timeout, us.
    pub rto: u32,
    /// Most bytes of data in one segment.
    pub snd_mss: u32,
    /// Bytes that a received segment is taken to have.
    pub rcv_mss: u32,
    /// Packets sent and not acknowledged cumulatively.
    pub unacked: u32,
    /// Packets of these that SACKs report.
    pub sacked: u32,
    /// Packets of these that are taken for lost.
    pub lost: u32,
    /// Packets of these that were sent again.
    pub retrans: u32,
    /// MTU of the path, bytes.
    pub pmtu: u32,
    /// Window that the socket means to offer at most, bytes.
    pub rcv_ssthresh: u32,
    /// Smoothed RTT, us.
    pub rtt: u32,
    /// Mean deviation of the RTT, us.
    pub rttvar: u32,
    /// Slow start threshold, packets.
    pub snd_ssthresh: u32,
    /// Congestion window, packets.
    pub snd_cwnd: u32,
    /// MSS announced to the peer, bytes.
    pub advmss: u32,
    /// Packets by which another one may be overtaken before it counts as lost.
    pub reordering: u32,
    /// RTT as the receiver estimates it, us.
    pub rcv_rtt: u32,
    /// Bytes that the program has read in one RTT.
    pub rcv_space: u32,
    /// Segments sent again.
    pub total_retrans: u64,
    /// Pace, bytes per second.
    pub pacing_rate: u64,
    /// Largest pace that the program allows, bytes per second.
    pub max_pacing_rate: u64,
    /// Bytes acknowledged; a SYN and a FIN count as one each.
    pub bytes_acked: u64,
    /// Bytes received in order; a FIN counts as one.
    pub bytes_received: u64,
    /// Segments received.
    pub segs_in: u64,
    /// Bytes written and not sent.
    pub notsent_bytes: u32,
    /// Least RTT of the last 300 s, us.
    pub min_rtt: u32,
    /// Segments with data received.
    pub data_segs_in: u64,
    /// Segments with data sent.
    pub data_segs_out: u64,
    /// Time in which data was in flight or waited to be sent, us.
    pub busy_time: u64,
    /// Time of that in which the receiver's window stopped the sender, us.
    pub rwnd_limited: u64,
    /// Time of that in which the send buffer stopped the sender, us.
    pub sndbuf_limited: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Packets of these with marks (ECN).
    pub delivered_ce: u64,
    /// Bytes sent, retransmissions included.
    pub bytes_sent: u64,
    /// Bytes sent again.
    pub bytes_retrans: u64,
    /// Segments that D-SACKs report as received twice.
    pub dsack_dups: u64,
    /// Times that reordering was seen.
    pub reord_seen: u64,
    /// Packets that arrived beyond a hole.
    pub rcv_ooopack: u64,
    /// Window of the receiver, bytes.
    pub snd_wnd: u32,
    /// Window last advertised, bytes.
    pub rcv_wnd: u32,
    /// Timeouts, including SYN timeouts; Linux reports them from 6.7 on.
    pub total_rto: Option<u16>,
}

/// Memory of a socket, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Memory of received skbs.
    pub rmem_alloc: u32,
    /// Limit of that memory.
    pub rcvbuf: u32,
    /// Memory of skbs in the host's queue and card.
    pub wmem_alloc: u32,
    /// Limit of the memory of the send buffer.
    pub sndbuf: u32,
    /// Memory in the send buffer.
    pub wmem_queued: u32,
}

impl Memory {
    /// Empties the send buffer of a connection that was given up.
    pub fn discard_sent(&mut self) {
        (self.wmem_queued, self.wmem_alloc) = (0, 0);
    }

    /// Reads it from an array of `u32`.
    fn read(bytes: &[u8]) -> Memory {
        let word = |index: usize| number::<4>(bytes, 4 * index).map_or(0, u32::from_ne_bytes);
        Memory {
            rmem_alloc: word(0),
            rcvbuf: word(1),
            wmem_alloc: word(2),
            sndbuf: word(3),
            wmem_queued: word(5),
        }
    }
}

impl TcpInfo {
    /// Reads the state from the queues of `inet_diag_msg`, the memory and `struct tcp_info`.
    pub fn read(queues: &[u8], memory: &[u8], bytes: &[u8]) -> TcpInfo {
        // Fields that an older kernel does not have read as zero.
        let byte_at = |at: usize| bytes.get(at).copied().unwrap_or(0);
        let u32_at = |at| number::<4>(bytes, at).map_or(0, u32::from_ne_bytes);
        let u64_at = |at| number::<8>(bytes, at).map_or(0, u64::from_ne_bytes);
        TcpInfo {
            rqueue: number::<4>(queues, 0).map_or(0, u32::from_ne_bytes),
            memory: Memory::read(memory),
            state: byte_at(0),
            ca_state: byte_at(1),
            retransmits: byte_at(2),
            backoff: byte_at(4),
            options: byte_at(5),
            snd_wscale: byte_at(6) & 0xf,
            rcv_wscale: byte_at(6) >> 4,
            rto: u32_at(8),
            snd_mss: u32_at(16),
            rcv_mss: u32_at(20),
            unacked: u32_at(24),
            sacked: u32_at(28),
            lost: u32_at(32),
            retrans: u32_at(36),
            pmtu: u32_at(60),
            rcv_ssthresh: u32_at(64),
            rtt: u32_at(68),
            rttvar: u32_at(72),
            snd_ssthresh: u32_at(76),
            snd_cwnd: u32_at(80),
            advmss: u32_at(84),
            reordering: u32_at(88),
            rcv_rtt: u32_at(92),
            rcv_space: u32_at(96),
            total_retrans: u32_at(100).into(),
            pacing_rate: u64_at(104),
            max_pacing_rate: u64_at(112),
            bytes_acked: u64_at(120),
            bytes_received: u64_at(128),
            segs_in: u32_at(140).into(),
            notsent_bytes: u32_at(144),
            min_rtt: u32_at(148),
            data_segs_in: u32_at(152).into(),
            data_segs_out: u32_at(156).into(),
            busy_time: u64_at(168),
            rwnd_limited: u64_at(176),
            sndbuf_limited: u64_at(184),
            delivered: u32_at(192).into(),
            delivered_ce: u32_at(196).into(),
            bytes_sent: u64_at(200),
            bytes_retrans: u64_at(208),
            dsack_dups: u32_at(216).into(),
            reord_seen: u32_at(220).into(),
            rcv_ooopack: u32_at(224).into(),
            snd_wnd: u32_at(228),
            rcv_wnd: u32_at(232),
            total_rto: number::<2>(bytes, 240).map(u16::from_ne_bytes),
        }
    }

    /// The state with its counters of 32 bits carried on from those of the sample `before` it. They wrap in 1.4 h at 10
    /// Gb/s and an MTU of 1500.
    pub fn after(self, before: &TcpInfo) -> TcpInfo {
        let on = |from: u64, low: u64| from + u64::from((low as u32).wrapping_sub(from as u32));
        TcpInfo {
            total_retrans: on(before.total_retrans, self.total_retrans),
            segs_in: on(before.segs_in, self.segs_in),
            data_segs_in: on(before.data_segs_in, self.data_segs_in),
            data_segs_out: on(before.data_segs_out, self.data_segs_out),
            delivered: on(before.delivered, self.delivered),
            delivered_ce: on(before.delivered_ce, self.delivered_ce),
            dsack_dups: on(before.dsack_dups, self.dsack_dups),
            reord_seen: on(before.reord_seen, self.reord_seen),
            rcv_ooopack: on(before.rcv_ooopack, self.rcv_ooopack),
            ..self
        }
    }

    /// Slow start threshold, packets; one that is not set has one value. Before the socket is there it is 0.
    pub fn ssthresh(&self) -> u32 {
        self.snd_ssthresh.min(INFINITE_SSTHRESH)
    }

    /// The trace's view of a socket that sends; `timeouts`: number of timeouts so far.
    pub fn sender_socket(&self, timeouts: u64) -> SenderSocket {
        SenderSocket {
            min_rtt_us: self.min_rtt,
            rttvar_us: self.rttvar,
            unacked: self.unacked,
            sacked: self.sacked,
            lost: self.lost,
            retrans_out: self.retrans,
            reordering: self.reordering,
            reord_seen: self.reord_seen,
            dsack_dups: self.dsack_dups,
            pacing_rate: self.pacing_rate,
            max_pacing_rate: self.max_pacing_rate,
            busy_time_us: self.busy_time,
            rwnd_limited_us: self.rwnd_limited,
            sndbuf_limited_us: self.sndbuf_limited,
            snd_mss: self.snd_mss,
            pmtu: self.pmtu,
            delivered: self.delivered,
            delivered_ce: self.delivered_ce,
            wmem_queued: self.memory.wmem_queued.into(),
            sndbuf: self.memory.sndbuf.into(),
            wmem_alloc: self.memory.wmem_alloc.into(),
            options: self.options & option::ALL,
            snd_wscale: self.snd_wscale,
            rcv_wscale: self.rcv_wscale,
            backoff: self.backoff,
            retransmits: self.retransmits,
            total_rto: timeouts,
        }
    }

    /// The trace's view of a socket that receives.
    pub fn receiver_socket(&self) -> ReceiverSocket {
        ReceiverSocket {
            rcv_rtt_us: self.rcv_rtt,
            rcv_space: self.rcv_space.into(),
            rcv_ooopack: self.rcv_ooopack,
            rcv_wnd: self.rcv_wnd.into(),
            rcvbuf: self.memory.rcvbuf.into(),
            rmem_alloc: self.memory.rmem_alloc.into(),
            unread: u64::from(self.rqueue).saturating_sub(self.received_fin()),
            rcv_mss: self.rcv_mss,
            advmss: self.advmss,
            rcv_ssthresh: self.rcv_ssthresh.into(),
            bytes_received: self.bytes_received.saturating_sub(self.received_fin()),
        }
    }

    /// Sequence numbers of the peer's FIN among the received ones: 1 once it has arrived.
    fn received_fin(&self) -> u64 {
        AFTER_FIN.contains(&self.state).into()
    }

    /// tcp_packets_in_flight.
    pub fn in_flight(&self) -> u32 {
        // A pasted text may have any numbers.
        let left = self.sacked.saturating_add(self.lost);
        self.unacked.saturating_add(self.retrans).saturating_sub(left)
    }

    /// Bytes of data that were read. The kernel counts the FIN as one byte, both among bytes received in order and
    /// among waiting ones (tcp_rcv_nxt_update).
    pub fn data_read(&self) -> u64 {
        let fin = self.received_fin();
        let waiting = u64::from(self.rqueue).saturating_sub(fin);
        self.bytes_received.saturating_sub(fin).saturating_sub(waiting)
    }

    /// Bytes of data acknowledged: the kernel counts the SYN, if this end sent one, and the FIN as one byte each.
    ///
    /// The state of a closed socket does not show whether its FIN was acknowledged, but the bytes that it sent mostly do.
    /// They exceed the data if the card refused probes of the MTU, which count as sent (6.12 `__tcp_transmit_skb`).
    pub fn data_acked(&self, syn: bool) -> u64 {
        let fin = FIN_ACKED.contains(&self.state);
        self.bytes_acked
            .saturating_sub(u64::from(syn) + u64::from(fin))
            .min(self.bytes_sent.saturating_sub(self.bytes_retrans))
    }
}

/// The `N` bytes at `at`; none where the text ends before.
pub fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fin_is_no_data() {
        for (state, rqueue, read) in [
            (1, 0, 1001),
            (1, 7, 994),
            (8, 0, 1000),
            (8, 1, 1000),
            (8, 8, 993),
            (9, 0, 1000),
            (7, 0, 1000),
        ] {
            let info = TcpInfo { state, rqueue, bytes_received: 1001, ..TcpInfo::default() };
            assert_eq!(info.data_read(), read, "in state {state}, of which {rqueue} wait");
        }
    }

    #[test]
    fn an_acknowledged_fin_is_no_data() {
        for (state, bytes_acked, bytes_sent, acked) in [
            (1, 1001, 1200, 1000),
            (4, 1001, 1200, 1000),
            (5, 1002, 1200, 1000),
            (6, 1002, 1200, 1000),
            (7, 1002, 1000, 1000),
        ] {
            let info = TcpInfo { state, bytes_acked, bytes_sent, ..TcpInfo::default() };
            assert_eq!(info.data_acked(true), acked, "in state {state}");
            let info = TcpInfo { bytes_acked: bytes_acked - 1, ..info };
            assert_eq!(info.data_acked(false), acked, "accepted, in state {state}");
        }
    }

    #[test]
    fn a_threshold_that_is_not_set_has_one_value() {
        for (snd_ssthresh, expected) in
            [(20, 20), (INFINITE_SSTHRESH, INFINITE_SSTHRESH), (u32::MAX, INFINITE_SSTHRESH)]
        {
            let info = TcpInfo { snd_ssthresh, ..TcpInfo::default() };
            assert_eq!(info.ssthresh(), expected);
        }
    }

    /// Words of the memory are 1, 2 and so on. Bytes of `struct tcp_info` are their places.
    #[test]
    fn fields_have_their_places() {
        let memory: Vec<u8> = (1..10_u32).flat_map(u32::to_ne_bytes).collect();
        let info: Vec<u8> = (0..=255).collect();
        let read = TcpInfo::read(&[9, 0, 0, 0], &memory, &info);
        let sender = read.sender_socket(3);
        let word = |at: u8| u32::from_ne_bytes([at, at + 1, at + 2, at + 3]);
        assert_eq!((read.rqueue, sender.total_rto), (9, 3));
        assert_eq!((sender.wmem_alloc, sender.sndbuf, sender.wmem_queued), (3, 4, 6));
        assert_eq!((sender.min_rtt_us, sender.pmtu), (word(148), word(60)));
        let counted = [word(216), word(220)].map(u64::from);
        assert_eq!([sender.dsack_dups, sender.reord_seen], counted);
        assert_eq!((sender.options, sender.snd_wscale, sender.rcv_wscale), (5, 6, 0));
        let receiver = read.receiver_socket();
        assert_eq!((receiver.rmem_alloc, receiver.rcvbuf, receiver.unread), (1, 2, 9));
        assert_eq!((receiver.rcv_mss, receiver.advmss), (word(20), word(84)));
        assert_eq!(receiver.rcv_wnd, u64::from(word(232)));
    }

    #[test]
    fn counters_go_on_where_their_32_bits_wrap() {
        let low = |n: u64| TcpInfo { segs_in: n, data_segs_out: n + 1, ..TcpInfo::default() };
        let first = low(0xffff_fff0).after(&TcpInfo::default());
        assert_eq!(first.segs_in, 0xffff_fff0);
        let second = low(5).after(&first);
        assert_eq!((second.segs_in, second.data_segs_out), (0x1_0000_0005, 0x1_0000_0006));
        assert_eq!(low(9).after(&second).segs_in, 0x1_0000_0009);
        assert_eq!(second.total_retrans, 0);
    }
}
