//! PageFrags of memory that hold a sender's data, from its application's copies to the memory of unread data at the
//! receiver (`tcp/page_frag.rs`).

use crate::conversation::host;
use fullpipe_sim::cc::Congestion;
use fullpipe_sim::tcp::page_frag::PageFrag;
use fullpipe_sim::tcp::profile::{Profile, find};
use fullpipe_sim::tcp::receiver::Receiver;
use fullpipe_sim::tcp::sender::Sender;
use fullpipe_sim::tcp::{Ack, Output, Segment, Transmission};
use fullpipe_sim::units::Time;

fn linux() -> &'static Profile {
    find("6.12").expect("it is known")
}

/// Reports of the sender's memory layout; all data is sent.
#[derive(Default)]
struct Layouts {
    page_frags: Vec<PageFrag>,
}

impl Output for Layouts {
    fn transmit(&mut self, _: Transmission) -> bool {
        true
    }
    fn now(&self) -> Time {
        Time::ms(100)
    }
    fn begin_page_frag(&mut self, page_frag: PageFrag) {
        self.page_frags.push(page_frag);
    }
}

/// Bytes of heads that wait for the reader. A sender of Linux 6.12 has an application that wrote these bytes in copies
/// of their own. The last copy was made after all earlier data was acknowledged, or before. The receiver has packets of
/// 1092 bytes. Seventeen pieces are one skb. `reads`: data that arrived before 100 ms, the time of the last copy, was
/// read.
fn heads(copies: &[u32], acknowledged: bool, reads: bool, packets: u64) -> u64 {
    const LEN: u32 = 1092;
    let (mut host, profile) = (host(), linux());
    (host.tso, host.sysctl.rmem_max) = (true, 1 << 20);
    let cc = Congestion::new("reno", &[], "6.12", host.hz, 1).expect("a control");
    let mut sender = Sender::new(profile, &host, cc, LEN, Some(1 << 22));
    let mut receiver = Receiver::new(profile, &host, LEN, Some(1 << 20));
    let mut wire = Layouts::default();
    sender.established(Time::ms(100), 1 << 20, Some(Time::ZERO), None);
    for (number, &bytes) in (1..).zip(copies) {
        if number == copies.len() && acknowledged {
            sender.end_write(&mut wire);
            let before: u32 = copies[..number - 1].iter().sum();
            for ack in (0..=before.into()).step_by(LEN as usize) {
                sender.on_ack(&Ack { ack, window: 1 << 20, ..Ack::default() }, &mut wire);
            }
        }
        sender.copied(bytes, bytes, true, &mut wire);
    }
    wire.page_frags.into_iter().for_each(|page_frag| receiver.begin_page_frag(page_frag));
    let mut last = 0;
    for seq in (0..packets).map(|number| number * u64::from(LEN)) {
        if reads && seq == u64::from(copies[0]) {
            receiver.read(Time::ms(100), receiver.readable());
            last = seq;
        }
        receiver.on_segment(Time::ms(110), Segment { seq, len: LEN, ..Segment::default() });
    }
    receiver.window.rmem_alloc - (packets * u64::from(LEN) - last)
}

/// 30 packets are 32,760 bytes. If the eight bytes left of the first piece are filled, the next packet lies in two
/// pieces.
#[test]
fn a_receiver_counts_pieces_of_its_senders_memory() {
    let head = linux().rx_overhead;
    let unread = |copies: &[u32], packets| heads(copies, false, false, packets) / head;
    assert_eq!([unread(&[50_000], 33), unread(&[50_000], 34)], [2, 3]);
    // A copy that begins with 32 bytes left fills them. With 8 left it leaves them unused.
    assert_eq!([unread(&[32_736, 30_000], 34), unread(&[32_760, 30_000], 34)], [3, 2]);
}

/// Twenty packets, then more. The eleventh of these lies in two pieces, unless the piece is reused for them. It is
/// reused if the others are acknowledged and read.
#[test]
fn a_piece_of_the_senders_memory_is_filled_anew() {
    let head = linux().rx_overhead;
    let heads = |acknowledged, reads, packets| {
        heads(&[20 * 1092, 30_000], acknowledged, reads, packets) / head
    };
    assert_eq!([heads(true, true, 37), heads(false, true, 37)], [1, 2]);
    // 17 and 17, or 17, 16 and one.
    assert_eq!(heads(true, false, 34), 3);
}
