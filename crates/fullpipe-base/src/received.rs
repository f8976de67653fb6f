//! Counters of a receiver of numbered datagrams, and the jitter of their arrival.
//!
//! Sources: iperf's and nuttcp's servers (lost, out of order, duplicates by sequence number), RFC 3550 section 6.4.1 and
//! appendix A.8 (jitter).

use alloc::collections::BTreeSet;

/// Counters of one receiver of numbered datagrams, with its jitter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Datagrams received, duplicates included.
    pub datagrams: u64,
    /// Datagrams received for the first time after one with a higher number.
    pub reordered: u64,
    /// Datagrams received before.
    pub duplicates: u64,
    /// The number after the highest received one.
    next: u64,
    /// Numbers below `next` of which no datagram has arrived.
    missing: BTreeSet<u64>,
    /// Transit time of the last datagram, ns.
    transit: Option<u64>,
    /// Sixteen times the jitter, ns.
    jitter_16: u64,
}

impl Received {
    /// The datagram of this number was read, so many nanoseconds after it was written.
    pub fn take(&mut self, number: u64, transit: u64) {
        self.datagrams += 1;
        if number >= self.next {
            // Skipped numbers are missing, until they arrive late.
            self.missing.extend(self.next..number);
            self.next = number + 1;
        } else if self.missing.remove(&number) {
            self.reordered += 1;
        } else {
            self.duplicates += 1;
        }

        // RFC 3550, appendix A.8: the jitter moves by 1/16 of the difference, in units of 1/16.
        if let Some(last) = self.transit.replace(transit) {
            self.jitter_16 += transit.abs_diff(last);
            self.jitter_16 -= (self.jitter_16 - transit.abs_diff(last) + 8) >> 4;
        }
    }

    /// Datagrams below the highest number of which none arrived.
    pub fn lost(&self) -> u64 {
        self.missing.len() as u64
    }

    /// Mean deviation of the time between datagrams from that at which they were sent, ns: a sixteenth of each new one is taken.
    pub fn jitter_ns(&self) -> u64 {
        self.jitter_16 >> 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_show_lost_late_and_double_ones() {
        let mut received = Received::default();
        for number in [0, 1, 4, 3, 3, 6] {
            received.take(number, 0);
        }
        assert_eq!(received.datagrams, 6);
        assert_eq!((received.lost(), received.reordered, received.duplicates), (2, 1, 1));
    }

    #[test]
    fn jitter_takes_a_sixteenth_of_each_deviation() {
        let mut received = Received::default();
        let mut seen = alloc::vec::Vec::new();
        for (number, transit) in [(0, 1000), (1, 1160), (2, 1160), (3, 1000)] {
            received.take(number, transit);
            seen.push(received.jitter_ns());
        }
        // 160/16; less a sixteenth, rounded; plus 160/16 again.
        assert_eq!(seen, [0, 10, 9, 18]);
    }
}
