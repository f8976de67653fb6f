//! Copies unread data into new skbs where memory is short. The new skbs may take more memory than the old ones.
//!
//! Source: Linux 6.1 and 6.12 `tcp_prune_queue`, `tcp_collapse`, `__alloc_skb`.

use super::{ReceiveQueue, Skb, Waiting};
use crate::tcp::receiver::coalesce::Joined;
use alloc::vec::Vec;
use core::{iter, mem};

/// Memory of a head without the data, bytes: `struct sk_buff` and `struct skb_shared_info`, x86-64.
const SK_BUFF: u64 = 256;
const SHINFO: u64 = 320;
/// Data that fits into a page with a head (SKB_MAX_ORDER(0, 0)), bytes.
const OF_A_PAGE: u64 = 4096 - SHINFO;
/// Alignment of data, bytes (SMP_CACHE_BYTES).
const ALIGNED: u64 = 64;

impl ReceiveQueue {
    /// Copies all skbs from the first one on that was read in part, or that takes memory for a larger window
    /// (`window_of`) than it has data. The data ends at `end`. Reports each change of memory, in bytes.
    pub(in crate::tcp) fn collapse(
        &mut self,
        end: u64,
        window_of: impl Fn(u64) -> u64,
        mut charge: impl FnMut(i64),
    ) {
        // tcp_collapse begins with an skb that was read in part, or that wastes memory.
        let first = match self.read_of_first {
            0 => self.runs.iter().position(|run| window_of(run.skb.memory) > run.skb.bytes),
            _ => Some(0),
        };
        let Some(first) = first else { return };
        let old: Vec<Waiting> = self.runs.split_off(first).into();
        let (mut read, mut reported) = (0, 0);
        if first == 0 {
            read = mem::take(&mut self.read_of_first);
            reported = mem::take(&mut self.reported_of_first);
        }
        let sum = |of: fn(&Skb) -> u64| {
            old.iter().map(|run| of(&run.skb) * u64::from(run.count)).sum::<u64>()
        };
        let (bytes, segments) = (sum(|s| s.bytes) - read, sum(|s| s.segments.into()) - reported);
        let len = old.iter().map(|run| run.skb.len).max().unwrap_or(0);
        let mut skbs = old.iter().flat_map(|run| iter::repeat_n(run.skb, run.count as usize));
        let mut from = skbs.next();
        self.bytes -= bytes;
        let (mut copied, mut counted) = (0, 0);

        // The data is copied into new skbs, page by page.
        while copied < bytes {
            let part = OF_A_PAGE.min(bytes - copied);
            let memory = SK_BUFF + self.head_of(part);
            charge(memory as i64);
            let mut room = part;

            // An old skb is freed as soon as all of its data is copied.
            while let Some(skb) = from
                && room > 0
            {
                let size = room.min(skb.bytes - read);
                (room, read) = (room - size, read + size);
                if read == skb.bytes {
                    charge(-(skb.memory as i64));
                    (from, read) = (skbs.next(), 0);
                }
            }
            copied += part;

            // Segments are spread over the new skbs by bytes.
            let upto = segments * copied / bytes;
            let segments = (upto - mem::replace(&mut counted, upto)) as u32;
            self.enqueue(Skb { len, segments, bytes: part, memory }, 1);
            let room = self.head_of(part) - SHINFO - part;
            self.tail = self.joins.then_some(Joined::copied(end, room));
        }
    }

    /// Memory of a head for so many bytes of data: a small head, or a power of two.
    fn head_of(&self, data: u64) -> u64 {
        let (needed, small) = (data.next_multiple_of(ALIGNED) + SHINFO, self.overhead - SK_BUFF);
        if needed <= small { small } else { needed.next_power_of_two() }
    }
}
