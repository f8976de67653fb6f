//! One connection of a capture as a file that people can share: headers of IP and TCP, and no payload.
//!
//! Limits:
//! - Headers around IP (Ethernet, VLAN, tunnels) and options of IP are left out.
//! - The checksum of TCP is 0 where addresses are hidden, for it would tell them. Timestamps and ports stay.

use super::{Input, Overview, Watch, read};
use crate::capture::{Cut, Share};
use fullpipe_observe::capture::connections::Connections;
use fullpipe_observe::capture::frame::Packet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Number of the reading, behind that of the overview.
const READING: u32 = 2;
/// Bytes of a TCP header without options.
const TCP: usize = 20;
/// Place of the checksum in it.
const CHECKSUM: std::ops::Range<usize> = 16..18;

/// Addresses for documentation, of both ends (RFC 5737 and 3849).
const HIDDEN: [(Ipv4Addr, Ipv6Addr); 2] = [
    (Ipv4Addr::new(192, 0, 2, 1), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
    (Ipv4Addr::new(192, 0, 2, 2), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2)),
];

/// Reads the files again, and writes the packets of one connection. With `hides` both ends get addresses for documentation.
///
/// # Errors
/// A file cannot be read any more.
pub fn extract(
    inputs: &[Input],
    overview: &Overview,
    index: usize,
    hides: bool,
    share: &mut Share,
    watch: &mut dyn Watch,
) -> Result<(), String> {
    let ends = overview.connections.all()[index].ends;
    let mut again = Connections::default();
    read(inputs, READING, watch, &mut Overview::default(), &mut |segment, packet| {
        if again.add(segment).0 != index {
            return;
        }
        let hosts = match hides {
            true => hidden(packet.hosts, segment.ends[0] != ends[0]),
            false => packet.hosts,
        };
        let mut tcp = header(packet.tcp).to_vec();
        if hides && let Some(sum) = tcp.get_mut(CHECKSUM) {
            sum.fill(0);
        }
        let bytes = [ip(packet, hosts), tcp].concat();
        let around = bytes.len() - header(packet.tcp).len();
        share.packet(&Cut {
            time: segment.time,
            bytes: &bytes,
            length: packet.length + around as u32,
        });
    })
}

/// Addresses for documentation in the place of these.
fn hidden(hosts: [IpAddr; 2], is_back: bool) -> [IpAddr; 2] {
    let own = |host: IpAddr, at: usize| match host {
        IpAddr::V4(_) => IpAddr::V4(HIDDEN[at].0),
        IpAddr::V6(_) => IpAddr::V6(HIDDEN[at].1),
    };
    let [a, b] = if is_back { [1, 0] } else { [0, 1] };
    [own(hosts[0], a), own(hosts[1], b)]
}

/// The header of TCP with its options, as far as it was kept.
fn header(tcp: &[u8]) -> &[u8] {
    let words = tcp.get(12).map_or(0, |own| usize::from(own >> 4));
    &tcp[..(4 * words).max(TCP).min(tcp.len())]
}

/// A header of IP without options.
fn ip(packet: &Packet, hosts: [IpAddr; 2]) -> Vec<u8> {
    match hosts {
        [IpAddr::V4(from), IpAddr::V4(to)] => {
            // A length beyond the field is 0, as Linux shows the skbs of its offloads.
            let length = u16::try_from(20 + packet.length).unwrap_or(0);
            let mut out = vec![0x45, packet.ecn];
            out.extend(length.to_be_bytes());
            out.extend(packet.id.unwrap_or(0).to_be_bytes());
            out.extend([0, 0, packet.ttl, 6, 0, 0]);
            out.extend(from.octets());
            out.extend(to.octets());
            let sum = checksum(&out).to_be_bytes();
            out[10..12].copy_from_slice(&sum);
            out
        }
        [from, to] => {
            let length = u16::try_from(packet.length).unwrap_or(0);
            let mut out = (0x6000_0000 | u32::from(packet.ecn) << 20).to_be_bytes().to_vec();
            out.extend(length.to_be_bytes());
            out.extend([6, packet.ttl]);
            for host in [from, to] {
                out.extend(match host {
                    IpAddr::V4(own) => own.to_ipv6_mapped().octets(),
                    IpAddr::V6(own) => own.octets(),
                });
            }
            out
        }
    }
}

/// The Internet checksum (RFC 1071).
fn checksum(bytes: &[u8]) -> u16 {
    let words =
        bytes.chunks(2).map(|own| u32::from(own[0]) << 8 | own.get(1).map_or(0, |b| u32::from(*b)));
    let sum: u32 = words.sum();
    let folded = (sum & 0xFFFF) + (sum >> 16);
    !((folded & 0xFFFF) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 1071, section 3, and a header whose checksum is known.
    #[test]
    fn the_checksum_is_that_of_rfc_1071() {
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        let header = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0, 0, 0xc0, 0xa8, 0x00,
            0x01, 0xc0, 0xa8, 0x00, 0xc7,
        ];
        assert_eq!(checksum(&header), 0xb861);
    }

    #[test]
    fn a_header_ends_where_it_says_or_where_it_was_cut() {
        let of = |offset: u8, length: usize| {
            let mut own = vec![0; length];
            own[12] = offset << 4;
            header(&own).len()
        };
        assert_eq!([of(5, 100), of(8, 100), of(15, 40), of(0, 30)], [20, 32, 40, 20]);
        assert_eq!(header(&[1, 2, 3]), [1, 2, 3]);
    }
}
