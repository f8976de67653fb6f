//! Headers around IP, and IP itself, as far as the segment of TCP in it.
//!
//! Sources: tcpdump.org/linktypes.html; IEEE 802.1Q; RFC 2516 (PPPoE), 3032 (MPLS), 791, 8200.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// LINKTYPE_ values.
mod link {
    pub const NULL: u16 = 0;
    pub const ETHERNET: u16 = 1;
    pub const PPP: u16 = 9;
    pub const FDDI: u16 = 10;
    pub const RAW_OLD: [u16; 2] = [12, 14];
    pub const RAW: u16 = 101;
    pub const LOOP: u16 = 108;
    pub const LINUX_SLL: u16 = 113;
    pub const IPV4: u16 = 228;
    pub const IPV6: u16 = 229;
    pub const LINUX_SLL2: u16 = 276;
}

/// Types of frames (EtherType).
mod ether {
    pub const IPV4: u16 = 0x0800;
    pub const VLAN: [u16; 3] = [0x8100, 0x88A8, 0x9100];
    pub const IPV6: u16 = 0x86DD;
    pub const MPLS: u16 = 0x8847;
    pub const PPPOE: u16 = 0x8864;
}

/// Protocols above IP.
const TCP: u8 = 6;
const IP_IN_IP: u8 = 4;
const IPV6_IN_IP: u8 = 41;
/// Headers of one kind within another; more are damage.
const DEEPEST: usize = 8;

/// Links whose frames are read.
pub const LINKS: &str = "Ethernet, Linux cooked (SLL, SLL2), raw IP, loopback, PPP, FDDI";

/// An IP packet with a segment of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Sender and receiver.
    pub hosts: [IpAddr; 2],
    /// Identification of IPv4.
    pub id: Option<u16>,
    /// TTL or hop limit.
    pub ttl: u8,
    /// Codepoint of ECN (0 to 3).
    pub ecn: u8,
    /// Tags of VLANs and labels around it, mixed into one number: packets of two networks are apart.
    pub network: u32,
    /// Header and data of TCP, as far as they were kept.
    pub tcp: &'a [u8],
    /// Length of header and data on the link, bytes.
    pub length: u32,
}

/// Whether frames of this link are read.
pub fn knows(link: u16) -> bool {
    matches!(
        link,
        link::NULL
            | link::ETHERNET
            | link::PPP
            | link::FDDI
            | link::RAW
            | link::LOOP
            | link::LINUX_SLL
            | link::IPV4
            | link::IPV6
            | link::LINUX_SLL2
    ) || link::RAW_OLD.contains(&link)
}

/// Number of the interface that saw a frame, where the link's own header has it; else `other`.
pub fn interface(link: u16, bytes: &[u8], other: u32) -> u32 {
    let own = bytes.get(4..8).filter(|_| link == link::LINUX_SLL2);
    own.and_then(|own| own.try_into().ok()).map_or(other, u32::from_be_bytes)
}

/// The packet of TCP in a frame of `length` bytes; none where there is another one, or too little was kept.
pub fn packet(link: u16, bytes: &[u8], length: u32) -> Option<Packet<'_>> {
    let around = Around { network: 0, depth: 0 };
    let rest = |at: usize| Some((bytes.get(at..)?, length.saturating_sub(at as u32)));
    match link {
        link::ETHERNET => {
            let (inner, length) = rest(14)?;
            frame(word(bytes, 12)?, inner, length, around)
        }
        link::FDDI => {
            // Frame control, two addresses, and LLC with SNAP.
            let (inner, length) = rest(21)?;
            frame(word(bytes, 19)?, inner, length, around)
        }
        link::LINUX_SLL => {
            let (inner, length) = rest(16)?;
            frame(word(bytes, 14)?, inner, length, around)
        }
        link::LINUX_SLL2 => {
            let (inner, length) = rest(20)?;
            frame(word(bytes, 0)?, inner, length, around)
        }
        link::NULL | link::LOOP => {
            let (inner, length) = rest(4)?;
            by_version(inner, length, around)
        }
        link::PPP => {
            // The address and control bytes may be left out (RFC 1662).
            let at = if bytes.starts_with(&[0xFF, 0x03]) { 2 } else { 0 };
            let (inner, length) = rest(at + 2)?;
            ppp(word(bytes, at)?, inner, length, around)
        }
        _ if knows(link) => by_version(bytes, length, around),
        _ => None,
    }
}

/// Headers that were passed.
#[derive(Clone, Copy)]
struct Around {
    network: u32,
    depth: usize,
}

impl Around {
    fn deeper(self, tag: u32) -> Option<Around> {
        let network = self.network.wrapping_mul(0x9E37_79B1).wrapping_add(tag);
        (self.depth < DEEPEST).then_some(Around { network, depth: self.depth + 1 })
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn frame(kind: u16, bytes: &[u8], length: u32, around: Around) -> Option<Packet<'_>> {
    match kind {
        ether::IPV4 | ether::IPV6 => by_version(bytes, length, around),
        _ if ether::VLAN.contains(&kind) => {
            let tag = u32::from(word(bytes, 0)? & 0x0FFF);
            let inner = bytes.get(4..)?;
            frame(word(bytes, 2)?, inner, length.saturating_sub(4), around.deeper(tag + 1)?)
        }
        ether::PPPOE => {
            let session = u32::from(word(bytes, 2)?);
            let inner = bytes.get(8..)?;
            ppp(word(bytes, 6)?, inner, length.saturating_sub(8), around.deeper(session)?)
        }
        ether::MPLS => {
            let label = bytes.get(..4)?;
            let tag = u32::from_be_bytes(label.try_into().ok()?) >> 12;
            let (inner, length) = (bytes.get(4..)?, length.saturating_sub(4));
            let around = around.deeper(tag)?;

            // The bottom of the stack bears a mark; behind it the version says what it is.
            match label[2] & 1 {
                1 => by_version(inner, length, around),
                _ => frame(ether::MPLS, inner, length, around),
            }
        }
        _ => None,
    }
}

fn ppp(kind: u16, bytes: &[u8], length: u32, around: Around) -> Option<Packet<'_>> {
    matches!(kind, 0x0021 | 0x0057).then(|| by_version(bytes, length, around)).flatten()
}

fn by_version(bytes: &[u8], length: u32, around: Around) -> Option<Packet<'_>> {
    match bytes.first()? >> 4 {
        4 => version_4(bytes, length, around),
        6 => version_6(bytes, length, around),
        _ => None,
    }
}

fn version_4(bytes: &[u8], length: u32, around: Around) -> Option<Packet<'_>> {
    let header = usize::from(bytes.first()? & 0x0F) * 4;
    let fields = bytes.get(..20.max(header))?;

    // Later fragments have no header of TCP.
    if header < 20 || word(fields, 6)? & 0x1FFF != 0 {
        return None;
    }
    // A host that lets its card cut the packet may leave the length out.
    let total = match u32::from(word(fields, 2)?) {
        0 => length,
        total => total,
    };
    let address = |at: usize| -> Option<IpAddr> {
        let own: [u8; 4] = fields.get(at..at + 4)?.try_into().ok()?;
        Some(Ipv4Addr::from(own).into())
    };
    let rest = bytes.get(header..)?;
    let length = total.checked_sub(header as u32)?;
    match fields[9] {
        TCP => Some(Packet {
            hosts: [address(12)?, address(16)?],
            id: Some(word(fields, 4)?),
            ttl: fields[8],
            ecn: fields[1] & 3,
            network: around.network,
            tcp: &rest[..rest.len().min(length as usize)],
            length,
        }),
        IP_IN_IP | IPV6_IN_IP => by_version(rest, length, around.deeper(1)?),
        _ => None,
    }
}

fn version_6(bytes: &[u8], length: u32, around: Around) -> Option<Packet<'_>> {
    let fields = bytes.get(..40)?;
    let address = |at: usize| -> Option<IpAddr> {
        let own: [u8; 16] = fields.get(at..at + 16)?.try_into().ok()?;
        Some(Ipv6Addr::from(own).into())
    };

    // A jumbo packet has no length here (RFC 2675).
    let mut left = match u32::from(word(fields, 4)?) {
        0 => length.saturating_sub(40),
        own => own,
    };
    let (mut next, mut rest) = (fields[6], &bytes[40..]);
    for _ in 0..DEEPEST {
        let size = match next {
            TCP => {
                return Some(Packet {
                    hosts: [address(8)?, address(24)?],
                    id: None,
                    ttl: fields[7],
                    ecn: fields[1] >> 4 & 3,
                    network: around.network,
                    tcp: &rest[..rest.len().min(left as usize)],
                    length: left,
                });
            }
            IP_IN_IP | IPV6_IN_IP => return by_version(rest, left, around.deeper(1)?),
            // Hop-by-hop, routing, destination, mobility, HIP, shim6.
            0 | 43 | 60 | 135 | 139 | 140 => 8 + 8 * usize::from(*rest.get(1)?),
            // Authentication.
            51 => 4 * (usize::from(*rest.get(1)?) + 2),
            // A first fragment.
            44 if word(rest, 2)? & 0xFFF8 == 0 => 8,
            _ => return None,
        };
        next = *rest.first()?;
        rest = rest.get(size..)?;
        left = left.checked_sub(size as u32)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// IPv4 from 10.0.0.1 to 10.0.0.2 with this many bytes of TCP.
    fn ip(tcp: usize) -> Vec<u8> {
        let mut own = vec![0x45, 2, 0, 20 + tcp as u8, 0x12, 0x34, 0x40, 0, 63, TCP, 0, 0];
        own.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        own.extend(vec![7; tcp]);
        own
    }

    fn of(link: u16, head: &[u8], inner: &[u8]) -> Option<Packet<'static>> {
        let bytes: &'static [u8] = Box::leak([head, inner].concat().into_boxed_slice());
        packet(link, bytes, bytes.len() as u32)
    }

    #[test]
    fn headers_of_all_links_lead_to_one_packet() {
        let macs = [0; 12];
        let ethernet = |rest: &[u8]| [&macs[..], rest].concat();
        let table: [(u16, Vec<u8>); 11] = [
            (10, [&[0; 19][..], &[8, 0]].concat()),
            (1, ethernet(&[8, 0])),
            (1, ethernet(&[0x81, 0, 0, 5, 8, 0])),
            (1, ethernet(&[0x88, 0xA8, 0, 5, 0x81, 0, 0, 6, 8, 0])),
            (1, ethernet(&[0x88, 0x64, 0x11, 0, 0, 1, 0, 42, 0, 0x21])),
            (1, ethernet(&[0x88, 0x47, 0, 1, 0, 9, 0, 1, 1, 9])),
            (0, vec![2, 0, 0, 0]),
            (101, vec![]),
            (113, [&[0; 14][..], &[8, 0]].concat()),
            (276, [&[8, 0][..], &[0; 18]].concat()),
            (9, vec![0xFF, 3, 0, 0x21]),
        ];
        for (link, head) in table {
            let own = of(link, &head, &ip(20)).unwrap_or_else(|| panic!("{link} {head:?}"));
            assert_eq!((own.length, own.tcp.len(), own.id), (20, 20, Some(0x1234)), "{link}");
            assert_eq!((own.ttl, own.ecn), (63, 2));
            assert_eq!(own.hosts[1].to_string(), "10.0.0.2");
            assert_eq!(own.network != 0, head.len() > 16 && link == 1, "{head:?}");
        }
        assert_eq!(of(105, &[], &ip(20)), None, "Wi-Fi");
    }

    #[test]
    fn padding_and_offloads_do_not_change_the_length() {
        let padded = [ip(20), vec![0; 6]].concat();
        assert_eq!(of(101, &[], &padded).expect("a packet").length, 20);
        let mut long = ip(20);
        long[2..4].fill(0);
        assert_eq!(packet(101, &long, 60_040).expect("a packet").length, 60_020);
    }

    #[test]
    fn extensions_of_version_6_are_passed() {
        let mut own = vec![0x60, 0x10, 0, 0, 0, 36, 0, 64];
        own.extend([0; 32]);
        own.extend([60, 0, 0, 0, 0, 0, 0, 0]);
        own.extend([TCP, 0, 0, 0, 0, 0, 0, 0]);
        own.extend([7; 20]);
        let own = of(101, &[], &own).expect("a packet");
        assert_eq!((own.length, own.id, own.ecn), (20, None, 1));
    }

    #[test]
    fn loops_of_headers_and_cut_ones_are_no_packet() {
        let tags = [0x81, 0, 0, 1].repeat(20);
        assert_eq!(of(1, &[&[0; 12][..], &tags].concat(), &ip(20)), None);
        let whole = [&[0; 12][..], &[8, 0], &ip(20)].concat();
        for length in 0..34 {
            assert_eq!(packet(1, &whole[..length], 54), None, "{length}");
        }
        let mut inner = ip(20);
        for _ in 0..20 {
            let mut outer = ip(0);
            outer[3] = (20 + inner.len()).min(255) as u8;
            outer[9] = IP_IN_IP;
            inner = [outer, inner].concat();
        }
        assert_eq!(packet(101, &inner, inner.len() as u32), None);
        let mut fragment = ip(20);
        fragment[7] = 9;
        assert_eq!(of(101, &[], &fragment), None);
    }
}
