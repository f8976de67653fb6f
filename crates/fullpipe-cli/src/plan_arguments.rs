//! What `fullpipe plan` takes.

use crate::args::TEMPLATE;
use crate::quantity;
use clap::{Args, ValueEnum};
use fullpipe::plan::kernel::Version;
use fullpipe::scenario::NfsVersion;
use fullpipe_sim::units::{Framing, Rate, Time};
use std::path::PathBuf;

/// Options of `fullpipe plan`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, before_help = "Examples:
  fullpipe plan --rate 10Gbit --rtt 80ms --mtu 9000
  fullpipe plan --rate 1Gbit --rtt 150ms --kernel 2.6.20
  fullpipe plan --rate 100Gbit --rtt 100ms --mtu 9000 --json
  fullpipe plan --nfs --rate 1Gbit --rtt 30ms            settings of an NFS mount, and what they gain
  fullpipe plan --nfs --rate 10Gbit --rtt 80ms --mtu 9000 --clients 4 --near 20 --server-memory 64GiB\n\n")]
pub struct PlanArguments {
    /// Rate of the bottleneck, with its unit
    #[arg(long, value_parser = quantity::rate)]
    pub rate: Rate,
    /// Round-trip time without queues, with its unit
    #[arg(long, value_parser = quantity::time)]
    pub rtt: Time,
    /// Largest IP packet, bytes
    #[arg(long, default_value_t = 1500, value_name = "BYTES")]
    pub mtu: u32,
    /// Linux version of both hosts, as `uname -r` prints it [default: 6.12]
    #[arg(long, value_name = "VERSION")]
    pub kernel: Option<Version>,
    /// What the rate counts
    #[arg(long, value_enum, default_value_t = Counted::EthernetWire)]
    pub framing: Counted,
    /// TCP timestamps, which Linux has by default, are off (12 bytes more in each segment)
    #[arg(long)]
    pub no_timestamps: bool,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
    /// Plan an NFS mount over the path: sizes of requests, slots, connections, threads, read-ahead and buffers of both ends,
    /// and prove it by simulating a write and a read with today's settings and with the planned ones
    #[arg(long)]
    pub nfs: bool,
    /// What `--nfs` asks besides.
    #[command(flatten)]
    pub mount: NfsArguments,
}

/// Options of `fullpipe plan --nfs`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of --nfs")]
pub struct NfsArguments {
    /// Version of the protocol
    #[arg(long, value_enum, default_value_t = Protocol::V4_2, requires = "nfs")]
    pub nfs_version: Protocol,
    /// Probability that the path loses a packet, each for itself, 0 to 0.1, such as 1e-4
    #[arg(long, value_name = "PROBABILITY", default_value_t = 0.0, requires = "nfs")]
    pub loss: f64,
    /// Clients at the far end of the path
    #[arg(long, value_name = "N", default_value_t = 1, requires = "nfs")]
    pub clients: u32,
    /// Clients beside the server
    #[arg(long, value_name = "N", default_value_t = 0, requires = "nfs")]
    pub near: u32,
    /// Their round-trip time without queues [default: 200us, or the path's if that is less]
    #[arg(long, value_parser = quantity::time, requires = "near", value_name = "TIME")]
    pub near_rtt: Option<Time>,
    /// Memory of the server
    #[arg(long, value_parser = quantity::size, default_value = "16GiB", requires = "nfs", value_name = "SIZE")]
    pub server_memory: u64,
    /// How long the server works on a request, its disk's time
    #[arg(long, value_parser = quantity::time, default_value = "1ms", requires = "nfs")]
    pub service: Time,
    /// Size of the file that the proof writes and reads [default: 10 s of the path, or 100 round trips, up to 8GiB]
    #[arg(long, value_parser = quantity::size, requires = "nfs", value_name = "SIZE")]
    pub file: Option<u64>,
    /// Plan by arithmetic alone, and simulate nothing
    #[arg(long, requires = "nfs")]
    pub no_proof: bool,
    /// Write the scenario of the proof to this new file, for `fullpipe run FILE --engine linux`
    #[arg(long, value_name = "FILE", requires = "nfs")]
    pub scenario: Option<PathBuf>,
}

/// A version of NFS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Protocol {
    /// Version 3
    #[value(name = "3")]
    V3,
    /// Version 4.2
    #[value(name = "4.2")]
    V4_2,
}

impl From<Protocol> for NfsVersion {
    fn from(version: Protocol) -> NfsVersion {
        match version {
            Protocol::V3 => NfsVersion::V3,
            Protocol::V4_2 => NfsVersion::V4_2,
        }
    }
}

/// What a rate counts per packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Counted {
    /// The IP packet alone
    Ip,
    /// With the 14-byte Ethernet header
    Ethernet,
    /// With preamble, FCS and gap: what a wire takes
    EthernetWire,
}

impl From<Counted> for Framing {
    fn from(counted: Counted) -> Framing {
        match counted {
            Counted::Ip => Framing::Ip,
            Counted::Ethernet => Framing::Ethernet,
            Counted::EthernetWire => Framing::EthernetWire,
        }
    }
}
