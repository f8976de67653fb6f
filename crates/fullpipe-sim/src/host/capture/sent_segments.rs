//! Packets of one direction, by serial, from transmission until the capture has written all of their sightings.
//!
//! Limits:
//! - A capture may miss a copy that arrives after its packet was written.

use crate::packet::Ecn;
use crate::trace::{Dropped, Packet};
use crate::units::Time;
use alloc::collections::VecDeque;

/// Fate of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// TCP at the other end has the segment.
    Delivered,
    /// The stage of this number dropped it.
    Dropped(u16),
}

struct Entry {
    packet: Packet,
    fate: Option<Fate>,
    /// Sightings that were not written yet.
    unwritten: u32,
    /// Whether a sighting was written before.
    was_written: bool,
}

/// Segments of one direction that still have an open fate or open sightings.
#[derive(Default)]
pub(super) struct SentSegments {
    /// Serial of the first entry.
    first: u64,
    entries: VecDeque<Entry>,
}

impl SentSegments {
    /// Adds the segment `serial`, which was sent; its time is not known yet.
    pub(super) fn add(&mut self, serial: u64, packet: Packet) {
        if self.entries.is_empty() {
            self.first = serial;
        }
        self.entries.push_back(Entry { packet, fate: None, unwritten: 0, was_written: false });
    }

    fn entry(&mut self, serial: u64) -> Option<&mut Entry> {
        let at = usize::try_from(serial.checked_sub(self.first)?).ok()?;
        self.entries.get_mut(at)
    }

    fn range(&mut self, serial: u64, segments: u32) -> impl Iterator<Item = &mut Entry> {
        let at = (serial - self.first) as usize;
        self.entries.range_mut(at..at + segments as usize)
    }

    /// Headers of the segment `serial`.
    pub(super) fn packet(&mut self, serial: u64) -> Option<&Packet> {
        self.entry(serial).map(|entry| &entry.packet)
    }

    /// Changes the codepoint of a segment.
    pub(super) fn bear(&mut self, serial: u64, ecn: Ecn) {
        if let Some(entry) = self.entry(serial) {
            entry.packet.ecn = ecn;
        }
    }

    /// Counts a sighting of the segments. False: they were forgotten, so these are copies that the path made.
    pub(super) fn see(&mut self, serial: u64, segments: u32) -> bool {
        let known = serial >= self.first;
        if known {
            self.range(serial, segments).for_each(|entry| entry.unwritten += 1);
        }
        known
    }

    /// Sets the fate of a segment.
    pub(super) fn settle(&mut self, serial: u64, fate: Fate) {
        if let Some(entry) = self.entry(serial) {
            entry.fate = Some(fate);
        }
        self.forget();
    }

    /// Whether the fate of these segments, and of those of serials `more`, is known.
    pub(super) fn is_settled(&mut self, serial: u64, segments: u32, more: &[u64]) -> bool {
        let settled = |entry: &mut Entry| entry.fate.is_some();
        self.range(serial, segments).all(settled)
            && more.iter().all(|&serial| self.entry(serial).is_none_or(settled))
    }

    /// The packet that these segments and those of serials `more` form, seen at `time`.
    pub(super) fn take_sighting(
        &mut self,
        serial: u64,
        segments: u32,
        more: &[u64],
        time: Time,
    ) -> Option<Packet> {
        let head = self.entry(serial)?.packet.clone();
        let mut sighting = Packet { time, segments: segments + more.len() as u32, len: 0, ..head };

        // GRO's joined segments may have serials that do not follow each other.
        let all = (serial..serial + u64::from(segments)).chain(more.iter().copied());
        for serial in all {
            let Some(entry) = self.entry(serial) else { continue };
            entry.unwritten -= 1;
            sighting.again |= entry.was_written;
            entry.was_written = true;
            sighting.len += entry.packet.len;
            sighting.fin |= entry.packet.fin;
            sighting.resent |= entry.packet.resent;
            if let Some(Fate::Dropped(stage)) = entry.fate {
                count(&mut sighting, stage);
            }
        }
        self.forget();
        Some(sighting)
    }

    /// Forgets the first entries, as long as their fate is known and their sightings are written.
    fn forget(&mut self) {
        while self.entries.front().is_some_and(|e| e.fate.is_some() && e.unwritten == 0) {
            self.entries.pop_front();
            self.first += 1;
        }
    }
}

fn count(packet: &mut Packet, stage: u16) {
    match packet.dropped.iter_mut().find(|dropped| dropped.stage == stage) {
        Some(dropped) => dropped.segments += 1,
        None => packet.dropped.push(Dropped { stage, segments: 1 }),
    }
}
