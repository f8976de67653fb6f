//! Queueing disciplines. A kind of them is a file that writes the kernel's options, and a line of [`describe`].

mod cake;
mod codel;
mod ets;
mod fifo;
mod fq;
mod htb;
mod netem;
mod normal;
mod pie;
pub mod prio;
mod red;
mod tbf;

use fullpipe_guest::plan::Qdisc;
use fullpipe_guest::record;

use super::Netlink;
use super::message::{ACK, CREATE, ECHO, EXCLUSIVE, Message};
use crate::error::Result;

/// Makes a qdisc.
pub const RTM_NEWQDISC: u16 = 36;
/// Asks for a qdisc.
const RTM_GETQDISC: u16 = 38;
/// Name of the kind.
pub const TCA_KIND: u16 = 1;
/// Attribute with the options of the kind.
pub const TCA_OPTIONS: u16 = 2;

const TCA_STAB: u16 = 8;
const TCA_STAB_BASE: u16 = 1;
/// With it the kernel computes with a rate itself and wants no table.
const LINKLAYER_ETHERNET: u8 = 1;

const ROOT: u32 = 0xffff_ffff;
/// Parent of programs that look at incoming packets (TC_H_CLSACT).
pub const CLSACT: u32 = 0xffff_fff1;

/// `struct tcmsg`.
pub fn body(device: u32, handle: u32, parent: u32, info: u32) -> [u8; 20] {
    let mut body = [0; 20];
    for (to, value) in body[4..].chunks_exact_mut(4).zip([device, handle, parent, info]) {
        to.copy_from_slice(&value.to_ne_bytes());
    }
    body
}

/// `struct tc_sizespec`: cell_log, size_log (u8), cell_align (u16), overhead, linklayer, mpu, mtu, tsize.
fn sizes(overhead: i32) -> [u8; 24] {
    let mut sizes = [0; 24];
    sizes[4..8].copy_from_slice(&overhead.to_ne_bytes());
    sizes[8..12].copy_from_slice(&u32::from(LINKLAYER_ETHERNET).to_ne_bytes());
    sizes
}

/// Puts the bytes that packets count beyond their Ethernet header.
fn put_overhead(to: &mut Message, overhead: i32) {
    if overhead != 0 {
        to.nest(TCA_STAB, &[], |stab| {
            stab.attr(TCA_STAB_BASE, &sizes(overhead));
        });
    }
}

/// Where a qdisc is, or may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of the device.
    pub device: u32,
    /// Class that it belongs to, or the kernel's value for a root.
    pub parent: u32,
}

impl Place {
    /// Place of the qdisc of that number (from 0, the root) in a chain. A qdisc with a child has the child as its class
    /// 1.
    pub fn chain(device: u32, number: usize) -> Place {
        let parent = number.checked_sub(1).map_or(ROOT, |above| record::qdisc_handle(above) | 1);
        Place { device, parent }
    }

    /// Place of the qdisc of a band (from 0) below a root that has bands.
    pub fn band(device: u32, band: usize) -> Place {
        Place { device, parent: record::qdisc_handle(0) | (band as u32 + 1) }
    }
}

/// Kind and options. Returns the kind's name.
fn describe(qdisc: &Qdisc, to: &mut Message) -> &'static str {
    match *qdisc {
        Qdisc::Tbf { rate, burst, ahead_ns, limit, overhead } => {
            tbf::put(to, rate, tbf::Bucket { burst, ahead_ns }, limit, overhead)
        }
        Qdisc::Htb { overhead, .. } => htb::put(to, overhead),
        Qdisc::Ets => ets::put(to),
        Qdisc::Pfifo { limit } => fifo::put(to, "pfifo", limit),
        Qdisc::Bfifo { limit } => fifo::put(to, "bfifo", limit),
        Qdisc::Netem(ref netem) => netem::put(to, netem),
        Qdisc::Fq { limit, flow_limit, initial_quantum, max_rate } => {
            fq::put(to, limit, flow_limit, initial_quantum, max_rate)
        }
        Qdisc::FqCodel { limit, target_us, interval_us, ecn } => {
            codel::put(to, "fq_codel", limit, target_us, interval_us, ecn)
        }
        Qdisc::Codel { limit, target_us, interval_us, ecn } => {
            codel::put(to, "codel", limit, target_us, interval_us, ecn)
        }
        Qdisc::Red { .. } => red::put(to, qdisc),
        Qdisc::Pie { limit, target_us, update_us, ecn } => {
            pie::put(to, limit, target_us, update_us, ecn)
        }
        Qdisc::Cake { .. } => cake::put(to, qdisc),
    }
}

impl Netlink {
    /// Makes a qdisc with the handle of `number`.
    pub fn qdisc(&mut self, place: Place, number: usize, qdisc: &Qdisc) -> Result<()> {
        self.set_qdisc(CREATE | EXCLUSIVE, place, number, qdisc)?;
        match *qdisc {
            Qdisc::Htb { rate, .. } => self.class(CREATE | EXCLUSIVE, place, number, rate),
            _ => Ok(()),
        }
    }

    /// Changes a qdisc that is there; of an `htb` the rate.
    pub fn change_qdisc(&mut self, place: Place, number: usize, qdisc: &Qdisc) -> Result<()> {
        match *qdisc {
            Qdisc::Htb { rate, .. } => self.class(0, place, number, rate),
            _ => self.set_qdisc(0, place, number, qdisc),
        }
    }

    fn set_qdisc(&mut self, flags: u16, place: Place, number: usize, to: &Qdisc) -> Result<()> {
        let body = body(place.device, record::qdisc_handle(number), place.parent, 0);
        let mut message = Message::new(RTM_NEWQDISC, ACK | flags, &body);
        let name = describe(to, &mut message);
        self.ask(&mut message, &format!("qdisc {name}"))
    }
}

/// Asks for the state of the qdisc with that handle. Without ECHO the kernel gives no answer at all.
pub fn state(device: u32, handle: u32) -> Message {
    Message::new(RTM_GETQDISC, ECHO, &body(device, handle, 0, 0))
}
