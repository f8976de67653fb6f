//! The device through which a host reaches an address, and the counters of its queue.

use crate::diag;
use crate::message::{HEAD, Message, attributes, kind};
use crate::netlink::Netlink;
use crate::qdisc::{Counted, Qdisc};
use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::Path;

// include/uapi/linux/rtnetlink.h
const RTM_NEWLINK: u16 = 16;
const RTM_GETLINK: u16 = 18;
const RTM_NEWROUTE: u16 = 24;
const RTM_GETROUTE: u16 = 26;
const RTM_GETQDISC: u16 = 38;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
/// Bytes of `struct rtmsg`, `struct ifinfomsg` and `struct tcmsg`.
const ROUTE: usize = 12;
const LINK: usize = 16;
const TCMSG: usize = 20;
/// Wants all objects.
const DUMP: u16 = crate::message::DUMP;
/// Type of the message that ends a dump.
const DONE: u16 = 3;

/// A device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Number in its namespace.
    pub index: u32,
    /// Name.
    pub name: String,
    /// Largest IP packet, bytes.
    pub mtu: u32,
    /// Rate of its link, Mb/s; none of a virtual device, which hands packets on at once, and where it is not seen.
    pub speed: Option<u64>,
}

/// Directory of all devices (sysfs).
const CLASS: &str = "/sys/class/net";

/// Rate of a card's link, Mb/s. A card has a bus (`device`), which virtual devices lack; they have a speed all the same.
///
/// sysfs may be that of another namespace, so number and name have to agree.
fn speed(class: &Path, index: u32, name: &str) -> Option<u64> {
    let device = class.join(name);
    let number = |file: &str| -> Option<u64> {
        fs::read_to_string(device.join(file)).ok()?.trim().parse().ok()
    };
    let is_it = number("ifindex") == Some(index.into()) && device.join("device").exists();
    is_it.then(|| number("speed")).flatten().filter(|speed| *speed > 0)
}

/// Questions about the devices of a namespace.
pub struct Devices {
    netlink: Netlink,
}

impl Devices {
    /// The devices of the calling thread's namespace.
    ///
    /// # Errors
    /// The socket cannot be opened.
    pub fn open() -> io::Result<Devices> {
        Ok(Devices { netlink: Netlink::of_devices()? })
    }

    /// The device through which packets to an address leave; none where there is no route.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn towards(&mut self, address: IpAddr) -> io::Result<Option<Device>> {
        let route = |number: u32| {
            let (family, bytes) = match address {
                IpAddr::V4(ip) => (libc::AF_INET, ip.octets().to_vec()),
                IpAddr::V6(ip) => (libc::AF_INET6, ip.octets().to_vec()),
            };
            let mut body = [0; ROUTE];
            (body[0], body[1]) = (family as u8, (8 * bytes.len()) as u8);
            Message::new(RTM_GETROUTE, 0, &body).attr(RTA_DST, &bytes).finish(number).to_vec()
        };
        let answer = self.exchange(route, RTM_NEWROUTE)?;
        let device = answer.as_deref().and_then(|body| {
            let value = attribute(body.get(ROUTE..)?, RTA_OIF)?;
            Some(u32::from_ne_bytes(value.try_into().ok()?))
        });
        device.map_or(Ok(None), |index| self.device(index))
    }

    /// The device of this number.
    fn device(&mut self, index: u32) -> io::Result<Option<Device>> {
        let link = |number: u32| {
            let mut body = [0; LINK];
            body[4..8].copy_from_slice(&index.to_ne_bytes());
            Message::new(RTM_GETLINK, 0, &body).finish(number).to_vec()
        };
        let answer = self.exchange(link, RTM_NEWLINK)?;
        Ok(answer.as_deref().and_then(|body| {
            let about = body.get(LINK..)?;
            let name = attribute(about, IFLA_IFNAME)?.split(|byte| *byte == 0).next()?;
            let mtu = attribute(about, IFLA_MTU)?;
            let name = String::from_utf8_lossy(name).to_string();
            let speed = speed(Path::new(CLASS), index, &name);
            Some(Device { index, name, mtu: u32::from_ne_bytes(mtu.try_into().ok()?), speed })
        }))
    }

    /// The root qdisc of a device, and its counters; none where it has none.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn qdisc(&mut self, device: u32) -> io::Result<Option<Qdisc>> {
        let number = self.netlink.ask(|number| {
            let mut body = [0; TCMSG];
            body[4..8].copy_from_slice(&device.to_ne_bytes());
            Message::new(RTM_GETQDISC, DUMP, &body).finish(number).to_vec()
        })?;
        let mut found: Option<Qdisc> = None;
        loop {
            let bytes = self.netlink.read()?;
            for message in diag::messages(bytes).filter(|own| is_of(own, number)) {
                match Qdisc::read(message) {
                    Some(own) if own.device == device && own.is_root() => found = Some(own),
                    _ if kind(message) == Some(DONE) => return Ok(found),
                    _ if is_error(message) => return Ok(None),
                    _ => {}
                }
            }
        }
    }

    /// Body of the answer of that type; none where the kernel refuses the question.
    fn exchange(
        &mut self,
        make: impl FnOnce(u32) -> Vec<u8>,
        wanted: u16,
    ) -> io::Result<Option<Vec<u8>>> {
        let number = self.netlink.ask(make)?;
        loop {
            let bytes = self.netlink.read()?;
            for message in diag::messages(bytes).filter(|own| is_of(own, number)) {
                if kind(message) == Some(wanted) {
                    return Ok(message.get(HEAD..).map(<[u8]>::to_vec));
                }
                if is_error(message) {
                    return Ok(None);
                }
            }
        }
    }
}

/// Counters of a queue since those of an earlier look.
pub fn since(now: Counted, first: Counted) -> Counted {
    Counted {
        packets: now.packets.saturating_sub(first.packets),
        bytes: now.bytes.saturating_sub(first.bytes),
        drops: now.drops.saturating_sub(first.drops),
        marks: now.marks.saturating_sub(first.marks),
        requeues: now.requeues.saturating_sub(first.requeues),
        ..now
    }
}

fn is_of(message: &[u8], number: u32) -> bool {
    crate::message::sequence(message) == Some(number)
}

fn is_error(message: &[u8]) -> bool {
    crate::message::Answer::from_bytes(message).is_some()
}

fn attribute(bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    attributes(bytes).find(|(kind, _)| *kind == wanted).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_leads_to_itself() {
        let mut devices = Devices::open().expect("a socket");
        let own = devices.towards("127.0.0.1".parse().expect("an address")).expect("an answer");
        let own = own.expect("a route");
        assert_eq!(own.name, "lo");
        assert!(own.mtu >= 1500, "{own:?}");
        assert!(devices.qdisc(own.index).is_ok());
        assert_eq!(devices.qdisc(1 << 30).expect("an answer"), None);
    }
}
