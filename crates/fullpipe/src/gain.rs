//! Amounts and gains by which advice and reliefs judge runs: what programs have read counts. Where programs send messages at rates
//! that are alike, their time decides.

use fullpipe_base::trace::FlowSample;

/// Change of a rate below which it counts as none.
pub const COUNTS: f64 = 0.02;
/// Change in the time of messages below which it counts as chance: ticks of timers move a message by some percent. The rate of a
/// program that sends by the clock changes by chance, too: a run has one message more or less.
pub const SOONER: f64 = 0.1;

/// Quotient of the times of messages, the old one over the new one, where it is the gain. None where the rates decide.
///
/// `rates`: the new rate over the old one. A program that sends by the clock keeps its rate, however late its messages are.
pub fn in_time(rates: f64, times: Option<f64>, by_the_clock: bool) -> Option<f64> {
    let alike = if by_the_clock { SOONER } else { COUNTS };
    if (rates - 1.0).abs() >= alike {
        return None;
    }
    let differ = times.filter(|own| (own - 1.0).abs() >= SOONER);
    differ.or(by_the_clock.then_some(1.0))
}

/// Acknowledged bytes of a flow that its program has read; of calls (`are_calls`) all acknowledged ones.
///
/// Data that waits for its reader is not there yet. Calls have a count of their own.
pub fn done(sample: &FlowSample, are_calls: bool) -> u64 {
    match are_calls {
        true => sample.bytes_acked,
        false => sample.bytes_acked.min(sample.bytes_delivered),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_decide_where_rates_are_alike() {
        for (rates, times, by_the_clock, gain) in [
            (1.01, Some(2.0), false, Some(2.0)),
            (1.03, Some(2.0), false, None),
            (1.01, Some(1.05), false, None),
            (1.01, None, false, None),
            (1.05, Some(2.0), true, Some(2.0)),
            (1.05, Some(1.05), true, Some(1.0)),
            (1.2, Some(2.0), true, None),
        ] {
            assert_eq!(in_time(rates, times, by_the_clock), gain, "{rates} {times:?}");
        }
    }
}
