//! Network namespaces.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::thread::{self, JoinHandle};

use rustix::net::SocketType;

use crate::error::{Context, Result};
use crate::netlink::Netlink;
use crate::{run, sys};

/// A network namespace, and the means to set it up.
pub struct Namespace {
    /// Descriptor by which a thread enters it.
    pub fd: OwnedFd,
    /// Its settings.
    pub netlink: Netlink,
    /// A socket of no use but to name the namespace to ethtool.
    pub any: OwnedFd,
}

/// Threads call the kernel and little else.
pub const STACK: usize = 128 << 10;
/// Number of the first namespace's netlink socket.
const FIRST_SOCKET: u32 = 1000;
/// Number of the loopback device.
const LOOPBACK: u32 = 1;

impl Namespace {
    /// Makes one and enters it. `number` is its place on the path.
    pub fn make(number: usize) -> Result<Namespace> {
        sys::unshare_net().at(|| "a network namespace")?;
        let fd = File::open("/proc/thread-self/ns/net").at(|| "/proc/thread-self/ns/net")?;
        let mut netlink = Netlink::open(FIRST_SOCKET + number as u32)?;

        // A host that refuses an own packet says so to itself (ICMP); nfsd registers with rpcbind.
        netlink.up(LOOPBACK)?;
        let any = sys::socket(SocketType::DGRAM).at(|| "socket")?;
        Ok(Namespace { fd: fd.into(), netlink, any })
    }

    /// Takes the calling thread there.
    pub fn enter(&self) -> Result<()> {
        enter(&self.fd)
    }
}

/// Starts a thread in a namespace; if it fails, the run fails with the name `what`.
pub fn spawn(
    what: String,
    namespace: &OwnedFd,
    body: impl FnOnce() -> Result<()> + Send + 'static,
) -> Result<JoinHandle<()>> {
    let namespace = namespace.try_clone().at(|| what.clone())?;
    let name = what.clone();
    thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || {
            if let Err(error) = enter(&namespace).and_then(|()| body()) {
                run::fail(&error.of(&name));
            }
        })
        .at(|| what)
}

/// Takes the calling thread to a namespace.
fn enter(namespace: &OwnedFd) -> Result<()> {
    sys::enter_net(namespace).at(|| "entering a network namespace")
}
