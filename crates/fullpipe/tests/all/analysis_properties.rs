//! Properties of every recording.

use crate::analysis_synthetic::*;
use fullpipe::analysis;
use fullpipe::analysis::document::Run;
use fullpipe_sim::units::Time;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn adds_up(limits: &BTreeMap<String, f64>) -> Result<(), TestCaseError> {
    let sum: f64 = limits.values().sum();
    prop_assert!((sum - 1.0).abs() < 1e-9, "sum {sum} of {limits:?}");
    prop_assert!(limits.values().all(|share| (0.0..=1.0).contains(share)), "{limits:?}");
    Ok(())
}

fn shares_add_up(run: &Run) -> Result<(), TestCaseError> {
    for flow in &run.flows {
        adds_up(&flow.limits)?;
        for interval in &flow.intervals {
            adds_up(&interval.limits)?;
        }
        for bucket in 0..flow.series.end_s.len() {
            let sum: f32 = flow.series.limits.values().map(|column| column[bucket]).sum();
            prop_assert!((sum - 1.0).abs() < 1e-5, "sum {sum} of bucket {bucket}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn intervals_add_up_to_the_flow((meta, recording) in sensible_run()) {
        let run = analysis::run(&meta, &recording);
        let flow = &run.flows[0];
        let last = recording.flows.last().unwrap();
        prop_assert_eq!(flow.bytes, last.bytes_delivered);
        let sum = |of: fn(&analysis::document::Interval) -> u64| flow.intervals.iter().map(of).sum::<u64>();
        if flow.bytes > 0 {
            prop_assert_eq!(sum(|i| i.bytes), flow.bytes);
            prop_assert_eq!(sum(|i| i.segments), last.segments_delivered);
        }
        let times: Vec<f64> = recording.flows.iter().map(|f| f.time.as_secs_f64()).collect();
        let gap = times.windows(2).map(|pair| pair[1] - pair[0]).fold(times[0], f64::max);
        for interval in &flow.intervals {
            // The rate is over the samples that were counted, at either end less than one away.
            let bits = interval.bytes as f64 * 8.0;
            let span = interval.end_s - interval.start_s;
            if interval.bytes > 0 {
                let counted = bits / (interval.throughput_mbit * 1e6);
                prop_assert!((counted - span).abs() <= gap + 1e-9, "{counted} s of {span} s");
            } else {
                prop_assert_eq!(interval.throughput_mbit, 0.0);
            }
        }
    }

    #[test]
    fn intervals_follow_each_other((meta, recording) in sensible_run()) {
        let run = analysis::run(&meta, &recording);
        let intervals = &run.flows[0].intervals;
        prop_assert!(intervals.first().is_none_or(|first| first.start_s == 0.0));
        for pair in intervals.windows(2) {
            prop_assert_eq!(pair[0].end_s, pair[1].start_s);
        }
        for interval in intervals {
            prop_assert!(interval.end_s > interval.start_s);
        }
        let full = intervals.len().saturating_sub(1);
        for (index, interval) in intervals[..full].iter().enumerate() {
            let length = if index == 0 { meta.first_interval } else { meta.interval };
            prop_assert!((interval.end_s - interval.start_s - length.as_secs_f64()).abs() < 1e-9);
        }
    }

    #[test]
    fn shares_add_up_to_one((meta, recording) in sensible_run()) {
        shares_add_up(&analysis::run(&meta, &recording))?;
    }

    #[test]
    fn series_are_of_equal_length_and_hold_every_byte((meta, recording) in sensible_run()) {
        let run = analysis::run(&meta, &recording);
        let flow = &run.flows[0];
        let series = &flow.series;
        let length = series.end_s.len();
        prop_assert!(length <= 600);
        let lengths = [series.throughput_mbit.len(), series.cwnd.len(), series.ssthresh.len(),
            series.in_flight.len(), series.snd_wnd_packets.len(), series.srtt_us.len(), series.queue.len()];
        prop_assert!(lengths.iter().chain(&series.limits.values().map(Vec::len).collect::<Vec<_>>()).all(|l| *l == length));
        let bytes: f64 = series.throughput_mbit.iter().map(|rate| rate * series.bucket_s * 125_000.0).sum();
        // A flow that finishes between two samples is counted at the later one.
        let finished = recording.events.len() > 1;
        if flow.bytes > 0 && !finished {
            prop_assert!((bytes - flow.bytes as f64).abs() < 1.0, "{bytes} of {}", flow.bytes);
        }
    }

    #[test]
    fn bins_follow_each_other_and_add_up((meta, recording) in sensible_run(), ms in 100..3000_u64) {
        let meta = analysis::RunMeta { bin: Time::ms(ms), ..meta };
        let run = analysis::run(&meta, &recording);
        let bins = &run.bins;
        prop_assert_eq!(bins.start_s.first(), Some(&0.0));
        prop_assert_eq!(bins.end_s.last(), Some(&recording.flows.last().unwrap().time.as_secs_f64()));
        prop_assert_eq!(&bins.start_s[1..], &bins.end_s[..bins.end_s.len() - 1]);
        let sum = |column: &Vec<u64>| column.iter().sum::<u64>();
        let last = recording.flows.last().unwrap();
        prop_assert_eq!(sum(&bins.flows[0].delivered_bytes), last.bytes_delivered);
        prop_assert_eq!(&bins.sum, &bins.flows[0], "the only flow");
        for (stage, place) in run.stages.iter().zip(&bins.places) {
            prop_assert_eq!(&stage.name, &place.stage);
            prop_assert_eq!(sum(&place.dropped), stage.dropped);
            prop_assert_eq!(place.peak.iter().max(), Some(&stage.peak));
        }
    }

    #[test]
    fn published_rows_of_our_own_have_no_error((mut meta, recording) in sensible_run()) {
        use fullpipe::scenario::published;
        let own = analysis::run(&meta, &recording);
        let rows: Vec<published::Row> = own.flows[0].intervals.iter().map(|i| published::Row {
            start_s: i.start_s, end_s: i.end_s, bytes: i.bytes, mbit: i.throughput_mbit,
        }).collect();
        let full = rows.len().saturating_sub(1);
        let run = published::Run { name: "own".into(), rows: rows[..full].to_vec(), total_mbit: None };
        meta.published = Some(analysis::Figures { source: "own".into(), run, calibrated: false });
        let published = analysis::run(&meta, &recording).published.unwrap();
        prop_assert_eq!(published.rows.len(), full);
        for row in &published.rows {
            prop_assert_eq!(row.simulated_bytes, row.bytes);
            prop_assert_eq!(row.error, 0.0);
            prop_assert!(row.in_band && row.band_low <= row.bytes && row.bytes <= row.band_high);
        }
    }

    /// Recordings that contradict themselves must not end the program.
    #[test]
    fn senseless_recordings_do_no_harm(mut recording in any_recording(), bottleneck in any::<bool>()) {
        let mut meta = meta();
        meta.flows.push(meta.flows[0].clone());
        recording.flows.iter_mut().for_each(|sample| sample.flow %= 3);
        recording.stages.iter_mut().zip(0..).for_each(|(stage, index)| {
            stage.index = index;
            if bottleneck && index == 0 { stage.name = "link".into() }
        });
        recording.stage_samples.iter_mut().for_each(|sample| sample.stage %= 4);
        // The report has at most some thousand intervals: the scenario sees to that.
        recording.flows.iter_mut().for_each(|sample| sample.time.0 %= 1_000_000_000_000);
        recording.stage_samples.iter_mut().for_each(|sample| sample.time.0 %= 1_000_000_000_000);
        let run = analysis::run(&meta, &recording);
        shares_add_up(&run)?;
        let text = serde_json::to_string(&run).unwrap();
        prop_assert_eq!(serde_json::from_str::<Run>(&text).unwrap(), run);
    }
}
