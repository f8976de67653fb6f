//! The moments of a run that are kept.

use crate::scenario::Resolved;
use crate::trace::schema::Row;
use fullpipe_base::trace::FlowSample;
use fullpipe_base::units::Time;
use std::collections::BTreeMap;

/// Length of the intervals in which throughput is compared.
pub const INTERVAL: Time = Time::ms(100);
/// Possible distances of moments, us: each divides the one before it, up to one that divides an interval.
const STEPS: [u64; 10] = [100_000, 50_000, 20_000, 10_000, 5_000, 2_000, 1_000, 500, 200, 100];
/// Least number of moments in a short run, unless its samples are fewer.
const FEWEST: u64 = 16;

/// Distance of moments: 100 ms, or less in a short run; whole samples.
pub fn step(run: &Resolved) -> Time {
    let sample = run.report.sample.0.max(1);
    let enough = STEPS.into_iter().find(|us| run.duration.0 / (us * 1000) >= FEWEST);
    let wanted = enough.unwrap_or(STEPS[STEPS.len() - 1]) * 1000;
    Time(sample * (wanted / sample).max(1))
}

/// Rows of an interval, for moments that are so far apart.
pub fn of_interval(step_s: f64) -> usize {
    ((INTERVAL.as_secs_f64() / step_s + 1e-9) as usize).max(1)
}

/// States of all flows at the moments of a run and at its end: of each flow its last sample up to then, with the moment's time. A flow that
/// waits for another one has sent nothing.
pub fn moments(run: &Resolved, samples: &[FlowSample]) -> Vec<FlowSample> {
    let step = step(run);
    let mut last: BTreeMap<u16, &FlowSample> = BTreeMap::new();
    let (mut chosen, mut rest) = (Vec::new(), samples);
    let mut moment = step;

    // The last moment is the run's end, wherever the step falls.
    while moment.0 < run.duration.0 + step.0 {
        let come = rest.partition_point(|sample| sample.time <= moment.min(run.duration));
        let (new, later) = rest.split_at(come);
        last.extend(new.iter().map(|sample| (sample.flow, sample)));

        // A step without a new sample repeats nothing. A flow that is over keeps its last state.
        if let Some(time) = new.last().map(|newest| newest.time) {
            chosen.extend((0..run.flow.len()).map(|flow| {
                let own =
                    last.get(&(flow as u16)).map_or_else(FlowSample::blank, |own| (*own).clone());
                FlowSample { time, flow: flow as u16, ..own }
            }));
        }
        rest = later;
        moment += step;
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parity::case::Case;
    use crate::parity::random;

    fn run(duration: Time, sample: Time) -> Resolved {
        let Case { plan, .. } = random::case(1, 0, &random::Hosts::default());
        let mut run = plan.resolved;
        (run.duration, run.report.sample) = (duration, sample);
        run
    }

    #[test]
    fn moments_are_100_ms_apart_or_less_in_short_runs() {
        let step = |duration, sample| step(&run(duration, sample));
        assert_eq!(step(Time::ms(60_000), Time::ms(10)), Time::ms(100));
        assert_eq!(step(Time::ms(1_600), Time::ms(10)), Time::ms(100));
        assert_eq!(step(Time::ms(1_599), Time::ms(10)), Time::ms(50));
        assert_eq!(step(Time::ms(50), Time::ms(2)), Time::ms(2));
        assert_eq!(step(Time::ms(50), Time::ms(3)), Time::ms(3), "no less than a sample");
        assert_eq!(step(Time::ms(9_000), Time::ms(30)), Time::ms(90), "whole samples");
        assert_eq!(
            [of_interval(0.1), of_interval(0.02), of_interval(0.09), of_interval(3.0)],
            [1, 5, 1, 1]
        );
    }
}
