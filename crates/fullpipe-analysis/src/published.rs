//! Published figures, compared with ours.
//!
//! Each published interval is laid on the first flow's interval clock, with the length it was published with. The phase
//! of the published clock against the packets' rhythm is unknown. So the band holds what the row would count if the
//! clock started up to half a smoothed round-trip time earlier or later. The ramp's rows end with the one in which the
//! published rate saturates: the first row at 98 % of the published plateau. Rows that end after the run are left out.

use super::document::{Published, PublishedRow};
use super::lookup::{FlowTrace, Life, Lives, Traces};
use super::plateau::{median, plateau};
use crate::meta::RunMeta;
use fullpipe_base::units::Time;
use fullpipe_scenario::published::Row;

/// Share of the published plateau from which a row counts as on it.
const SATURATED: f64 = 0.98;
/// Most phases of the clock that are tried per row.
const PHASES: u64 = 2000;

/// Seconds until a published row first reached 90 % of the published plateau.
fn time_to_plateau(rows: &[PublishedRow]) -> Option<f64> {
    let rates: Vec<f64> = rows.iter().map(|row| row.throughput_mbit).collect();
    plateau(&rates).map(|plateau| rows[plateau.first].end_s)
}

/// Mean rate over the rows, Mb/s, of the bytes that `bytes` takes from each; 0 without rows.
fn mean(rows: &[PublishedRow], bytes: fn(&PublishedRow) -> u64) -> f64 {
    let seconds: f64 = rows.iter().map(|row| row.end_s - row.start_s).sum();
    let total: u64 = rows.iter().map(bytes).sum();
    if seconds > 0.0 { total as f64 * 8e-6 / seconds } else { 0.0 }
}

/// The comparison, where figures are given.
pub fn compare(meta: &RunMeta, traces: &Traces, lives: &Lives) -> Option<Published> {
    let figures = meta.published.as_ref()?;

    // Published figures describe one flow: the first.
    let (flow, life) = (traces.flows.first()?, lives.flows.first()?);
    let ramp = ramp(&figures.run.rows);

    // Rows beyond the run's end have nothing to compare with.
    let covered = figures.run.rows.iter().enumerate().filter(|(_, row)| {
        let end = shifted(life.clock, seconds(row.end_s), 0);
        end <= lives.end
    });
    let rows: Vec<PublishedRow> = covered
        .map(|(index, row)| {
            let mut row = compared(row, flow, life, meta.sample);
            row.ramp = index < ramp;
            row.calibrated_on = figures.calibrated && !row.ramp;
            row
        })
        .collect();

    // Rows on the plateau only repeat the link's rate, so errors count the ramp.
    let errors: Vec<f64> = rows.iter().filter(|row| row.ramp).map(|row| row.error.abs()).collect();
    Some(Published {
        source: figures.source.clone(),
        run: figures.run.name.clone(),
        rows_mbit: mean(&rows, |row| row.bytes),
        simulated_rows_mbit: mean(&rows, |row| row.simulated_bytes),
        time_to_plateau_s: time_to_plateau(&rows),
        band_whole: true,
        rows,
        median_error_before_plateau: (!errors.is_empty()).then(|| median(&errors)),
        worst_error_before_plateau: errors.iter().copied().reduce(f64::max),
        total_mbit: figures.run.total_mbit,
    })
}

/// Number of rows in the ramp; all of them where the rate does not settle.
fn ramp(rows: &[Row]) -> usize {
    let rates: Vec<f64> = rows.iter().map(|row| row.mbit).collect();
    plateau(&rates)
        .and_then(|plateau| rates.iter().position(|rate| *rate >= SATURATED * plateau.rate))
        .unwrap_or(rows.len())
}

fn compared(row: &Row, flow: &FlowTrace, life: &Life, sample: Time) -> PublishedRow {
    let (start, end) = (seconds(row.start_s), seconds(row.end_s));

    // A shifted clock gives the bounds of the band.
    let counted = |shift: i64| {
        let at = |moment| flow.at(shifted(life.clock, moment, shift)).bytes_delivered;
        at(end).saturating_sub(at(start))
    };
    let srtt = Time::us(flow.at(shifted(life.clock, end, 0)).srtt_us.into());
    let (low, high) = band(srtt, sample, &counted);
    let simulated = counted(0);
    PublishedRow {
        start_s: row.start_s,
        end_s: row.end_s,
        bytes: row.bytes,
        throughput_mbit: row.mbit,
        simulated_bytes: simulated,
        error: error(simulated, row.bytes),
        band_low: low,
        band_high: high,
        in_band: (low..=high).contains(&row.bytes),
        ramp: false,
        calibrated_on: false,
    }
}

/// Least and most bytes over all phases of the clock within half a round trip to either side.
fn band(srtt: Time, sample: Time, counted: &dyn Fn(i64) -> u64) -> (u64, u64) {
    let step = sample.as_ns().max(srtt.as_ns() / PHASES).max(1);
    let steps = (srtt.as_ns() / 2).div_ceil(step) as i64;
    let step = step as i64;
    let phases = (-steps..=steps).map(|n| counted(n.saturating_mul(step)));
    phases.fold((u64::MAX, 0), |(low, high), bytes| (low.min(bytes), high.max(bytes)))
}

/// Ours relative to theirs, minus 1; where theirs is 0, 0 if ours is too and 1 if not.
fn error(ours: u64, theirs: u64) -> f64 {
    match (ours, theirs) {
        (0, 0) => 0.0,
        (_, 0) => 1.0,
        (ours, theirs) => ours as f64 / theirs as f64 - 1.0,
    }
}

fn seconds(s: f64) -> Time {
    Time((s * 1e9).round().max(0.0) as u64)
}

/// A moment of the clock, the clock started `shift` ns later.
fn shifted(clock: Time, moment: Time, shift: i64) -> Time {
    Time((clock + moment).as_ns().saturating_add_signed(shift))
}
