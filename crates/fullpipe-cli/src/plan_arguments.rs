//! What `fullpipe plan` takes.

use crate::args::TEMPLATE;
use crate::quantity;
use clap::{Args, ValueEnum};
use fullpipe::base::units::{Framing, Rate, Time};
use fullpipe::scenario::NfsVersion;
use fullpipe::scenario::Version;
use std::path::PathBuf;

/// Options of `fullpipe plan`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, before_help = "Examples:
  fullpipe plan --rate 10Gbit --rtt 80ms                 what to set, and the run that proves it
  fullpipe plan --rate 10Gbit --rtt 80ms --kernel 5.15.0-91-generic --flows 8 --loss 1e-5
  fullpipe plan --rate 1Gbit --rtt 150ms --queue 2MB     a shallow queue asks for pacing
  fullpipe plan --rate 10Gbit --rtt 80ms --scenario my.toml    today and planned, as a scenario
  fullpipe plan --nfs --rate 1Gbit --rtt 30ms            settings of an NFS mount, and what they gain
  fullpipe plan --nfs --rate 10Gbit --rtt 80ms --mtu 9000 --clients 4 --near 20 --server-memory 64GiB\n\n")]
pub struct PlanArguments {
    /// Rate of the bottleneck, with its unit
    #[arg(long, value_parser = quantity::rate, allow_hyphen_values = true)]
    pub rate: Rate,
    /// Round-trip time without queues, with its unit
    #[arg(long, value_parser = quantity::time, allow_hyphen_values = true)]
    pub rtt: Time,
    /// Largest IP packet, bytes
    #[arg(long, default_value_t = 1500, value_name = "BYTES", value_parser = quantity::mtu, allow_hyphen_values = true)]
    pub mtu: u32,
    /// Linux version of both hosts, or what `uname -r` prints there [default: 6.12]
    #[arg(long, value_name = "VERSION")]
    pub kernel: Option<Version>,
    /// Probability that the path loses a packet, each independently, such as 1e-5: 0 to 0.5, with --nfs to 0.1
    #[arg(long, value_name = "PROBABILITY", default_value_t = 0.0, value_parser = quantity::probability, allow_hyphen_values = true)]
    pub loss: f64,
    /// Parallel flows that share the path; buffers are sized for so many, and one flow alone gets less
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = quantity::flows,
        allow_hyphen_values = true,
        conflicts_with = "nfs"
    )]
    pub flows: u32,
    /// Congestion control of the proof [default: the kernel's, cubic]
    #[arg(long, value_name = "NAME", conflicts_with = "nfs")]
    pub congestion: Option<String>,
    /// Queue of the bottleneck, such as 64MB, where it is known. Pacing is planned where it is shallow
    #[arg(long, value_name = "SIZE", value_parser = quantity::size, allow_hyphen_values = true,
        conflicts_with = "nfs")]
    pub queue: Option<u64>,
    /// What the rate counts
    #[arg(long, value_enum, default_value_t = Counted::EthernetWire)]
    pub framing: Counted,
    /// TCP timestamps, which Linux has by default, are off (12 bytes more in each segment)
    #[arg(long)]
    pub no_timestamps: bool,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
    /// Also print window, slow start, recovery and tolerated loss of the path
    #[arg(long, conflicts_with_all = ["json", "nfs"])]
    pub full: bool,
    /// Plan by arithmetic alone, and simulate nothing
    #[arg(long)]
    pub no_proof: bool,
    /// Write the scenario of the proof, with today's and the planned settings, to this new file
    #[arg(long, value_name = "FILE")]
    pub scenario: Option<PathBuf>,
    /// Plan an NFS mount over the path: sizes of requests, slots, connections, threads, read-ahead, buffers.
    /// A write and a read are simulated with today's settings and with the planned ones
    #[arg(long)]
    pub nfs: bool,
    /// Options of `--nfs`.
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
