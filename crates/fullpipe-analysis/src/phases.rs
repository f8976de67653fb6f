//! The band of a comparison with published figures, over the phases of the path's timers.
//!
//! The phase of a delay line's timer at the start of a published run is unknown. The run is therefore repeated with the
//! ticks at other phases, and the band holds the rows of all repetitions.

use super::document::Published;
use fullpipe_base::units::Time;
use fullpipe_scenario::{Element, Plan, Resolved};

/// Phases over one period of a timer.
const PHASES: u64 = 8;

/// Further runs that the band of `plan` needs: one per phase of the timers on its path. None where the path has no
/// timer or the plan is not compared with anything.
pub fn alternatives(plan: &Plan) -> Vec<Resolved> {
    let path = &plan.resolved.path;
    let any = path
        .forward
        .iter()
        .chain(&path.back)
        .any(|element| matches!(element, Element::Delay(e) if e.timer.is_some()));
    if plan.published_run.is_none() || !any {
        return Vec::new();
    }
    (0..PHASES).map(|n| at_phase(&plan.resolved, n)).collect()
}

/// `run` with every timer at `n` / [`PHASES`] of its period.
fn at_phase(run: &Resolved, n: u64) -> Resolved {
    let mut run = run.clone();
    for element in run.path.forward.iter_mut().chain(&mut run.path.back) {
        if let Element::Delay(delay) = element
            && let Some(timer) = &mut delay.timer
        {
            timer.phase = Time(1_000_000_000 / u64::from(timer.hz) * n / PHASES);
        }
    }
    run
}

/// Widens the band of each row by that of the same row of `other`.
pub fn widen(published: &mut Published, other: &Published) {
    for (row, other) in published.rows.iter_mut().zip(&other.rows) {
        row.band_low = row.band_low.min(other.band_low);
        row.band_high = row.band_high.max(other.band_high);
        row.in_band = (row.band_low..=row.band_high).contains(&row.bytes);
    }
}
