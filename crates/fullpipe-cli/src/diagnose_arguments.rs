//! Arguments of `fullpipe diagnose`.

use crate::args::TEMPLATE;
use crate::choice::{Choice, end};
use crate::quantity;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use fullpipe::base::units::{Rate, Time};
use fullpipe::captured::Place;
use fullpipe::observation::Selection;
use std::path::PathBuf;

const CODES: &str = "\
Exit codes: 0 there is an answer, 2 bad input or no such connection, 3 the environment cannot.
Ctrl-C ends the observation, and the answer is from what was seen.";

/// Options of `fullpipe diagnose`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, after_help = CODES, before_help = "Examples:
  fullpipe diagnose                              the busiest connection of this host
  fullpipe diagnose --pid 4711                   those of a process, in its network namespace
  fullpipe diagnose --dst 192.0.2.7:443 --for 30s
  fullpipe diagnose --port 5201 --top 4          the four busiest with this port at either end
  fullpipe diagnose 10.0.0.1:43210 10.0.0.2:22   one connection: own end, other end
  fullpipe diagnose --dst example.org --save slow   keep trace and report for `fullpipe report slow`
  fullpipe diagnose 192.0.2.7:443                those to one end
  fullpipe diagnose slow.pcapng                  the busiest connection of a capture
  fullpipe diagnose slow.pcapng --advise         what to set, proved on a twin of it
  ssh HOST tcpdump -s 128 -w - port 443 | fullpipe diagnose -
  fullpipe diagnose iperf.json nstat.txt         texts of somebody else, one verdict from all
  iperf3 -c 192.0.2.7 | fullpipe diagnose -      the output of a measurement
  fullpipe diagnose ss.txt --every 100ms         looks that `ss -tinm` has printed
  fullpipe diagnose --port 5201 --with slow      with what the other end has kept
  fullpipe diagnose --dst 192.0.2.7 --advise --rate 1Gbit   what to set, proved on a twin of the connection\n\n")]
pub struct DiagnoseArguments {
    /// Captured packets (pcap, pcapng, also .gz and .zst; several files of one capture, in their order). Or
    /// files with texts that somebody has pasted (- is standard input): `ss -tin` once or again and again, iperf3 with or
    /// without -J, nuttcp, nstat, netstat -s, `tc -s qdisc`, `ethtool -S`, `ethtool -g`. Or the other end of a connection; or
    /// both ends: own address and port, then those of the other host
    #[arg(value_name = "FILE|ENDS", num_args = 0..)]
    pub what: Vec<String>,
    /// Time between two looks at sockets in a file
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = quantity::time)]
    pub every: Time,
    /// The wanted connections
    #[command(flatten)]
    pub choice: Choice,
    /// Judge that many of the connections, the busiest ones
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub top: u16,
    /// Length of the observation
    #[arg(long = "for", value_name = "TIME", default_value = "10s", value_parser = length)]
    pub lasts: Time,
    /// Print the result as one JSON document
    #[arg(long)]
    pub json: bool,
    /// Keep trace, document and report in this directory, which must be new or empty
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    /// Let an observation of the other end decide, which --save has kept there at about the same time
    #[arg(long, value_name = "DIR")]
    pub with: Option<PathBuf>,
    /// Also make a twin of the connection, a scenario that acts like it, and say what to set. --save keeps it as twin.toml
    #[arg(long)]
    pub advise: bool,
    /// Rate of the path, such as 1Gbit, where you know it [default: as far as the connection shows it]
    #[arg(long, value_name = "RATE", value_parser = quantity::rate, requires = "advise")]
    pub rate: Option<Rate>,
    /// Place of a capture, where its packets do not show it [default: found from the packets]
    #[arg(long, value_name = "PLACE", value_parser = place())]
    pub at: Option<Place>,
    /// Show no progress and no notes
    #[arg(long, short)]
    pub quiet: bool,
}

/// Shortest observation: below some looks nothing can be told.
const SHORTEST: Time = Time::ms(500);

/// Reads the length of an observation.
fn length(text: &str) -> Result<Time, String> {
    let time = quantity::time(text)?;
    let long = time >= SHORTEST;
    long.then_some(time).ok_or_else(|| format!("at least {} ms", SHORTEST.as_us() / 1000))
}

/// Names of places.
fn place() -> impl TypedValueParser<Value = Place> {
    const ALL: [Place; 3] = [Place::Sender, Place::Receiver, Place::Middle];
    let named = |name: String| ALL.into_iter().find(|own| own.name() == name);
    PossibleValuesParser::new(ALL.map(Place::name))
        .map(move |name| named(name).unwrap_or(Place::Sender))
}

impl DiagnoseArguments {
    /// Refuses options that only captures have.
    ///
    /// # Errors
    /// One of them is there.
    pub fn check_texts(&self) -> Result<(), String> {
        match self.at {
            Some(_) => {
                Err("--at is the place of a capture: name a file of captured packets".into())
            }
            None => Ok(()),
        }
    }

    /// Refuses options that captures do not have.
    ///
    /// # Errors
    /// One of them is there.
    pub fn check_captures(&self) -> Result<(), String> {
        let others = [
            ("--with", self.with.is_some()),
            ("--pid", self.choice.pid.is_some()),
            ("--netns", self.choice.netns.is_some()),
        ];
        match others.into_iter().find(|(_, is_there)| *is_there) {
            Some((name, _)) => Err(format!("{name} is for live connections, not for a capture")),
            None => Ok(()),
        }
    }

    /// Checks what clap cannot.
    ///
    /// # Errors
    /// Ends and files are mixed, or ends come with a condition of their own.
    pub fn check(&self) -> Result<(), String> {
        let ends = self.what.iter().filter(|word| end(word).is_some()).count();
        if ends == 0 {
            return Ok(());
        }
        if let Some(word) = self.what.iter().find(|word| end(word).is_none()) {
            return Err(format!(
                "{word:?} is no address with a port, such as 10.0.0.1:443, and a file cannot stand beside an end"
            ));
        }
        self.choice.check(&self.what)
    }

    /// The files with texts, where some are named.
    pub fn files(&self) -> Vec<PathBuf> {
        let is_end = self.what.iter().any(|word| end(word).is_some());
        if is_end { Vec::new() } else { self.what.iter().map(PathBuf::from).collect() }
    }

    /// The words that are ends.
    fn ends(&self) -> &[String] {
        if self.files().is_empty() { &self.what } else { &[] }
    }

    /// The wanted connections, without those of a process.
    pub fn selection(&self) -> Selection {
        self.choice.selection(self.ends())
    }

    /// The wanted connections in words.
    pub fn sought(&self) -> String {
        self.choice.sought(self.ends())
    }
}
