//! Mean occupancy of a place, and how long it was full and empty, where the trace counts all the time between two
//! samples ([`StageInfo::timed`]).

use fullpipe_base::trace::{StageInfo, StageSample};

/// Means of the waiting units, and shares of the time in which a stage was full or empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Occupancy {
    /// Mean number waiting.
    pub mean: f64,
    /// Mean of the used capacity, in its units.
    pub mean_used: f64,
    /// Share of the time in which it was full.
    pub full: f64,
    /// Share of the time in which nothing waited.
    pub empty: f64,
}

impl Occupancy {
    /// Occupancy of a stage between two of its samples; none where only samples show it.
    pub fn between(info: &StageInfo, from: &StageSample, to: &StageSample) -> Option<Occupancy> {
        let time = to.time.saturating_sub(from.time).as_ns();
        if !info.timed || time == 0 {
            return None;
        }

        // Counters of long runs wrap round, and their difference still holds.
        let share =
            |of: fn(&StageSample) -> u64| of(to).wrapping_sub(of(from)) as f64 / time as f64;
        let mean = share(|sample| sample.waiting_ns);

        // The counter holds byte-microseconds, the time nanoseconds.
        let mean_bytes = share(|sample| sample.waiting_byte_us) * 1000.0;
        Some(Occupancy {
            mean,
            mean_used: if info.unit == "byte" { mean_bytes } else { mean },
            full: share(|sample| sample.full_ns),
            empty: share(|sample| sample.empty_ns),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_base::units::Time;

    #[test]
    fn times_are_shares_of_what_passed_between_two_samples() {
        let name = "link".to_string();
        let mut info = StageInfo {
            index: 0,
            name,
            kind: "link",
            direction: "forward",
            unit: "byte",
            capacity: Some(30_000),
            timed: true,
        };
        let from = StageSample { time: Time::ms(1), full_ns: 500, ..StageSample::default() };
        let to = StageSample {
            time: Time::ms(5),
            waiting_ns: 8_000_000,
            waiting_byte_us: 12_000_000,
            full_ns: 1_000_500,
            empty_ns: 2_000_000,
            ..StageSample::default()
        };
        let expected = Occupancy { mean: 2.0, mean_used: 3000.0, full: 0.25, empty: 0.5 };
        assert_eq!(Occupancy::between(&info, &from, &to), Some(expected));
        info.unit = "segment";
        let expected = Occupancy { mean_used: 2.0, ..expected };
        assert_eq!(Occupancy::between(&info, &from, &to), Some(expected));
        assert_eq!(Occupancy::between(&info, &to, &to), None);
        info.timed = false;
        assert_eq!(Occupancy::between(&info, &from, &to), None);
    }
}
