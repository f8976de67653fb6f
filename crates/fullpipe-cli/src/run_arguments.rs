//! Arguments of `fullpipe run`.

use crate::args::{EXIT_CODES, Extent, Seen, engine_names};
use crate::path_arguments::PathArguments;
use crate::quantity;
use clap::Args;
use clap::builder::PossibleValuesParser;
use fullpipe::capture::{At, SNAP};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Two lines of usage: a scenario and a path by options exclude each other.
const RUN_TEMPLATE: &str = "{about-with-newline}
{before-help}{usage-heading} fullpipe run [OPTIONS] <SCENARIO|RECIPE>
       fullpipe run [OPTIONS] --rate <RATE> --rtt <TIME>

{all-args}{after-help}";

/// Options of `fullpipe run`.
#[derive(Debug, Args)]
#[command(help_template = RUN_TEMPLATE, after_help = EXIT_CODES, before_help = "Examples:
  fullpipe run --rate 10Gbit --rtt 80ms                your path, without a file
  fullpipe run --rate 1Gbit --rtt 20ms --loss 1e-5 --flows 8 --kernel 5.15.0-91-generic
  fullpipe run fink-2007                               a recipe, all its variants
  fullpipe run fink-2007 --variant reno --out reno     one variant, where to keep it
  fullpipe run my.toml --set path.delay.forward=120ms --json > result.json
  fullpipe run my.toml --pcap my.pcapng --at receiver  packets for Wireshark, tshark, tcptrace
  fullpipe run onl-reno-1flow --packets                packets as a table and a time-sequence graph
  fullpipe run my.toml --engine linux --as-kernel 6.12 on the genuine kernel in virtual time
  fullpipe run my.toml --engine sim,linux --as-kernel 6.12   on both, and how far they are apart\n\n")]
pub struct RunArguments {
    /// A scenario file, or the name of a recipe (see `fullpipe list`)
    #[arg(value_name = "SCENARIO|RECIPE")]
    pub scenario: Option<PathBuf>,
    /// Change a key of the scenario, after variants and sweep points; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Run this variant only; may be repeated
    #[arg(long, value_name = "NAME")]
    pub variant: Vec<String>,
    /// Keep the result in this directory, which must be new or empty
    /// [default: fullpipe-results/<name>-<n>]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Keep the result without its page, report.html; `fullpipe report DIR` draws it later (of `advise`
    /// this option keeps no file at all)
    #[arg(long)]
    pub no_report: bool,
    /// Print the result as one JSON document
    #[arg(long)]
    pub json: bool,
    /// Also find out what to set on the hosts (see `fullpipe advise`), for the first run; not with --json
    #[arg(long, conflicts_with_all = ["dry_run", "json"])]
    pub advise: bool,
    /// Print the complete scenario and an estimate of time and size, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Runs at a time [default: number of cores]
    #[arg(long, value_name = "N", value_parser = quantity::jobs)]
    pub jobs: Option<NonZeroUsize>,
    /// Write the packets that pass one point to a new file: classic pcap if its name ends in
    /// .pcap, else pcapng, with a comment where a packet was dropped later. Of several runs each
    /// has its own file, with its name before the extension. - is standard output; the text then
    /// goes to standard error
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<PathBuf>,
    /// Place of the capture: sender-qdisc, sender-wire, link (in front of the bottleneck's queue), receiver,
    /// or an element of the way forward by its name. "sender" is sender-qdisc: like tcpdump on the sender,
    /// it sees TSO skbs of several segments
    #[arg(long, value_name = "POINT", default_value = "sender-wire", requires = "pcap")]
    pub at: At,
    /// Bytes to keep of each packet, 0 for all; no fewer than headers can take, as data is zeros
    #[arg(long, value_name = "BYTES", default_value_t = SNAP, requires = "pcap",
        value_parser = quantity::snap)]
    pub snap: u32,
    /// Keep the packets that pass one point as a table, packets.parquet, and draw their time-sequence graph,
    /// time-sequence.html, in the run's folder. POINT is as with --at
    /// [default: --at of --pcap, else sender-qdisc]. The same as --set report.packets.at=POINT;
    /// report.packets.flow, .from and .to choose which
    #[arg(long, value_name = "POINT", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub packets: Option<String>,
    /// Engine that runs the scenario; several with a comma between them (sim,linux) run it on each and
    /// compare what comes out
    #[arg(long, value_name = "NAME", default_value = engine_names()[0], value_delimiter = ',',
        value_parser = PossibleValuesParser::new(engine_names()))]
    pub engine: Vec<String>,
    /// Run this kernel version on engine linux, in place of the scenario's
    #[arg(long, value_name = "VERSION")]
    pub as_kernel: Option<String>,
    /// Let the engine do a key otherwise than the scenario says, as far as it can; * stands for any
    /// text; may be repeated
    #[arg(long, value_name = "KEY")]
    pub without: Vec<String>,
    /// How much of the text is printed
    #[command(flatten)]
    pub extent: Extent,
    /// Part of the run that the headline uses.
    #[command(flatten)]
    pub view: Seen,
    /// Show no progress and no notes
    #[arg(long, short)]
    pub quiet: bool,
    /// A path instead of a scenario.
    #[command(flatten)]
    pub path: PathArguments,
}

impl RunArguments {
    /// No option is given.
    pub fn plain() -> RunArguments {
        #[derive(clap::Parser)]
        struct Plain {
            #[command(flatten)]
            run: RunArguments,
        }
        <Plain as clap::Parser>::parse_from(["run"]).run
    }
}
