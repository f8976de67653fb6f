//! A plausible flow that delivers given amounts in each second.

use super::published::Rows;
use fullpipe::analysis::document::{Flow, Interval, Series};

const MIB: f64 = 1_048_576.0;
const MSS: f64 = 8960.0;
const RTT_S: f64 = 0.0804;
/// Length of a bucket of the fine series, s.
pub const BUCKET_S: f64 = 0.1;
/// Rate from which the host, not the window, is the limit, Mb/s.
const HOST_MBIT: f64 = 6950.0;

/// Deterministic noise in [-1, 1).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 40) as f64 / (1u64 << 23) as f64) - 1.0
    }
}

/// A flow that delivers about the published amounts.
pub fn flow(name: &str, rows: &Rows, seed: u64, bucket_s: f64) -> Flow {
    let mut noise = Noise(seed + 7);
    let rates: Vec<f64> = rows
        .mib
        .iter()
        .map(|mib| (mib * MIB / MSS * (1.0 + 0.006 * noise.next())).round() * MSS * 8e-6)
        .collect();
    let slow_start = rows.mib[0] > 50.0;
    let series = series(&rates, slow_start, bucket_s, &mut noise);
    let intervals = intervals(&rates, &series);
    let mut sorted = rates.clone();
    sorted.sort_by(f64::total_cmp);
    let plateau = sorted[sorted.len() - 3];
    let limits = series.limits.iter().map(|(name, shares)| {
        (
            name.clone(),
            shares.iter().map(|share| f64::from(*share)).sum::<f64>() / shares.len() as f64,
        )
    });
    Flow {
        name: name.to_string(),
        backward: false,
        from: None,
        congestion: rows.congestion.to_string(),
        kernel: "2.6.20".to_string(),
        clock_start_s: 0.161,
        limits: limits.collect(),
        bytes: intervals.iter().map(|interval| interval.bytes).sum(),
        retransmitted_segments: 0,
        mean_mbit: rates.iter().sum::<f64>() / rates.len() as f64,
        plateau_mbit: Some(plateau),
        time_to_plateau_s: rates
            .iter()
            .position(|rate| *rate >= 0.9 * plateau)
            .map(|place| place as f64 + 1.0),
        intervals,
        series,
        ..Flow::default()
    }
}

fn intervals(rates: &[f64], series: &Series) -> Vec<Interval> {
    let per = (1.0 / series.bucket_s).round() as usize;
    let interval = |(second, rate): (usize, &f64)| {
        let end = (second + 1) * per - 1;
        Interval {
            start_s: second as f64,
            end_s: second as f64 + 1.0,
            bytes: (rate / 8e-6).round() as u64,
            segments: (rate / 8e-6 / MSS).round() as u64,
            throughput_mbit: *rate,
            retransmitted_segments: 0,
            cwnd: series.cwnd[end],
            ssthresh: series.ssthresh[end],
            srtt_us: series.srtt_us[end],
            in_flight: series.in_flight[end],
            queue: series.queue[end],
            limits: series
                .limits
                .iter()
                .map(|(name, shares)| (name.clone(), f64::from(shares[end])))
                .collect(),
        }
    };
    rates.iter().enumerate().map(interval).collect()
}

fn series(rates: &[f64], slow_start: bool, bucket_s: f64, noise: &mut Noise) -> Series {
    let mut series = Series { bucket_s, ..Series::default() };
    let packets = |mbit: f64| (mbit * 1e6 / 8.0 / MSS * RTT_S).max(2.0);
    for bucket in 0..rates.len() * (1.0 / bucket_s).round() as usize {
        let time = (bucket + 1) as f64 * bucket_s;
        let needed = if slow_start && time < 1.5 {
            (2.0 * 1.5f64.powf(time / RTT_S)).min(packets(rates[rates.len() - 1]) * 1.02)
        } else {
            packets(rate_at(rates, time)) * if slow_start { 1.02 } else { 1.0 }
        };
        let rate = needed * MSS * 8.0 / RTT_S / 1e6;
        let host = ((rate - HOST_MBIT) / 300.0 + 0.4).clamp(0.0, 0.97);
        push(&mut series, time, needed, host, slow_start, noise);
    }
    series
}

fn push(
    series: &mut Series,
    time: f64,
    window: f64,
    host: f64,
    slow_start: bool,
    noise: &mut Noise,
) {
    let cwnd = window.round();
    let waiting =
        if host > 0.5 { 90.0 + 60.0 * noise.next() } else { (window / 40.0) * noise.next().abs() };
    let in_slow_start = slow_start || cwnd <= 100.0;
    series.end_s.push((time * 1000.0).round() / 1000.0);
    series.throughput_mbit.push(window * MSS * 8.0 / RTT_S / 1e6);
    series.cwnd.push(cwnd as u32);
    series.ssthresh.push((!slow_start).then_some(100));
    series.in_flight.push((cwnd * (1.0 - 0.01 * noise.next().abs())) as u32);
    series.snd_wnd_packets.push((1000.0 + 2.4 * cwnd).min(10_530.0) as u32);
    series
        .srtt_us
        .push((time > 0.15).then_some((80_400.0 + waiting * 7.5 + 40.0 * noise.next()) as u32));
    series.queue.push(waiting.max(0.0) as u64);
    let mut held = |name: &str, share: f64| {
        series.limits.entry(name.to_string()).or_default().push(share as f32)
    };
    held("sender_cpu", host);
    held("cwnd_slow_start", if in_slow_start { 1.0 - host } else { 0.0 });
    held("cwnd_avoidance", if in_slow_start { 0.0 } else { 1.0 - host });
    held("receive_window", 0.0);
}

/// Rate between the middles of the seconds.
fn rate_at(rates: &[f64], time: f64) -> f64 {
    let place = (time - 0.5).clamp(0.0, (rates.len() - 1) as f64);
    let (low, part) = (place as usize, place.fract());
    let high = (low + 1).min(rates.len() - 1);
    rates[low] * (1.0 - part) + rates[high] * part
}

/// Ends a flow early.
pub fn truncate(flow: &mut Flow, intervals: usize, buckets: usize) {
    flow.intervals.truncate(intervals);
    let series = &mut flow.series;
    series.end_s.truncate(buckets);
    series.throughput_mbit.truncate(buckets);
    series.cwnd.truncate(buckets);
    series.ssthresh.truncate(buckets);
    series.in_flight.truncate(buckets);
    series.snd_wnd_packets.truncate(buckets);
    series.srtt_us.truncate(buckets);
    series.queue.truncate(buckets);
    series.limits.values_mut().for_each(|shares| shares.truncate(buckets));
}
