//! Trains: data between two pauses. Where one ends within a segment, its program had no more; how fast it arrives is the rate of
//! the path's narrowest link.

use fullpipe_base::units::Time;

/// Shortest pause.
const SHORTEST: Time = Time::us(50);
/// Part of the least round trip from which on a gap is a pause.
const PART: u64 = 16;
/// Segments from which on a train shows a rate.
const LONG: u64 = 16;
/// Trains whose rates are remembered.
const MOST: usize = 1 << 12;

/// Trains of a connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trains {
    /// Shortest pause.
    pause: Time,
    /// Payload of a full segment, bytes.
    mss: u64,
    /// Payload that left, without what was sent again, bytes.
    pub bytes: u64,
    /// Pauses between new data.
    pub pauses: u64,
    /// Pauses of these before which the data did not fill its last segment: the socket was empty.
    pub emptied: u64,
    /// Time of the newest data, and whether it does not fill its last segment.
    left: Option<(Time, bool)>,
    /// Time of the first arrival of the current train, that of the newest one, and bytes behind the first one.
    arrived: Option<(Time, Time, u64)>,
    rates: Vec<f64>,
}

impl Trains {
    /// Trains on a path with that least round trip, us, and segments of that payload, bytes.
    pub fn new(least_rtt_us: u32, mss: u32) -> Trains {
        let pause = Time(SHORTEST.0.max(u64::from(least_rtt_us) * 1000 / PART));
        Trains { pause, mss: u64::from(mss.max(1)), ..Trains::default() }
    }

    /// So many bytes of new data leave, or pass the place of the capture.
    pub fn leave(&mut self, time: Time, bytes: u64) {
        self.bytes += bytes;
        let before = self.left.replace((time, !bytes.is_multiple_of(self.mss)));
        if let Some((last, is_partial)) = before
            && time.saturating_sub(last) > self.pause
        {
            self.pauses += 1;
            self.emptied += u64::from(is_partial);
        }
    }

    /// So many bytes have arrived, or an ACK for them has.
    pub fn arrive(&mut self, time: Time, bytes: u64) {
        match &mut self.arrived {
            Some((_, last, sum)) if time.saturating_sub(*last) <= self.pause => {
                *last = time;
                *sum += bytes;
            }
            _ => {
                self.end();
                self.arrived = Some((time, time, 0));
            }
        }
    }

    fn end(&mut self) {
        let Some((first, last, bytes)) = self.arrived.take() else { return };
        let seconds = last.saturating_sub(first).as_secs_f64();
        if bytes >= LONG * self.mss && seconds > 0.0 && self.rates.len() < MOST {
            self.rates.push(bytes as f64 * 8.0 / 1e6 / seconds);
        }
    }

    /// Median rate of payload at which trains arrive, Mb/s; none without a long one.
    pub fn mbit(mut self) -> Option<f64> {
        self.end();
        let all = &mut self.rates;
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trains of 20 segments of 1000 bytes, which leave at once every 10 ms and arrive at 80 Mb/s.
    fn trains(last: u64) -> Trains {
        let mut own = Trains::new(40_000, 1000);
        for train in 0..10 {
            let begin = Time::ms(10 * train);
            own.leave(begin, 19_000);
            own.leave(begin, last);
            (0..20).for_each(|segment| own.arrive(begin + Time::us(40_000 + 100 * segment), 1000));
        }
        own
    }

    #[test]
    fn trains_arrive_at_the_rate_of_the_narrowest_link() {
        assert!((trains(1000).mbit().expect("trains") - 80.0).abs() < 1e-6);
        let mut few = Trains::new(40_000, 1000);
        (0..15).for_each(|segment| few.arrive(Time::us(100 * segment), 1000));
        assert_eq!(few.mbit(), None);
    }

    #[test]
    fn a_train_that_ends_within_a_segment_has_emptied_the_socket() {
        let counts = |own: Trains| (own.pauses, own.emptied, own.bytes);
        assert_eq!(counts(trains(1000)), (9, 0, 200_000));
        assert_eq!(counts(trains(400)), (9, 9, 194_000));
    }
}
