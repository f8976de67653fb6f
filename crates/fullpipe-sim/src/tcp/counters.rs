//! What a sender counts for the trace.

use core::ops::AddAssign;

/// What the sender counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments handed down, retransmissions included.
    pub segments_sent: u64,
    /// Segments retransmitted.
    pub segments_retransmitted: u64,
    /// Bytes of data handed down, retransmissions included.
    pub bytes_sent: u64,
    /// Of these, those of retransmissions.
    pub bytes_retransmitted: u64,
    /// ACKs processed.
    pub acks_received: u64,
    /// Skbs of the queue that were looked at on walks along it.
    pub walked: Walked,
    /// Segments delivered by ACKs that tell of a mark (tcpi_delivered_ce).
    pub delivered_ce: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Skbs that the qdisc refused.
    pub refused: u64,
}

/// Skbs that the CPU has looked at on walks along the queue, by what the walk was for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// To look SACK blocks up, and for lost retransmissions.
    pub for_sacks: u64,
    /// To mark losses.
    pub to_mark: u64,
    /// To find what is to be sent again.
    pub to_resend: u64,
}

impl Walked {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.for_sacks + self.to_mark + self.to_resend
    }
}

impl AddAssign for Walked {
    fn add_assign(&mut self, more: Walked) {
        self.for_sacks += more.for_sacks;
        self.to_mark += more.to_mark;
        self.to_resend += more.to_resend;
    }
}
