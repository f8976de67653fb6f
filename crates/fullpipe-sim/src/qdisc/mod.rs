//! Queue disciplines: which packet leaves next, which one is dropped or marked. One file each, after
//! Linux 6.12 (net/sched).
//!
//! They are state machines without a place: a link of the path asks them about segments, a host about
//! skbs. They know a packet's flow and size, when it is to leave and whether it can be marked, nothing else of it.
//! Times do not go back.
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

/// What a queue does with packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Discipline {
    /// First in, first out; what finds it full is dropped.
    #[default]
    Fifo,
    /// Controlled delay (RFC 8289).
    Codel(Codel),
    /// The same for each flow, flows in turn (RFC 8290).
    FqCodel(Codel),
    /// Flows in turn, each at its pace.
    Fq(Fq),
    /// Random early detection.
    Red(Red),
    /// Delay and loss.
    Netem(Netem),
}

impl Discipline {
    /// Checks its bounds; `name` is its element's.
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

    /// Whether it counts since when it has been asked for packets and had none.
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

/// An error unless a size of packets is one of Linux's devices.
fn check_mtu(mtu: u32, name: &str) -> Result<(), String> {
    demand((1..=1 << 20).contains(&mtu), format!("{name}: mtu of 1 to 1048576 bytes"))
}
