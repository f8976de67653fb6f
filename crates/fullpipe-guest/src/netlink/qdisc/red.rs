//! `red`: random early detection.

use fullpipe_guest::plan::Qdisc;

use super::{TCA_KIND, TCA_OPTIONS};
use crate::netlink::message::Message;

const TCA_RED_PARMS: u16 = 1;
const TCA_RED_STAB: u16 = 2;
const TCA_RED_MAX_P: u16 = 3;
const TC_RED_ECN: u8 = 1;
/// Largest entry of the table: an average shifted by it is nothing.
const NOTHING: f64 = 31.0;

/// Halvings of the average per us without arrivals: as if packets of `packet_ns` had met an empty queue.
fn halvings(weight_log: u8, packet_ns: u64) -> f64 {
    let kept = 1.0 - 0.5_f64.powi(i32::from(weight_log));
    -kept.log2() * 1000.0 / packet_ns.max(1) as f64
}

/// The table of the average's decay in an idle time, and the length of a step in us (as a power of 2): entry `i` is the
/// halvings after `i` steps.
fn table(weight_log: u8, packet_ns: u64) -> (u8, [u8; 256]) {
    let halvings = halvings(weight_log, packet_ns);
    let cell_log =
        (0..24).find(|log| f64::from(255_u32 << log) * halvings >= NOTHING).unwrap_or(24);
    let mut table = [0; 256];
    for (number, entry) in table.iter_mut().enumerate() {
        let us = (number as u64) << cell_log;
        *entry = (us as f64 * halvings).min(NOTHING) as u8;
    }
    (cell_log, table)
}

/// Puts a [`Qdisc::Red`].
pub fn put(to: &mut Message, qdisc: &Qdisc) -> &'static str {
    let Qdisc::Red { limit, min, max, weight_log, probability, packet_ns, ecn } = *qdisc else {
        return "not red";
    };
    let (cell_log, table) = table(weight_log, packet_ns);
    // `struct tc_red_qopt`: limit, qth_min, qth_max, Wlog, Plog (not read, since the probability is given),
    // Scell_log, flags.
    let mut parameters = [limit, min, max].map(u32::to_ne_bytes).concat();
    parameters.extend([weight_log, 0, cell_log, if ecn { TC_RED_ECN } else { 0 }]);
    to.text(TCA_KIND, "red").nest(TCA_OPTIONS, &[], |options| {
        options.attr(TCA_RED_PARMS, &parameters).attr(TCA_RED_STAB, &table);
        options.u32(TCA_RED_MAX_P, (probability * f64::from(u32::MAX)).round() as u32);
    });
    "red"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_queue_forgets_as_fast_as_packets_would_make_it() {
        // Weight 1/2: each packet of 12 us halves the average. The table reaches 31 halvings, 372 us, by cells
        // of 2 us.
        let (cell_log, found) = table(1, 12_000);
        assert_eq!(cell_log, 1);
        assert_eq!((found[0], found[5], found[6], found[12], found[60]), (0, 0, 1, 2, 10));
        assert_eq!((found[186], found[255]), (31, 31));
        // Weight 1/512: 354.5 packets for a half; 31 halvings take 131,900 us.
        let (cell_log, found) = table(9, 12_000);
        assert_eq!((cell_log, found[8], found[9]), (10, 1, 2));
    }
}
