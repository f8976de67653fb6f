//! Choice of connections: by process, port, address, or as the busiest ones.

use crate::process::{self, Process};
use crate::sockets::{Connection, Sockets};
use crate::unable::Unable;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::thread::sleep;
use std::time::Duration;

/// Time between the two looks that tell busy connections from idle ones.
const APART: Duration = Duration::from_millis(300);

/// An end of a connection, as far as it matters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Party {
    /// Addresses, one of which it has; none: any.
    addresses: Vec<IpAddr>,
    /// Port; none: any.
    port: Option<u16>,
}

impl Party {
    /// An end with one of these addresses, or any, and this port, or any.
    pub fn of(addresses: Vec<IpAddr>, port: Option<u16>) -> Party {
        Party { addresses: addresses.iter().map(IpAddr::to_canonical).collect(), port }
    }

    /// Whether an end is such a one.
    fn fits(&self, end: SocketAddr) -> bool {
        (self.addresses.is_empty() || self.addresses.contains(&end.ip()))
            && self.port.is_none_or(|port| port == end.port())
    }
}

/// The wanted connections. Without any condition all fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Inodes of the sockets.
    pub inodes: Option<BTreeSet<u32>>,
    /// Port of either end.
    pub port: Option<u16>,
    /// Own end.
    pub here: Party,
    /// The other end.
    pub there: Party,
}

impl Selection {
    /// Whether a connection is wanted.
    pub fn fits(&self, own: &Connection) -> bool {
        let is_owned = self.inodes.as_ref().is_none_or(|all| all.contains(&own.inode));
        is_owned && self.fits_ends(own.here, own.there)
    }

    /// Whether a connection between these ends is wanted, whoever owns its socket.
    pub fn fits_ends(&self, here: SocketAddr, there: SocketAddr) -> bool {
        self.port.is_none_or(|port| [here.port(), there.port()].contains(&port))
            && self.here.fits(here)
            && self.there.fits(there)
    }
}

/// A connection of the survey.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The connection.
    pub own: Connection,
    /// Whether it is wanted.
    pub fits: bool,
    /// Bits per second in the time between the two looks, of both directions.
    pub rate: f64,
    /// Whether this end has sent most of them.
    pub sends: bool,
    /// The process that has it, where the caller may look at it.
    pub process: Option<Process>,
}

impl Seen {
    /// Rank among others. A sending end ranks before the receiving end of the same data: it sees more causes.
    pub fn weight(&self) -> f64 {
        if self.sends { 2.0 * self.rate } else { self.rate }
    }
}

/// All connections of the namespace, the busiest one first. Of idle ones those with data that waits are first.
///
/// Where both ends of a connection fit, only the sending one is left.
///
/// # Errors
/// The kernel does not show its sockets.
pub fn survey(sockets: &mut Sockets, selection: &Selection) -> Result<Vec<Seen>, Unable> {
    let first = sockets.all()?;
    let before: BTreeMap<[u8; 8], [u64; 2]> =
        first.iter().map(|own| (own.cookie, bytes(own))).collect();
    sleep(APART);
    let all = sockets.all()?;

    // Connections that were not there before have carried all their bytes since.
    let mut seen: Vec<Seen> = all
        .into_iter()
        .map(|own| {
            let first = before.get(&own.cookie).copied().unwrap_or_default();
            let now = bytes(&own);
            let [sent, received] = [0, 1].map(|at| now[at].saturating_sub(first[at]));
            let rate = (sent + received) as f64 * 8.0 / APART.as_secs_f64();
            let fits = selection.fits(&own);
            Seen { own, fits, rate, sends: sent > received, process: None }
        })
        .collect();

    let sending: BTreeSet<[SocketAddr; 2]> = seen
        .iter()
        .filter(|own| own.fits && own.sends)
        .map(|own| [own.own.here, own.own.there])
        .collect();
    for own in seen.iter_mut().filter(|own| !own.sends) {
        own.fits &= !sending.contains(&[own.own.there, own.own.here]);
    }
    let waiting = |own: &Seen| own.own.info.unacked > 0 || own.own.info.notsent_bytes > 0;
    seen.sort_by(|a, b| {
        let by_rate = b.weight().total_cmp(&a.weight());
        by_rate.then(waiting(b).cmp(&waiting(a))).then(bytes(&b.own).cmp(&bytes(&a.own)))
    });
    Ok(seen)
}

/// Bytes sent and acknowledged, and bytes received.
fn bytes(own: &Connection) -> [u64; 2] {
    [own.info.bytes_acked, own.info.bytes_received]
}

/// Most connections whose processes are looked for.
const NAMED: usize = 64;

/// Names the processes of the first connections.
pub(super) fn name(seen: &mut [Seen]) {
    let first = || seen.iter().take(NAMED).map(|own| own.own.inode).filter(|inode| *inode > 0);
    let mut owners = process::owners(&first().collect());
    for own in seen.iter_mut().take(NAMED) {
        own.process = owners.remove(&own.own.inode);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp_info::TcpInfo;

    fn connection(here: &str, there: &str) -> Connection {
        Connection {
            here: here.parse().expect("an address"),
            there: there.parse().expect("an address"),
            cookie: [1; 8],
            inode: 7,
            congestion: "cubic".into(),
            info: TcpInfo::default(),
        }
    }

    #[test]
    fn a_connection_fits_by_port_address_and_inode() {
        let own = connection("10.0.0.1:4000", "10.0.0.2:5001");
        let mapped = Party::of(vec!["::ffff:10.0.0.2".parse().expect("an address")], None);
        let other = Party::of(Vec::new(), Some(4000));
        let fits = [
            Selection::default(),
            Selection { port: Some(4000), ..Selection::default() },
            Selection { port: Some(5001), ..Selection::default() },
            Selection { there: mapped.clone(), ..Selection::default() },
            Selection { here: other.clone(), ..Selection::default() },
            Selection { inodes: Some([7].into()), ..Selection::default() },
        ];
        assert!(fits.iter().all(|selection| selection.fits(&own)));
        let not = [
            Selection { port: Some(1), ..Selection::default() },
            Selection { there: other, ..Selection::default() },
            Selection { here: mapped, ..Selection::default() },
            Selection { inodes: Some(BTreeSet::new()), ..Selection::default() },
        ];
        assert!(!not.iter().any(|selection| selection.fits(&own)));
    }
}
