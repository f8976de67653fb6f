//! Arguments of `fullpipe packets`.

use crate::args::TEMPLATE;
use crate::choice::{Destination, destination};
use clap::Args;
use std::path::PathBuf;

/// Options of `fullpipe packets`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE,
    after_help = "Exit codes: 0 the file is written, 2 bad input or no such connection, 3 the environment cannot, 130 interrupted.",
    before_help = "Examples:
  fullpipe packets slow.pcap --out share.pcapng           the busiest connection, without its payload
  fullpipe packets slow.pcap --hide --out share.pcapng    also without the addresses of its hosts
  fullpipe packets slow.pcap --dst 192.0.2.7:443 --out share.pcap
  fullpipe packets slow.pcap --out - | fullpipe diagnose -\n\n")]
pub struct PacketsArguments {
    /// Captured packets (pcap, pcapng, also .gz and .zst; several files of one capture; - is standard input)
    #[arg(value_name = "FILE", num_args = 1.., required = true)]
    pub files: Vec<PathBuf>,
    /// Write the packets to this file, which must be new: pcap where its name ends in .pcap, else pcapng; - is standard output
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// The connection with this port at either end, the busiest one
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// The connection to this host, and to that port of it
    #[arg(long, value_name = "HOST[:PORT]", value_parser = destination)]
    pub dst: Option<Destination>,
    /// Write 192.0.2.1 and 192.0.2.2 (2001:db8::1 and 2001:db8::2) for the addresses of both hosts
    #[arg(long)]
    pub hide: bool,
    /// Show no progress and no notes
    #[arg(long, short)]
    pub quiet: bool,
}
