//! Reno under independent random losses.
//!
//! Mathis, Semke, Mahdavi, Ott 1997 (CCR 27(3)), section 3: W = C / sqrt(p), C = 1.31 for random
//! losses and an ACK per packet, 0.93 for one per two; between them 1.31 / sqrt(b). PFTK (Padhye,
//! Firoiu, Towsley, Kurose 1998), equation 30, with its timeouts; T0 is the least timeout beyond the
//! round trip.

use super::page::{Row, check};
use super::runs::{Made, all};

const RTT_S: f64 = 0.05;
/// 200 ms above the smoothed RTT (Linux 2.6.20 `tcp_set_rto`, with a variance below its floor).
const T0_S: f64 = 0.25;
const MSS: f64 = 1460.0;

/// Packets per ACK, measured: recovery makes the receiver acknowledge each packet for a while.
fn packets_per_ack(made: &Made) -> f64 {
    made.entered("receiver.rx_ring") / made.entered("sender.rx_ring")
}

fn mathis(p: f64, b: f64) -> f64 {
    1.31 / (b * p).sqrt()
}

fn pftk(p: f64, b: f64) -> f64 {
    let timeouts = (3.0 * (3.0 * b * p / 8.0).sqrt()).min(1.0) * p * (1.0 + 32.0 * p * p);
    RTT_S / (RTT_S * (2.0 * b * p / 3.0).sqrt() + T0_S * timeouts)
}

fn rows(runs: &[Made], law: fn(f64, f64) -> f64) -> Vec<Row> {
    let row = |made: &Made| {
        let name = &made.run.variant;
        let p: f64 = name.parse().expect("a probability");
        let flow = &made.run.flows[0];
        let window = flow.mean_mbit * 1e6 * RTT_S / 8.0 / MSS;
        let losses = flow.retransmitted_segments;
        assert!(losses >= 30 && window > 10.0, "{name}: the laws do not hold there");
        Row {
            what: format!("p = {name}, {losses} losses"),
            predicted: law(p, packets_per_ack(made)),
            simulated: window,
        }
    };
    runs.iter().map(row).collect()
}

/// With n losses the mean is uncertain by about 0.6 / sqrt(n), 4 % for 300; the rest of the 10 % is
/// for what the laws leave out (rate halving, one increase per cwnd + 1 ACKs).
#[test]
fn reno_follows_mathis_and_pftk() {
    let runs = all("random-loss");
    check("mathis", "packets", 0.10, &rows(&runs, mathis));
    check("pftk", "packets", 0.10, &rows(&runs, pftk));
}
