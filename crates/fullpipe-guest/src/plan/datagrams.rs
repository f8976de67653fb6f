//! Datagrams of UDP, and the programs that send and read them.

use serde::{Deserialize, Serialize};

/// Least payload of a datagram, bytes: its number, and when it was written.
pub const DATAGRAM: u32 = 16;

/// Datagrams of UDP that a program writes at a pace, and the program that reads them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Datagrams {
    /// Their name, by which they are counted.
    pub name: String,
    /// Whether the receiver sends them to the sender.
    pub backward: bool,
    /// Payload of each, [`DATAGRAM`] bytes or more.
    pub size: u32,
    /// Bits of payload per second, 1 or more: datagram n is written when n of them have taken their time.
    pub rate: u64,
    /// SO_RCVBUF as given to setsockopt, beyond `rmem_max` if need be; none: not set.
    pub rcvbuf: Option<u64>,
    /// Pace of the program's reads; none: each as soon as it can.
    pub reader: Option<DatagramReader>,
    /// When the first one is written, ns from the run's start.
    pub start_ns: u64,
    /// Time after `start_ns` for which datagrams are written, ns.
    pub duration_ns: Option<u64>,
    /// Most datagrams.
    pub count: Option<u64>,
}

impl Datagrams {
    /// Time at which datagram `number` is written, ns from the run's start; none if the program ends before.
    #[must_use]
    pub fn due_ns(&self, number: u64) -> Option<u64> {
        let bits = u128::from(number) * u128::from(self.size) * 8;
        let after = (bits * 1_000_000_000 / u128::from(self.rate.max(1))) as u64;
        let counts = self.count.is_none_or(|count| number < count);
        let lasts = self.duration_ns.is_none_or(|duration| after < duration);
        (counts && lasts).then(|| self.start_ns.saturating_add(after))
    }
}

/// A program that reads datagrams at its own pace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatagramReader {
    /// Bits per second. The program works on a datagram for its time at this rate before it reads the next one; none:
    /// no time.
    pub rate: Option<u64>,
    /// Time from the datagrams' start, and from the end of each pause, for which the program reads, ns; 0: always.
    pub on_ns: u64,
    /// Length of a pause, ns; 0: never.
    pub off_ns: u64,
}

impl DatagramReader {
    /// Rest of the pause at a time since the datagrams' start, ns; 0: there is none.
    #[must_use]
    pub fn pause_ns(&self, since_start: u64) -> u64 {
        let period = self.on_ns.saturating_add(self.off_ns).max(1);
        let at = since_start % period;
        if self.off_ns == 0 || at < self.on_ns { 0 } else { period - at }
    }

    /// Time that the program works on a datagram of that size, ns.
    #[must_use]
    pub fn work_ns(&self, size: u32) -> u64 {
        let bits = u128::from(size) * 8_000_000_000;
        self.rate.map_or(0, |rate| bits.div_ceil(u128::from(rate.max(1))) as u64)
    }
}
