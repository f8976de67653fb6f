//! A measured transfer, from whatever tool has printed it.

use std::net::SocketAddr;

/// A tool that measures a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tool {
    /// iperf3, in words or in JSON.
    #[default]
    Iperf3,
    /// iperf 2.
    Iperf2,
    /// nuttcp.
    Nuttcp,
}

impl Tool {
    /// Name of the command.
    pub const fn name(self) -> &'static str {
        match self {
            Tool::Iperf3 => "iperf3",
            Tool::Iperf2 => "iperf",
            Tool::Nuttcp => "nuttcp",
        }
    }
}

/// A measured transfer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transfer {
    /// The tool.
    pub tool: Tool,
    /// Its version, such as "3.12"; none where the text does not say it.
    pub version: Option<String>,
    /// Datagrams of UDP, not TCP.
    pub udp: bool,
    /// Printed by the end that sends the data; none where the text does not show it.
    pub sends: Option<bool>,
    /// Streams, in the order of the text.
    pub streams: Vec<Stream>,
    /// Words of the command line, where the text has them.
    pub asked: Asked,
    /// Bytes of the send buffer when the transfer began.
    pub sndbuf: Option<u64>,
    /// Bytes of a segment.
    pub mss: Option<u32>,
    /// Congestion control of the sender; empty where the text does not say it.
    pub congestion: String,
    /// CPU of the sending process, percent of one.
    pub cpu_sender: Option<f64>,
    /// CPU of the receiving process, percent of one.
    pub cpu_receiver: Option<f64>,
    /// Message with which the tool ended.
    pub error: Option<String>,
    /// Cookie of iperf3, which both ends know.
    pub cookie: Option<String>,
    /// First line.
    pub line: usize,
    /// Last line.
    pub until: usize,
}

/// Requests of a command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked {
    /// Whether the text shows the command line or its values.
    pub is_known: bool,
    /// Socket buffers, bytes (`-w`).
    pub window: Option<u64>,
    /// Rate of each stream, bit/s (`-b`).
    pub rate: Option<u64>,
    /// Pace of each socket, bit/s (`--fq-rate`).
    pub pace: Option<u64>,
    /// Data flows from the server to the client (`-R`).
    pub reverse: bool,
    /// Parallel streams (`-P`).
    pub parallel: Option<u32>,
    /// Congestion control (`-C`).
    pub congestion: Option<String>,
}

/// A stream of a transfer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stream {
    /// Its number in the text.
    pub id: String,
    /// Number of streams that it sums up; 1 of a single one.
    pub sums: u32,
    /// Own end and the other one.
    pub ends: Option<[SocketAddr; 2]>,
    /// Whether this end sends its data, where that differs from the transfer's direction.
    pub sends: Option<bool>,
    /// Intervals, oldest first.
    pub rows: Vec<Row>,
    /// Total as the sender counts it.
    pub sent: Option<Row>,
    /// Total as the receiver counts it.
    pub received: Option<Row>,
}

/// An interval of a stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Its beginning, seconds.
    pub from: f64,
    /// Its end, seconds.
    pub to: f64,
    /// Bytes.
    pub bytes: f64,
    /// Segments sent again.
    pub retransmits: Option<u64>,
    /// Congestion window, bytes.
    pub cwnd: Option<f64>,
    /// Smoothed RTT, us.
    pub rtt: Option<u32>,
    /// Mean deviation of the RTT, us.
    pub rttvar: Option<u32>,
    /// Window of the receiver, bytes.
    pub snd_wnd: Option<u64>,
    /// MTU of the path, bytes.
    pub pmtu: Option<u32>,
    /// Datagrams sent, or of a receiver those that should have come.
    pub packets: Option<u64>,
    /// Datagrams that did not come.
    pub lost: Option<u64>,
    /// Jitter, ms.
    pub jitter: Option<f64>,
    /// Line of the text.
    pub line: usize,
}

impl Row {
    /// Length, seconds.
    pub fn lasts(&self) -> f64 {
        self.to - self.from
    }

    /// Rate, Mb/s (10^6).
    pub fn mbit(&self) -> f64 {
        if self.lasts() > 0.0 { self.bytes * 8e-6 / self.lasts() } else { 0.0 }
    }

    /// Whether all numbers are ones that a tool can print.
    pub fn is_sound(&self) -> bool {
        let all = [self.from, self.to, self.bytes];
        all.iter().all(|own| own.is_finite() && (0.0..1e18).contains(own)) && self.to > self.from
    }
}

impl Stream {
    /// Whether it has no numbers.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.sent.is_none() && self.received.is_none()
    }
}
