//! A socket's state as the guest records it: its receive queue, its memory (SK_MEMINFO_ of
//! include/uapi/linux/sock_diag.h), and `struct tcp_info` of Linux 6.12 (include/uapi/linux/tcp.h) as the kernel wrote
//! it. An older kernel gives fewer bytes; the rest is zero.

use fullpipe_base::tcp::INFINITE_SSTHRESH;
use fullpipe_base::trace::{ReceiverSocket, SenderSocket, option};
use fullpipe_guest::record::{QUEUES_SIZE, SOCKET_SIZE};

/// States of a socket that has had the other side's FIN: TCP_CLOSE, TCP_CLOSE_WAIT, TCP_LAST_ACK.
const AFTER_FIN: [u8; 3] = [7, 8, 9];

/// State of one TCP socket at the time of a sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TcpInfo {
    /// Bytes that wait to be read; a FIN counts as one (tcp_diag_get_info).
    pub(super) rqueue: u32,
    pub(super) memory: Memory,
    pub(super) state: u8,
    pub(super) ca_state: u8,
    /// Timeouts in a row, and by how much they have doubled the RTO.
    pub(super) retransmits: u8,
    pub(super) backoff: u8,
    pub(super) options: u8,
    pub(super) snd_wscale: u8,
    pub(super) rcv_wscale: u8,
    /// us.
    pub(super) rto: u32,
    pub(super) snd_mss: u32,
    pub(super) rcv_mss: u32,
    pub(super) unacked: u32,
    pub(super) sacked: u32,
    pub(super) lost: u32,
    pub(super) retrans: u32,
    pub(super) pmtu: u32,
    pub(super) rcv_ssthresh: u32,
    /// us.
    pub(super) rtt: u32,
    pub(super) rttvar: u32,
    pub(super) snd_ssthresh: u32,
    pub(super) snd_cwnd: u32,
    pub(super) advmss: u32,
    pub(super) reordering: u32,
    /// us.
    pub(super) rcv_rtt: u32,
    pub(super) rcv_space: u32,
    pub(super) total_retrans: u64,
    /// Bytes per second.
    pub(super) pacing_rate: u64,
    pub(super) max_pacing_rate: u64,
    pub(super) bytes_acked: u64,
    pub(super) bytes_received: u64,
    pub(super) segs_in: u64,
    pub(super) notsent_bytes: u32,
    /// us.
    pub(super) min_rtt: u32,
    pub(super) data_segs_in: u64,
    pub(super) data_segs_out: u64,
    /// us with data in flight or waiting to be sent; of these, us limited by the receiver's window; us limited by the
    /// send buffer.
    pub(super) busy_time: u64,
    pub(super) rwnd_limited: u64,
    pub(super) sndbuf_limited: u64,
    pub(super) delivered: u64,
    pub(super) delivered_ce: u64,
    pub(super) bytes_sent: u64,
    pub(super) bytes_retrans: u64,
    pub(super) dsack_dups: u64,
    pub(super) reord_seen: u64,
    pub(super) rcv_ooopack: u64,
    pub(super) snd_wnd: u32,
    pub(super) rcv_wnd: u32,
    /// Timeouts, including SYN timeouts; Linux reports them from 6.7 on.
    pub(super) total_rto: Option<u16>,
}

/// Memory of a socket, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Memory {
    rmem_alloc: u32,
    rcvbuf: u32,
    wmem_alloc: u32,
    sndbuf: u32,
    wmem_queued: u32,
}

impl Memory {
    /// Empties the send buffer of a connection that was given up.
    pub(super) fn discard_sent(&mut self) {
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
    /// Reads it from a record.
    pub(super) fn read(body: &[u8]) -> TcpInfo {
        let bytes = body.get(SOCKET_SIZE..).unwrap_or_default();

        // Fields that an older kernel does not have read as zero.
        let byte_at = |at: usize| bytes.get(at).copied().unwrap_or(0);
        let u32_at = |at| number::<4>(bytes, at).map_or(0, u32::from_ne_bytes);
        let u64_at = |at| number::<8>(bytes, at).map_or(0, u64::from_ne_bytes);
        TcpInfo {
            rqueue: number::<4>(body, 0).map_or(0, u32::from_ne_bytes),
            memory: Memory::read(body.get(QUEUES_SIZE..).unwrap_or_default()),
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
    pub(super) fn after(self, before: &TcpInfo) -> TcpInfo {
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
    pub(super) fn ssthresh(&self) -> u32 {
        self.snd_ssthresh.min(INFINITE_SSTHRESH)
    }

    /// The trace's view of a socket that sends; `timeouts`: number of timeouts so far.
    pub(super) fn sender_socket(&self, timeouts: u64) -> SenderSocket {
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
    pub(super) fn receiver_socket(&self) -> ReceiverSocket {
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
    pub(super) fn in_flight(&self) -> u32 {
        (self.unacked + self.retrans).saturating_sub(self.sacked + self.lost)
    }

    /// Bytes of data that were read. The kernel counts the FIN as one byte, both among bytes received in order and
    /// among waiting ones (tcp_rcv_nxt_update).
    pub(super) fn data_read(&self) -> u64 {
        let fin = self.received_fin();
        let waiting = u64::from(self.rqueue).saturating_sub(fin);
        self.bytes_received.saturating_sub(fin).saturating_sub(waiting)
    }

    /// Bytes of data acknowledged: the kernel counts the SYN, if this end sent one, and the FIN as one byte each.
    pub(super) fn data_acked(&self, syn: bool) -> u64 {
        self.bytes_acked
            .saturating_sub(syn.into())
            .min(self.bytes_sent.saturating_sub(self.bytes_retrans))
    }
}

/// The `N` bytes at `at`; none where the text ends before.
pub(super) fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_guest::record::socket_head;

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
    fn a_threshold_that_is_not_set_has_one_value() {
        for (snd_ssthresh, expected) in
            [(20, 20), (INFINITE_SSTHRESH, INFINITE_SSTHRESH), (u32::MAX, INFINITE_SSTHRESH)]
        {
            let info = TcpInfo { snd_ssthresh, ..TcpInfo::default() };
            assert_eq!(info.ssthresh(), expected);
        }
    }

    /// Words of the memory, from 1 on, then bytes with their places in `struct tcp_info` as their values.
    #[test]
    fn a_record_has_memory_and_then_the_state() {
        let memory: Vec<u8> = (1..10_u32).flat_map(u32::to_ne_bytes).collect();
        let info: Vec<u8> = (0..=255).collect();
        let body = [&socket_head(&[9, 0, 0, 0], &memory)[..], &info].concat();
        let read = TcpInfo::read(&body);
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
