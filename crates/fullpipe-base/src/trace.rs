//! Records of a run: samples of flows and stages at a fixed interval, and single events.
//!
//! Counters are cumulative since the start of the run; gauges are the value at the sample's time.
//! The library's trace schema declares each of these fields as a column with its unit.

mod packet;
mod socket;
mod turns;

pub use crate::limits::Limit;
pub use packet::{Dropped, Offers, Packet, Point, Timestamps};
pub use socket::{ReceiverSocket, SenderSocket, option};
pub use turns::Turns;

use crate::units::Time;
use alloc::string::String;
use alloc::sync::Arc;

/// Receives a run, in order of time.
pub trait Sink {
    /// The stages of the run, once, before anything else.
    fn stages(&mut self, stages: &[StageInfo]);
    /// The state of a flow at the end of a sample interval.
    fn flow(&mut self, sample: &FlowSample);
    /// The state of a stage at the end of a sample interval.
    fn stage(&mut self, sample: &StageSample);
    /// Something that happened.
    fn event(&mut self, event: &Event);
    /// A counter of the operating system has changed since it was last looked at.
    fn counter(&mut self, _counter: &Counter) {}
    /// The point at which packets are recorded; asked once, before the run. None: no packets.
    fn point(&self) -> Option<Point> {
        None
    }
    /// A packet passed the point. Packets are in order of time among themselves, but later than other records: each is
    /// passed on when its fate is known, or at the run's end.
    fn packet(&mut self, _packet: &Packet) {}
}

/// Decides whether a run goes on.
pub trait Control {
    /// Called at each sample; `false` ends the run there, whole up to this sample.
    fn go_on(&mut self, now: Time) -> bool;
}

/// Where packets can wait or be dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageInfo {
    /// Number of the stage, its place in [`StageSample::stage`].
    pub index: u16,
    /// Unique name, for instance "sender.qdisc", "link", "receiver.rx_ring".
    pub name: String,
    /// Kind of the stage: "application", "send_buffer", "cpu", "qdisc", "tx_ring", "rx_ring", "backlog",
    /// "receive_buffer", "udp_socket" (of hosts that receive datagrams), or a kind of link element
    /// (`fullpipe_sim::config::KINDS`).
    pub kind: &'static str,
    /// "forward" (direction of data) or "back" (direction of ACKs).
    pub direction: &'static str,
    /// Unit of counts and decisions: "skb", "segment", "byte".
    pub unit: &'static str,
    /// Capacity in `unit`s, where something fixed bounds it.
    pub capacity: Option<u64>,
    /// Whether the samples count how long units waited, and how long the stage was full and empty:
    /// [`StageSample::waiting_ns`] and the fields after it. Else these are 0, and only the samples' levels are known.
    pub timed: bool,
}

/// A flow at a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowSample {
    /// End of the sample interval.
    pub time: Time,
    /// Index of the flow in the configuration.
    pub flow: u16,
    /// Bytes read by the receiving application.
    pub bytes_delivered: u64,
    /// Segments that the receiving application has read to their last byte.
    pub segments_delivered: u64,
    /// Segments sent by TCP, retransmissions included (before the qdisc).
    pub segments_sent: u64,
    /// Segments retransmitted.
    pub segments_retransmitted: u64,
    /// Bytes of data sent by TCP, retransmissions included (before the qdisc).
    pub bytes_sent: u64,
    /// Bytes of retransmissions among these.
    pub bytes_retransmitted: u64,
    /// Bytes acknowledged at the sender.
    pub bytes_acked: u64,
    /// ACK packets received by the sender.
    pub acks_received: u64,
    /// Skbs that were looked at along the send queue to look SACK blocks up (Linux before 2.6.25).
    pub walked_for_sacks: u64,
    /// Skbs that were looked at along the send queue to mark losses (Linux before 2.6.25).
    pub walked_to_mark: u64,
    /// Skbs that were looked at along the send queue to find what to send again (Linux before 2.6.25).
    pub walked_to_resend: u64,
    /// Congestion window, packets.
    pub cwnd: u32,
    /// Slow start threshold, packets; [`INFINITE_SSTHRESH`](crate::tcp::INFINITE_SSTHRESH): none is set.
    pub ssthresh: u32,
    /// Smoothed round-trip time, microseconds; 0 before the first measurement.
    pub srtt_us: u32,
    /// Retransmission timeout, microseconds.
    pub rto_us: u32,
    /// Packets in flight as Linux counts them (`tcp_packets_in_flight`).
    pub in_flight: u32,
    /// Window advertised by the receiver, as the sender knows it, bytes.
    pub snd_wnd: u64,
    /// Bytes written by the application and not yet sent.
    pub unsent: u64,
    /// Congestion state: 0 Open, 1 Disorder, 2 CWR, 3 Recovery, 4 Loss.
    pub ca_state: u8,
    /// Cumulative nanoseconds spent in each [`Limit`]; they add up to the time since the run's start.
    pub limits: [u64; Limit::COUNT],
    /// More of the socket that sends.
    pub sender: SenderSocket,
    /// The socket that receives.
    pub receiver: ReceiverSocket,
}

/// A stage at a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageSample {
    /// End of the sample interval.
    pub time: Time,
    /// [`StageInfo::index`].
    pub stage: u16,
    /// Units waiting now.
    pub waiting: u64,
    /// Bytes waiting now (0 where the stage does not count bytes).
    pub waiting_bytes: u64,
    /// Highest `waiting` since the last sample, the level at that time included.
    pub peak: u64,
    /// Units that entered, cumulative. Dropped ones are not included; a unit that is dropped later is taken out again.
    /// A unit that has entered has left or waits; a link has one more in transmission.
    pub entered: u64,
    /// Units that left, cumulative.
    pub left: u64,
    /// Units dropped, cumulative.
    pub dropped: u64,
    /// Units marked (ECN) instead of dropped, cumulative; they have entered, too.
    pub marked: u64,
    /// Skbs that the driver of a qdisc refused for want of descriptors and that were offered again, cumulative
    /// (NETDEV_TX_BUSY; `requeues` of `tc -s qdisc`).
    pub requeues: u64,
    /// Nanoseconds up to `time` during which the stage was working (serialising, copying), cumulative.
    pub busy_ns: u64,
    /// Nanoseconds the stage refused new work because it was full, cumulative. For a transmit ring: nanoseconds an skb
    /// waited for descriptors, or for the driver or byte queue limits to start the queue again.
    pub blocked_ns: u64,
    /// Nanoseconds for which units have waited up to `time`, added up over all units, where [`StageInfo::timed`]. Per
    /// nanosecond this is the mean number of waiting units. Cumulative, modulo 2^64.
    pub waiting_ns: u64,
    /// Byte-microseconds of waiting up to `time`, rounded down, where [`StageInfo::timed`]; 0 where the capacity is not
    /// in bytes. Cumulative.
    pub waiting_byte_us: u64,
    /// Nanoseconds in which units waited and another unit of the last arrival's size had no room, where
    /// [`StageInfo::timed`]. Cumulative.
    pub full_ns: u64,
    /// Nanoseconds in which nothing waited, where [`StageInfo::timed`]. Cumulative.
    pub empty_ns: u64,
}

impl StageSample {
    /// A sample at `now` of a place in which nothing ever waits.
    pub fn without_room(now: Time) -> StageSample {
        StageSample { empty_ns: now.0, ..StageSample::default() }
    }
}

/// A counter of the operating system at a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// End of the sample interval.
    pub time: Time,
    /// Owner: the name of a host, or "kernel" where several hosts share it.
    pub host: Arc<str>,
    /// Name in the system's tools, for instance "Tcp.RetransSegs".
    pub name: Arc<str>,
    /// Its value now.
    pub value: u64,
}

/// Something that happened at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub time: Time,
    /// Which flow.
    pub flow: u16,
    /// Kind of the event.
    pub kind: EventKind,
    /// A number that belongs to it, see [`EventKind`].
    pub value: u64,
}

/// Most answers and most unanswered messages of a flow in a trace.
pub const MOST_ANSWERS: u64 = 100_000;

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventKind {
    /// The sender's connection is established; value: handshake round trip in ns.
    Established,
    /// The receiver's accept() returned; value: 0.
    Accepted,
    /// The first data segment was delivered to the receiving host; value: its bytes.
    FirstData,
    /// Congestion state changed; value: the new state (0 Open ... 4 Loss).
    CaState,
    /// A segment was retransmitted; value: its first sequence number (0 = first data byte).
    Retransmit,
    /// The retransmission timer fired; value: how often it has by now.
    Timeout,
    /// The application is done: everything was read by the receiver; value: bytes.
    Finished,
    /// The kernel gave the connection up, and reported it to one of its ends; value: errno.
    Aborted,
    /// A round of the first slow start begins (at most `fullpipe_sim::tcp::sender::rounds::MOST` are recorded); value:
    /// segments sent for the first time before it.
    Round,
    /// The first slow start is over; value: segments sent for the first time by then.
    SlowStartEnded,
    /// The asking program has read a whole answer; value: ns since it began to write the request. The flow is that of
    /// requests.
    Answered,
    /// The receiving program has read an unanswered message as a whole; value: ns since the other program began to write it.
    MessageRead,
    /// The program begins: the next connection of a loop, or a client of remote procedure calls that had answers before
    /// and sends its calls on this flow; value: 0.
    Began,
}

impl EventKind {
    /// Name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            EventKind::Established => "established",
            EventKind::Accepted => "accepted",
            EventKind::FirstData => "first_data",
            EventKind::CaState => "ca_state",
            EventKind::Retransmit => "retransmit",
            EventKind::Timeout => "timeout",
            EventKind::Finished => "finished",
            EventKind::Aborted => "aborted",
            EventKind::Round => "round",
            EventKind::SlowStartEnded => "slow_start_ended",
            EventKind::Answered => "answered",
            EventKind::MessageRead => "message_read",
            EventKind::Began => "began",
        }
    }
}
