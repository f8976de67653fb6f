//! Received skbs joined in memory: an skb that continues the last one of a queue gives it its data, and its own head is
//! freed.
//!
//! Source: Linux 6.12 `tcp_try_coalesce`, `skb_try_coalesce`. There an skb cannot join while it shares its head with a
//! copy of the sender's. A router in between has given each packet a head of its own (`ip_forward`).

use crate::ranges::SeqRange;
use crate::tcp::page_frag::PageFrags;

/// Most pieces of memory that an skb refers to (MAX_SKB_FRAGS).
const MAX_FRAGS: u32 = 17;

/// Data that arrives as one skb.
#[derive(Clone, Copy)]
pub(in crate::tcp) struct Arrival {
    pub(in crate::tcp) range: SeqRange,
    /// Packets that GRO has joined.
    pub(in crate::tcp) packets: u32,
    /// Bytes of each packet, except the last one.
    pub(in crate::tcp) packet_len: u32,
}

/// Memory of an arrival with data in these pieces and heads of `overhead` bytes. Where the first skb has no room, GRO
/// chains further skbs (6.12 `skb_gro_receive`).
pub(in crate::tcp) fn truesize(arrival: Arrival, overhead: u64, page_frags: &PageFrags) -> u64 {
    let heads = match arrival.packets {
        1 => 1,
        _ => Joined::of(arrival, page_frags).heads(),
    };
    arrival.range.len() + heads * overhead
}

/// An skb that others may have joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) struct Joined {
    /// First byte behind it.
    pub(in crate::tcp) end: u64,
    frags: u32,
    heads: u32,
    /// Free bytes in its head, into which data can be copied (skb_tailroom).
    tailroom: u64,
}

impl Joined {
    /// The skb of an arrival. Each packet refers to memory of its own, and the data lies in these pieces.
    pub(in crate::tcp) fn of(arrival: Arrival, page_frags: &PageFrags) -> Joined {
        let Arrival { range: SeqRange { start, end }, packets, packet_len } = arrival;
        let (frags, heads) = match page_frags.count(start, end) {
            1 => (packets, packets.div_ceil(MAX_FRAGS)),
            all if packets == 1 => (all, 1),
            // A border between two packets cuts neither.
            _ => packed(page_frags.of_packets(start, end, packet_len)),
        };
        Joined { end, frags, heads: heads.max(1), tailroom: 0 }
    }

    /// An skb that ends at `end` and has no room.
    #[cfg(test)]
    pub(in crate::tcp) fn full(end: u64) -> Joined {
        Joined { end, frags: MAX_FRAGS, heads: 1, tailroom: 0 }
    }

    /// Heads of the skb.
    pub(in crate::tcp) fn heads(&self) -> u64 {
        self.heads.into()
    }

    /// An skb with data up to `end` that was copied into its head; `tailroom` bytes are free there.
    pub(in crate::tcp) fn copied(end: u64, tailroom: u64) -> Joined {
        Joined { end, frags: 0, heads: 1, tailroom }
    }

    /// Appends another skb, which begins at `seq`, if it continues this one and there is room. Returns the additional
    /// memory; none if it did not join.
    pub(in crate::tcp) fn append(&mut self, seq: u64, other: Joined) -> Option<u64> {
        let (frags, bytes) = (self.frags + other.frags, other.end.saturating_sub(seq));
        if seq != self.end {
            return None;
        }
        if bytes <= self.tailroom {
            (self.end, self.tailroom) = (other.end, self.tailroom - bytes);
            return Some(0);
        }
        if frags > MAX_FRAGS {
            return None;
        }
        (self.end, self.frags, self.tailroom) = (other.end, frags, 0);
        Some(bytes)
    }
}

/// Sum of the pieces of memory of `packets`, each with so many, and number of heads that refer to them. All pieces of a
/// packet are under one head.
fn packed(packets: impl Iterator<Item = u32>) -> (u32, u32) {
    let (mut all, mut heads, mut under_last) = (0, 1, 0);
    for page_frags in packets {
        all += page_frags;
        under_last += page_frags;
        if under_last > MAX_FRAGS {
            (heads, under_last) = (heads + 1, page_frags);
        }
    }
    (all, heads)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An arrival of one packet.
    fn packet(start: u64, end: u64) -> Arrival {
        Arrival { range: SeqRange::new(start, end), packets: 1, packet_len: 1000 }
    }

    #[test]
    fn an_skb_takes_what_continues_it_while_there_are_pieces() {
        let page_frags = PageFrags::default();
        let mut skb = Joined::of(packet(0, 1000), &page_frags);
        let mut take =
            |seq, end| skb.append(seq, Joined::of(packet(seq, end), &page_frags)).is_some();
        assert!(!take(2000, 3000), "not the next one");
        let joined = (1..40).take_while(|i| take(i * 1000, (i + 1) * 1000)).count();
        assert_eq!(joined, 16, "17 pieces in all");
    }

    #[test]
    fn pieces_of_a_packet_are_under_one_head() {
        let packed = |cut: usize| packed((0..34).map(|at| if at == cut { 2 } else { 1 }));
        assert_eq!(
            [packed(99), packed(0), packed(16), packed(33)],
            [(34, 2), (35, 3), (35, 3), (35, 3)]
        );
        let mut packets = [1; 33];
        packets[16] = 2;
        assert_eq!(super::packed(packets.into_iter()), (34, 3), "the 17th has no room for two");
        packets.swap(15, 16);
        assert_eq!(super::packed(packets.into_iter()), (34, 2));
    }
}
