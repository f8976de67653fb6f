//! Growth per round trip in slow start: (1 + 1/b) for an ACK per b packets (RFC 5681, section 3.1, where
//! cwnd grows by a packet per ACK). Linux acknowledges each packet while its window opens (b = 1),
//! then each second one.

use super::page::{Row, check};
use super::runs::{Made, all};

/// Growth per window acknowledged, while cwnd grows between the two bounds: 1 plus packets gained
/// over packets acknowledged.
fn growth(made: &Made, [from, to]: [u32; 2]) -> f64 {
    let reached = |cwnd: u32| {
        let sample = made.trace.flows.iter().find(|sample| sample.cwnd >= cwnd);
        let sample = sample.unwrap_or_else(|| panic!("cwnd never was {cwnd}"));
        (f64::from(sample.cwnd), sample.bytes_acked as f64 / 1460.0)
    };
    let ((cwnd, acked), (grown, later)) = (reached(from), reached(to));
    1.0 + (grown - cwnd) / (later - acked)
}

/// A sample of 1 ms holds a part of a burst: 3 %.
#[test]
fn slow_start_grows_by_its_ack_policy() {
    let runs = all("slow-start");
    let rows: Vec<Row> = runs
        .iter()
        .map(|made| {
            let (predicted, span) = match made.run.variant.as_str() {
                "window opening" => (2.0, [64, 1024]),
                _ => (1.5, [2300, 4000]),
            };
            Row { what: made.run.variant.clone(), predicted, simulated: growth(made, span) }
        })
        .collect();
    check("slow-start", "times per window", 0.03, &rows);
}
