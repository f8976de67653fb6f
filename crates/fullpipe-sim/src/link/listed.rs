//! Packets of a flow by their number among the arrivals, counted from 0.

use crate::bounds::demand;
use crate::packet::{Kind, Train};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Progress in a list.
#[derive(Clone, Copy, Default)]
struct Place {
    /// Packets that have arrived.
    come: u64,
    /// Entries of the list that are behind.
    over: usize,
}

/// The lists of a flow. Retransmissions count; the packets of the handshake and window probes do not.
pub(super) struct Listed {
    flow: u16,
    /// Data segments, and pure ACKs.
    segments: (Place, Vec<u64>),
    acks: (Place, Vec<u64>),
}

/// Checks that a list is in rising order.
///
/// # Errors
/// The list is not in rising order.
pub(super) fn check(name: &str, list: &[u64]) -> Result<(), String> {
    let rises = list.windows(2).all(|pair| pair[0] < pair[1]);
    demand(rises, format!("{name}: numbers do not rise"))
}

impl Listed {
    /// Rising lists of packets, none of which has arrived yet.
    pub(super) fn new(flow: u16, segments: &[u64], acks: &[u64]) -> Listed {
        let list = |numbers: &[u64]| (Place::default(), numbers.to_vec());
        Listed { flow, segments: list(segments), acks: list(acks) }
    }

    /// Splits `train` into parts and calls `each` with the part and whether it is listed; a listed part has one packet.
    pub(super) fn part(&mut self, train: &Train, mut each: impl FnMut(Train, bool)) {
        let mut at = 0;
        while at < train.count {
            let rest = train.part(at, train.count - at);
            let passing = self.passing(&rest);
            if passing > 0 {
                each(rest.part(0, passing), false);
            }
            if passing < rest.count {
                each(rest.part(passing, 1), true);
            }
            at += passing + 1;
        }
    }

    /// The list for the kind of packets in `train`.
    fn list(&mut self, train: &Train) -> Option<&mut (Place, Vec<u64>)> {
        match train.kind {
            _ if train.flow != self.flow => None,
            Kind::Data if train.len > 0 => Some(&mut self.segments),
            Kind::Ack => Some(&mut self.acks),
            _ => None,
        }
    }

    /// Packets of `train` before its first listed packet, which then counts as arrived; all packets if none is listed.
    fn passing(&mut self, train: &Train) -> u32 {
        let Some((place, list)) = self.list(train) else { return train.count };
        // A reader's FIN is no ACK without data, as for a capture's filter.
        let ends = train.kind == Kind::Ack && train.fin;
        let counted = train.count - u32::from(ends);
        let next = list.get(place.over).map_or(u64::MAX, |number| number - place.come);
        let passing = next.min(u64::from(counted)) as u32;
        place.come += u64::from(passing);
        if passing == counted {
            return train.count;
        }
        place.come += 1;
        place.over += 1;
        passing
    }
}
