//! Queue disciplines: which packet leaves next, which one is dropped or marked. One file each, after
//! Linux 6.12 (net/sched).
//!
//! A qdisc has no place of its own: a link of the path asks it about segments, a host about skbs. It knows a packet's
//! flow and size, its departure time and whether it can be marked. Times do not go back.
//!
//! Limits:
//! - pie and cake exist on engine `linux` only.

mod codel;
mod fifo;
mod filling;
mod fq;
mod fq_codel;
mod netem;
mod queue;
mod red;

pub use codel::Codel;
pub use filling::{Filling, weigh_where_bounded};
pub use fq::Fq;
pub use netem::Netem;
pub use queue::{Effects, Packet, Queue, QueueLimit, Size, Verdict, Waiting};
pub use red::Red;

use crate::bounds::demand;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

/// Queue disciplines.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Discipline {
    /// First in, first out; a packet that finds the queue full is dropped.
    #[default]
    Fifo,
    /// Controlled delay (RFC 8289).
    Codel(Codel),
    /// CoDel for each flow, flows in turn (RFC 8290).
    FqCodel(Codel),
    /// Flows in turn, each at its pace.
    Fq(Fq),
    /// Random early detection.
    Red(Red),
    /// Delay and loss.
    Netem(Netem),
}

impl Discipline {
    /// Checks the bounds; `name` is the element's.
    ///
    /// # Errors
    /// The first violated bound.
    pub(crate) fn check(&self, name: &str) -> Result<(), String> {
        match self {
            Discipline::Fifo => Ok(()),
            Discipline::Codel(codel) | Discipline::FqCodel(codel) => codel.check(name),
            Discipline::Fq(fq) => fq.check(name),
            Discipline::Red(red) => red.check(name),
            Discipline::Netem(netem) => netem.check(name),
        }
    }

    /// Whether the qdisc counts its idle time: since when it was asked for packets and had none.
    pub fn counts_idle(&self) -> bool {
        matches!(self, Discipline::Red(_))
    }

    /// An empty queue; `seed` is the run's, `name` its element's.
    pub fn build<P>(&self, limit: QueueLimit, seed: u64, name: &str) -> Box<dyn Queue<P>>
    where
        P: Packet + 'static,
    {
        match *self {
            Discipline::Fifo => Box::new(fifo::Fifo::new(limit)),
            Discipline::Codel(codel) => Box::new(codel::Single::new(codel, limit)),
            Discipline::FqCodel(codel) => Box::new(fq_codel::FqCodel::new(codel, limit)),
            Discipline::Fq(fq) => Box::new(fq::Flows::new(fq, limit)),
            Discipline::Red(red) => Box::new(red::Early::new(red, limit, seed, name)),
            Discipline::Netem(netem) => Box::new(netem::Delayed::new(netem, limit, seed, name)),
        }
    }
}

/// Checks that a size of packets is one of Linux's devices.
fn check_mtu(mtu: u32, name: &str) -> Result<(), String> {
    demand((1..=1 << 20).contains(&mtu), format!("{name}: mtu of 1 to 1048576 bytes"))
}
