//! Headers of datagrams, and what their arrival says: loss, reordering, jitter (iperf_udp_recv of iperf_udp.c).
//!
//! The counts are iperf3's, so that both ends may be compared: a duplicate counts as late. `Received` of fullpipe-base tells
//! duplicates apart, for which it keeps the missing numbers.

use crate::account::Datagrams;
use std::time::Duration;

/// Bytes of the longest header.
pub(crate) const HEADER: usize = 16;

/// Writes time and number of a datagram; `wide`: the number has 64 bits.
pub(crate) fn stamp(block: &mut [u8], time: Duration, number: u64, wide: bool) {
    let seconds = (time.as_secs() as u32).to_be_bytes();
    let micros = time.subsec_micros().to_be_bytes();
    let header = match wide {
        true => [&seconds[..], &micros, &number.to_be_bytes()].concat(),
        false => [&seconds[..], &micros, &(number as u32).to_be_bytes()].concat(),
    };
    let length = header.len().min(block.len());
    block[..length].copy_from_slice(&header[..length]);
}

/// Datagrams that have arrived at a receiver.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    wide: bool,
    counts: Datagrams,
    /// Difference of the clocks and the delay of the last datagram, seconds.
    transit: Option<f64>,
}

impl Arrivals {
    /// No datagram yet.
    pub(crate) fn new(wide: bool) -> Arrivals {
        Arrivals { wide, counts: Datagrams::default(), transit: None }
    }

    /// Counts so far.
    pub(crate) fn counts(&self) -> Datagrams {
        self.counts
    }

    /// A datagram arrives at that moment. One that is too short for its header does not count.
    pub(crate) fn take(&mut self, datagram: &[u8], now: Duration) {
        let word = |at: usize| {
            let bytes: Option<[u8; 4]> =
                datagram.get(at..at + 4).and_then(|own| own.try_into().ok());
            bytes.map(u32::from_be_bytes)
        };
        let (Some(seconds), Some(micros), Some(high)) = (word(0), word(4), word(8)) else { return };
        let number = match (self.wide, word(12)) {
            (true, Some(low)) => u64::from(high) << 32 | u64::from(low),
            (true, None) => return,
            (false, _) => high.into(),
        };

        // A lower number takes back the loss that its absence was.
        let counts = &mut self.counts;
        if number > counts.packets {
            counts.lost += number - counts.packets - 1;
            counts.packets = number;
        } else {
            counts.out_of_order += 1;
            counts.lost = counts.lost.saturating_sub(1);
        }

        let transit = now.as_secs_f64() - (f64::from(seconds) + f64::from(micros) / 1e6);
        if let Some(before) = self.transit.replace(transit) {
            counts.jitter += ((transit - before).abs() - counts.jitter) / 16.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrive(own: &mut Arrivals, numbers: &[u64]) {
        for number in numbers {
            let mut block = [0; HEADER];
            stamp(&mut block, Duration::from_millis(10 * number), *number, own.wide);
            own.take(&block, Duration::from_millis(10 * number + 500));
        }
    }

    #[test]
    fn gaps_are_losses_and_late_ones_take_them_back() {
        for wide in [false, true] {
            let mut own = Arrivals::new(wide);
            arrive(&mut own, &[1, 2, 5, 3, 6]);
            let counts = own.counts();
            assert_eq!((counts.packets, counts.lost, counts.out_of_order), (6, 1, 1), "{wide}");
            assert!(counts.jitter < 1e-9, "all have the same delay: {}", counts.jitter);
            own.take(&[0; 11], Duration::ZERO);
            assert_eq!(own.counts(), counts, "too short");
        }
    }

    #[test]
    fn jitter_is_a_sixteenth_of_each_change() {
        let mut own = Arrivals::new(false);
        let mut block = [0; HEADER];
        for (number, late) in [(1, 0), (2, 16)] {
            stamp(&mut block, Duration::from_secs(1), number, false);
            own.take(&block, Duration::from_millis(2000 + late));
        }
        assert!((own.counts().jitter - 0.001).abs() < 1e-9, "{}", own.counts().jitter);
    }

    #[test]
    fn a_recorded_header_is_read() {
        // The first datagram of iperf3 3.12: 0x670 s of uptime, number 1.
        let mut own = Arrivals::new(false);
        own.take(&[0, 0, 6, 0x70, 0, 1, 2, 3, 0, 0, 0, 1], Duration::from_secs(9));
        assert_eq!((own.counts().packets, own.counts().lost), (1, 0));
    }
}
