//! Facts about a captured connection that its trace does not hold.

use super::{Connection, Place, Placed, SOURCE};
use crate::analysis::pasted::{Column, Pasted, Wire};
use crate::analysis::{FlowMeta, RunMeta};
use crate::base::trace::option;
use crate::base::units::Time;
use crate::observation::meta::of_sockets;
use crate::pasted::meta::{MSS, flow};
use fullpipe_observe::capture::timeline::Setup;

/// Bytes of the timestamps option in each segment.
const STAMPS: u32 = 12;
/// Most intervals and bins of a report.
const MOST_INTERVALS: u64 = 600;
const MOST_BINS: u64 = 2400;
/// Packets with data from which on the largest segment is a full one.
const MANY: u64 = 20;

/// Facts for the second reading.
pub(super) fn setup(own: &Connection, way: usize, placed: &Placed) -> Setup {
    Setup {
        place: placed.place,
        beyond: placed.beyond.unwrap_or_default(),
        before: placed.before.unwrap_or_default(),
        scale: scale(own, way),
        mss: mss(own, way),
        options: options(own, way),
        begin: own.first,
        lasts: own.lasts(),
    }
}

/// Shift of the windows of the end that receives the data; none where no SYN shows it.
pub(super) fn scale(own: &Connection, way: usize) -> Option<u8> {
    let [sender, receiver] = [way, 1 - way].map(|way| own.ways[way].offer);
    match (sender, receiver) {
        // Both ends scale, or none does (RFC 7323, 1.3).
        (Some(sender), Some(receiver)) => Some(sender.scale.and(receiver.scale).unwrap_or(0)),
        (None, Some(receiver)) => receiver.scale.or(Some(0)),
        (Some(sender), None) => sender.scale.is_none().then_some(0),
        (None, None) => None,
    }
}

/// Bytes of a full segment.
pub(super) fn mss(own: &Connection, way: usize) -> u32 {
    let stamps = if own.ways[way].stamps { STAMPS } else { 0 };
    let offered = own.ways[1 - way].offer.and_then(|own| own.mss);
    let offered = offered.map(|mss| u32::from(mss).saturating_sub(stamps)).filter(|mss| *mss > 0);
    let largest = own.ways[way].largest;
    match offered {
        // The path, or the sender's own card, may carry less.
        Some(offered) if own.ways[way].data_packets >= MANY => offered.min(largest.max(1)),
        Some(offered) => offered,
        // A host hands several segments to its card at once.
        None if (1..=9_000).contains(&largest) => largest,
        None => MSS,
    }
}

fn options(own: &Connection, way: usize) -> u8 {
    let offers = own.ways.each_ref().map(|way| way.offer);
    let knows = offers.iter().all(Option::is_some);
    let sack = offers.iter().flatten().all(|own| own.sack);
    let reports = own.ways[1 - way].sack_acks > 0;
    let scales = offers.iter().flatten().all(|own| own.scale.is_some());
    let bit = |holds: bool, bit: u8| if holds { bit } else { 0 };

    // Without a handshake options are taken to be agreed, as they are nearly always.
    bit(own.ways.iter().all(|own| own.stamps), option::TIMESTAMPS)
        | bit(reports || sack || !knows, option::SACK)
        | bit(scales || !knows, option::WSCALE)
}

/// Facts for the analysis.
pub(super) fn of(own: &Connection, way: usize, placed: &Placed, wire: Wire, step: Time) -> RunMeta {
    let [from, to] = [own.ends[way], own.ends[1 - way]];
    let name = format!("{from} > {to}");
    let mut hidden = vec![Column::Unsent, Column::Memory];
    if !wire.knows_windows {
        hidden.push(Column::Window);
    }
    if placed.round_trip().is_none() {
        hidden.push(Column::Rtt);
    }
    let pasted = Pasted { hidden, wire: Some(wire), ..Pasted::default() };
    let flow = FlowMeta {
        hosts: [from.ip().to_string(), to.ip().to_string()],
        ..flow(name.clone(), "", None, pasted)
    };
    let plain = of_sockets(&name, SOURCE, vec![flow], mss(own, way), step);

    // A capture may last for days: its tables stay as long as those of minutes.
    let interval = Time(plain.interval.0.max(own.lasts().0 / MOST_INTERVALS));
    let bin = Time(plain.bin.0.max(own.lasts().0 / MOST_BINS));
    let mut meta = RunMeta { interval, first_interval: interval, bin, ..plain };
    if placed.place != Place::Sender {
        meta.notes.push(
            "packets in flight are those that the sender had sent when it had seen the ACKs that its data echoes".into(),
        );
    }
    meta
}
