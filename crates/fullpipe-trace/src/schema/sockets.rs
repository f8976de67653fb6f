//! The columns of table `flows` that show more of a flow's two sockets.

use super::{Access, Clock, Column, Kind, TCP, number};
use fullpipe_base::trace::FlowSample;

const RECEIVING_TCP: &str = "receiver's TCP";

/// The columns of the socket that sends.
#[rustfmt::skip]
pub(super) fn sender_columns() -> Vec<Column<FlowSample>> {
    vec![
        number!(FlowSample U32 "min_rtt_us", sender.min_rtt_us, "us", Moment, TCP, "least RTT of the last 300 s; 4294967295 before the first sample"),
        number!(FlowSample U32 "rttvar_us", sender.rttvar_us, "us", Moment, TCP, "mean deviation of the RTT"),
        number!(FlowSample U32 "unacked", sender.unacked, "packet", Moment, TCP, "packets sent and not acknowledged cumulatively"),
        number!(FlowSample U32 "sacked", sender.sacked, "packet", Moment, TCP, "packets of these that SACKs report; without SACK, duplicate ACKs"),
        number!(FlowSample U32 "lost", sender.lost, "packet", Moment, TCP, "packets of these that are taken for lost"),
        number!(FlowSample U32 "retrans_out", sender.retrans_out, "packet", Moment, TCP, "packets of these that were sent again and are taken to be in flight"),
        number!(FlowSample U32 "reordering", sender.reordering, "packet", Moment, TCP, "packets by which another one may be overtaken before it counts as lost"),
        number!(FlowSample U64 "reord_seen", sender.reord_seen, "", SinceStart, TCP, "times that reordering was seen"),
        number!(FlowSample U64 "dsack_dups", sender.dsack_dups, "segment", SinceStart, TCP, "segments that D-SACKs have reported as received twice"),
        number!(FlowSample U64 "pacing_rate", sender.pacing_rate, "byte/s", Moment, TCP, "pacing rate; 18446744073709551615 before the first one"),
        number!(FlowSample U64 "max_pacing_rate", sender.max_pacing_rate, "byte/s", Moment, TCP, "largest pacing rate that the application allows; 18446744073709551615: any"),
        number!(FlowSample U64 "busy_time_us", sender.busy_time_us, "us", SinceStart, TCP, "time in which something was unsent or unacknowledged, in whole jiffies; includes the next two"),
        number!(FlowSample U64 "rwnd_limited_us", sender.rwnd_limited_us, "us", SinceStart, TCP, "time in which the receiver's window stopped the sender, in whole jiffies"),
        number!(FlowSample U64 "sndbuf_limited_us", sender.sndbuf_limited_us, "us", SinceStart, TCP, "time in which the send buffer stopped the sender, in whole jiffies"),
        number!(FlowSample U32 "snd_mss", sender.snd_mss, "byte", Moment, TCP, "most bytes of data in one segment"),
        number!(FlowSample U32 "pmtu", sender.pmtu, "byte", Moment, TCP, "MTU of the path"),
        number!(FlowSample U64 "delivered", sender.delivered, "packet", SinceStart, TCP, "packets that have arrived, by ACKs, SACKs and D-SACKs; the SYN is one where this end connects"),
        number!(FlowSample U64 "delivered_ce", sender.delivered_ce, "packet", SinceStart, TCP, "packets of these whose ACKs told of a mark (ECN)"),
        number!(FlowSample U64 "wmem_queued", sender.wmem_queued, "byte", Moment, TCP, "memory in the send buffer"),
        number!(FlowSample U64 "sndbuf", sender.sndbuf, "byte", Moment, TCP, "limit of that memory"),
        number!(FlowSample U64 "wmem_alloc", sender.wmem_alloc, "byte", Moment, TCP, "memory of skbs in the host's queue and card; the simulator tells 0 of kernels without small queues"),
        number!(FlowSample U8 "options", sender.options, "", Moment, TCP, "options that both ends agreed to, added up: 1 timestamps, 2 SACK, 4 window scale, 8 ECN"),
        number!(FlowSample U8 "snd_wscale", sender.snd_wscale, "bit", Moment, TCP, "bits by which windows from the peer are shifted"),
        number!(FlowSample U8 "rcv_wscale", sender.rcv_wscale, "bit", Moment, TCP, "bits by which windows to the peer are shifted"),
        number!(FlowSample U8 "backoff", sender.backoff, "", Moment, TCP, "times that the timeout was doubled, or a window probed, since the last RTT sample"),
        number!(FlowSample U8 "retransmits", sender.retransmits, "", Moment, TCP, "timeouts in a row"),
        number!(FlowSample U64 "total_rto", sender.total_rto, "", SinceStart, TCP, "timeouts, those of SYNs included"),
    ]
}

/// The columns of the socket that receives.
#[rustfmt::skip]
pub(super) fn receiver_columns() -> Vec<Column<FlowSample>> {
    vec![
        number!(FlowSample U32 "rcv_rtt_us", receiver.rcv_rtt_us, "us", Moment, RECEIVING_TCP, "RTT as the receiver estimates it; 0 before the first estimate"),
        number!(FlowSample U64 "rcv_space", receiver.rcv_space, "byte", Moment, RECEIVING_TCP, "bytes that the application has read in one RTT (autotuning)"),
        number!(FlowSample U64 "rcv_ooopack", receiver.rcv_ooopack, "packet", SinceStart, RECEIVING_TCP, "packets that came beyond a hole"),
        number!(FlowSample U64 "rcv_wnd", receiver.rcv_wnd, "byte", Moment, RECEIVING_TCP, "window last advertised; 0 on Linux before 6.2"),
        number!(FlowSample U64 "rcvbuf", receiver.rcvbuf, "byte", Moment, RECEIVING_TCP, "limit of the receive buffer's memory"),
        number!(FlowSample U64 "rmem_alloc", receiver.rmem_alloc, "byte", Moment, RECEIVING_TCP, "memory in the receive buffer"),
        number!(FlowSample U64 "unread", receiver.unread, "byte", Moment, RECEIVING_TCP, "bytes in order that wait for the reader (Recv-Q)"),
        number!(FlowSample U32 "rcv_mss", receiver.rcv_mss, "byte", Moment, RECEIVING_TCP, "bytes that a segment is taken to have"),
        number!(FlowSample U32 "advmss", receiver.advmss, "byte", Moment, RECEIVING_TCP, "MSS announced to the peer, less the timestamps where both ends have them"),
        number!(FlowSample U64 "rcv_ssthresh", receiver.rcv_ssthresh, "byte", Moment, RECEIVING_TCP, "window that the socket means to offer at most now"),
        number!(FlowSample U64 "bytes_received", receiver.bytes_received, "byte", SinceStart, RECEIVING_TCP, "bytes received in order"),
    ]
}
