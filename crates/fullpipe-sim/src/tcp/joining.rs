//! Received skbs joined in memory: one that continues the last of a queue gives it its data, and its own head
//! is freed.
//!
//! Source: Linux 6.12 `tcp_try_coalesce`, `skb_try_coalesce`. An skb that shares its head with a copy of the sender's
//! takes nothing more there; a router in between has given each packet a head of its own (`ip_forward`).

use super::pieces::Pieces;

/// Pieces of memory that an skb refers to at most (MAX_SKB_FRAGS).
const MAX_FRAGS: u32 = 17;

/// Memory of what came as `[seq, end)` in so many packets of `len` bytes that lie in these pieces, with heads of `overhead`
/// bytes: GRO hangs what its first has no room for on as skbs of their own (6.12 `skb_gro_receive`).
pub(super) fn truesize(
    (seq, end): (u64, u64),
    (packets, len): (u32, u32),
    overhead: u64,
    pieces: &Pieces,
) -> u64 {
    let heads = match packets {
        1 => 1,
        _ => Joined::of((seq, end), (packets, len), pieces).heads(),
    };
    end - seq + heads * overhead
}

/// An skb that others may have joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Joined {
    /// First byte after it.
    pub(super) end: u64,
    frags: u32,
    /// Bytes that are free in its head, for data to be copied there (skb_tailroom).
    tailroom: u64,
}

impl Joined {
    /// What came as `[seq, end)` in so many packets of `len` bytes, each of which refers to memory of its own, and lies in
    /// these pieces.
    pub(super) fn of(
        (seq, end): (u64, u64),
        (packets, len): (u32, u32),
        pieces: &Pieces,
    ) -> Joined {
        let borders = match pieces.count(seq, end) - 1 {
            0 => 0,
            all if packets == 1 => all,
            // One between two packets cuts neither.
            _ => pieces.borders_within(seq, end, len),
        };
        Joined { end, frags: packets + borders, tailroom: 0 }
    }

    /// One that ends at `end` and has no room.
    #[cfg(test)]
    pub(super) fn full(end: u64) -> Joined {
        Joined { end, frags: MAX_FRAGS, tailroom: 0 }
    }

    /// Heads that it has.
    pub(super) fn heads(&self) -> u64 {
        u64::from(self.frags.div_ceil(MAX_FRAGS)).max(1)
    }

    /// One whose data, up to `end`, were copied into its head, where so much is free.
    pub(super) fn copied(end: u64, tailroom: u64) -> Joined {
        Joined { end, frags: 0, tailroom }
    }

    /// Takes another skb, which begins at `seq`, if it continues this one and there is room: the memory that this takes more,
    /// if it did.
    pub(super) fn append(&mut self, seq: u64, other: Joined) -> Option<u64> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_skb_takes_what_continues_it_while_there_are_pieces() {
        let pieces = Pieces::default();
        let mut skb = Joined::of((0, 1000), (1, 1000), &pieces);
        let mut take =
            |seq, end| skb.append(seq, Joined::of((seq, end), (1, 1000), &pieces)).is_some();
        assert!(!take(2000, 3000), "not the next one");
        let joined = (1..40).take_while(|i| take(i * 1000, (i + 1) * 1000)).count();
        assert_eq!(joined, 16, "17 pieces in all");
    }
}
