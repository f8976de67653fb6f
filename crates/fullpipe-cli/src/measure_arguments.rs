//! Arguments of `fullpipe measure`.

use crate::args::TEMPLATE;
use crate::quantity;
use clap::Args;
use fullpipe_measure::client::Wanted;
use fullpipe_measure::parameters::{
    LARGEST_BLOCK, LARGEST_DATAGRAM, LEAST_DATAGRAM, LONGEST_OMIT, LONGEST_TIME, MOST_STREAMS,
    Parameters, Protocol, TCP_BLOCK, UDP_RATE,
};
use std::path::PathBuf;
use std::time::Duration;

const CODES: &str = "\
Sizes may have K, M or G for 1024, 1024^2, 1024^3 bytes; rates for 1000 and so on bits per second.
Units such as 4MiB and 100Mbit are understood, too.
Exit codes: 0 there is a result, 2 bad input, 3 the environment cannot, or the other end is gone.
Ctrl-C ends the test, and the result is from what there is.";

/// Options of `fullpipe measure`.
#[derive(Debug, Args)]
#[command(help_template = TEMPLATE, after_help = CODES, before_help = "Examples:
  fullpipe measure --server              at one end; `iperf3 -s` does as well
  fullpipe measure 192.0.2.7             at the other end: 10 s from here to there
  fullpipe measure 192.0.2.7 -R -t 30    30 s from there to here
  fullpipe measure 192.0.2.7 -O 5        without the first 5 s
  fullpipe measure 192.0.2.7 -n 1G -w 4M
  fullpipe measure 192.0.2.7 -P 4 --bidir -b 100M -C bbr
  fullpipe measure 192.0.2.7 -u -b 50M   datagrams: loss, order, jitter
  fullpipe measure 192.0.2.7 -J          the JSON of iperf3, with a verdict
  fullpipe measure 192.0.2.7 --save slow   keep trace and report for `fullpipe report slow`
  fullpipe measure --server -p 5999 -1   at another port, for one test\n\n")]
pub struct MeasureArguments {
    /// Host that runs `fullpipe measure --server` or `iperf3 -s`
    #[arg(value_name = "HOST", required_unless_present = "server", conflicts_with = "server")]
    pub host: Option<String>,
    /// Wait for clients: `fullpipe measure HOST` or `iperf3 -c HOST`
    #[arg(long, short)]
    pub server: bool,
    /// Port of the server; a server with 0 takes a free one
    #[arg(long, short, value_name = "PORT", default_value_t = 5201)]
    pub port: u16,
    /// End after one client
    #[arg(long, short = '1', requires = "server")]
    pub one_off: bool,
    /// Length of the test, such as 10 or 10s; 0 has no end
    #[arg(long, short, value_name = "SECONDS", value_parser = whole_seconds, conflicts_with = "server")]
    pub time: Option<u32>,
    /// Bytes to transfer, in place of a time
    #[arg(long = "bytes", short = 'n', value_name = "SIZE", value_parser = size,
        conflicts_with_all = ["server", "time"])]
    pub num: Option<u64>,
    /// Bytes that are written at a time [default: 128K]
    #[arg(long = "length", short = 'l', value_name = "SIZE", value_parser = size, conflicts_with = "server")]
    pub len: Option<u64>,
    /// Size of both socket buffers at both ends [default: as the kernels tune them]
    #[arg(long, short, value_name = "SIZE", value_parser = size, conflicts_with = "server")]
    pub window: Option<u64>,
    /// Time from one row to the next; 0 shows one row for all
    #[arg(long, short, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub interval: Duration,
    /// Leave out the first seconds
    #[arg(long, short = 'O', value_name = "SECONDS", value_parser = whole_seconds, conflicts_with = "server")]
    pub omit: Option<u32>,
    /// The server sends
    #[arg(long, short = 'R', conflicts_with_all = ["server", "bidir"])]
    pub reverse: bool,
    /// Both ends send
    #[arg(long, conflicts_with = "server")]
    pub bidir: bool,
    /// Streams of each direction
    #[arg(long, short = 'P', value_name = "N", default_value_t = 1, conflicts_with = "server")]
    pub parallel: u32,
    /// Rate of each stream at most, such as 20M or 20Mbit; 0 is unlimited
    #[arg(long = "bitrate", short = 'b', value_name = "RATE", value_parser = bitrate, conflicts_with = "server")]
    pub bitrate: Option<u64>,
    /// Datagrams of UDP in place of TCP, at 1 Mbit/s where -b says nothing else
    #[arg(long, short, conflicts_with_all = ["server", "window", "congestion"])]
    pub udp: bool,
    /// Congestion control of the sending end
    #[arg(long, short = 'C', value_name = "NAME", conflicts_with = "server")]
    pub congestion: Option<String>,
    /// Print the result as one JSON document, in the schema of iperf3
    #[arg(long, short = 'J')]
    pub json: bool,
    /// Keep trace, document and report in this directory, which must be new or empty
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    /// Show no rows and no notes
    #[arg(long, short)]
    pub quiet: bool,
}

impl MeasureArguments {
    /// The wanted test.
    ///
    /// # Errors
    /// A value is out of its range.
    pub fn wanted(&self) -> Result<Wanted, String> {
        let len = match (self.udp, self.len) {
            (true, None) => 0,
            (true, Some(own)) => within("-l", own, LEAST_DATAGRAM, LARGEST_DATAGRAM)?,
            (false, own) => within("-l", own.unwrap_or(TCP_BLOCK.into()), 1, LARGEST_BLOCK)?,
        };
        let default = if self.udp { UDP_RATE } else { 0 };
        let omit = within("-O", self.omit.unwrap_or(0).into(), 0, LONGEST_OMIT)?;
        let time = if self.num.is_some() { 0 } else { self.time.unwrap_or(10) };
        let parameters = Parameters {
            protocol: if self.udp { Protocol::Udp } else { Protocol::Tcp },
            omit,
            time: within("-t", time.into(), 0, LONGEST_TIME)?,
            num: self.num.unwrap_or(0),
            parallel: within("-P", self.parallel.into(), 1, MOST_STREAMS)?,
            len,
            reverse: self.reverse,
            bidirectional: self.bidir,
            bandwidth: Some(self.bitrate.unwrap_or(default)).filter(|own| *own > 0),
            congestion: self.congestion.clone(),
            window: self.window,
            client_version: env!("CARGO_PKG_VERSION").into(),
            is_own: true,
            ..Parameters::default()
        };
        Ok(Wanted {
            host: self.host.clone().unwrap_or_default(),
            port: self.port,
            parameters,
            every: self.every(),
        })
    }

    /// Time from one row to the next.
    pub fn every(&self) -> Option<Duration> {
        Some(self.interval).filter(|own| !own.is_zero())
    }
}

fn within(option: &str, value: u64, from: u32, to: u32) -> Result<u32, String> {
    let fits = u32::try_from(value).ok().filter(|own| (from..=to).contains(own));
    fits.ok_or_else(|| format!("{option} {value}: {from} to {to} is possible"))
}

/// Seconds without a unit, or a time.
fn seconds(text: &str) -> Result<Duration, String> {
    const LEAST: Duration = Duration::from_millis(100);
    const MOST: f64 = 86_400.0;
    let plain = text.parse::<f64>().ok().filter(|own| (0.0..=MOST).contains(own));
    let own = match plain {
        Some(own) => Duration::from_secs_f64(own),
        None => Duration::from_nanos(quantity::time(text)?.as_ns()),
    };
    let fits = own.is_zero() || (LEAST..=Duration::from_secs_f64(MOST)).contains(&own);
    fits.then_some(own).ok_or_else(|| "0, or 0.1 to 86400 seconds".into())
}

/// Whole seconds: the other end takes no parts.
fn whole_seconds(text: &str) -> Result<u32, String> {
    const WRONG: &str = "whole seconds are expected, such as 10 or 10s";
    if text.parse::<f64>().is_ok() {
        return text.parse().map_err(|_| WRONG.into());
    }
    let own = quantity::time(text)?.as_ns();
    let whole = u32::try_from(own / 1_000_000_000).ok().filter(|_| own % 1_000_000_000 == 0);
    whole.ok_or_else(|| WRONG.into())
}

/// A size with a letter of iperf3, or a unit.
fn size(text: &str) -> Result<u64, String> {
    match lettered(text, 1024.0) {
        Some(own) => Ok(own),
        None => quantity::size(text),
    }
}

/// A rate with a letter of iperf3, or a unit; 0 is none.
fn bitrate(text: &str) -> Result<u64, String> {
    match lettered(text, 1000.0) {
        Some(own) => Ok(own),
        None if text == "0" => Ok(0),
        None => quantity::rate(text).map(|own| own.0),
    }
}

/// A number with K, M, G or T behind it, or nothing.
fn lettered(text: &str, base: f64) -> Option<u64> {
    let letter = text.chars().last()?;
    let power = match letter.to_ascii_uppercase() {
        'K' => 1,
        'M' => 2,
        'G' => 3,
        'T' => 4,
        _ => 0,
    };
    let number = if power > 0 { &text[..text.len() - 1] } else { text };
    let value = number.parse::<f64>().ok()? * base.powi(power);
    (1.0..1e18).contains(&value).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_those_of_iperf3_and_our_own() {
        assert_eq!(
            (size("4M"), size("128K"), size("1.5k")),
            (Ok(4 << 20), Ok(128 << 10), Ok(1536))
        );
        assert_eq!((size("4MiB"), size("1000")), (Ok(4 << 20), Ok(1000)));
        assert_eq!(
            (bitrate("20M"), bitrate("1Gbit"), bitrate("0")),
            (Ok(20_000_000), Ok(1_000_000_000), Ok(0))
        );
        assert!(size("-1").is_err() && size("0").is_err() && size("fast").is_err());
        assert_eq!((whole_seconds("10"), whole_seconds("2s")), (Ok(10), Ok(2)));
        assert!(whole_seconds("2.5s").is_err() && whole_seconds("1500ms").is_err());
        assert_eq!(
            (seconds("0.5"), seconds("0")),
            (Ok(Duration::from_millis(500)), Ok(Duration::ZERO))
        );
        assert!(seconds("0.01").is_err() && seconds("-1").is_err());
    }
}
