//! Facts of packets that sockets do not show.

use crate::capture::epochs::Epoch;
use crate::capture::rounds::Round;
use crate::capture::trains::Trains;

/// Facts that packets show and sockets do not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packets {
    /// Rounds.
    pub rounds: Vec<Round>,
    /// Losses that were repaired.
    pub epochs: Vec<Epoch>,
    /// Bursts of new data: packets with less than 50 us between them.
    pub bursts: u64,
    /// Bursts of these that began within that time behind an ACK.
    pub clocked: u64,
    /// Time from the first ACK to the last, ns.
    pub time: u64,
    /// Part of that time that lies so near behind an ACK, ns.
    pub near: u64,
    /// Packets with data.
    pub packets: u64,
    /// Packets of these that hold no more than one segment, and less than a full one.
    pub partial: u64,
    /// Data between two pauses.
    pub trains: Trains,
}

/// Kind of a segment of the end that sends the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// New data, or none.
    New,
    /// Data that was sent before.
    Resent,
    /// Data that others have overtaken.
    Late,
}
