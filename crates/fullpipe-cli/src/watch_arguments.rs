//! Arguments of `fullpipe watch`.

use crate::args::TEMPLATE;
use crate::choice::{Choice, end};
use crate::connections::columns;
use crate::quantity;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fullpipe::base::units::Time;
use std::net::SocketAddr;
use std::path::PathBuf;

const CODES: &str = "\
On a terminal: up and down choose a connection, Enter shows its course and its verdict, Esc goes back, s sorts by the
next column, / filters, q ends.
Columns: Mb/s of data acknowledged (>) or received (<); cwnd, ssthresh and flight in segments; RTT (smoothed)
and the least RTT in ms; windows of both ends in KiB; again: segments sent again since the beginning; limit:
what held most of the last interval (fullpipe list limits).
Exit codes: 0 it was ended, 2 bad input, 3 the environment cannot.";

/// Options of `fullpipe watch`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, after_help = CODES, before_help = "Examples:
  fullpipe watch                                 the connections of this host, the busiest first
  fullpipe watch --dst 192.0.2.7:443             those to one end, also ones that begin later
  fullpipe watch --pid 4711 --sort retrans       those of a process, in its network namespace
  fullpipe watch --plain --every 5s --top 3 >> log   lines, without end
  fullpipe watch --prometheus 127.0.0.1:9101 --plain   figures for Prometheus
  fullpipe watch --save slow                     keep trace and report for `fullpipe report slow`
  fullpipe watch --json --for 10s | jq .connections[0].limit\n\n")]
pub struct WatchArguments {
    /// The other end of the connections; or both ends: own address and port, then those of the other host
    #[arg(value_name = "ENDS", num_args = 0..=2)]
    pub ends: Vec<String>,
    /// The wanted connections
    #[command(flatten)]
    pub choice: Choice,
    /// Time from one picture to the next
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    pub every: Time,
    /// End after that time [default: at Ctrl-C]
    #[arg(long = "for", value_name = "TIME", value_parser = quantity::time)]
    pub lasts: Option<Time>,
    /// Column by which connections are sorted, the largest value first
    #[arg(long, value_name = "COLUMN", default_value = columns::RATE, value_parser = sortable())]
    pub sort: &'static columns::Column,
    /// Print that many connections at most, and keep so many with --save [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub top: Option<u16>,
    /// Print lines, also on a terminal
    #[arg(long)]
    pub plain: bool,
    /// Print one JSON object a line, for each picture
    #[arg(long, conflicts_with = "plain")]
    pub json: bool,
    /// Keep traces, verdicts and report of the busiest connections in this directory, which must be new or empty: the last
    /// hour at most, as far as 100,000 looks reach
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    /// Serve the figures to Prometheus: http://ADDR:PORT/metrics has the 1,000 busiest connections
    #[arg(long, value_name = "ADDR:PORT")]
    pub prometheus: Option<SocketAddr>,
    /// Colours of the screen; NO_COLOR turns them off, too
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = ["auto", "never"])]
    pub color: String,
}

/// Shortest time between two pictures.
const SHORTEST: Time = Time::ms(50);

/// Reads the time between two pictures.
fn interval(text: &str) -> Result<Time, String> {
    let time = quantity::time(text)?;
    let long = time >= SHORTEST;
    long.then_some(time).ok_or_else(|| format!("at least {} ms", SHORTEST.as_us() / 1000))
}

/// Parser of a column's name.
fn sortable() -> impl TypedValueParser<Value = &'static columns::Column> {
    let value = |own: &columns::Column| PossibleValue::new(own.name).help(own.about);
    let names = PossibleValuesParser::new(columns::shown_columns().map(value));
    names.map(|name| columns::named(&name).unwrap_or(&columns::TABLE[0]))
}

impl WatchArguments {
    /// Checks what clap cannot.
    ///
    /// # Errors
    /// A word is no end, ends come with a condition of their own, or the watch ends before its first picture.
    pub fn check(&self) -> Result<(), String> {
        if let Some(word) = self.ends.iter().find(|word| end(word).is_none()) {
            return Err(format!("{word:?} is no address with a port, such as 10.0.0.1:443"));
        }
        if self.lasts.is_some_and(|lasts| lasts < self.every) {
            let way = "take a longer --for, or a shorter --every";
            return Err(format!("--for is shorter than --every, so nothing would be shown: {way}"));
        }
        self.choice.check(&self.ends)
    }
}
