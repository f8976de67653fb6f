//! Ethernet, IPv4 and TCP headers.
//!
//! The hosts are 10.0.0.1 (sender), 10.0.0.2 (receiver), 10.0.0.3 and so on, with the locally administered addresses
//! 02:00:0a:00:00:01 and so on. Both streams begin with sequence number 0, so that the byte n of a flow has the number
//! n + 1, modulo 2^32. No router lowers the TTL.

use crate::scenario::{ENDS, Flow, Resolved};
use fullpipe_base::trace::{Offers, Packet, Timestamps};
use fullpipe_base::units::Framing;
use std::net::{Ipv4Addr, SocketAddrV4};

/// Before the address of the first host.
const NETWORK: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 0);
/// Ports of the first flow.
const PORTS: [u16; 2] = [40_000, 5001];
/// Flows between two ports of the end that receives.
const PER_PORT: u16 = 20_000;
const TCP: u8 = 6;
/// Longest options of TCP, bytes (RFC 9293, section 3.1).
const LONGEST_OPTIONS: usize = 40;
/// Longest headers: Ethernet, IPv4 without options, TCP with all it can have, bytes.
pub const LONGEST: usize = Framing::Ethernet.overhead() as usize + 20 + 20 + LONGEST_OPTIONS;

/// Address and port of the ends of a flow by its number in `run`: of the one that sends its data, then of the other.
pub fn ends(number: u16, flow: &Flow, run: &Resolved) -> [SocketAddrV4; 2] {
    let ports = [PORTS[0] + number % PER_PORT, PORTS[1] + number / PER_PORT];
    let beside = run.host.iter().map(|host| &host.name[..]);
    let names: Vec<&str> = ENDS.into_iter().chain(beside).collect();
    let hosts = run.hosts_of(flow).map(|station| {
        let place = (1..).zip(&names).find(|(_, name)| **name == station.name);
        Ipv4Addr::from_bits(NETWORK.to_bits() + place.map_or(0, |(place, _)| place))
    });
    [SocketAddrV4::new(hosts[0], ports[0]), SocketAddrV4::new(hosts[1], ports[1])]
}

/// All headers of a packet between these ends, with right checksums for data of zeros.
pub fn bytes(packet: &Packet, [from, to]: [SocketAddrV4; 2]) -> Vec<u8> {
    let options = options(packet);
    let mut out = Vec::with_capacity(LONGEST);
    for host in [to, from] {
        out.extend([2, 0]);
        out.extend(host.ip().octets());
    }
    out.extend([0x08, 0x00]);
    let tcp_len = 20 + options.len() as u32 + packet.len;
    ip(&mut out, packet, (20 + tcp_len) as u16, [from.ip(), to.ip()]);
    let start = out.len();
    tcp(&mut out, packet, [from.port(), to.port()], &options);
    // The pseudo-header (RFC 9293, section 3.1); zeros add nothing.
    let pseudo = sum(&from.ip().octets()) + sum(&to.ip().octets()) + u32::from(TCP) + tcp_len;
    let checksum = folded(pseudo + sum(&out[start..]));
    out[start + 16..start + 18].copy_from_slice(&checksum);
    out
}

/// RFC 791, section 3.1, with the codepoint of RFC 3168; "don't fragment" as Linux sets it for TCP.
fn ip(out: &mut Vec<u8>, packet: &Packet, length: u16, [from, to]: [&Ipv4Addr; 2]) {
    let start = out.len();
    out.extend([0x45, packet.ecn as u8]);
    out.extend(length.to_be_bytes());
    out.extend(packet.ip_id.to_be_bytes());
    out.extend([0x40, 0, 64, TCP, 0, 0]);
    out.extend(from.octets());
    out.extend(to.octets());
    let checksum = folded(sum(&out[start..]));
    out[start + 10..start + 12].copy_from_slice(&checksum);
}

/// RFC 9293, section 3.1, with CWR and ECE of RFC 3168. The checksum is left out.
fn tcp(out: &mut Vec<u8>, packet: &Packet, ports: [u16; 2], options: &[u8]) {
    ports.iter().for_each(|port| out.extend(port.to_be_bytes()));
    out.extend((packet.seq as u32).to_be_bytes());
    out.extend((packet.ack.unwrap_or(0) as u32).to_be_bytes());
    let words = (20 + options.len() as u8) / 4;
    let ack = packet.ack.is_some();
    let ecn = u8::from(packet.cwr) << 7 | u8::from(packet.ece) << 6;
    let flags = ecn | u8::from(ack) << 4 | u8::from(packet.syn) << 1 | u8::from(packet.fin);
    out.extend([words << 4, flags]);
    out.extend(packet.window.to_be_bytes());
    out.extend([0; 4]);
    out.extend(options);
}

/// The options in Linux's order (2.6.20 `tcp_syn_build_options`, `tcp_build_and_update_options`).
fn options(packet: &Packet) -> Vec<u8> {
    let mut out = Vec::with_capacity(LONGEST_OPTIONS);
    match packet.offers {
        Some(offers) => offer(&mut out, offers, packet.timestamps),
        None => {
            if let Some(values) = packet.timestamps {
                out.extend([1, 1]);
                timestamps(&mut out, values);
            }
            sacks(&mut out, &packet.sacks);
        }
    }
    out
}

fn offer(out: &mut Vec<u8>, offers: Offers, times: Option<Timestamps>) {
    out.extend([2, 4]);
    out.extend(offers.mss.to_be_bytes());
    match (times, offers.sack) {
        (Some(values), sack) => {
            out.extend(if sack { [4, 2] } else { [1, 1] });
            timestamps(out, values);
        }
        (None, true) => out.extend([1, 1, 4, 2]),
        (None, false) => {}
    }
    if let Some(bits) = offers.window_scale {
        out.extend([1, 3, 3, bits]);
    }
}

/// RFC 7323, section 3.2.
fn timestamps(out: &mut Vec<u8>, values: Timestamps) {
    out.extend([8, 10]);
    out.extend(values.value.to_be_bytes());
    out.extend(values.echo.to_be_bytes());
}

/// RFC 2018, section 3; as many blocks as fit.
fn sacks(out: &mut Vec<u8>, blocks: &[(u64, u64)]) {
    let count = blocks.len().min((LONGEST_OPTIONS - out.len() - 4) / 8);
    if count > 0 {
        out.extend([1, 1, 5, 2 + 8 * count as u8]);
    }
    for &(start, end) in &blocks[..count] {
        out.extend((start as u32).to_be_bytes());
        out.extend((end as u32).to_be_bytes());
    }
}

/// The sum of 16-bit words (RFC 1071) of an even number of bytes.
fn sum(bytes: &[u8]) -> u32 {
    bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum()
}

fn folded(sum: u32) -> [u8; 2] {
    let once = (sum & 0xFFFF) + (sum >> 16);
    (!((once & 0xFFFF) + (once >> 16)) as u16).to_be_bytes()
}
