//! Facts that packets show and sockets do not.

use super::{Connection, Place, Placed, meta};
use crate::analysis::pasted::Wire;
use crate::analysis::{quantile, spread};
use fullpipe_observe::capture::rounds::Round;
use fullpipe_observe::capture::timeline::Packets;

/// Part of a connection's life that is its start.
const START: f64 = 0.35;
/// Part of the main part that is its beginning, or its end.
const EDGE: f64 = 0.2;

/// The facts of one connection that lasted so many seconds.
pub(super) fn wire(
    own: &Connection,
    way: usize,
    placed: &Placed,
    packets: &Packets,
    lasts: f64,
) -> Wire {
    // The last round is cut short by the end.
    let whole = packets.rounds.split_last().map_or(&[][..], |(_, rest)| rest);
    let main: Vec<&Round> = whole.iter().filter(|own| own.at_s >= START * lasts).collect();
    let flights: Vec<f64> = main.iter().map(|own| own.most).collect();
    let edge = ((flights.len() as f64 * EDGE) as usize).max(1).min(flights.len());
    let (first, last) = (&flights[..edge], &flights[flights.len() - edge..]);
    let trains = &packets.trains;
    Wire {
        flight_spread: spread(&flights),
        flight_growth: quantile(last, 0.5) / quantile(first, 0.5).max(1e-9),
        rounds: flights.len(),
        clocked: clocked(packets).filter(|_| placed.place == Place::Sender),
        flight_dips: quantile(
            &main.iter().map(|own| own.least / own.most.max(1e-9)).collect::<Vec<_>>(),
            0.5,
        ),
        partial: packets.partial as f64 / packets.packets.max(1) as f64,
        emptied: (trains.pauses >= PAUSES).then(|| trains.emptied as f64 / trains.pauses as f64),
        write: (trains.emptied > 0).then(|| trains.bytes as f64 / trains.emptied as f64),
        train_mbit: trains.clone().mbit(),
        knows_windows: meta::scale(own, way).is_some(),
    }
}

/// Pauses from which on their kinds are counted.
const PAUSES: u64 = 8;
/// Share of time near ACKs from which on chance alone puts bursts there.
const ALWAYS: f64 = 0.7;

/// Share of bursts that an ACK let go, beyond what chance puts there; none where ACKs are too dense to say.
fn clocked(packets: &Packets) -> Option<f64> {
    let chance = packets.near as f64 / packets.time.max(1) as f64;
    let share = packets.clocked as f64 / packets.bursts.max(1) as f64;
    (chance < ALWAYS && packets.bursts > 0).then(|| ((share - chance) / (1.0 - chance)).max(0.0))
}
