//! The kernel's network settings, by rtnetlink.

pub mod diag;
pub mod filter;
pub mod link;
pub mod qdisc;
pub mod queue;
pub mod route;

pub use fullpipe_observe::message;

use std::io;
use std::os::fd::OwnedFd;

use crate::error::{Context, Error, Result};
use crate::sys;
use message::{Answer, Message};

/// A socket of one network namespace.
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

const SOL_NETLINK: i32 = 270;
const NETLINK_CAP_ACK: i32 = 10;
const NETLINK_EXT_ACK: i32 = 11;

/// Socket of NETLINK_ROUTE. Its answers name the error and leave the request out.
fn open(number: u32) -> io::Result<OwnedFd> {
    // NETLINK_ROUTE is the protocol 0.
    let socket = sys::netlink_socket(None, number)?;
    sys::set_number(&socket, SOL_NETLINK, NETLINK_CAP_ACK, 1)?;
    sys::set_number(&socket, SOL_NETLINK, NETLINK_EXT_ACK, 1)?;
    Ok(socket)
}

impl Netlink {
    /// In the caller's namespace. The caller gives the number, so that it is the same in each run: the kernel writes it
    /// into its answers.
    pub fn open(number: u32) -> Result<Netlink> {
        Ok(Netlink { socket: open(number).at(|| "netlink socket")?, sequence: 0 })
    }

    /// Sends a request that wants an [`message::ACK`] and waits for that.
    pub fn ask(&mut self, message: &mut Message, what: &str) -> Result<()> {
        self.sequence += 1;
        sys::send(&self.socket, message.finish(self.sequence)).at(|| what)?;
        let mut bytes = [0; 4096];
        let len = sys::receive(&self.socket, &mut bytes).at(|| what)?;
        let answer = Answer::from_bytes(&bytes[..len])
            .ok_or_else(|| Error::new(what, "an answer of another kind"))?;
        if answer.errno == 0 {
            return Ok(());
        }
        let error = io::Error::from_raw_os_error(answer.errno);
        let words = answer.words.map(|words| format!(" ({words})")).unwrap_or_default();
        Err(Error::new(what, format!("{error}{words}")))
    }

    /// For requests without an ACK.
    pub fn socket(&self) -> &OwnedFd {
        &self.socket
    }
}
