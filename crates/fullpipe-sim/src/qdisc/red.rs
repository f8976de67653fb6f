//! RED: drops or marks arriving packets with a probability that follows the average length of the queue. Sources: Floyd
//! and Jacobson 1993; Linux 6.12 sch_red, `include/net/red.h`.
//!
//! The queue below is first in, first out, bounded in bytes. While it is empty the average decays as if packets of the
//! usual size had arrived. A table of halvings does this, as in Linux.
//!
//! Limits:
//! - Its random numbers are not the kernel's.

use super::fifo::List;
use super::{Effects, Packet, Queue, QueueLimit, Size, Verdict, Waiting};
use crate::bounds::{demand, probability};
use crate::rng::Rng;
use crate::units::Time;
use alloc::format;
use alloc::string::String;

/// Bound of the bits of a threshold and of the weight together (`red_check_params`).
const BITS: u32 = 32;
/// Largest entry of the table: an average shifted by it is 0.
const NOTHING: f64 = 31.0;
/// Entries of the table.
const ENTRIES: u64 = 256;

/// Parameters of RED.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Red {
    /// Average from which on some packets are dropped, bytes.
    pub min: u64,
    /// Average from which on all packets are dropped, bytes.
    pub max: u64,
    /// Probability of a drop just below `max` (0 to 1).
    pub probability: f64,
    /// Weight of the average: a packet counts 1 / 2^weight (1 to 30).
    pub weight: u8,
    /// Whether packets of flows with ECN are marked instead of dropped.
    pub ecn: bool,
    /// Time of a full packet on the wire, which sets the decay of an empty queue's average.
    pub packet_time: Time,
}

impl Red {
    pub(super) fn check(&self, name: &str) -> Result<(), String> {
        probability(self.probability, name, "probability")?;
        demand(self.min >= 1 && self.min <= self.max, format!("{name}: min of 1 to max"))?;
        let bits = u64::BITS - self.max.leading_zeros() + u32::from(self.weight);
        let weight = (1..=30).contains(&self.weight) && bits < BITS;
        demand(weight, format!("{name}: bits of max and weight are fewer than {BITS}"))
    }
}

/// Decay of the average during idle time.
#[derive(Debug)]
struct Fading {
    /// Halvings per us.
    rate: f64,
    /// us of a cell of the table, as a power of 2.
    cell: u32,
}

impl Fading {
    fn new(red: &Red) -> Fading {
        let kept = 1.0 - libm::exp2(-f64::from(red.weight));
        let rate = -libm::log2(kept) * 1000.0 / red.packet_time.0.max(1) as f64;
        let cell = (0..24).find(|cell| ((ENTRIES - 1) << cell) as f64 * rate >= NOTHING);
        Fading { rate, cell: cell.unwrap_or(24) }
    }

    /// `average` after so many idle us (`red_calc_qavg_from_idle_time`).
    fn after(&self, average: u64, idle_us: u64) -> u64 {
        let idle = idle_us.min((ENTRIES - 1) << self.cell);
        let halvings = ((idle >> self.cell) << self.cell) as f64 * self.rate;
        match halvings.min(NOTHING) as u32 {
            0 => {
                let fades = (u128::from(average) * u128::from(idle)) >> self.cell;
                let half = average / 2;
                if fades < u128::from(half) { average - fades as u64 } else { half }
            }
            halvings => average >> halvings,
        }
    }
}

/// Decision about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    None,
    Early,
    All,
}

/// State of RED.
#[derive(Debug)]
pub(super) struct Early<P> {
    red: Red,
    limit: QueueLimit,
    fading: Fading,
    list: List<P>,
    /// Average length, in 2^-weight bytes.
    average: u64,
    /// Packets since the last drop, or since the average rose above `min`; none below `min`.
    since: Option<u64>,
    /// Value of `since` times the excess over `min` at which the next packet is dropped.
    due: u64,
    /// Time since which the queue was asked for packets and had none.
    idle: Option<Time>,
    rng: Rng,
}

impl<P> Early<P> {
    pub(super) fn new(red: Red, limit: QueueLimit, seed: u64, name: &str) -> Early<P> {
        Early {
            fading: Fading::new(&red),
            red,
            limit,
            list: List::default(),
            average: 0,
            since: None,
            due: 0,
            idle: None,
            rng: Rng::new(seed, name),
        }
    }

    /// `red_calc_qavg`: decays the average of an idle queue, else moves it towards the current length.
    fn follow(&mut self, now: Time) {
        self.average = match self.idle.take() {
            Some(since) => self.fading.after(self.average, now.saturating_sub(since).as_us()),
            None => self.average - (self.average >> self.red.weight) + self.list.bytes(),
        };
    }

    /// `red_random`: uniform from 0 to the excess over `min` at which a drop is certain.
    fn draw(&mut self) -> u64 {
        let most = libm::round(self.red.probability * f64::from(u32::MAX)) as u64;
        let range = (self.red.max - self.red.min).max(1);
        (self.rng.next_u64() >> 32) / (most / range).max(1)
    }

    /// `red_action`: the gap between two drops is uniform, from 1 to 1/p.
    fn signal(&mut self) -> Signal {
        let (min, max) = (self.red.min << self.red.weight, self.red.max << self.red.weight);
        if self.average < min {
            self.since = None;
            return Signal::None;
        }
        if self.average >= max {
            self.since = None;
            return Signal::All;
        }

        // Above min: the first packet only draws the gap to the next drop.
        let Some(since) = self.since.map(|since| since + 1) else {
            self.since = Some(0);
            self.due = self.draw();
            return Signal::None;
        };
        self.since = Some(since);

        // A drop is due when the packets since the last one, times the excess, reach the drawn gap.
        let excess = (self.average - min) >> self.red.weight;
        if excess.saturating_mul(since) < self.due {
            return Signal::None;
        }
        self.since = Some(0);
        self.due = self.draw();
        Signal::Early
    }
}

impl<P: Packet> Queue<P> for Early<P> {
    fn enqueue(&mut self, packet: Waiting<P>, _ahead: Size, effects: &mut Effects<P>) -> Verdict {
        let mut packet = packet;
        self.follow(packet.came);
        if self.signal() != Signal::None && !effects.mark(&mut packet, self.red.ecn) {
            effects.dropped.push(packet);
            return Verdict::Congested;
        }
        self.list.offer(packet, self.limit, Size::default(), effects)
    }

    fn dequeue(&mut self, now: Time, _effects: &mut Effects<P>) -> Option<Waiting<P>> {
        let packet = self.list.pop();
        if packet.is_none() {
            self.idle.get_or_insert(now);
        }
        packet
    }

    fn each(&self, each: &mut dyn FnMut(&P)) {
        self.list.each(each);
    }
}
