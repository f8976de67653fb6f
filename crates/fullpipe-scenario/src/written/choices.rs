//! Values that are chosen by their names.

use crate::format::values::choices;
use crate::show;
use fullpipe_base::units::Framing;
use fullpipe_sim::config::{Autotuning, Direction, Driver, ReceivePath};
use serde::Serialize;

/// Kinds of qdiscs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QdiscKind {
    /// A queue; of Linux's three bands one.
    PfifoFast,
    /// A queue bounded in packets.
    Pfifo,
    /// A queue bounded in bytes.
    Bfifo,
    /// A queue for each flow, in turn, and pacing.
    Fq,
    /// A queue for each flow, in turn, with CoDel.
    FqCodel,
    /// Drops or marks at its head while the delay is too long.
    Codel,
    /// Drops or marks arriving packets, by a probability that follows the average length.
    Red,
    /// Delays and loses.
    Netem,
}

impl QdiscKind {
    /// Linux' name, "fq_codel".
    pub fn name(self) -> &'static str {
        show::name(&self).expect("each kind has a name")
    }
}

/// Systems of hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Os {
    Linux,
    Windows,
}

/// Kinds of datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramKind {
    /// UDP at a constant rate.
    Udp,
    /// ICMP echo requests.
    Ping,
}

/// Versions of NFS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NfsVersion {
    /// 3.
    V3,
    /// 4.2.
    V4_2,
}

/// Operation of a program on files of a mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NfsOperation {
    /// Writes new files.
    Write,
    /// Reads files.
    Read,
}

/// When a server answers that data is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NfsExport {
    /// When it is where it stays.
    Sync,
    /// At once.
    Async,
}

/// Way in which a server takes requests from a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NfsServerReads {
    /// Data that has arrived.
    AsTheyCome,
    /// Nothing of one until all of it is there.
    WholeRecords,
}

/// Kinds of applications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppKind {
    Bulk,
    Rate,
    OnOff,
    Window,
    Requests,
    Messages,
}

/// Event that starts the interval clock of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// The receiver's accept() returns.
    Accept,
}

/// Moment at which a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Until {
    /// The end that the scenario says.
    End,
    /// The moment at which the rate has settled, or that end.
    Steady,
}

impl Until {
    /// Whether a run continues to its end.
    pub fn is_end(&self) -> bool {
        *self == Until::End
    }
}

/// When a receiving program sets TCP_QUICKACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quickack {
    /// As soon as it has the socket.
    #[default]
    Once,
    /// As soon as it has the socket, and after each read.
    EachRead,
}

impl Quickack {
    /// True if the program sets the option no second time.
    pub fn is_once(&self) -> bool {
        *self == Quickack::Once
    }
}

choices! {
    Framing { "ip" = Framing::Ip, "ethernet" = Framing::Ethernet, "ethernet-wire" = Framing::EthernetWire }
    Driver { "stops" = Driver::Stops, "requeues" = Driver::Requeues }
    Os { "linux" = Os::Linux, "windows" = Os::Windows }
    Autotuning {
        "disabled" = Autotuning::Disabled, "highlyrestricted" = Autotuning::HighlyRestricted,
        "restricted" = Autotuning::Restricted, "normal" = Autotuning::Normal,
        "experimental" = Autotuning::Experimental
    }
    ReceivePath { "napi" = ReceivePath::Napi, "netif_rx" = ReceivePath::NetifRx }
    QdiscKind {
        "pfifo_fast" = QdiscKind::PfifoFast, "pfifo" = QdiscKind::Pfifo, "bfifo" = QdiscKind::Bfifo,
        "fq" = QdiscKind::Fq, "fq_codel" = QdiscKind::FqCodel, "codel" = QdiscKind::Codel,
        "red" = QdiscKind::Red, "netem" = QdiscKind::Netem
    }
    DatagramKind { "udp" = DatagramKind::Udp, "ping" = DatagramKind::Ping }
    NfsVersion { "3" = NfsVersion::V3, "4.2" = NfsVersion::V4_2 }
    NfsOperation { "write" = NfsOperation::Write, "read" = NfsOperation::Read }
    NfsServerReads { "as-they-come" = NfsServerReads::AsTheyCome, "whole-records" = NfsServerReads::WholeRecords }
    NfsExport { "sync" = NfsExport::Sync, "async" = NfsExport::Async }
    AppKind {
        "bulk" = AppKind::Bulk, "rate" = AppKind::Rate, "on-off" = AppKind::OnOff,
        "window" = AppKind::Window, "requests" = AppKind::Requests, "messages" = AppKind::Messages
    }
    Quickack { "once" = Quickack::Once, "each-read" = Quickack::EachRead }
    Clock { "accept" = Clock::Accept }
    Until { "end" = Until::End, "steady" = Until::Steady }
    Direction { "forward" = Direction::Forward, "backward" = Direction::Backward }
}
