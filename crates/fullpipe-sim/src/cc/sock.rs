//! The part of a flow that a congestion control sees; the Rust side of the structs in `cc/cc.h`.

use super::ffi::Grow;

/// The fields of a socket that a congestion control may see or change.
///
/// The TCP sender keeps these fields up to date before each callback of
/// [`Congestion`](super::Congestion) and reads `snd_cwnd` and `snd_ssthresh` after it.
#[repr(C)]
#[derive(Debug)]
pub struct Sock {
    /// Congestion window in packets (at least 1).
    pub snd_cwnd: u32,
    /// ACKs or packets counted towards the next increment of `snd_cwnd`.
    pub snd_cwnd_cnt: u32,
    /// Jiffies when `snd_cwnd` was last checked or changed.
    pub snd_cwnd_stamp: u32,
    /// Slow start threshold in packets; `0x7fff_ffff` before the first reduction.
    pub snd_ssthresh: u32,
    /// Largest `snd_cwnd` in packets.
    pub snd_cwnd_clamp: u32,
    /// `snd_cwnd` before the last reduction, in packets; read by Reno's undo of Linux 4.14 and later.
    pub prior_cwnd: u32,
    /// Packets sent and not yet cumulatively acknowledged.
    pub packets_out: u32,
    /// Smoothed RTT in microseconds, times 8 as in Linux; 0 before the first sample.
    pub srtt_us: u32,
    /// Sender's maximum segment size in bytes.
    pub mss_cache: u32,
    /// Packets delivered so far, wrapping.
    pub delivered: u32,
    /// Sequence number of the next byte to be sent for the first time, wrapping.
    pub snd_nxt: u32,
    /// Sequence number of the first byte that is not acknowledged, wrapping.
    pub snd_una: u32,
    /// Jiffies when data was last sent.
    pub lsndtime: u32,
    /// Packets in flight before the ACK in hand was processed.
    pub prior_in_flight: u32,
    /// 1 if the window, and nothing else, limited the sender before the ACK in hand; else 0.
    pub is_cwnd_limited: u32,
    /// One of [`OPEN`], [`DISORDER`], [`CWR`], [`RECOVERY`], [`LOSS`];
    /// [`Congestion::set_state`](super::Congestion::set_state) changes it.
    pub ca_state: u32,
    /// 1 if the last packet received carried a timestamp; else 0.
    pub saw_tstamp: u32,
    /// The timestamp it echoed, in jiffies; 0 for none.
    pub rcv_tsecr: u32,
    /// The clock in jiffies, wrapping. Should start above 0: algorithms keep 0 for "no time".
    pub jiffies: u32,
    /// Jiffies per second (1 to 1000).
    pub hz: u32,
    /// The clock in microseconds.
    pub now_us: u64,
    /// Pace of the flow in the kernel's estimate, bytes per second (since 3.12); else 0.
    pub pacing_rate: u64,
    /// Keeper of the flow's pace, numbered as in Linux: 0 nobody, 1 TCP, 2 `fq`.
    pub pacing_status: u32,
}

impl Sock {
    /// A socket at the start of a connection: a window of 2 packets, no threshold, no clamp.
    pub(super) fn new(hz: u32) -> Sock {
        Sock {
            snd_cwnd: 2,
            snd_cwnd_cnt: 0,
            snd_cwnd_stamp: 0,
            snd_ssthresh: super::INFINITE_SSTHRESH,
            snd_cwnd_clamp: u32::MAX,
            prior_cwnd: 0,
            packets_out: 0,
            srtt_us: 0,
            mss_cache: 0,
            delivered: 0,
            snd_nxt: 0,
            snd_una: 0,
            lsndtime: 0,
            prior_in_flight: 0,
            is_cwnd_limited: 0,
            ca_state: u32::from(OPEN),
            saw_tstamp: 0,
            rcv_tsecr: 0,
            jiffies: 0,
            hz,
            now_us: 0,
            pacing_rate: 0,
            pacing_status: 0,
        }
    }
}

/// State Open: nothing unusual.
pub const OPEN: u8 = 0;
/// State Disorder: duplicate ACKs or SACKs, no loss yet.
pub const DISORDER: u8 = 1;
/// State CWR: the window is being reduced without a loss.
pub const CWR: u8 = 2;
/// State Recovery: fast retransmit.
pub const RECOVERY: u8 = 3;
/// State Loss: after a retransmission timeout.
pub const LOSS: u8 = 4;

/// RTT and packets of one ACK.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckSample {
    /// Number of skbs (before 2.6.24) or segments fully acknowledged.
    pub pkts_acked: i32,
    /// RTT of this ACK in microseconds; negative for none.
    pub rtt_us: i32,
    /// Packets in flight when the acknowledged packet was sent.
    pub in_flight: u32,
}

/// Flag of an ACK: anything but pure progress, such as SACKs or another window (`CA_ACK_SLOWPATH`).
pub const ACK_SLOWPATH: u32 = 1;
/// Flag of an ACK: it updates the window, if only by its place (`CA_ACK_WIN_UPDATE`).
pub const ACK_WIN_UPDATE: u32 = 2;
/// Flag of an ACK: the receiver reports a mark (`CA_ACK_ECE`).
pub const ACK_ECE: u32 = 4;

/// Events of the sender that are not ACKs, numbered as in Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// First transmission with nothing in flight.
    TxStart = 0,
    /// The window is restarted after idle time.
    CwndRestart = 1,
    /// The reduction of the window is complete.
    CompleteCwr = 2,
    /// A retransmission timeout.
    Loss = 3,
}

/// A flow as `struct tcp_sock` in `cc/cc.h`: the socket, and the fields of the header's macros.
#[repr(C)]
#[derive(Debug)]
pub(super) struct TcpSock {
    pub sock: Sock,
    pub private: [u64; PRIVATE_WORDS],
    pub random: u64,
    pub helpers: u32,
    pub param: [u32; PARAMS],
    pub slow_param: [u32; SLOW_PARAMS],
    pub slow_private: [u64; SLOW_PRIVATE_WORDS],
    /// The flow's own slow start; none: the kernel's.
    pub grow: Option<Grow>,
    /// Kernel's counters of HyStart.
    pub exits: Exits,
    pub rates: Rates,
}

/// Fields of the socket that only a control of the whole window reads (`cong_control`). Elsewhere all are 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// The clock at the packet or timer in hand, us.
    pub tcp_mstamp: u64,
    /// Time at which `delivered` last grew, us.
    pub delivered_mstamp: u64,
    /// The clock when it was last read, ns.
    pub tcp_clock_cache: u64,
    /// Time at which the pace lets the next skb leave, ns.
    pub tcp_wstamp_ns: u64,
    /// Largest pacing rate, bytes per second.
    pub max_pacing_rate: u64,
    /// Packets ever marked lost, wrapping.
    pub lost: u32,
    /// Value of `delivered` beyond which the application no longer limits the flow; 0: it does not limit the flow.
    pub app_limited: u32,
    /// Packets SACKed.
    pub sacked_out: u32,
    /// Packets marked lost.
    pub lost_out: u32,
    /// Packets sent again and thought to be in flight.
    pub retrans_out: u32,
    /// Least RTT, us; `u32::MAX` before the first sample.
    pub min_rtt_us: u32,
}

/// Sample of the delivery rate, by an ACK (`struct rate_sample`).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Time in which `delivered` packets were delivered, us; not positive: no sample.
    pub interval_us: i64,
    /// `delivered` of the socket when the newest packet that has arrived was sent.
    pub prior_delivered: u32,
    /// Packets delivered since then; negative: no sample.
    pub delivered: i32,
    /// RTT of this ACK, us; negative for none.
    pub rtt_us: i32,
    /// Packets that this ACK marked lost.
    pub losses: u32,
    /// Packets that this ACK delivered.
    pub acked_sacked: u32,
    /// Packets in flight before this ACK.
    pub prior_in_flight: u32,
    /// 1 if the application limited the flow when that packet was sent; else 0.
    pub is_app_limited: u32,
    /// 1 if the receiver may have waited with this ACK; else 0.
    pub is_ack_delayed: u32,
}

/// Exits from slow start that HyStart has found (TCPHystartTrainDetect and the like), and the sums of their cwnds, packets.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exits {
    /// Exits by a long train of ACKs.
    pub train: u32,
    /// Sum of cwnds at these.
    pub train_cwnd: u32,
    /// Exits by a growing delay.
    pub delay: u32,
    /// Sum of cwnds at these.
    pub delay_cwnd: u32,
}

impl core::ops::AddAssign for Exits {
    fn add_assign(&mut self, more: Exits) {
        self.train += more.train;
        self.train_cwnd += more.train_cwnd;
        self.delay += more.delay;
        self.delay_cwnd += more.delay_cwnd;
    }
}

/// 104 bytes, as in Linux.
pub(super) const PRIVATE_WORDS: usize = 13;
/// The most parameters that an algorithm can have.
pub(super) const PARAMS: usize = 23;
/// 200 bytes; a kernel module would keep them outside `icsk_ca_priv`.
pub(super) const SLOW_PRIVATE_WORDS: usize = 25;
/// The most parameters that a slow start can have.
pub(super) const SLOW_PARAMS: usize = 8;

/// Offsets of the C side's fields; `cc/native/kernel.c` asserts the same numbers.
const _: () = {
    assert!(core::mem::offset_of!(Sock, snd_cwnd_clamp) == 16);
    assert!(core::mem::offset_of!(Sock, snd_nxt) == 40);
    assert!(core::mem::offset_of!(Sock, hz) == 76);
    assert!(core::mem::offset_of!(Sock, now_us) == 80);
    assert!(core::mem::offset_of!(TcpSock, private) == 104);
    assert!(core::mem::offset_of!(TcpSock, random) == 208);
    assert!(core::mem::offset_of!(TcpSock, param) == 220);
    assert!(core::mem::offset_of!(TcpSock, slow_param) == 312);
    assert!(core::mem::offset_of!(TcpSock, slow_private) == 344);
    assert!(core::mem::offset_of!(TcpSock, grow) == 544);
    assert!(core::mem::offset_of!(TcpSock, exits) == 552);
    assert!(core::mem::offset_of!(TcpSock, rates) == 568);
    assert!(core::mem::offset_of!(TcpSock, rates.lost) == 608);
    assert!(core::mem::size_of::<TcpSock>() == 632);
    assert!(core::mem::size_of::<RateSample>() == 40);
    assert!(core::mem::size_of::<AckSample>() == 12);
};
