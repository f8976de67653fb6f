//! Reno's sawtooth behind a drop-tail queue.
//!
//! The window grows until BDP and queue are full, halves, and grows again by a packet in `b` round
//! trips. A round trip takes max(RTT, W / C): with W > BDP the queue holds the rest. The rates follow
//! by adding up (for instance Appenzeller, Keslassy, McKeown 2004, section 3).

use super::page::{Row, check, check_by};
use super::runs::{Made, all};
use fullpipe_sim::trace::FlowSample;

const RTT_S: f64 = 0.05;
/// 100 Mb/s of 1500-byte packets, per second.
const RATE: f64 = 1e8 / 12_000.0;
/// Linux `TCP_CA_Recovery`.
const RECOVERY: u8 = 3;
/// Packets per ACK once the window is open: the delayed ACK's two.
const B: f64 = 2.0;

/// Teeth left out at the start: slow start, and those that depend on it.
const UNSTEADY: usize = 3;

/// The moments at which recovery began, and cwnd before it.
struct Teeth {
    peaks: Vec<f64>,
    falls_s: Vec<f64>,
}

impl Teeth {
    fn of(made: &Made) -> Teeth {
        let recovers = |sample: &FlowSample| sample.ca_state == RECOVERY;
        let pairs = made.trace.flows.windows(2);
        let falls = pairs.filter(|pair| !recovers(&pair[0]) && recovers(&pair[1])).skip(UNSTEADY);
        let (peaks, falls_s) =
            falls.map(|pair| (f64::from(pair[0].cwnd), pair[1].time.as_secs_f64())).unzip();
        Teeth { peaks, falls_s }
    }

    fn period_s(&self) -> f64 {
        let (first, last) = (self.falls_s[0], self.falls_s[self.falls_s.len() - 1]);
        (last - first) / (self.falls_s.len() - 1) as f64
    }

    fn peak(&self) -> f64 {
        self.peaks.iter().sum::<f64>() / self.peaks.len() as f64
    }
}

fn queue(made: &Made) -> f64 {
    let link = made.run.stages.iter().find(|stage| stage.name == "link").expect("the link");
    link.capacity.expect("a limit") as f64
}

fn predicted_peak(queue: f64) -> f64 {
    RATE * RTT_S + queue
}

/// From half of the peak to the peak, a packet in `B` round trips.
fn predicted_period_s(queue: f64) -> f64 {
    let peak = predicted_peak(queue) as u64;
    (peak / 2..peak).map(|window| B * RTT_S.max(window as f64 / RATE)).sum()
}

/// Delivered packets over the link's capacity in a period.
fn predicted_mbit(queue: f64) -> f64 {
    let peak = predicted_peak(queue) as u64;
    let packets: f64 = (peak / 2..peak).map(|window| B * window as f64).sum();
    packets / predicted_period_s(queue) * 1460.0 * 8e-6
}

/// Packets by which a tooth may be higher than path and queue. One is in transmission, which the queue does not count.
/// Half a packet fills up to the next whole one of the burst of two that does not fit. Half a packet is the window's
/// growth in the round trip until the loss is noticed. Each counts as a whole one.
const HIGHER: f64 = 3.0;

/// Seconds by which a tooth may be longer. Its top is higher, at `B` round trips a packet. Two round trips pass at the
/// top: in one the loss is noticed, and in the other the window falls instead of growing. One increase takes cwnd + 1
/// ACKs, which is `B` packets more for each of the tooth's.
fn longer_s(peak: f64) -> f64 {
    (HIGHER * B * peak + 2.0 * peak + B * peak / 2.0) / RATE
}

/// Heights and lengths within the constants above, which state their reasons. Rates within 5 %: they are over the whole
/// run, with its start, and a recovery of a round trip or two per tooth.
#[test]
#[ignore = "a study: make studies"]
fn study_renos_teeth_are_as_high_and_as_long_as_the_queue_makes_them() {
    let runs = all("sawtooth");
    let rows = |predicted: fn(f64) -> f64, simulated: fn(&Made) -> f64| -> Vec<Row> {
        let row = |made: &Made| Row {
            what: format!("queue of {}", made.run.variant),
            predicted: predicted(queue(made)),
            simulated: simulated(made),
        };
        runs.iter().map(row).collect()
    };
    let peaks = rows(predicted_peak, |made| Teeth::of(made).peak());
    check_by("sawtooth-peak", "packets", &peaks, &vec![HIGHER; peaks.len()]);
    let periods = rows(predicted_period_s, |made| Teeth::of(made).period_s());
    let longer: Vec<f64> = peaks.iter().map(|row| longer_s(row.predicted)).collect();
    check_by("sawtooth-period", "s", &periods, &longer);
    check("sawtooth-rate", "Mb/s", 0.05, &rows(predicted_mbit, |made| made.run.flows[0].mean_mbit));
}
