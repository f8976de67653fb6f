//! Flows and datagrams of the document.

use super::Series;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One flow of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// Name in the scenario.
    pub name: String,
    /// Index in the trace; absent where it is the place in this list. Connections of a loop that did not begin are left out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub index: Option<usize>,
    /// Whether its data goes from the receiver to the sender; absent where it does not.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub backward: bool,
    /// The host that sends its data; absent where that is `sender`, or `receiver` of one that goes backward.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// Congestion control.
    pub congestion: String,
    /// Sender's kernel profile.
    pub kernel: String,
    /// Simulated second at which the interval clock starts (t = 0 of `start_s`).
    pub clock_start_s: f64,
    /// What happened per interval (one second by default).
    pub intervals: Vec<Interval>,
    /// Finer series for drawing; bucket length in `bucket_s`.
    pub series: Series,
    /// Share of the flow's life by what held it back; names as in the docs, sum 1.
    pub limits: BTreeMap<String, f64>,
    /// Share of the flow's life in which cwnd held it back after drops or marks had cut it, by their place: a part of what
    /// `limits` says of cwnd; absent where there is none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub reductions: BTreeMap<String, f64>,
    /// Share of packets that a place of the ACKs' way dropped, where it is a hundredth or more. Absent where there is none, and
    /// where data of other flows goes that way, too.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub acks_dropped: BTreeMap<String, f64>,
    /// Bytes read by the receiving application.
    pub bytes: u64,
    /// Segments retransmitted.
    pub retransmitted_segments: u64,
    /// Mean rate over the flow's life, Mb/s of payload.
    pub mean_mbit: f64,
    /// Its second half, in which it may have settled.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub settled: Option<Settled>,
    /// Plateau: median of the highest intervals, Mb/s; absent where none was reached.
    pub plateau_mbit: Option<f64>,
    /// Seconds until an interval first reached 90 % of the plateau.
    pub time_to_plateau_s: Option<f64>,
    /// Seconds to the end of the first of three intervals in a row that delivered 90 % of what the path's slowest link, or a
    /// card that is slower, can carry; absent where there were none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time_to_full_rate_s: Option<f64>,
    /// How slow start went; absent where no RTT was measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slow_start: Option<SlowStart>,
    /// Its rounds, up to the 200th: the first begins with the first data, each other one with the first ACK of data that was sent in
    /// the one before. Absent where the trace does not show them: with a real kernel and fewer than four samples in an RTT.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slow_start_rounds: Option<Vec<Round>>,
    /// Medians over its samples from its first RTT on; absent where none was measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub medians: Option<Medians>,
    /// Seconds from connect() until the receiver had read everything; absent where the run ended before. Of a flow that stops by time this is
    /// the first sample that has all, not before the stop.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub completion_s: Option<f64>,
    /// Times of its messages. A message begins with the first byte of a request that is written. It ends with the last byte of the answer
    /// that is read. Requests without an answer do not count. A message that nobody answers ends with its own last byte that is read. Absent
    /// where none was read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub messages: Option<Messages>,
    /// What the CPUs of its hosts worked while it lived, as nuttcp prints it; absent where that costs nothing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu: Option<CpuShares>,
    /// The kernel gave the connection up; absent where it did not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub aborted: Option<Aborted>,
    /// What happened, as the trace's samples show it: the first 2,000 moments.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub moments: Vec<Moment>,
    /// Moments that were left out; absent where all are there.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub moments_left_out: u64,
}

/// Times of a flow's messages: with their answers, or one way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Messages {
    /// Nobody answers them: their times are one way.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub one_way: bool,
    /// Answers, or such messages, that were read, up to 100,000.
    pub count: u64,
    /// Median time, ms.
    pub median_ms: f64,
    /// Time that a twentieth of them takes or exceeds, ms.
    pub p95_ms: f64,
    /// Longest time, ms.
    pub worst_ms: f64,
}

impl Messages {
    /// Quantiles of times in ns, by the nearest rank; none where there are no times.
    pub fn of(mut times: Vec<u64>) -> Option<Messages> {
        times.sort_unstable();
        let at = |share: f64| {
            let rank = (times.len() as f64 * share).ceil() as usize;
            Some(*times.get(rank.max(1) - 1)? as f64 / 1e6)
        };
        Some(Messages {
            one_way: false,
            count: times.len() as u64,
            median_ms: at(0.5)?,
            p95_ms: at(0.95)?,
            worst_ms: at(1.0)?,
        })
    }
}

/// A counter of a host at the end of the run, as the last row of its name in `counters.parquet` has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostCounter {
    /// Which host; "kernel" where several share it.
    pub host: String,
    /// Where it is read (tc, ethtool, softnet, Tcp, TcpExt) and its name there, as in "TcpExt.TCPTimeouts".
    pub name: String,
    /// Its value.
    pub value: u64,
}

/// Files that a program has written to an NFS mount, or read there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Nfs {
    /// Name in the scenario, and of its connections among the flows.
    pub name: String,
    /// Version of the protocol.
    pub version: String,
    /// "write" or "read".
    pub operation: String,
    /// Bytes of all files.
    pub bytes: u64,
    /// Seconds from the first call of write(2) or read(2) until all files were written to the server, or read; absent if they
    /// were not.
    pub took_s: Option<f64>,
    /// Bytes of the files over this time, Mb/s.
    pub mean_mbit: Option<f64>,
    /// What the client has counted of its WRITEs or READs (`/proc/self/mountstats`); absent where there were none.
    pub requests: Option<Requests>,
    /// Whether its calls were sent again, and none of them was ever answered; absent where it is not so. The client counts
    /// answered calls alone, so `requests` is absent then.
    #[serde(skip_serializing_if = "is_false", default)]
    pub unanswered: bool,
}

impl Nfs {
    /// Share of its connections' data that belongs to answered calls, each byte once (0 to 1).
    pub fn useful(&self) -> f64 {
        match self.unanswered {
            true => 0.0,
            false => self.requests.map_or(1.0, |calls| calls.useful()),
        }
    }
}

/// Requests of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Requests {
    /// How many were answered.
    pub count: u64,
    /// Number of calls sent again, because the answer took longer than `timeo`; absent where there are none.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub sent_again: u64,
    /// Mean time that one waited to be sent, for a slot or behind others, ms.
    pub mean_queue_ms: f64,
    /// Mean time from when it was sent to its answer, ms.
    pub mean_rtt_ms: f64,
    /// Mean time from when it was asked for to its answer, ms.
    pub mean_execute_ms: f64,
}

impl Requests {
    /// Share of all that was sent that was not sent again (above 0, at most 1): of a file that is read the server sends the
    /// rest for nothing.
    pub fn useful(&self) -> f64 {
        self.count as f64 / (self.count + self.sent_again).max(1) as f64
    }
}

/// Datagrams of one program. They have no congestion control, window or connection, so nothing of a flow's facts but these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Datagrams {
    /// Name in the scenario.
    pub name: String,
    /// "udp" or "ping".
    pub kind: String,
    /// Whether they go from the receiver to the sender; absent where they do not.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub backward: bool,
    /// Payload of each, bytes.
    pub size: u32,
    /// How many the program wrote.
    pub sent: u64,
    /// Of these, those that the full qdisc refused (ENOBUFS).
    pub refused: u64,
    /// Number of datagrams read (udp) or answered (ping), duplicates included.
    pub received: u64,
    /// Of those sent, how many were not received by the run's end, whatever their number: refused, dropped, or still on their way or
    /// in the socket.
    #[serde(default)]
    pub undelivered: u64,
    /// Their share of those sent (0 to 1).
    #[serde(default)]
    pub undelivered_share: f64,
    /// Numbers missing below the highest one that arrived (udp), or requests without an answer by the run's end (ping).
    pub lost: u64,
    /// Of lost and received ones together those lost (0 to 1).
    pub loss_share: f64,
    /// Number of duplicates.
    pub duplicates: u64,
    /// Number of datagrams that arrived behind a higher number; absent with ping.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reordered: Option<u64>,
    /// For how many the receiving socket had no room (UdpRcvbufErrors); absent with ping.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rcvbuf_errors: Option<u64>,
    /// How the program read; absent where its socket dropped none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reading: Option<Reading>,
    /// Payload that was read, over the time in which it was sent, Mb/s; absent with ping.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mean_mbit: Option<f64>,
    /// Payload that the program asked for, Mb/s; absent with ping.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub requested_mbit: Option<f64>,
    /// Payload that it wrote, Mb/s; absent with ping.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sent_mbit: Option<f64>,
    /// How busy the CPUs of both hosts were while it wrote; absent with ping, and where nothing costs CPU time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu: Option<CpuShares>,
    /// Jitter at the end, as iperf prints it (RFC 3550, 6.4.1); absent with ping.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub jitter_ms: Option<f64>,
    /// Round trips as ping prints them; absent with udp, and where none was answered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rtt_ms: Option<RoundTrips>,
}

/// How a program read datagrams of UDP of which it did not get all, from samples of the sockets of its host.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reading {
    /// Longest time in which datagrams waited and none was read, ms, in whole samples.
    pub pause_ms: f64,
    /// Share of the drops in samples in which none was read, and in those before and behind them (0 to 1).
    pub paused_drops: f64,
    /// Payload that arrived at the socket, dropped datagrams included, Mb/s.
    pub offered_mbit: f64,
    /// Payload that the program could read in the mean, its pauses included, Mb/s; absent where no sample shows it reading all the time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub able_mbit: Option<f64>,
    /// Share of the time in which datagrams waited and the CPU of the host worked (0 to 1).
    pub cpu: f64,
    /// SO_RCVBUF that has room for the data of the longest pause, bytes, a power of two; absent without a pause. The kernel
    /// doubles it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pause_rcvbuf: Option<u64>,
    /// SO_RCVBUF that the program asks for, bytes; absent where it asks for none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub asked_rcvbuf: Option<u64>,
}

impl Reading {
    /// Whether the program reads less in the mean than comes: no buffer helps for long.
    #[must_use]
    pub fn is_too_slow(&self) -> bool {
        self.able_mbit.is_some_and(|able| able < self.offered_mbit)
    }
}

/// Round trips of echo requests, ms, from whole microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoundTrips {
    /// The least.
    pub min: f64,
    /// The mean.
    pub avg: f64,
    /// The largest.
    pub max: f64,
    /// Root of the mean square less the mean's square.
    pub mdev: f64,
}

/// Working time of hosts' CPUs over elapsed time (0 to 1), whatever they worked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuShares {
    /// Of the host that sends the flow's data.
    pub sender: f64,
    /// Of the host that receives it.
    pub receiver: f64,
}

/// What a flow has at half of its samples, and more at the others: the lower one of two middle ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Medians {
    /// Congestion window, packets.
    pub cwnd: u32,
    /// Packets in flight.
    pub in_flight: u32,
    /// Smoothed round-trip time, microseconds.
    pub srtt_us: u32,
}

/// The second half of a flow's life.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settled {
    /// Mean rate in it, Mb/s of payload.
    pub mbit: f64,
    /// How often the flow entered Recovery or Loss from another state in it.
    pub loss_epochs: u64,
    /// Whether the rate is a steady one: the flow had 30 loss epochs or more in it, or its rates in the last three quarters of its
    /// life are within 1 %.
    pub steady: bool,
}

/// The first slow start of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowStart {
    /// The sample that shows cwnd at ssthresh, or a recovery, seconds since the flow's interval clock started; null where it
    /// did not end.
    pub ended_s: Option<f64>,
    /// Largest cwnd by then, packets.
    pub cwnd: u32,
    /// Whether a loss ended it.
    pub by_loss: bool,
    /// Segments sent again in the recovery in which it ended, or that began within an RTT.
    pub retransmitted_segments: u64,
    /// Largest queue of the link until an RTT after the end of slow start, as the time to send it, s. Where the
    /// rate of the link varies: largest srtt until then, less the least one.
    pub queued_s: f64,
}

/// A round of the first slow start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Round {
    /// When it begins, seconds since the flow's interval clock started; below 0 before that.
    pub start_s: f64,
    /// When the next one begins or slow start ends; null where neither was seen.
    pub end_s: Option<f64>,
    /// Segments sent in it for the first time.
    pub segments: u64,
}

/// The end of a connection that the kernel has given up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Aborted {
    /// Time at which one side got the error, seconds since the flow's interval clock started.
    pub at_s: f64,
    /// Error, as Linux numbers errors: 110 timed out, 104 reset.
    pub errno: u64,
}

fn is_false(own: &bool) -> bool {
    !own
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Something that a sample shows and the one before it does not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Moment {
    /// The sample's time, seconds since the flow's interval clock started; it happened since the sample before.
    pub at_s: f64,
    /// "timeout" (the retransmission timer fired), "state" (the congestion state is another one),
    /// "retransmitted" or "aborted" (the kernel gave the connection up).
    pub what: Happened,
    /// How many segments or timeouts, or which congestion state: 0 Open, 1 Disorder, 2 CWR, 3 Recovery, 4 Loss; or the errno
    /// of what was given up.
    pub value: u64,
}

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Happened {
    /// The retransmission timer fired.
    Timeout,
    /// The congestion state is another one.
    State,
    /// Segments were retransmitted.
    Retransmitted,
    /// The kernel gave the connection up.
    Aborted,
}

/// One interval of the report (gauges: value at its end).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Start, seconds since the flow's interval clock started.
    pub start_s: f64,
    /// End, seconds since the flow's interval clock started.
    pub end_s: f64,
    /// Bytes delivered to the receiving application in it.
    pub bytes: u64,
    /// Segments delivered to the receiving application in it.
    pub segments: u64,
    /// Delivered payload, Mb/s (10^6), over the time that the interval's samples cover: its length
    /// where both bounds are samples of the trace.
    pub throughput_mbit: f64,
    /// Segments retransmitted in it.
    pub retransmitted_segments: u64,
    /// Congestion window at its end, packets.
    pub cwnd: u32,
    /// Slow start threshold at its end, packets; null is infinite.
    pub ssthresh: Option<u32>,
    /// Smoothed RTT at its end, us; null before the first sample.
    pub srtt_us: Option<u32>,
    /// Packets in flight at its end.
    pub in_flight: u32,
    /// Packets waiting at its end in front of the slowest link, or of the sender's card where that is slower.
    pub queue: u64,
    /// Share of the interval by limit, sum 1.
    pub limits: BTreeMap<String, f64>,
}
