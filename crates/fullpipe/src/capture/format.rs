//! pcapng and classic pcap, as much as a capture on Ethernet with times in nanoseconds needs.
//!
//! pcapng: draft-ietf-opsawg-pcapng; classic pcap: draft-ietf-opsawg-pcap. Little-endian.

use super::share::Cut;
use fullpipe_base::units::Time;
use std::path::Path;

/// Block types (draft-ietf-opsawg-pcapng, section 11.1).
const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE_DESCRIPTION: u32 = 1;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

/// Option codes (sections 3.5 and 4).
const COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;
const ISB_IFRECV: u16 = 4;
const ISB_IFDROP: u16 = 5;

/// Longest comment: a length has 16 bits.
const LONGEST: usize = 65_000;
/// LINKTYPE_ETHERNET, LINKTYPE_RAW.
const ETHERNET: u16 = 1;
const RAW: u16 = 101;
/// "Everything", as tcpdump writes it.
const WHOLE: u32 = 262_144;

/// Format of the packets.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    classic: bool,
    snap: u32,
    link: u16,
}

/// A packet with its time and place.
pub struct Seen<'a> {
    /// When.
    pub time: Time,
    /// Whether it left the host at which it was seen; none: not seen at a host.
    pub outgoing: Option<bool>,
    /// Comment on the packet.
    pub comment: Option<&'a str>,
}

impl Format {
    /// Classic pcap for a name that ends in `.pcap`, else pcapng; keeps `snap` bytes of each packet
    /// (0: all).
    pub fn of(path: &Path, snap: u32) -> Format {
        let classic = path.extension().is_some_and(|extension| extension == "pcap");
        Format { classic, snap: if snap == 0 { WHOLE } else { snap }, link: ETHERNET }
    }

    /// Format of packets that begin with IP, not with Ethernet.
    pub fn raw(self) -> Format {
        Format { link: RAW, ..self }
    }

    /// The file's head.
    pub fn begin(&self, out: &mut Vec<u8>, interface: &str, comment: &str) {
        if self.classic {
            return self.begin_classic(out);
        }
        block(out, SECTION_HEADER, |out| {
            out.extend(0x1A2B_3C4D_u32.to_le_bytes());
            out.extend([1, 0, 0, 0]);
            out.extend((-1_i64).to_le_bytes());
            option(out, COMMENT, text(comment));
            option(out, SHB_USERAPPL, concat!("fullpipe ", env!("CARGO_PKG_VERSION")).as_bytes());
            end_of_options(out);
        });
        block(out, INTERFACE_DESCRIPTION, |out| {
            out.extend(u32::from(self.link).to_le_bytes());
            out.extend(self.snap.to_le_bytes());
            option(out, IF_NAME, text(interface));
            option(out, IF_TSRESOL, &[9]);
            end_of_options(out);
        });
    }

    /// Magic number of nanoseconds, version 2.4 (draft-ietf-opsawg-pcap, section 4).
    fn begin_classic(&self, out: &mut Vec<u8>) {
        out.extend(0xA1B2_3C4D_u32.to_le_bytes());
        out.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        out.extend(self.snap.to_le_bytes());
        out.extend(u32::from(self.link).to_le_bytes());
    }

    /// A packet: `headers`, then `zeros` bytes of data.
    pub fn packet(&self, out: &mut Vec<u8>, seen: &Seen, headers: &[u8], zeros: u32) {
        let length = headers.len() as u32 + zeros;
        self.write(out, seen, headers, [length.min(self.snap), length]);
    }

    /// A packet that is cut behind its headers.
    pub fn cut(&self, out: &mut Vec<u8>, packet: &Cut) {
        let seen = Seen { time: packet.time, outgoing: None, comment: None };
        self.write(out, &seen, packet.bytes, [packet.bytes.len() as u32, packet.length]);
    }

    fn write(&self, out: &mut Vec<u8>, seen: &Seen, headers: &[u8], lengths: [u32; 2]) {
        let [kept, length] = lengths;
        if self.classic {
            let (seconds, ns) = (seen.time.0 / 1_000_000_000, seen.time.0 % 1_000_000_000);
            for field in [seconds as u32, ns as u32, kept, length] {
                out.extend(field.to_le_bytes());
            }
            return data(out, headers, kept);
        }
        block(out, ENHANCED_PACKET, |out| {
            for field in [0, (seen.time.0 >> 32) as u32, seen.time.0 as u32, kept, length] {
                out.extend(field.to_le_bytes());
            }
            data(out, headers, kept);
            pad(out, kept as usize);
            if let Some(outgoing) = seen.outgoing {
                option(out, EPB_FLAGS, &(1 + u32::from(outgoing)).to_le_bytes());
            }
            if let Some(comment) = seen.comment {
                option(out, COMMENT, text(comment));
            }
            if seen.outgoing.is_some() || seen.comment.is_some() {
                end_of_options(out);
            }
        });
    }

    /// The file's end: `packets` were seen until `time`, none was missed.
    pub fn end(&self, out: &mut Vec<u8>, time: Time, packets: u64, comment: Option<&str>) {
        if self.classic {
            return;
        }
        block(out, INTERFACE_STATISTICS, |out| {
            for field in [0, (time.0 >> 32) as u32, time.0 as u32] {
                out.extend(field.to_le_bytes());
            }
            if let Some(comment) = comment {
                option(out, COMMENT, text(comment));
            }
            option(out, ISB_IFRECV, &packets.to_le_bytes());
            option(out, ISB_IFDROP, &0_u64.to_le_bytes());
            end_of_options(out);
        });
    }
}

/// A block of this type: its body between two equal lengths (section 3.1).
fn block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend(kind.to_le_bytes());
    out.extend([0; 4]);
    body(out);
    let length = ((out.len() - start + 4) as u32).to_le_bytes();
    out[start + 4..start + 8].copy_from_slice(&length);
    out.extend(length);
}

/// An option (section 3.5).
fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    out.extend(code.to_le_bytes());
    out.extend((value.len() as u16).to_le_bytes());
    out.extend(value);
    pad(out, value.len());
}

fn end_of_options(out: &mut Vec<u8>) {
    out.extend([0; 4]);
}

/// Fills up to a multiple of four bytes.
fn pad(out: &mut Vec<u8>, length: usize) {
    out.extend(&[0; 3][..length.next_multiple_of(4) - length]);
}

/// The first `kept` bytes of the headers and the zeros after them.
fn data(out: &mut Vec<u8>, headers: &[u8], kept: u32) {
    let end = out.len() + kept as usize;
    out.extend(&headers[..headers.len().min(kept as usize)]);
    out.resize(end, 0);
}

/// A text that fits into an option.
fn text(text: &str) -> &[u8] {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text.as_bytes()[..end]
}
