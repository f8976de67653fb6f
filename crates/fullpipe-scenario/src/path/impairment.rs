//! Impairments of path elements, for the engine that carries packets: a small vocabulary, as data with stated
//! semantics.
//!
//! Each [`Impairment`] is one effect on every arriving packet, in the packets' order. Times count from the run's start.
//! "Segment" is a packet of at most the MTU; "skb" is what the sender handed down as one, which may be many segments.
//! No engine is known here.

use super::{Queue, RateStep, Timer};
use fullpipe_base::units::{Framing, Rate, Time};
use fullpipe_sim::config::{Distribution, QueueLimit, Unit};

/// Effect of an element on packets.
#[derive(Clone, Debug, PartialEq)]
pub enum Impairment {
    /// Segments wait in a queue and are sent one after the other, each for its bytes over the rate.
    Rate(Sending),
    /// Segments wait in a queue; at each opportunity 1504 bytes are sent, and a packet counts 4 bytes more than its IP
    /// bytes. After the last opportunity the list starts again.
    Opportunities {
        /// Milliseconds, not falling; the last one is the period.
        at_ms: Vec<u32>,
        /// Where packets wait.
        queue: Queue,
    },
    /// Each segment leaves the same time after its arrival.
    Delay {
        /// That time.
        delay: Time,
        /// Segments that are held; one more is dropped. `u32::MAX` is no limit.
        limit: u32,
        /// Ticks at which segments that are due leave; none: each leaves when it is due.
        timer: Option<Timer>,
    },
    /// Each segment of a flow leaves the same time after its arrival; others pass at once.
    DelayFlow {
        /// Index of the flow.
        flow: u16,
        /// That time.
        delay: Time,
    },
    /// Each segment leaves a random time after its arrival.
    Spread(Spread),
    /// Each segment is delayed by one of two times, so that some overtake others.
    Overtake(Overtake),
    /// Units are lost by chance.
    Lose {
        /// Which.
        law: Losses,
        /// Unit of a loss.
        unit: Unit,
    },
    /// Segments of a flow are lost by their number.
    LoseListed(Listed),
    /// Segments of a flow are marked (CE) by their number, if they bear a codepoint that can be.
    MarkListed(Listed),
    /// A segment chosen by chance is duplicated, the copy directly behind it.
    Copy(Chance),
    /// Larger segments are dropped.
    Narrow {
        /// Largest IP packet that passes, bytes.
        mtu: u32,
        /// ICMP reports a larger packet to its sender.
        icmp: bool,
        /// Largest MSS that SYNs and SYN-ACKs of both ways announce behind the element, bytes without options.
        mss_clamp: Option<u32>,
    },
    /// A segment passes at once if the bucket has tokens for it, and is dropped otherwise.
    Police {
        /// Rate of new tokens.
        rate: Rate,
        /// Tokens that the bucket holds, bytes; it begins full.
        burst: u64,
        /// Bytes that rate and burst count for each packet.
        framing: Framing,
    },
    /// Segments wait in a queue; the first one leaves as soon as the bucket has tokens for it.
    Shape {
        /// Rate of new tokens.
        rate: Rate,
        /// Tokens that the bucket holds, bytes; it begins full.
        burst: u64,
        /// Bytes that rate, burst and a limit in bytes count for each packet.
        framing: Framing,
        /// Capacity of the queue; one more unit is dropped.
        limit: QueueLimit,
    },
}

/// A rate with a queue in front of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sending {
    /// Rates, each from its time on; the first one from 0. A packet in transmission continues at the new rate; a rate
    /// of 0 sends nothing.
    pub steps: Vec<RateStep>,
    /// Bytes that the rate counts for each packet.
    pub framing: Framing,
    /// Queue of waiting packets, without the one in transmission.
    pub queue: Queue,
}

/// A random delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Mean. A delay that would be negative is none.
    pub mean: Time,
    /// Half the width of a uniform distribution, or the standard deviation of a normal one.
    pub width: Time,
    /// Distribution of the delays.
    pub distribution: Distribution,
    /// Correlation of the delays of neighbours, which leaves the distribution as it is (0 to 1).
    pub correlation: f64,
    /// Whether a segment waits for earlier ones; else it overtakes them.
    pub keep_order: bool,
}

/// Two delays, one of them by chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overtake {
    /// Delay of segments that are not chosen.
    pub delay: Time,
    /// Delay of chosen ones.
    pub chosen_delay: Time,
    /// Chance of a segment, among those that may be chosen.
    pub chosen: Chance,
    /// After a chosen one the next `gap` - 1 may not be (1 or more).
    pub gap: u32,
}

/// A choice by chance: a random number from 0 to 1 is at most the probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chance {
    /// 0 to 1.
    pub probability: f64,
    /// c in r = (1 - c) u + c r': u is uniform, r' the number of the choice before (0 to 1).
    pub correlation: f64,
}

/// Law of losses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Losses {
    /// Each with this probability.
    Independent(f64),
    /// In two states, the first one good; after each unit the state may change.
    TwoStates {
        /// Good to bad.
        p: f64,
        /// Bad to good.
        r: f64,
        /// Loss in the bad state.
        bad: f64,
        /// Loss in the good state.
        good: f64,
    },
}

/// Segments of a flow by their number among the arriving ones, from 0. Segments of the handshake and window probes do
/// not count; retransmissions do.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Index of the flow.
    pub flow: u16,
    /// Numbers of segments with data, rising.
    pub segments: Vec<u64>,
    /// Numbers of ACKs, rising.
    pub acks: Vec<u64>,
}
