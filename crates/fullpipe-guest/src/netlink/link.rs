//! Devices.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use super::Netlink;
use super::message::{ACK, CREATE, EXCLUSIVE, Message};
use crate::error::{Context, Result};
use crate::sys;

const RTM_NEWLINK: u16 = 16;
const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_LINKINFO: u16 = 18;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const IFLA_NET_NS_FD: u16 = 28;
const IFLA_GSO_MAX_SEGS: u16 = 40;
const VETH_INFO_PEER: u16 = 1;
const IFF_UP: u32 = 1;
const ETHTOOL_SGRO: u32 = 0x2c;

/// An end of a pair.
pub struct End<'a> {
    /// Number of the device in its namespace.
    pub index: u32,
    /// Its name there.
    pub name: &'a str,
    /// Its Ethernet address.
    pub mac: [u8; 6],
}

/// `struct ifinfomsg`.
fn body(index: u32, flags: u32) -> [u8; 16] {
    let mut body = [0; 16];
    body[4..8].copy_from_slice(&index.to_ne_bytes());
    body[8..12].copy_from_slice(&flags.to_ne_bytes());
    body[12..16].copy_from_slice(&flags.to_ne_bytes());
    body
}

fn describe(message: &mut Message, end: &End<'_>, mtu: u32) {
    message.text(IFLA_IFNAME, end.name).attr(IFLA_ADDRESS, &end.mac).u32(IFLA_MTU, mtu);
}

/// The request for a pair of veth devices.
fn pair(here: &End<'_>, there: &End<'_>, namespace: RawFd, mtu: u32) -> Message {
    let mut message = Message::new(RTM_NEWLINK, ACK | CREATE | EXCLUSIVE, &body(here.index, 0));
    describe(&mut message, here, mtu);
    message.nest(IFLA_LINKINFO, &[], |info| {
        info.text(IFLA_INFO_KIND, "veth").nest(IFLA_INFO_DATA, &[], |data| {
            data.nest(VETH_INFO_PEER, &body(there.index, 0), |peer| {
                describe(peer, there, mtu);
                peer.u32(IFLA_NET_NS_FD, namespace as u32);
            });
        });
    });
    message
}

impl Netlink {
    /// Makes a pair of veth devices, one here and one in that namespace. They have no queue.
    pub fn veth(
        &mut self,
        here: &End<'_>,
        there: &End<'_>,
        namespace: &OwnedFd,
        mtu: u32,
    ) -> Result<()> {
        let mut message = pair(here, there, namespace.as_raw_fd(), mtu);
        self.ask(&mut message, &format!("veth {} to {}", here.name, there.name))
    }

    /// Switches a device on.
    pub fn up(&mut self, index: u32) -> Result<()> {
        let mut message = Message::new(RTM_NEWLINK, ACK, &body(index, IFF_UP));
        self.ask(&mut message, "switching a device on")
    }

    /// Bounds the segments of one packet that the device is given to split.
    pub fn gso_max_segs(&mut self, index: u32, segments: u32) -> Result<()> {
        let mut message = Message::new(RTM_NEWLINK, ACK, &body(index, 0));
        message.u32(IFLA_GSO_MAX_SEGS, segments);
        self.ask(&mut message, &format!("gso_max_segs {segments}"))
    }
}

/// Takes segmentation and the joining of segments off a device: packets on it are frames of one MTU, split
/// behind its qdisc.
pub fn plain_frames(any_socket: &OwnedFd, name: &str) -> Result<()> {
    const ETHTOOL_STSO: u32 = 0x1f;
    for command in [ETHTOOL_STSO, ETHTOOL_SGRO] {
        sys::ethtool(any_socket, name, command, 0)
            .at(|| format!("ethtool command {command:#x} of {name}"))?;
    }
    Ok(())
}

/// Turns GRO on for a device of the caller's namespace; a packet waits for others `wait_ns` at most.
pub fn join_received(any_socket: &OwnedFd, name: &str, wait_ns: u64) -> Result<()> {
    sys::ethtool(any_socket, name, ETHTOOL_SGRO, 1).at(|| format!("GRO of {name}"))?;
    // The entries are devices of the namespace in which it is mounted.
    sys::mount("sysfs", "/sys").at(|| "mounting /sys of a host")?;
    let file = format!("/sys/class/net/{name}/gro_flush_timeout");
    std::fs::write(&file, wait_ns.to_string()).at(|| file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_asked_for_as_the_kernel_reads_it() {
        let here = End { index: 3, name: "r", mac: [2, 0, 0, 0, 0, 1] };
        let there = End { index: 2, name: "l", mac: [2, 0, 0, 0, 0, 2] };
        let mut message = pair(&here, &there, 5, 1500);
        #[rustfmt::skip]
        let expected = [
            // Head: length, RTM_NEWLINK, REQUEST | ACK | EXCL | CREATE, sequence, port.
            136, 0, 0, 0,  16, 0,  5, 6,  1, 0, 0, 0,  0, 0, 0, 0,
            // struct ifinfomsg: family, type, index 3, flags, change.
            0, 0, 0, 0,  3, 0, 0, 0,  0, 0, 0, 0,  0, 0, 0, 0,
            // IFLA_IFNAME "r", IFLA_ADDRESS, IFLA_MTU 1500.
            6, 0, 3, 0,  b'r', 0, 0, 0,
            10, 0, 1, 0,  2, 0, 0, 0, 0, 1, 0, 0,
            8, 0, 4, 0,  0xdc, 5, 0, 0,
            // IFLA_LINKINFO { IFLA_INFO_KIND "veth", IFLA_INFO_DATA { VETH_INFO_PEER {
            76, 0, 18, 0,
            9, 0, 1, 0,  b'v', b'e', b't', b'h', 0, 0, 0, 0,
            60, 0, 2, 0,
            56, 0, 1, 0,
            // struct ifinfomsg: index 2.
            0, 0, 0, 0,  2, 0, 0, 0,  0, 0, 0, 0,  0, 0, 0, 0,
            // IFLA_IFNAME "l", IFLA_ADDRESS, IFLA_MTU 1500, IFLA_NET_NS_FD 5 } } }
            6, 0, 3, 0,  b'l', 0, 0, 0,
            10, 0, 1, 0,  2, 0, 0, 0, 0, 2, 0, 0,
            8, 0, 4, 0,  0xdc, 5, 0, 0,
            8, 0, 28, 0,  5, 0, 0, 0,
        ];
        if cfg!(target_endian = "little") {
            assert_eq!(message.finish(1), expected);
        }
    }
}
