//! Series for figures: a few hundred buckets per flow.

use super::attribution::Attribution;
use super::document::Series;
use super::intervals::{srtt_us, ssthresh};
use super::lookup::{FlowTrace, Life, StageTrace, mbit};
use crate::meta::RunMeta;
use fullpipe_base::limits::limit_names;
use fullpipe_base::units::Time;

/// Most buckets of a series. The ladder 1, 2, 5 leaves at least 40 % of it in use.
const MOST: u64 = 600;

/// Length of a bucket: the least of 1, 2 or 5 x 10^n ns that is no shorter than a sample and makes
/// at most [`MOST`] buckets of `span`.
fn bucket(span: Time, sample: Time) -> Time {
    let least = span.as_ns().div_ceil(MOST).max(sample.as_ns()).max(1);
    let mut power = 1_u64;
    loop {
        for digit in [1, 2, 5] {
            let length = power.saturating_mul(digit);
            if length >= least {
                return Time::ns(length);
            }
        }
        power = power.saturating_mul(10);
    }
}

/// The series of a flow, from the start of its interval clock to its end. The last bucket may reach
/// beyond the end. Limits that never occur are left out.
pub fn series(
    meta: &RunMeta,
    flow: &FlowTrace,
    life: &Life,
    attribution: &Attribution,
    queue: Option<&StageTrace>,
) -> Series {
    let length = bucket(life.end.saturating_sub(life.clock), meta.sample);
    let mut series = Series { bucket_s: length.as_secs_f64(), ..Series::default() };

    // Each limit gets a column; those that stay 0 drop out in the end.
    let mut shares: Vec<Vec<f32>> = vec![Vec::new(); limit_names().count()];
    let mut from = life.clock;
    while from < life.end {
        let to = from + length;

        // A bucket holds the samples after its start, up to its end.
        let (first, last) = (flow.count(from), flow.count(to));
        let (before, after) = (flow.before(first), flow.before(last));
        let bytes = after.bytes_delivered.saturating_sub(before.bytes_delivered);
        series.end_s.push(to.saturating_sub(life.clock).as_secs_f64());
        series.throughput_mbit.push(mbit(bytes, length));
        series.cwnd.push(after.cwnd);
        series.ssthresh.push(ssthresh(after));
        series.in_flight.push(after.in_flight);
        series.snd_wnd_packets.push(packets(after.snd_wnd, meta.mss));
        series.srtt_us.push(srtt_us(after));
        series.queue.push(queue.map_or(0, |link| highest(link, from, to)));
        for (share, column) in attribution.shares(first, last).into_iter().zip(&mut shares) {
            column.push(share as f32);
        }
        from = to;
    }
    let named =
        limit_names().zip(shares).filter(|(_, column)| column.iter().any(|share| *share > 0.0));
    series.limits = named.map(|(name, column)| (name.to_string(), column)).collect();
    series
}

fn packets(bytes: u64, mss: u32) -> u32 {
    u32::try_from(bytes / u64::from(mss.max(1))).unwrap_or(u32::MAX)
}

/// Highest number waiting after `from` up to `to`.
fn highest(link: &StageTrace, from: Time, to: Time) -> u64 {
    link.within(from, to).iter().map(|sample| sample.peak.max(sample.waiting)).max().unwrap_or(0)
}
