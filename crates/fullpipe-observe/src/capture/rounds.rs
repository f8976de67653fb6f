//! Round trips of a connection: the most and the fewest packets in flight, and the least RTT of each.

use fullpipe_base::units::Time;

/// Growth of packets in flight from one round to the next in slow start.
const DOUBLES: f64 = 1.5;
/// Growth below which slow start has been left.
const LEFT: f64 = 1.2;
/// Share of a round in which the receiver's window may stop the sender while slow start goes on.
const STOPPED: f64 = 0.1;

/// A round trip of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Round {
    /// End, seconds since the first packet.
    pub at_s: f64,
    /// Most packets in flight.
    pub most: f64,
    /// Fewest packets in flight, at the arrival of ACKs.
    pub least: f64,
}

/// Clocks of a connection at a moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    /// Time since the first packet.
    pub time: Time,
    /// Part of it in which the receiver's window stopped the sender, ns.
    pub stopped: u64,
}

/// Rounds that are over, and the current one.
#[derive(Debug, Default)]
pub struct Rounds {
    all: Vec<Round>,
    now: Round,
    begin: Moment,
    /// Number of the byte whose ACK ends the current one.
    end: u64,
    /// Least RTT of the current one, us; 0 before the first sample.
    rtt_us: u32,
    /// Rounds in a row in which packets in flight have doubled.
    doubled: u32,
}

impl Rounds {
    /// Begins at that byte.
    pub fn begin_at(&mut self, number: u64) {
        self.end = number;
    }

    /// That many packets are in flight behind a packet.
    pub fn fills(&mut self, flight: f64) {
        self.now.most = self.now.most.max(flight);
    }

    /// That many packets are in flight when an ACK comes.
    pub fn drains(&mut self, flight: f64) {
        self.now.least = self.now.least.min(flight);
    }

    /// A sample of RTT.
    pub fn sample(&mut self, us: u32) {
        self.rtt_us = if self.rtt_us == 0 { us } else { self.rtt_us.min(us) };
    }

    /// Most packets in flight in the current round and the one before.
    pub fn most(&self) -> f64 {
        self.now.most.max(self.before())
    }

    /// Most packets in flight in the current round.
    pub fn now(&self) -> f64 {
        self.now.most
    }

    /// Least RTT of the current round, us, where it has a sample. The next round has none yet.
    pub fn take_rtt(&mut self) -> Option<u32> {
        Some(std::mem::take(&mut self.rtt_us)).filter(|us| *us > 0)
    }

    /// Whether the ACK of that byte ends the current round.
    pub fn ends_with(&self, ack: u64) -> bool {
        ack >= self.end
    }

    /// Ends the current round; the next one ends with the ACK of byte `end`. Returns the packets in flight at which slow start
    /// was left, where it has been left now.
    pub fn next(&mut self, now: Moment, end: u64, flight: f64) -> Option<f64> {
        let lasts = now.time.saturating_sub(self.begin.time).0.max(1);
        let stopped = (now.stopped - self.begin.stopped) as f64 / lasts as f64;
        let own = Round { at_s: now.time.as_secs_f64(), ..self.now };
        let left = if stopped < STOPPED { self.left_slow_start(&own) } else { None };
        self.all.push(own);
        (self.end, self.begin) = (end, now);
        self.now = Round { most: flight, least: flight, ..Round::default() };
        left
    }

    /// Packets in flight before a round that does not grow, where the rounds before have doubled.
    fn left_slow_start(&mut self, own: &Round) -> Option<f64> {
        let before = self.before();
        let growth = own.most / before.max(1.0);
        if before <= 0.0 {
            return None;
        }
        if growth >= DOUBLES {
            self.doubled += 1;
        }
        (growth < LEFT && self.doubled >= 2).then_some(before)
    }

    fn before(&self) -> f64 {
        self.all.last().map_or(0.0, |own| own.most)
    }

    /// Rounds that are over.
    pub fn over(self) -> Vec<Round> {
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The packets in flight at which slow start is left, of rounds of 10 ms.
    fn left(flights: &[f64], stopped: u64) -> Option<f64> {
        let mut own = Rounds::default();
        let mut found = None;
        for (n, flight) in flights.iter().enumerate() {
            own.fills(*flight);
            let (time, stopped) = (Time::ms(10 * (n as u64 + 1)), stopped * (n as u64 + 1));
            found = found.or(own.next(Moment { time, stopped }, 0, 0.0));
        }
        found
    }

    #[test]
    fn slow_start_is_left_where_rounds_no_longer_double() {
        assert_eq!(left(&[10.0, 20.0, 40.0, 42.0], 0), Some(40.0));
        assert_eq!(left(&[10.0, 20.0, 40.0, 56.0], 0), None, "it grows on");
        assert_eq!(left(&[10.0, 20.0, 21.0], 0), None, "it has doubled once");
        assert_eq!(left(&[10.0, 20.0, 40.0, 42.0], 5_000_000), None, "the window stops it");
    }

    #[test]
    fn a_round_has_the_least_of_its_samples() {
        let mut own = Rounds::default();
        [30, 20, 40].into_iter().for_each(|us| own.sample(us));
        assert_eq!((own.take_rtt(), own.take_rtt()), (Some(20), None));
    }
}
