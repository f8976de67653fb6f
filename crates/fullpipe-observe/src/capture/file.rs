//! Files of packets: pcap and pcapng, plain, or compressed with gzip or zstd.
//!
//! Sources: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng.

use fullpipe_base::units::Time;
use pcap_parser::pcapng::Block;
use pcap_parser::{PcapBlockOwned, PcapError, PcapHeader, create_reader};
use std::io::{self, Read};
use std::ops::ControlFlow;

/// Bytes at the beginning of a file that say what it is.
pub const HEAD: usize = 8;
/// First size of the buffer, bytes.
const BUFFER: usize = 1 << 20;
/// Longest block that is read, bytes. Packets of BIG TCP have half a megabyte.
const LARGEST: usize = 16 << 20;
/// Nanoseconds of a second.
const SECOND: u128 = 1_000_000_000;
/// Options of pcapng: counts of drops of an interface.
const ISB_IFDROP: u16 = 5;
const ISB_OSDROP: u16 = 7;

/// Kinds of files, by their first bytes.
const KINDS: [(&[u8], Kind); 11] = [
    (&[0x0A, 0x0D, 0x0D, 0x0A], Kind::Packets),
    (&[0xA1, 0xB2, 0xC3, 0xD4], Kind::Packets),
    (&[0xD4, 0xC3, 0xB2, 0xA1], Kind::Packets),
    (&[0xA1, 0xB2, 0x3C, 0x4D], Kind::Packets),
    (&[0x4D, 0x3C, 0xB2, 0xA1], Kind::Packets),
    (&[0x34, 0xCD, 0xB2, 0xA1], Kind::Packets),
    (&[0x1F, 0x8B], Kind::Gzip),
    (&[0x28, 0xB5, 0x2F, 0xFD], Kind::Zstd),
    (b"snoop\0\0\0", Kind::Other("a capture of Solaris (snoop)", "editcap FILE new.pcapng")),
    (
        &[0xFD, b'7', b'z', b'X', b'Z'],
        Kind::Other("compressed with xz", "xz -dc FILE | fullpipe diagnose -"),
    ),
    (
        &[0x04, 0x22, 0x4D, 0x18],
        Kind::Other("compressed with lz4", "lz4 -dc FILE | fullpipe diagnose -"),
    ),
];

/// Kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Packets,
    Gzip,
    Zstd,
    /// A file that is not read, and the command that makes one of it that is.
    Other(&'static str, &'static str),
}

fn kind(head: &[u8]) -> Option<Kind> {
    KINDS.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, kind)| *kind)
}

/// Whether a file that begins like this is a capture, or compressed.
pub fn is_capture(head: &[u8]) -> bool {
    kind(head).is_some()
}

/// A captured packet.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Time of the capture, since 1970.
    pub time: Time,
    /// Type of the link (LINKTYPE_).
    pub link: u16,
    /// Number of the interface.
    pub interface: u32,
    /// Bytes that were kept.
    pub bytes: &'a [u8],
    /// Length of the packet on the link, bytes.
    pub length: u32,
}

/// Facts of a file beside its packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// Packets that the capturing host dropped, where the file says.
    pub dropped: Option<u64>,
    /// Reason for which the rest of the file is not read.
    pub cut: Option<String>,
}

/// Interface of a pcapng section.
#[derive(Clone, Copy)]
struct Interface {
    link: u16,
    /// Ticks of a second.
    ticks: u128,
    /// Seconds that are added to times.
    offset: i64,
}

/// Reads packets until the end of the file, or until `each` ends it.
///
/// # Errors
/// The input is no capture, or one of a kind that is not read. The message says what to do.
pub fn read(
    input: impl Read + Send + 'static,
    each: &mut dyn FnMut(Frame) -> ControlFlow<()>,
) -> Result<Ending, String> {
    let (head, input) = begin(input)?;
    match kind(&head) {
        Some(Kind::Packets) => packets(input, each),
        Some(Kind::Gzip) => plain(Box::new(flate2::read::MultiGzDecoder::new(input)), each),
        Some(Kind::Zstd) => {
            let own = ruzstd::decoding::StreamingDecoder::new(input);
            let damaged = |_| "the head of its zstd frame is damaged, or the file ends within it";
            plain(Box::new(own.map_err(damaged)?), each)
        }
        Some(Kind::Other(what, instead)) => {
            Err(format!("{what}, which is not read: try `{instead}`"))
        }
        None => Err("no capture: it begins like neither pcap nor pcapng".into()),
    }
}

/// Packets of what was compressed.
fn plain(
    input: Box<dyn Read + Send>,
    each: &mut dyn FnMut(Frame) -> ControlFlow<()>,
) -> Result<Ending, String> {
    let (head, input) = begin(input)?;
    match kind(&head) {
        Some(Kind::Packets) => packets(input, each),
        Some(Kind::Other(what, instead)) => {
            Err(format!("it holds {what}, which is not read: try `{instead}`"))
        }
        _ => Err("it is compressed, and holds no capture".into()),
    }
}

/// First bytes of an input, and the whole input.
fn begin(input: impl Read + Send + 'static) -> Result<(Vec<u8>, Box<dyn Read + Send>), String> {
    let mut input = Whole(input);
    let mut head = vec![0; HEAD];
    let length = input.read(&mut head).map_err(|why| why.to_string())?;
    head.truncate(length);
    Ok((head.clone(), Box::new(Whole(io::Cursor::new(head).chain(input)))))
}

/// A reader whose reads are as long as asked for, but for the last one.
struct Whole<R>(R);

impl<R: Read> Read for Whole<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < out.len() {
            match self.0.read(&mut out[done..]) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                // What was read before a failure still counts.
                Err(_) if done > 0 => break,
                Err(why) => return Err(why),
            }
        }
        Ok(done)
    }
}

fn packets(
    input: Box<dyn Read + Send>,
    each: &mut dyn FnMut(Frame) -> ControlFlow<()>,
) -> Result<Ending, String> {
    let mut reader = create_reader(BUFFER, input)
        .map_err(|why| format!("its first block is damaged ({})", words(&why)))?;
    let mut reading = Reading { ending: Ending::default(), interfaces: Vec::new(), legacy: None };
    let mut size = BUFFER;
    loop {
        let cut = match reader.next() {
            Ok((length, block)) => {
                let goes_on = reading.block(&block, each);
                reader.consume(length);
                if goes_on.is_break() {
                    return Ok(reading.ending);
                }
                continue;
            }
            Err(PcapError::Eof) => return Ok(reading.ending),
            Err(PcapError::Incomplete(_)) => match reader.refill() {
                Ok(()) => continue,
                Err(why) => words(&why),
            },
            Err(PcapError::BufferTooSmall) if size < LARGEST => {
                size *= 2;
                reader.grow(size);
                match reader.refill() {
                    Ok(()) => continue,
                    Err(why) => words(&why),
                }
            }
            Err(why) => words(&why),
        };
        reading.ending.cut = Some(cut);
        return Ok(reading.ending);
    }
}

/// State of a file that is being read.
struct Reading {
    ending: Ending,
    interfaces: Vec<Interface>,
    legacy: Option<PcapHeader>,
}

impl Reading {
    fn block(
        &mut self,
        block: &PcapBlockOwned,
        each: &mut dyn FnMut(Frame) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match block {
            PcapBlockOwned::LegacyHeader(own) => self.legacy = Some(own.clone()),
            PcapBlockOwned::Legacy(own) => {
                let Some(header) = &self.legacy else { return ControlFlow::Continue(()) };
                let unit = if header.is_nanosecond_precision() { 1 } else { 1_000 };
                let ns = u64::from(own.ts_sec) * SECOND as u64 + u64::from(own.ts_usec) * unit;

                // The upper bits hold the length of a frame check sequence.
                let link = (header.network.0 & 0xFFFF) as u16;
                return each(Frame {
                    time: Time(ns),
                    link,
                    interface: 0,
                    bytes: own.data,
                    length: own.origlen,
                });
            }
            PcapBlockOwned::NG(Block::SectionHeader(_)) => self.interfaces.clear(),
            PcapBlockOwned::NG(Block::InterfaceDescription(own)) => {
                self.interfaces.push(Interface {
                    link: own.linktype.0 as u16,
                    ticks: ticks(own.if_tsresol),
                    offset: own.if_tsoffset,
                });
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(own)) => {
                let interface = self.interfaces.get(own.if_id as usize);
                let Some(interface) = interface else { return ControlFlow::Continue(()) };
                let ticks = u64::from(own.ts_high) << 32 | u64::from(own.ts_low);
                return each(Frame {
                    time: interface.time(ticks),
                    link: interface.link,
                    interface: own.if_id,
                    bytes: &own.data[..own.data.len().min(own.caplen as usize)],
                    length: own.origlen,
                });
            }
            PcapBlockOwned::NG(Block::InterfaceStatistics(own)) => {
                let count = |code: u16| {
                    let option = own.options.iter().find(|option| option.code.0 == code)?;
                    let bytes = option.value().get(..8)?;
                    Some(u64::from_le_bytes(bytes.try_into().ok()?))
                };
                let drops = [ISB_IFDROP, ISB_OSDROP].into_iter().filter_map(count);
                let drops = drops.reduce(u64::saturating_add);
                self.ending.dropped = match (self.ending.dropped, drops) {
                    (Some(a), Some(b)) => Some(a.saturating_add(b)),
                    (a, b) => a.or(b),
                };
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

impl Interface {
    fn time(self, ticks: u64) -> Time {
        let ns = u128::from(ticks) * SECOND / self.ticks;
        let offset = i128::from(self.offset) * SECOND as i128;
        let ns = (ns as i128).saturating_add(offset).clamp(0, i128::from(u64::MAX));
        Time(ns as u64)
    }
}

/// Ticks of a second for a value of if_tsresol: a power of ten, or of two where the highest bit is set.
fn ticks(resolution: u8) -> u128 {
    let power = u32::from(resolution & 0x7F);
    match resolution & 0x80 {
        0 => 10_u128.pow(power.min(30)),
        _ => 1 << power.min(100),
    }
}

fn words<I>(why: &PcapError<I>) -> String {
    match why {
        PcapError::UnexpectedEof | PcapError::Eof | PcapError::Incomplete(_) => {
            "the file ends within a block".into()
        }
        PcapError::BufferTooSmall => "a block is longer than any packet".into(),
        PcapError::ReadError => "the file cannot be read further".into(),
        PcapError::HeaderNotRecognized => "its head is not one of a capture".into(),
        PcapError::NomError(..) | PcapError::OwnedNomError(..) => "a block is damaged".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Classic pcap with one packet of four bytes at 3 s and 5 units.
    fn classic(magic: u32, is_big: bool) -> Vec<u8> {
        let long = |own: u32| if is_big { own.to_be_bytes() } else { own.to_le_bytes() };
        let short = |own: u16| if is_big { own.to_be_bytes() } else { own.to_le_bytes() };
        let mut out =
            [&long(magic)[..], &short(2), &short(4), &[0; 8], &long(64), &long(1)].concat();
        for field in [3, 5, 4, 60] {
            out.extend(long(field));
        }
        out.extend([1, 2, 3, 4]);
        out
    }

    /// Time, kept bytes and length of each packet.
    type Frames = Vec<(Time, usize, u32)>;

    fn frames(bytes: Vec<u8>) -> Result<(Frames, Ending), String> {
        let mut all = Vec::new();
        let ending = read(io::Cursor::new(bytes), &mut |own| {
            all.push((own.time, own.bytes.len(), own.length));
            ControlFlow::Continue(())
        })?;
        Ok((all, ending))
    }

    #[test]
    fn both_orders_of_bytes_and_both_units_are_read() {
        for is_big in [false, true] {
            for (magic, ns) in [(0xA1B2_C3D4, 5_000), (0xA1B2_3C4D, 5)] {
                let (all, ending) = frames(classic(magic, is_big)).expect("a capture");
                assert_eq!(all, [(Time(3_000_000_000 + ns), 4, 60)], "{magic:x} {is_big}");
                assert_eq!(ending, Ending::default());
            }
        }
    }

    #[test]
    fn compressed_files_are_read_and_cut_ones_as_far_as_they_go() {
        let plain = classic(0xA1B2_C3D4, false);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&plain).expect("memory");
        assert_eq!(frames(gzip.finish().expect("memory")).expect("a capture").0.len(), 1);
        let cut = [&plain[..], &plain[24..34]].concat();
        let (all, ending) = frames(cut).expect("a capture");
        assert_eq!((all.len(), ending.cut.as_deref()), (1, Some("the file ends within a block")));
    }

    #[test]
    fn other_files_are_refused_by_name() {
        let why = |bytes: &[u8]| frames(bytes.to_vec()).expect_err("no capture");
        assert!(why(b"snoop\0\0\0rest").contains("editcap"));
        assert!(why(b"hello, world").contains("no capture"));
        assert!(why(b"").contains("no capture"));
        assert!(why(&0xA1B2_C3D4_u32.to_le_bytes()).contains("damaged"));
    }

    #[test]
    fn resolutions_are_powers_of_ten_or_two() {
        for (resolution, expected) in [(6, 1_000_000), (9, 1_000_000_000), (0x8A, 1024)] {
            assert_eq!(ticks(resolution), expected);
        }
        let own = Interface { link: 1, ticks: ticks(6), offset: -1 };
        assert_eq!(own.time(3_000_000), Time::secs(2));
        assert_eq!(own.time(0), Time::ZERO);
    }
}
