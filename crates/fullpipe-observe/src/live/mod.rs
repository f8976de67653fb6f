//! Live connections as a trace: chosen among those of a host, followed for some time, written as rows.
//!
//! A connection makes two flows, one for each direction. Columns of the other host's sockets stay 0, but for bytes
//! delivered: those that the sender knows as acknowledged. Counters begin at 0 with the observation.

mod board;
mod choice;
mod pace;
mod replay;
mod rows;
mod sampler;
mod watcher;

pub use board::{Board, Cookie, Entry, Figures, Look, Room};
pub use choice::{Party, Seen, Selection, survey};
pub use pace::{Lateness, Pace};
pub use replay::replay;
pub use sampler::{Followed, Gone, follow};
pub use watcher::{Wanted, Watcher};

use crate::device::Devices;
use crate::process::Process;
use crate::qdisc::Qdisc;
pub use crate::sockets::Connection;
use crate::sysctls::Sysctls;
use fullpipe_base::units::Time;
use std::net::IpAddr;
use std::time::Duration;

/// Name of the observed host in a trace.
pub const HOST: &str = "this host";
/// Owner of counters about the observation itself.
pub const OBSERVER: &str = "observer";

/// Manner of an observation.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// Time from one look to the next.
    pub every: Duration,
    /// Length of the observation.
    pub lasts: Duration,
    /// Whether the sending programs are known to have more to write at all times.
    pub always_writes: bool,
}

/// A connection that was followed.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The connection at the first look.
    pub first: Connection,
    /// The connection at the last look.
    pub last: Connection,
    /// The process that has it, where the caller may look at it.
    pub process: Option<Process>,
    /// Moment at which it was found closed.
    pub closed: Option<Time>,
    /// Bytes that the program asked for with SO_SNDBUF, as far as the looks show it.
    pub sndbuf: Option<u64>,
}

/// Settings of the observed host.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// Settings of TCP.
    pub sysctls: Sysctls,
    /// Device towards the first subject: its largest packet, and its name.
    pub device: Option<crate::device::Device>,
    /// Root qdisc of that device at the first look.
    pub qdisc: Option<Qdisc>,
}

impl Host {
    /// Settings of the calling thread's namespace, with the device towards an address.
    pub fn here(peer: IpAddr) -> Host {
        Host::towards(peer, Devices::open().ok().as_mut())
    }

    /// Settings, with what these devices show.
    fn towards(peer: IpAddr, devices: Option<&mut Devices>) -> Host {
        let mut host = Host { sysctls: Sysctls::now(), ..Host::default() };
        if let Some(devices) = devices {
            host.device = devices.towards(peer).ok().flatten();
            let index = host.device.as_ref().map(|own| own.index);
            host.qdisc = index.and_then(|index| devices.qdisc(index).ok().flatten());
        }
        host
    }
}
