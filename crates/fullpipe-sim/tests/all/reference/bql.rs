//! Byte queue limits, once more: by what is in the ring now, without totals.

use fullpipe_sim::units::Time;

/// Bytes that a driver counts of a segment in addition to its IP packet: the Ethernet header.
pub const HEADER: u32 = 14;

/// Byte queue limits of a ring. Values are bytes, except `hz` and `looked_since`.
#[derive(Clone)]
pub struct Bql {
    hz: u64,
    limit: u64,
    in_ring: u64,
    /// Bytes of the skb that entered last, now and at the completion before.
    newest: [u64; 2],
    /// Bytes left in the ring by the completion before.
    left_before: u64,
    /// Excess of the ring at that completion, unless the limit was changed.
    excess_before: u64,
    /// Slack that every completion showed since that jiffy.
    spare: Option<u64>,
    looked_since: u64,
    /// Whether the queue goes on.
    pub open: bool,
    /// Number of stops, and of reductions of the limit.
    pub happened: [u64; 2],
}

impl Bql {
    /// Limits of a ring that no skb has entered.
    pub fn new(hz: u32) -> Bql {
        Bql {
            hz: hz.into(),
            limit: 0,
            in_ring: 0,
            newest: [0; 2],
            left_before: 0,
            excess_before: 0,
            spare: None,
            looked_since: 0,
            open: true,
            happened: [0; 2],
        }
    }

    /// An skb enters.
    pub fn enter(&mut self, bytes: u32) {
        self.newest[0] = bytes.into();
        self.in_ring += u64::from(bytes);
        self.open = self.in_ring <= self.limit;
        self.happened[0] += u64::from(!self.open);
    }

    /// An skb of so many bytes was sent.
    pub fn sent(&mut self, now: Time, bytes: u32) {
        let (sent, jiffy) = (u64::from(bytes), now.0 / (1_000_000_000 / self.hz));
        let excess = self.in_ring.saturating_sub(self.limit);
        let left = self.in_ring - sent;
        let dry_now = excess > 0 && left == 0;
        let dry_meanwhile = self.excess_before > 0 && sent >= self.left_before;
        let old = self.limit;
        if dry_now || dry_meanwhile {
            self.limit += sent.saturating_sub(self.left_before) + self.excess_before;
            (self.spare, self.looked_since) = (None, jiffy);
        } else if sent < self.left_before {
            let spare = self.spare_at(sent);
            if jiffy > self.looked_since + self.hz {
                self.limit = old.saturating_sub(spare);
                (self.spare, self.looked_since) = (None, jiffy);
            } else {
                self.spare = Some(spare);
            }
        }
        self.limit = self.limit.min(1_879_048_192);
        self.happened[1] += u64::from(self.limit < old);
        self.excess_before = if self.limit == old { excess } else { 0 };
        (self.in_ring, self.left_before) = (left, left);
        self.newest[1] = self.newest[0];
        self.open |= self.in_ring <= self.limit;
    }

    /// The least slack, this completion's included.
    fn spare_at(&self, sent: u64) -> u64 {
        let beyond_twice = (self.limit + self.excess_before).saturating_sub(2 * sent);
        let of_newest = match self.excess_before {
            0 => 0,
            excess => self.newest[1].saturating_sub(excess),
        };
        let now = beyond_twice.max(of_newest);
        self.spare.map_or(now, |spare| spare.min(now))
    }
}
