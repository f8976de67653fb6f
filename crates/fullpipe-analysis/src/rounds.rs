//! Rounds of a flow's first slow start.
//!
//! The simulator records when each begins. Rounds of other engines are counted at the samples by the same rule. The
//! first round begins with the first data, and each other one when data of the previous round is acknowledged. Slow
//! start ends where cwnd has reached ssthresh or a recovery has begun. The samples must be at most a quarter of the
//! least RTT apart; with longer ones there are no rounds.

use super::document::Round;
use super::lookup::{FlowTrace, Life, since_clock};
use fullpipe_base::tcp::CaState;
use fullpipe_base::trace::{EventKind, FlowSample};
use fullpipe_base::units::Time;

/// Samples of an RTT that are needed to count rounds at samples.
const SAMPLES_OF_RTT: u64 = 4;

/// When a round begins or slow start ends, and the segments sent for the first time before.
type Bound = (Time, u64);

/// The rounds in order; none where the trace does not have them.
pub fn rounds(trace: &FlowTrace, life: &Life, sample: Time) -> Option<Vec<Round>> {
    let events = |kind| {
        let events = trace.events.iter().filter(move |event| event.kind == kind);
        events.map(|event| (event.time, event.value))
    };
    let begun: Vec<Bound> = events(EventKind::Round).collect();
    let end = events(EventKind::SlowStartEnded).next();

    // A kernel without events of rounds leaves samples alone.
    let (begun, end) = match begun.is_empty() && end.is_none() {
        true => at_samples(trace, sample)?,
        false => (begun, end),
    };
    let bounds = begun.iter().skip(1).copied().map(Some).chain([end]);
    let all = first_sent(trace.last());
    let rounds = begun.iter().copied().zip(bounds);
    let rounds = rounds.map(|((from, before), to)| Round {
        start_s: since_clock(life, from),
        end_s: to.map(|(to, _)| since_clock(life, to)),
        segments: to.map_or(all, |(_, sent)| sent).saturating_sub(before),
    });
    Some(rounds.collect())
}

/// Segments sent for the first time.
fn first_sent(sample: &FlowSample) -> u64 {
    sample.segments_sent.saturating_sub(sample.segments_retransmitted)
}

fn at_samples(trace: &FlowTrace, sample: Time) -> Option<(Vec<Bound>, Option<Bound>)> {
    let least = trace.samples.iter().map(|s| s.srtt_us).filter(|us| *us > 0).min()?;

    // Rounds need several samples each.
    if sample.as_ns() * SAMPLES_OF_RTT > u64::from(least) * 1000 {
        return None;
    }
    let (mut begun, mut ends_beyond): (Vec<Bound>, u64) = (Vec::new(), 0);
    for (at, now) in trace.samples.iter().enumerate() {
        let before = trace.before(at);
        let first = begun.is_empty() && now.bytes_sent > 0;

        // A round ends when all data sent before it is acknowledged.
        if first || !begun.is_empty() && now.bytes_acked > ends_beyond {
            begun.push((now.time, first_sent(before)));
            ends_beyond = before.bytes_sent.saturating_sub(before.bytes_retransmitted);
        }

        // Slow start ends at ssthresh or with the first loss.
        let left = now.cwnd >= now.ssthresh || now.ca_state >= CaState::Recovery as u8;
        if !begun.is_empty() && left {
            return Some((begun, Some((now.time, first_sent(now)))));
        }
    }
    Some((begun, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_base::trace::Event;
    use fullpipe_trace::schema::Row;

    const LIFE: Life = Life {
        begins: true,
        start: Time::ZERO,
        clock: Time::ms(50),
        end: Time::secs(9),
        complete: false,
        aborted: None,
    };

    /// Time in ms, segments of 1000 bytes sent and acknowledged, ssthresh.
    fn sample(ms: u64, sent: u64, acked: u64, ssthresh: u32) -> FlowSample {
        FlowSample {
            time: Time::ms(ms),
            segments_sent: sent,
            bytes_sent: 1000 * sent,
            bytes_acked: 1000 * acked,
            cwnd: 10,
            ssthresh,
            srtt_us: 100_000,
            ..FlowSample::blank()
        }
    }

    const SAMPLES: [(u64, u64, u64, u32); 7] = [
        (100, 2, 0, 99),
        (125, 2, 0, 99),
        (200, 4, 1, 99),
        (225, 6, 2, 99),
        (300, 8, 3, 99),
        (325, 10, 4, 5),
        (400, 12, 9, 5),
    ];

    #[test]
    fn at_samples_a_round_ends_where_its_data_is_acknowledged() {
        let samples = SAMPLES.map(|(ms, sent, acked, ssthresh)| sample(ms, sent, acked, ssthresh));
        let trace = FlowTrace::new(samples.iter().collect());
        let round = |start_s, end_s, segments| Round { start_s, end_s: Some(end_s), segments };
        let found = rounds(&trace, &LIFE, Time::ms(25));
        // Data sent by the sample before ends a round: 2, then 6.
        let expected = [round(0.05, 0.15, 2), round(0.15, 0.25, 4), round(0.25, 0.275, 4)];
        assert_eq!(found.map(|found| found.len()), Some(3));
        for (found, expected) in rounds(&trace, &LIFE, Time::ms(25)).unwrap().iter().zip(&expected)
        {
            assert!((found.start_s - expected.start_s).abs() < 1e-9, "{found:?}");
            assert!((found.end_s.unwrap() - expected.end_s.unwrap()).abs() < 1e-9, "{found:?}");
            assert_eq!(found.segments, expected.segments);
        }
        assert_eq!(rounds(&trace, &LIFE, Time::ms(26)), None, "samples are too far apart");
    }

    #[test]
    fn what_the_engine_records_counts() {
        let samples = SAMPLES.map(|(ms, sent, acked, ssthresh)| sample(ms, sent, acked, ssthresh));
        let event = |ms, kind, value| Event { time: Time::ms(ms), flow: 0, kind, value };
        let events =
            [event(60, EventKind::Round, 0), event(170, EventKind::Round, 3)].map(|event| event);
        let mut trace = FlowTrace::new(samples.iter().collect());
        trace.events = events.iter().collect();
        let found = rounds(&trace, &LIFE, Time::secs(1)).unwrap();
        let segments: Vec<_> = found.iter().map(|round| (round.end_s, round.segments)).collect();
        assert_eq!(segments, [(found[0].end_s, 3), (None, 9)]);
        // Slow start was over before there was data.
        let over = event(50, EventKind::SlowStartEnded, 0);
        trace.events = vec![&over];
        assert_eq!(rounds(&trace, &LIFE, Time::secs(1)), Some(Vec::new()));
    }
}
