//! Results of slow start: its end, its losses and its queue.
//!
//! It ends with the first sample at which cwnd has reached ssthresh, or a recovery has begun. Its losses are the
//! segments that a recovery sent again: the recovery in which slow start ends, or one that begins within an RTT.
//! Segments that overflow the path were sent an RTT before the loss is known. Its queue is the most that waited at the
//! link up to an RTT after its end, as the time to send it. Where no link has a rate, the queue is the largest srtt
//! until then less the least one. Delayed ACKs count in it too.

use super::document::SlowStart;
use super::lookup::{FlowTrace, Life, StageTrace, since_clock};
use fullpipe_base::tcp::CaState;
use fullpipe_base::trace::FlowSample;
use fullpipe_base::units::Time;

/// The first slow start of a flow; none where there was no RTT yet.
pub fn slow_start(trace: &FlowTrace, life: &Life, link: Option<Link>) -> Option<SlowStart> {
    let measured: Vec<&FlowSample> =
        trace.samples.iter().copied().filter(|sample| sample.srtt_us > 0).collect();

    // Slow start ends at ssthresh, or with the first loss.
    let over = |sample: &&FlowSample| sample.cwnd >= sample.ssthresh || is_lossy(sample);
    let ended = measured.iter().position(over);
    let until = |count: usize| &measured[..count];
    let during = until(ended.map_or(measured.len(), |at| at + 1));
    let rtt = during.iter().map(|sample| sample.srtt_us).max()?;

    // A loss of slow start's last round shows up to one round trip later.
    let after = ended.map_or(measured.len(), |at| {
        let limit = measured[at].time + Time::us(rtt.into());
        measured.partition_point(|sample| sample.time <= limit)
    });

    // Its retransmissions end with the recovery that follows.
    let recovery = ended.and_then(|_| {
        let begun = until(after).iter().position(|sample| is_lossy(sample))?;
        let over = measured[begun..].iter().position(|sample| !is_lossy(sample));
        Some(&measured[over.map_or(measured.len(), |n| begun + n) - 1])
    });
    Some(SlowStart {
        ended_s: ended.map(|at| since_clock(life, measured[at].time)),
        cwnd: during.iter().map(|sample| sample.cwnd).max()?,
        by_loss: ended.is_some_and(|at| is_lossy(measured[at])),
        retransmitted_segments: recovery.map_or(0, |last| last.segments_retransmitted),
        // Without a link of constant rate the RTT beyond its least shows the queue.
        queued_s: match link {
            Some(link) => link.queued_s(measured[after - 1].time),
            None => beside_least(&measured, after)?,
        },
    })
}

/// The link with a flow's queue in front of it.
#[derive(Clone, Copy)]
pub struct Link<'a> {
    pub queue: &'a StageTrace<'a>,
    /// Bits per second.
    pub rate: u64,
}

impl Link<'_> {
    /// The most that waited up to a time, as the time that it takes to send, s.
    fn queued_s(self, until: Time) -> f64 {
        let samples = self.queue.within(Time::ZERO, until).iter();
        let most = samples.map(|sample| sample.waiting_bytes).max().unwrap_or(0);
        most as f64 * 8.0 / self.rate.max(1) as f64
    }
}

/// The largest srtt of the first `count` samples, less the least of all samples, s.
fn beside_least(samples: &[&FlowSample], count: usize) -> Option<f64> {
    let least = samples.iter().map(|sample| sample.srtt_us).min()?;
    let most = samples[..count].iter().map(|sample| sample.srtt_us).max()?;
    Some(f64::from(most - least) / 1e6)
}

/// Whether the state is Recovery or Loss.
fn is_lossy(sample: &FlowSample) -> bool {
    sample.ca_state >= CaState::Recovery as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_base::trace::StageSample;
    use fullpipe_trace::schema::Row;

    /// Time in ms, cwnd, ssthresh (0: infinite), srtt in ms, state, retransmitted.
    type At = (u64, u32, u32, u32, u8, u64);

    fn found(list: &[At]) -> Option<SlowStart> {
        let samples: Vec<FlowSample> = list
            .iter()
            .map(|&(ms, cwnd, ssthresh, srtt, ca_state, segments_retransmitted)| FlowSample {
                time: Time::ms(ms),
                cwnd,
                ssthresh: if ssthresh == 0 { u32::MAX } else { ssthresh },
                srtt_us: srtt * 1000,
                ca_state,
                segments_retransmitted,
                ..FlowSample::blank()
            })
            .collect();
        let trace = FlowTrace::new(samples.iter().collect());
        let [start, clock] = [Time::ZERO; 2];
        let life =
            Life { start, begins: true, clock, end: Time::secs(9), complete: false, aborted: None };
        slow_start(&trace, &life, None)
    }

    #[test]
    fn it_ends_where_cwnd_reaches_ssthresh() {
        let list = [
            (100, 10, 0, 0, 0, 0),
            (200, 20, 0, 100, 0, 0),
            (300, 40, 0, 105, 0, 0),
            (400, 40, 40, 110, 0, 0),
            (500, 41, 40, 130, 0, 0),
            (600, 42, 40, 150, 0, 0),
            (700, 42, 40, 150, 3, 9),
        ];
        let expected = SlowStart {
            ended_s: Some(0.4),
            cwnd: 40,
            by_loss: false,
            retransmitted_segments: 0,
            // Up to 510 ms.
            queued_s: 0.03,
        };
        assert_eq!(found(&list), Some(expected));
    }

    #[test]
    fn what_its_recovery_sends_again_was_lost() {
        let list = [
            (200, 20, 0, 100, 0, 0),
            (300, 80, 0, 120, 1, 0),
            // In recovery cwnd can be below ssthresh.
            (400, 30, 40, 140, 3, 3),
            (500, 50, 40, 190, 3, 30),
            (600, 40, 40, 100, 0, 30),
            (700, 40, 40, 100, 3, 31),
        ];
        let expected = SlowStart {
            ended_s: Some(0.4),
            cwnd: 80,
            by_loss: true,
            retransmitted_segments: 30,
            // The sample at 500 ms is within the 140 ms after the end.
            queued_s: 0.09,
        };
        assert_eq!(found(&list), Some(expected));
    }

    /// A link of 8 Mb/s and 1250 bytes at most; packets that wait after the given time do not count.
    #[test]
    fn what_waits_at_the_link_is_what_was_queued() {
        let samples =
            [(100, 250), (200, 1250), (300, 500), (400, 9000)].map(|(ms, waiting_bytes)| {
                StageSample { time: Time::ms(ms), waiting_bytes, ..StageSample::default() }
            });
        let queue = StageTrace { samples: samples.iter().collect() };
        let link = Link { queue: &queue, rate: 8_000_000 };
        assert_eq!(
            [150, 300, 399].map(|ms| link.queued_s(Time::ms(ms))),
            [0.00025, 0.00125, 0.00125]
        );
    }

    #[test]
    fn without_an_end_all_counts() {
        let list = [(200, 20, 0, 100, 0, 0), (300, 40, 0, 101, 0, 0)];
        let found = found(&list).expect("an RTT");
        assert_eq!((found.ended_s, found.cwnd, found.retransmitted_segments), (None, 40, 0));
        assert!((found.queued_s - 0.001).abs() < 1e-9);
        assert_eq!(super::tests::found(&[(100, 10, 0, 0, 0, 0)]), None);
    }
}
