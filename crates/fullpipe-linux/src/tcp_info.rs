//! A socket's state as the guest records it: its receive queue, and `struct tcp_info` of Linux 6.12
//! (include/uapi/linux/tcp.h) as the kernel wrote it. A kernel that knows less gives fewer bytes; the rest is zero.

use fullpipe_guest::record::QUEUES_SIZE;

/// States of a socket that has had the other side's FIN: TCP_CLOSE, TCP_CLOSE_WAIT, TCP_LAST_ACK.
const AFTER_FIN: [u8; 3] = [7, 8, 9];

/// See the module's description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TcpInfo {
    /// Bytes that wait to be read; a FIN counts as one (tcp_diag_get_info).
    pub(super) rqueue: u32,
    pub(super) state: u8,
    pub(super) ca_state: u8,
    /// Timeouts in a row, and by how much they have doubled the RTO.
    pub(super) retransmits: u8,
    pub(super) backoff: u8,
    /// us.
    pub(super) rto: u32,
    pub(super) snd_mss: u32,
    pub(super) unacked: u32,
    pub(super) sacked: u32,
    pub(super) lost: u32,
    pub(super) retrans: u32,
    /// us.
    pub(super) rtt: u32,
    pub(super) snd_ssthresh: u32,
    pub(super) snd_cwnd: u32,
    pub(super) total_retrans: u64,
    pub(super) bytes_acked: u64,
    pub(super) bytes_received: u64,
    pub(super) segs_in: u64,
    pub(super) notsent_bytes: u32,
    pub(super) data_segs_in: u64,
    pub(super) data_segs_out: u64,
    /// us in which something was in flight or waited to be sent; those limited by the receiver's window; by
    /// the send buffer.
    pub(super) busy_time: u64,
    pub(super) rwnd_limited: u64,
    pub(super) sndbuf_limited: u64,
    pub(super) bytes_sent: u64,
    pub(super) bytes_retrans: u64,
    pub(super) snd_wnd: u32,
    /// Timeouts, those of SYNs included; Linux says it from 6.7 on.
    pub(super) total_rto: Option<u16>,
}

impl TcpInfo {
    /// Reads it from a record.
    pub(super) fn read(body: &[u8]) -> TcpInfo {
        let bytes = body.get(QUEUES_SIZE..).unwrap_or_default();
        let u32_at = |at| number::<4>(bytes, at).map_or(0, u32::from_ne_bytes);
        let u64_at = |at| number::<8>(bytes, at).map_or(0, u64::from_ne_bytes);
        TcpInfo {
            rqueue: number::<4>(body, 0).map_or(0, u32::from_ne_bytes),
            state: bytes.first().copied().unwrap_or(0),
            ca_state: bytes.get(1).copied().unwrap_or(0),
            retransmits: bytes.get(2).copied().unwrap_or(0),
            backoff: bytes.get(4).copied().unwrap_or(0),
            rto: u32_at(8),
            snd_mss: u32_at(16),
            unacked: u32_at(24),
            sacked: u32_at(28),
            lost: u32_at(32),
            retrans: u32_at(36),
            rtt: u32_at(68),
            snd_ssthresh: u32_at(76),
            snd_cwnd: u32_at(80),
            total_retrans: u32_at(100).into(),
            bytes_acked: u64_at(120),
            bytes_received: u64_at(128),
            segs_in: u32_at(140).into(),
            notsent_bytes: u32_at(144),
            data_segs_in: u32_at(152).into(),
            data_segs_out: u32_at(156).into(),
            busy_time: u64_at(168),
            rwnd_limited: u64_at(176),
            sndbuf_limited: u64_at(184),
            bytes_sent: u64_at(200),
            bytes_retrans: u64_at(208),
            snd_wnd: u32_at(228),
            total_rto: number::<2>(bytes, 240).map(u16::from_ne_bytes),
        }
    }

    /// The same with its counters of 32 bits carried on from those of the sample `before` it: they wrap, in 1.4 h at
    /// 10 Gb/s and an MTU of 1500.
    pub(super) fn after(self, before: &TcpInfo) -> TcpInfo {
        let on = |from: u64, low: u64| from + u64::from((low as u32).wrapping_sub(from as u32));
        TcpInfo {
            total_retrans: on(before.total_retrans, self.total_retrans),
            segs_in: on(before.segs_in, self.segs_in),
            data_segs_in: on(before.data_segs_in, self.data_segs_in),
            data_segs_out: on(before.data_segs_out, self.data_segs_out),
            ..self
        }
    }

    /// tcp_packets_in_flight.
    pub(super) fn in_flight(&self) -> u32 {
        (self.unacked + self.retrans).saturating_sub(self.sacked + self.lost)
    }

    /// Bytes of data that were read. In what was received in order, and in what waits of it, the kernel counts the
    /// FIN as one (tcp_rcv_nxt_update).
    pub(super) fn data_read(&self) -> u64 {
        let fin = u64::from(AFTER_FIN.contains(&self.state));
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
