//! Arguments of `fullpipe diagnose`.

use crate::args::TEMPLATE;
use crate::quantity;
use clap::Args;
use fullpipe::base::units::{Rate, Time};
use fullpipe::observation::{Party, Selection};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

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
  fullpipe diagnose iperf.json nstat.txt         texts of somebody else, one verdict from all
  iperf3 -c 192.0.2.7 | fullpipe diagnose -      the output of a measurement
  fullpipe diagnose ss.txt --every 100ms         looks that `ss -tinm` has printed
  fullpipe diagnose --port 5201 --with slow      with what the other end has kept
  fullpipe diagnose --dst 192.0.2.7 --advise --rate 1Gbit   what to set, proved on a twin of the connection\n\n")]
pub struct DiagnoseArguments {
    /// Files with texts that somebody has pasted (- is standard input): `ss -tin` once or again and again, iperf3 with or
    /// without -J, nuttcp, nstat, netstat -s, `tc -s qdisc`, `ethtool -S`, `ethtool -g`. Or the other end of a connection; or
    /// both ends: own address and port, then those of the other host
    #[arg(value_name = "FILE|ENDS", num_args = 0..)]
    pub what: Vec<String>,
    /// Time between two looks at sockets in a file
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = quantity::time)]
    pub every: Time,
    /// Connections of this process, also in another network namespace (as root)
    #[arg(long, value_name = "PID")]
    pub pid: Option<u32>,
    /// Connections with this port at either end
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// Connections to this host, and to that port of it
    #[arg(long, value_name = "HOST[:PORT]", value_parser = destination)]
    pub dst: Option<Destination>,
    /// Look at the network namespace of this file, such as /run/netns/NAME (as root)
    #[arg(long, value_name = "FILE", conflicts_with = "pid")]
    pub netns: Option<PathBuf>,
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
    /// Show no progress and no notes
    #[arg(long, short)]
    pub quiet: bool,
}

/// Addresses of a host, and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    addresses: Vec<IpAddr>,
    port: Option<u16>,
}

/// Shortest observation: below some looks nothing can be told.
const SHORTEST: Time = Time::ms(500);

/// Reads the length of an observation.
fn length(text: &str) -> Result<Time, String> {
    let time = quantity::time(text)?;
    let long = time >= SHORTEST;
    long.then_some(time).ok_or_else(|| format!("at least {} ms", SHORTEST.as_us() / 1000))
}

/// Reads "192.0.2.7", "[2001:db8::1]:443", "example.org:443".
fn destination(text: &str) -> Result<Destination, String> {
    let plain = text.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = plain.parse() {
        return Ok(Destination { addresses: vec![address], port: None });
    }
    if let Ok(end) = text.parse::<SocketAddr>() {
        return Ok(Destination { addresses: vec![end.ip()], port: Some(end.port()) });
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => {
            let port = port.parse().map_err(|_| format!("{port:?} is no port"))?;
            (host, Some(port))
        }
        None => (text, None),
    };
    let found = (host, port.unwrap_or(0)).to_socket_addrs().map_err(|why| why.to_string())?;
    Ok(Destination { addresses: found.map(|own| own.ip()).collect(), port })
}

/// An end, such as "10.0.0.1:443" or "10.0.0.1"; none where the word is the name of a file that exists.
fn end(word: &str) -> Option<Party> {
    if Path::new(word).exists() {
        return None;
    }
    let plain = word.trim_start_matches('[').trim_end_matches(']');
    let address: Option<IpAddr> = plain.parse().ok();
    let exactly: Option<SocketAddr> = word.parse().ok();
    let party = address.map(|own| Party::of(vec![own], None));
    party.or_else(|| exactly.map(|own| Party::of(vec![own.ip()], Some(own.port()))))
}

impl DiagnoseArguments {
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
        if ends > 2 {
            return Err(
                "a connection has two ends: own address and port, then the other one's".into()
            );
        }
        match self.port.is_some() || self.dst.is_some() {
            true => Err("the ends are named, so --port and --dst say nothing more".into()),
            false => Ok(()),
        }
    }

    /// The files with texts, where some are named.
    pub fn files(&self) -> Vec<PathBuf> {
        let is_end = self.what.iter().any(|word| end(word).is_some());
        if is_end { Vec::new() } else { self.what.iter().map(PathBuf::from).collect() }
    }

    /// Own end and the other one, as far as they are named.
    fn ends(&self) -> [Option<Party>; 2] {
        match &self.what[..] {
            [there] => [None, end(there)],
            [here, there] => [end(here), end(there)],
            _ => [None, None],
        }
    }

    /// The wanted connections, without those of a process.
    pub fn selection(&self) -> Selection {
        let there = self.dst.clone().map(|own| Party::of(own.addresses, own.port));
        let [here, other] = self.ends();
        Selection {
            inodes: None,
            port: self.port,
            here: here.unwrap_or_default(),
            there: there.or(other).unwrap_or_default(),
        }
    }

    /// The wanted connections in words.
    pub fn sought(&self) -> String {
        let mut words = Vec::new();
        words.extend(self.pid.map(|pid| format!("of process {pid}")));
        words.extend(self.port.map(|port| format!("with port {port}")));
        if self.files().is_empty() {
            match &self.what[..] {
                [there] => words.push(format!("to {there}")),
                [here, there] => words.push(format!("from {here} to {there}")),
                _ => {}
            }
        }
        if let Some(own) = &self.dst {
            let all: Vec<String> = own.addresses.iter().map(IpAddr::to_string).collect();
            let port = own.port.map(|port| format!(" port {port}")).unwrap_or_default();
            words.push(format!("to {}{port}", all.join(" or ")));
        }
        words.extend(self.netns.as_ref().map(|file| format!("in {}", file.display())));
        ["connection".to_string()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_are_addresses_with_or_without_a_port() {
        let of = |text: &str| {
            let own = destination(text).map_err(|_| ())?;
            Ok((own.addresses[0].to_string(), own.port))
        };
        assert_eq!(of("192.0.2.7"), Ok(("192.0.2.7".into(), None)));
        assert_eq!(of("192.0.2.7:443"), Ok(("192.0.2.7".into(), Some(443))));
        assert_eq!(of("2001:db8::1"), Ok(("2001:db8::1".into(), None)));
        assert_eq!(of("[2001:db8::1]"), Ok(("2001:db8::1".into(), None)));
        assert_eq!(of("[2001:db8::1]:22"), Ok(("2001:db8::1".into(), Some(22))));
        assert_eq!(of("192.0.2.7:http"), Err(()));
    }
}
