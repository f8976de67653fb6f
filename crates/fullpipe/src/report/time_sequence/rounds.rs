//! Rounds of slow start, as its packets show them at the sender.
//!
//! The first begins with the first data. Each other one begins with the first ACK of data that was sent in the one before
//! (Linux `bictcp_hystart_reset` ends a round the same way: by an ACK beyond what had been sent when it began).

use crate::trace::packets::PacketTrain;
use fullpipe_sim::units::Time;
use serde::Serialize;

/// More rounds than any path needs: slow start at least doubles in two.
const MOST: usize = 200;

/// A round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Round {
    /// When it begins, ns.
    pub begins: u64,
    /// Segments sent in it for the first time.
    pub segments: u64,
}

/// Finds the rounds of a flow.
#[derive(Debug)]
pub struct Rounds {
    /// When slow start has ended; none: it is not known that there was one.
    pub until: Option<Time>,
    /// The rounds so far.
    pub found: Vec<Round>,
    sent_to: u64,
    ends_beyond: u64,
}

impl Rounds {
    /// Rounds until slow start has ended.
    pub fn new(until: Option<Time>) -> Rounds {
        Rounds { until, found: Vec::new(), sent_to: 1, ends_beyond: 1 }
    }

    /// Takes the packets of the flow's trains, which stand in order of time: data, and ACKs.
    pub fn add(&mut self, data: &[PacketTrain], acks: &[PacketTrain]) {
        let until = self.until.unwrap_or(Time::ZERO);
        let early = |trains: &[PacketTrain]| trains.partition_point(|train| train.time <= until);
        let (data, acks) = (&data[..early(data)], &acks[..early(acks)]);
        let (mut data, mut acks) = (singles(data).peekable(), singles(acks).peekable());
        loop {
            let acked = match (data.peek(), acks.peek()) {
                (None, None) => return,
                (Some(data), Some(ack)) => ack.time <= data.time,
                (data, _) => data.is_none(),
            };
            match if acked { acks.next() } else { data.next() } {
                Some(packet) if packet.time <= until => self.packet(&packet),
                _ => return,
            }
        }
    }

    fn packet(&mut self, packet: &PacketTrain) {
        let begins = packet.time.0;
        if packet.acks {
            if !self.found.is_empty() && packet.ack > self.ends_beyond && self.found.len() < MOST {
                self.found.push(Round { begins, segments: 0 });
                self.ends_beyond = self.sent_to;
            }
            return;
        }
        if packet.len == 0 || packet.resent || packet.again {
            return;
        }
        if self.found.is_empty() {
            self.found.push(Round { begins, segments: 0 });
        }
        self.sent_to = self.sent_to.max(packet.seq + u64::from(packet.len));
        if let Some(round) = self.found.last_mut() {
            round.segments += u64::from(packet.segments);
        }
    }
}

/// The packets of trains, one by one.
fn singles(trains: &[PacketTrain]) -> impl Iterator<Item = PacketTrain> {
    trains.iter().flat_map(|train| (0..train.count).map(|i| train.packet(i)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::schema::Row;

    fn train(ms: u64, acks: bool, number: u64, count: u32) -> PacketTrain {
        let blank = PacketTrain { time: Time::ms(ms), acks, count, ..PacketTrain::blank() };
        match acks {
            true => PacketTrain { ack: 1 + 1000 * number, ack_step: 1000, spacing: 1, ..blank },
            false => PacketTrain { seq: 1 + 1000 * number, len: 1000, spacing: 1, ..blank },
        }
    }

    #[test]
    fn a_round_begins_with_the_first_ack_of_the_one_before() {
        // Two segments; each ACK lets two more go; the second ACK belongs to the first's round.
        let data = [
            train(0, false, 0, 2),
            train(10, false, 2, 2),
            train(11, false, 4, 2),
            train(20, false, 6, 8),
        ];
        let acks = [train(10, true, 1, 1), train(11, true, 2, 1), train(20, true, 3, 4)];
        let mut rounds = Rounds::new(Some(Time::ms(30)));
        rounds.add(&data, &acks);
        let seen: Vec<(u64, u64)> =
            rounds.found.iter().map(|r| (r.begins / 1_000_000, r.segments)).collect();
        assert_eq!(seen, [(0, 2), (10, 4), (20, 8)]);
    }

    #[test]
    fn where_slow_start_has_no_end_there_are_no_rounds() {
        let mut rounds = Rounds::new(None);
        rounds.add(&[train(1, false, 0, 2)], &[]);
        assert_eq!(rounds.found, []);
    }
}
