//! Addresses, routes and neighbours.

use std::net::Ipv4Addr;

use super::Netlink;
use super::message::{ACK, CREATE, EXCLUSIVE, Message};
use crate::error::Result;

const AF_INET: u8 = 2;

/// A network of IPv4: its first address and the bits that all of its addresses share.
#[derive(Clone, Copy, Debug)]
pub struct Network(pub Ipv4Addr, pub u8);

/// Metrics of a route.
#[derive(Clone, Copy, Debug, Default)]
pub struct Metrics {
    /// First cwnd of TCP, packets.
    pub initcwnd: Option<u32>,
    /// Largest IP packet, bytes. A router answers "fragmentation needed" to larger ones (`ip_forward`).
    pub mtu: Option<u32>,
}

impl Metrics {
    /// Numbers and values of those that are set.
    fn set(self) -> impl Iterator<Item = (u16, u32)> {
        const RTAX_MTU: u16 = 2;
        const RTAX_INITCWND: u16 = 11;
        let all = [(RTAX_MTU, self.mtu), (RTAX_INITCWND, self.initcwnd)];
        all.into_iter().filter_map(|(number, value)| Some((number, value?)))
    }
}

impl Netlink {
    /// Gives a device an address.
    pub fn address(&mut self, device: u32, ip: Ipv4Addr, bits: u8) -> Result<()> {
        const RTM_NEWADDR: u16 = 20;
        const IFA_ADDRESS: u16 = 1;
        const IFA_LOCAL: u16 = 2;
        let mut body = [AF_INET, bits, 0, 0, 0, 0, 0, 0];
        body[4..].copy_from_slice(&device.to_ne_bytes());
        let mut message = Message::new(RTM_NEWADDR, ACK | CREATE | EXCLUSIVE, &body);
        message.attr(IFA_LOCAL, &ip.octets()).attr(IFA_ADDRESS, &ip.octets());
        self.ask(&mut message, &format!("address {ip}"))
    }

    /// Sends what is for that network through that neighbour.
    pub fn route(&mut self, to: Network, through: Ipv4Addr, metrics: Metrics) -> Result<()> {
        const RTM_NEWROUTE: u16 = 24;
        const RTA_DST: u16 = 1;
        const RTA_GATEWAY: u16 = 5;
        const RTA_METRICS: u16 = 8;
        const TABLE_MAIN: u8 = 254;
        const BY_ADMINISTRATOR: u8 = 4;
        const UNICAST: u8 = 1;
        let Network(first, bits) = to;

        // The fields of struct rtmsg, in their order.
        let body = [AF_INET, bits, 0, 0, TABLE_MAIN, BY_ADMINISTRATOR, 0, UNICAST, 0, 0, 0, 0];
        let mut message = Message::new(RTM_NEWROUTE, ACK | CREATE | EXCLUSIVE, &body);
        message.attr(RTA_DST, &first.octets()).attr(RTA_GATEWAY, &through.octets());
        if metrics.set().next().is_some() {
            message.nest(RTA_METRICS, &[], |nest| {
                metrics.set().for_each(|(number, value)| _ = nest.u32(number, value));
            });
        }
        self.ask(&mut message, &format!("route to {first}/{bits} through {through}"))
    }

    /// Sets the Ethernet address of a neighbour permanently, so that no ARP is needed.
    pub fn neighbour(&mut self, device: u32, ip: Ipv4Addr, mac: [u8; 6]) -> Result<()> {
        const RTM_NEWNEIGH: u16 = 28;
        const NDA_DST: u16 = 1;
        const NDA_LLADDR: u16 = 2;
        const NUD_PERMANENT: u8 = 0x80;
        let mut body = [AF_INET, 0, 0, 0, 0, 0, 0, 0, NUD_PERMANENT, 0, 0, 0];
        body[4..8].copy_from_slice(&device.to_ne_bytes());
        let mut message = Message::new(RTM_NEWNEIGH, ACK | CREATE | EXCLUSIVE, &body);
        message.attr(NDA_DST, &ip.octets()).attr(NDA_LLADDR, &mac);
        self.ask(&mut message, &format!("neighbour {ip}"))
    }
}
