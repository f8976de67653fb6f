//! Quantities of the core: integer time, rate and size, each with its unit in the type.
//!
//! Decimal and binary prefixes mean what they say: MB = 10^6 bytes, MiB = 2^20 bytes.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

/// A point in simulated time, or a span of it, in integer nanoseconds (range 0 to 584 years).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// The start of a run.
    pub const ZERO: Time = Time(0);
    /// A time after all others.
    pub const NEVER: Time = Time(u64::MAX);

    /// `n` nanoseconds.
    pub const fn ns(n: u64) -> Time {
        Time(n)
    }
    /// `n` microseconds.
    pub const fn us(n: u64) -> Time {
        Time(n * 1_000)
    }
    /// `n` milliseconds.
    pub const fn ms(n: u64) -> Time {
        Time(n * 1_000_000)
    }
    /// `n` seconds.
    pub const fn secs(n: u64) -> Time {
        Time(n * 1_000_000_000)
    }
    /// Nanoseconds since the start.
    pub const fn as_ns(self) -> u64 {
        self.0
    }
    /// Whole microseconds, rounded down.
    pub const fn as_us(self) -> u64 {
        self.0 / 1_000
    }
    /// Microseconds from `earlier` to this by a clock that shows whole ones (Linux `tcp_stamp_us_delta`).
    pub const fn us_since(self, earlier: Time) -> u64 {
        self.as_us().saturating_sub(earlier.as_us())
    }
    /// Seconds as a float, for display and analysis only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// `self - other`, or zero where `other` is later.
    pub const fn saturating_sub(self, other: Time) -> Time {
        Time(self.0.saturating_sub(other.0))
    }
}

impl Add for Time {
    type Output = Time;
    fn add(self, other: Time) -> Time {
        Time(self.0.saturating_add(other.0))
    }
}
impl AddAssign for Time {
    fn add_assign(&mut self, other: Time) {
        *self = *self + other;
    }
}
impl Sub for Time {
    type Output = Time;
    fn sub(self, other: Time) -> Time {
        Time(self.0 - other.0)
    }
}
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The largest unit that leaves no fraction.
        match self.0 {
            Self::MAX_NS => f.write_str("never"),
            n if n % 1_000_000_000 == 0 => write!(f, "{}s", n / 1_000_000_000),
            n if n % 1_000_000 == 0 => write!(f, "{}ms", n / 1_000_000),
            n if n % 1_000 == 0 => write!(f, "{}us", n / 1_000),
            n => write!(f, "{n}ns"),
        }
    }
}
impl Time {
    const MAX_NS: u64 = u64::MAX;
}

/// A data rate in bits per second (1 bit/s to 18 Ebit/s; 0 is refused by the scenario).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

impl Rate {
    /// `n` gigabit per second (10^9).
    pub const fn gbit(n: u64) -> Rate {
        Rate(n * 1_000_000_000)
    }
    /// `n` megabit per second (10^6).
    pub const fn mbit(n: u64) -> Rate {
        Rate(n * 1_000_000)
    }
    /// Rate of an Ethernet wire in frames with their header alone. The rest of Ethernet's overhead is on the wire, too:
    /// full packets of `mtu` bytes have the remaining part of the wire's rate.
    pub fn in_frames(self, mtu: u32) -> Rate {
        let share = |framing: Framing| u128::from(mtu + framing.overhead());
        let bits = u128::from(self.0) * share(Framing::Ethernet) / share(Framing::EthernetWire);
        Rate(bits as u64)
    }
    /// Time for which a link is busy with `bytes`, in whole nanoseconds rounded down, as Linux counts it (6.12
    /// `psched_l2t_ns`, `packet_time_ns` of sch_netem). At 100 Gb/s and 1538 bytes that is 0.03 % less than the rate
    /// asks for.
    pub fn wire_time(self, bytes: u64) -> Time {
        let bits = u128::from(bytes) * 8 * 1_000_000_000;
        Time((bits / u128::from(self.0)) as u64)
    }
    /// Time after which `bytes` are due at this rate, rounded up to a nanosecond, so that it is never exceeded.
    pub fn time_for(self, bytes: u64) -> Time {
        let bits = u128::from(bytes) * 8 * 1_000_000_000;
        Time(bits.div_ceil(u128::from(self.0)) as u64)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The largest unit that leaves no fraction.
        match self.0 {
            n if n % 1_000_000_000 == 0 => write!(f, "{}Gbit", n / 1_000_000_000),
            n if n % 1_000_000 == 0 => write!(f, "{}Mbit", n / 1_000_000),
            n if n % 1_000 == 0 => write!(f, "{}kbit", n / 1_000),
            n => write!(f, "{n}bit"),
        }
    }
}

/// Bytes that a rate counts for each packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Framing {
    /// The IP packet alone (1500 for a full Ethernet packet).
    Ip,
    /// With the 14-byte Ethernet header (1514), as tbf and netem count.
    Ethernet,
    /// With preamble, FCS and inter-frame gap (1538), as on an Ethernet wire.
    EthernetWire,
}

impl Framing {
    /// Bytes added to the IP packet.
    pub const fn overhead(self) -> u32 {
        match self {
            Framing::Ip => 0,
            Framing::Ethernet => 14,
            Framing::EthernetWire => 38,
        }
    }
    /// The name used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Framing::Ip => "ip",
            Framing::Ethernet => "ethernet",
            Framing::EthernetWire => "ethernet-wire",
        }
    }
}
