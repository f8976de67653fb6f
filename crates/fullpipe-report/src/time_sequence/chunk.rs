//! Trains as bytes: column by column, each value as its difference from the value that the previous train predicts.
//!
//! A value is a zigzag number in LEB128 groups of seven bits, the lowest first. `assets/data.js` reads the same.

use fullpipe_analysis::trace::packets::{PacketTrain, SACKS};
use std::sync::Arc;

/// Trains of a chunk: few enough to decode at once, enough to pack well.
pub const TRAINS: usize = 2048;

/// Appends `value` as LEB128.
pub fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends `value - expected`, zigzag.
pub fn difference(out: &mut Vec<u8>, value: u64, expected: u64) {
    let difference = value.wrapping_sub(expected) as i64;
    number(out, ((difference << 1) ^ (difference >> 63)) as u64);
}

/// Names of places, each once.
#[derive(Default)]
pub struct Places(pub Vec<Arc<str>>);

impl Places {
    fn number(&mut self, name: &Arc<str>) -> u64 {
        if name.is_empty() {
            return 0;
        }
        let known = self.0.iter().position(|known| known == name);
        let at = known.unwrap_or_else(|| {
            self.0.push(name.clone());
            self.0.len() - 1
        });
        at as u64 + 1
    }
}

/// A column: its value, and the expected value of the next train.
type Column = (fn(&PacketTrain) -> u64, fn(&PacketTrain) -> u64);

const COLUMNS: [Column; 14] = [
    (|row| row.time.0, |row| row.time_of(row.count - 1).0),
    (|row| row.count.into(), |row| row.count.into()),
    (|row| row.spacing, |row| row.spacing),
    (|row| row.segments.into(), |row| row.segments.into()),
    (|row| row.seq, |row| row.seq + u64::from(row.count) * u64::from(row.len)),
    (|row| row.len.into(), |row| row.len.into()),
    (|row| row.ack, |row| row.ack + u64::from(row.count - 1) * row.ack_step),
    (|row| row.ack_step, |row| row.ack_step),
    (|row| row.window, |row| row.window),
    (|row| row.flags.into(), |row| row.flags.into()),
    (|row| row.ecn.into(), |row| row.ecn.into()),
    (|row| u64::from(row.resent) + 2 * u64::from(row.again), |_| 0),
    (|row| row.dropped.into(), |row| row.dropped.into()),
    (|row| row.sack_step, |row| row.sack_step),
];

/// The trains of a chunk, in order of time.
pub fn trains(rows: &[PacketTrain], places: &mut Places) -> Vec<u8> {
    let mut out = Vec::with_capacity(rows.len() * 24);
    for (value, expected) in COLUMNS {
        column(&mut out, rows, value, expected);
    }
    rows.iter().for_each(|row| number(&mut out, places.number(&row.dropped_at)));
    for block in 0..SACKS {
        column(&mut out, rows, |row| row.sacks[block].0, |row| row.sacks[block].0);
        column(&mut out, rows, |row| row.sacks[block].1, |row| last_end(row, block));
    }
    out
}

/// Where a SACK block of the last packet ends.
fn last_end(row: &PacketTrain, block: usize) -> u64 {
    let grows = if block == 0 { u64::from(row.count - 1) * row.sack_step } else { 0 };
    row.sacks[block].1 + grows
}

fn column(
    out: &mut Vec<u8>,
    rows: &[PacketTrain],
    value: impl Fn(&PacketTrain) -> u64,
    expected: impl Fn(&PacketTrain) -> u64,
) {
    let mut expects = 0;
    for row in rows {
        difference(out, value(row), expects);
        expects = expected(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_seven_bits_in_a_byte() {
        let bytes = |value| {
            let mut out = Vec::new();
            difference(&mut out, value, 100);
            out
        };
        // Zigzag: 0, -1, 1, -2 become 0, 1, 2, 3.
        assert_eq!(bytes(100), [0]);
        assert_eq!(bytes(99), [1]);
        assert_eq!(bytes(101), [2]);
        assert_eq!(bytes(164), [0x80, 1]);
        assert_eq!(bytes(0), [0xc7, 1]);
    }
}
