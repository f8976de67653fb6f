//! Choice of live connections, which `diagnose` and `watch` share.

use clap::Args;
use fullpipe::observation::{Party, Selection};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

/// The wanted connections. Without any condition all are.
#[derive(Debug, Args)]
pub struct Choice {
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
}

/// Addresses of a host, and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    addresses: Vec<IpAddr>,
    port: Option<u16>,
}

/// Reads "192.0.2.7", "[2001:db8::1]:443", "example.org:443".
pub fn destination(text: &str) -> Result<Destination, String> {
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
pub fn end(word: &str) -> Option<Party> {
    if Path::new(word).exists() {
        return None;
    }
    let plain = word.trim_start_matches('[').trim_end_matches(']');
    let address: Option<IpAddr> = plain.parse().ok();
    let exactly: Option<SocketAddr> = word.parse().ok();
    let party = address.map(|own| Party::of(vec![own], None));
    party.or_else(|| exactly.map(|own| Party::of(vec![own.ip()], Some(own.port()))))
}

impl Choice {
    /// Checks the words that name ends.
    ///
    /// # Errors
    /// They are too many, or come with a condition of their own.
    pub fn check(&self, ends: &[String]) -> Result<(), String> {
        if ends.len() > 2 {
            return Err(
                "a connection has two ends: own address and port, then the other one's".into()
            );
        }
        match !ends.is_empty() && (self.port.is_some() || self.dst.is_some()) {
            true => Err("the ends are named, so --port and --dst say nothing more".into()),
            false => Ok(()),
        }
    }

    /// The wanted connections, without those of a process. One word names the other end, two name the own end first.
    pub fn selection(&self, ends: &[String]) -> Selection {
        let there = self.dst.clone().map(|own| Party::of(own.addresses, own.port));
        let [here, other] = match ends {
            [there] => [None, end(there)],
            [here, there] => [end(here), end(there)],
            _ => [None, None],
        };
        Selection {
            inodes: None,
            port: self.port,
            here: here.unwrap_or_default(),
            there: there.or(other).unwrap_or_default(),
        }
    }

    /// The wanted connections in words.
    pub fn sought(&self, ends: &[String]) -> String {
        let mut words = vec!["connection".to_string()];
        words.extend(self.pid.map(|pid| format!("of process {pid}")));
        words.extend(self.port.map(|port| format!("with port {port}")));
        match ends {
            [there] => words.push(format!("to {there}")),
            [here, there] => words.push(format!("from {here} to {there}")),
            _ => {}
        }
        if let Some(own) = &self.dst {
            let all: Vec<String> = own.addresses.iter().map(IpAddr::to_string).collect();
            let port = own.port.map(|port| format!(" port {port}")).unwrap_or_default();
            words.push(format!("to {}{port}", all.join(" or ")));
        }
        words.extend(self.netns.as_ref().map(|file| format!("in {}", file.display())));
        words.join(" ")
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
