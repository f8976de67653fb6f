//! Facts of small recordings that can be checked by hand.

use crate::analysis_synthetic::*;
use fullpipe::analysis::document::Happened;
use fullpipe::analysis::plateau::plateau;
use fullpipe::analysis::settings::Pace;
use fullpipe::analysis::{self, Figures, FlowMeta};
use fullpipe::scenario::{Expect, Target, Tolerance, published};
use fullpipe::trace::recording::Recording;
use fullpipe_sim::trace::{EventKind, Limit};
use fullpipe_sim::units::Time;

/// Rates published for three runs on one 10-Gb/s path of 80 ms (netdev, 10 May 2007), Mb/s.
const RENO: [f64; 9] = [
    583.5822, 7083.2808, 7237.7342, 7210.8981, 7215.4487, 7259.8434, 7247.4942, 7254.4634,
    7253.5183,
];
const BIC: [f64; 19] = [
    83.1497, 395.9762, 775.3889, 1127.2758, 1630.1987, 2349.3613, 3391.825, 4690.6677, 6650.0257,
    7190.6942, 7153.3283, 7153.2538, 7141.7575, 7143.024, 7137.8762, 7153.2949, 7150.2982,
    7132.5165, 7129.0026,
];
const CUBIC: [f64; 29] = [
    57.0365, 135.9824, 213.542, 297.9119, 360.777, 422.137, 495.6124, 579.9098, 642.913, 760.2835,
    918.0361, 1076.3813, 1262.4686, 1475.7965, 1727.615, 2020.1504, 2367.1644, 2669.1349,
    3126.1687, 3698.52, 4403.022, 5153.7367, 6031.5386, 6954.6438, 7275.951, 7262.9813, 7251.7071,
    7252.8519, 7246.9232,
];

fn settled(rates: &[f64]) -> Option<(i64, usize)> {
    plateau(rates).map(|plateau| (plateau.rate.round() as i64, plateau.first + 1))
}

#[test]
fn published_runs_reach_their_plateaus() {
    assert_eq!(settled(&RENO), Some((7254, 2)));
    assert_eq!(settled(&BIC), Some((7153, 9)));
    assert_eq!(settled(&CUBIC), Some((7253, 24)));
}

#[test]
fn a_ramp_that_is_cut_off_has_no_plateau() {
    // Until here the published run still grows by a sixth per second.
    assert_eq!(settled(&CUBIC[..22]), None);
    assert_eq!(settled(&BIC[..9]), None);
    for length in [3_u32, 10, 30, 300, 3000] {
        let ramp: Vec<f64> = (1..=length).map(f64::from).collect();
        assert_eq!(settled(&ramp), None, "{length}");
        let doubling: Vec<f64> = ramp.iter().map(|n| 2_f64.powf(n / 4.0).min(1e300)).collect();
        assert_eq!(settled(&doubling[..length.min(100) as usize]), None, "{length}");
    }
    assert_eq!(settled(&[0.0; 9]), None);
    assert_eq!(settled(&[5.0, 5.0]), None);
}

#[test]
fn a_burst_or_a_later_loss_of_half_the_rate_do_not_hide_the_plateau() {
    let mut rates = [vec![10.0; 3], vec![100.0; 20]].concat();
    rates[10] = 250.0;
    assert_eq!(settled(&rates), Some((100, 4)));
    let shared = [vec![10.0; 3], vec![100.0; 10], vec![50.0; 10]].concat();
    assert_eq!(settled(&shared), Some((100, 4)));
    assert_eq!(settled(&[100.0; 3]), Some((100, 1)));
}

fn step(segments: u64, limit: Limit, busy_ms: u64) -> Step {
    Step { segments, limit, busy_ms }
}

/// accept() after 250 ms; then 35 steps of 100 ms with 1, 2, 3 ... segments.
fn ramp() -> Recording {
    let waiting = vec![step(0, Limit::Idle, 0); 2];
    let steps: Vec<Step> = (1..=36).map(|n| step(n, Limit::CwndSlowStart, 10)).collect();
    steps_after(Time::ms(250), waiting, steps)
}

fn steps_after(accepted: Time, mut before: Vec<Step>, after: Vec<Step>) -> Recording {
    before.extend(after);
    steps(accepted, &before)
}

#[test]
fn intervals_count_from_accept_without_interpolation() {
    let run = analysis::run(&meta(), &ramp());
    let flow = &run.flows[0];
    assert_eq!(flow.clock_start_s, 0.25);
    // Boundaries at 0.25, 1.25 ... take the samples of 0.2, 1.2 ...: 10 steps each, the rest at 3.8.
    let rows: Vec<(f64, f64, u64, u64)> =
        flow.intervals.iter().map(|i| (i.start_s, i.end_s, i.segments, i.bytes)).collect();
    let expected = [
        (0.0, 1.0, 55, 55_000),
        (1.0, 2.0, 155, 155_000),
        (2.0, 3.0, 255, 255_000),
        (3.0, 3.55, 31 + 32 + 33 + 34 + 35 + 36, 201_000),
    ];
    assert_eq!(rows, expected);
    assert_eq!(flow.intervals[1].throughput_mbit, 1.24);
    let gauges: Vec<(u32, u64)> = flow.intervals.iter().map(|i| (i.cwnd, i.queue)).collect();
    assert_eq!(gauges, [(21, 11), (31, 21), (41, 31), (47, 37)]);
    assert_eq!(flow.intervals[0].ssthresh, None);
    assert_eq!(flow.intervals[0].srtt_us, Some(200_000));
    assert_eq!(flow.limits["connecting"], 200.0 / 3800.0);
    assert_eq!(flow.limits["cwnd_slow_start"], 3600.0 / 3800.0);
    assert_eq!(flow.mean_mbit, 666.0 * 8e3 / 3.8e6);
    assert_eq!(flow.plateau_mbit, None);
}

#[test]
fn the_clock_can_start_earlier_and_the_first_interval_be_longer() {
    let mut meta = meta();
    (meta.clock_offset, meta.first_interval) = (Time::ms(50), Time::ms(1100));
    let run = analysis::run(&meta, &ramp());
    let flow = &run.flows[0];
    assert_eq!(flow.clock_start_s, 0.2);
    let segments: Vec<u64> = flow.intervals.iter().map(|i| i.segments).collect();
    assert_eq!(segments, [66, 165, 265, 170]);
    assert_eq!(flow.intervals[0].end_s, 1.1);
}

#[test]
fn the_last_interval_ends_when_everything_was_read() {
    let mut recording = ramp();
    recording.events.push(event(Time::ms(3795), EventKind::Finished, 666_000));
    let flow = &analysis::run(&meta(), &recording).flows[0];
    let last = flow.intervals.last().unwrap();
    assert_eq!((last.start_s, last.end_s, last.segments), (3.0, 3.545, 201));
}

/// Without an event at its end, a flow with an application that stops by time ends with its sent data.
#[test]
fn a_flow_that_stops_by_time_ends_when_it_is_drained() {
    let writing = vec![step(10, Limit::CwndAvoidance, 50); 20];
    let (drain, nothing) = (step(5, Limit::Idle, 50), vec![step(0, Limit::Idle, 0); 20]);
    let mut recording = steps_after(Time::ZERO, [writing, vec![drain; 3]].concat(), nothing);
    let mut meta = meta();
    let life = |meta: &analysis::RunMeta, recording: &Recording| {
        let flow = &analysis::run(meta, recording).flows[0];
        (flow.intervals.last().unwrap().end_s, flow.limits["idle"])
    };
    for sample in &mut recording.flows {
        sample.bytes_acked = sample.bytes_delivered;
    }
    meta.flows[0].stop = Some(Time::secs(2));
    assert_eq!(life(&meta, &recording), (2.3, 3.0 / 23.0));
    // The end of the stream, which the reader sees later, changes nothing; the last of its bytes would.
    let mut ended = recording.clone();
    ended.events.push(event(Time::ms(2400), EventKind::Finished, 7));
    assert_eq!(life(&meta, &ended).0, 2.3);
    meta.flows[0].bytes = Some(7);
    assert_eq!(life(&meta, &ended).0, 2.4);
    meta.flows[0].bytes = None;
    // It still had time to write.
    meta.flows[0].stop = Some(Time::secs(3));
    assert_eq!(life(&meta, &recording), (3.0, 10.0 / 30.0));
    // A FIN is in flight at the end of the run, then data.
    recording.flows.last_mut().unwrap().in_flight = 1;
    assert_eq!(life(&meta, &recording), (3.0, 10.0 / 30.0));
    let last = recording.flows.last_mut().unwrap();
    last.bytes_sent = last.bytes_acked + 1448;
    assert_eq!(life(&meta, &recording).0, 4.3);
    meta.flows[0].stop = None;
    assert_eq!(life(&meta, &recording).0, 4.3);
}

/// A connection that is given up lives no longer, whatever else seems to be done; one that was done stays so.
#[test]
fn a_flow_that_is_given_up_ends_then() {
    let mut recording = ramp();
    let mut meta = meta();
    meta.flows[0].stop = Some(Time::secs(1));
    for sample in &mut recording.flows {
        sample.bytes_acked = sample.bytes_delivered;
    }
    let aborted = event(Time::ms(2250), EventKind::Aborted, 110);
    recording.events.push(aborted);
    let flow = &analysis::run(&meta, &recording).flows[0];
    assert_eq!(flow.aborted.map(|end| (end.at_s, end.errno)), Some((2.0, 110)));
    assert_eq!((flow.completion_s, flow.intervals.last().unwrap().end_s), (None, 2.0));
    // The sample of 2.3 s shows it.
    let [.., last] = &flow.moments[..] else { panic!("no moment") };
    assert_eq!((last.at_s, last.what, last.value), (2.05, Happened::Aborted, 110));
    meta.flows[0].bytes = Some(666_000);
    recording.events.push(event(Time::ms(2000), EventKind::Finished, 666_000));
    let flow = &analysis::run(&meta, &recording).flows[0];
    assert_eq!((flow.aborted, flow.completion_s), (None, Some(2.0)));
}

/// Samples of equal seconds, cwnd-limited throughout: the link is the limit only while it never idles.
#[test]
fn a_full_link_is_the_limit_and_not_the_window() {
    for window in
        [Limit::CwndAvoidance, Limit::CwndRecovery, Limit::ReceiveWindow, Limit::SendBuffer]
    {
        let half = vec![step(10, window, 50); 10];
        let full = vec![step(20, window, 100); 10];
        let flow = &analysis::run(&meta(), &steps_after(Time::ZERO, half, full)).flows[0];
        // The first full step still has an idle half step within its last 200 ms.
        assert_eq!(flow.limits["link"], 0.45, "{window:?}");
        assert_eq!(flow.limits[window.about().name], 0.55);
    }
}

/// A flow that waits for its timer is not held back by the link, whoever fills it.
#[test]
fn a_full_link_does_not_excuse_a_timeout() {
    let mut recording = steps(Time::ZERO, &[step(1, Limit::CwndRecovery, 100); 20]);
    let share = |recording: &Recording, limit: &str| {
        analysis::run(&meta(), recording).flows[0].limits[limit]
    };
    assert_eq!(share(&recording, "link"), 1.0);
    recording.flows.iter_mut().skip(10).for_each(|sample| sample.ca_state = 4);
    assert_eq!((share(&recording, "link"), share(&recording, "cwnd_recovery")), (0.5, 0.5));
}

#[test]
fn a_full_link_does_not_excuse_the_application_or_the_cpu() {
    for limit in [Limit::Application, Limit::SenderCpu, Limit::Idle] {
        let flow =
            &analysis::run(&meta(), &steps(Time::ZERO, &[step(20, limit, 100); 10])).flows[0];
        assert_eq!(flow.limits["link"], 0.0);
        assert_eq!(flow.limits[limit.about().name], 1.0);
    }
}

/// Ten steps before the connection is there, ten of data, ten with nothing to send, ten of data, ten after all data was sent.
#[test]
fn connecting_idle_and_done_are_three() {
    let idle = vec![step(0, Limit::Idle, 0); 10];
    let data = vec![step(10, Limit::CwndAvoidance, 10); 10];
    let steps = [&data[..], &idle[..], &data[..], &idle[..]].concat();
    let mut recording = steps_after(Time::secs(1), idle, steps);
    for sample in &mut recording.flows {
        sample.bytes_sent = sample.bytes_delivered;
    }
    let shares = |recording: &Recording| {
        let flow = &analysis::run(&meta(), recording).flows[0];
        ["connecting", "idle", "done", "cwnd_avoidance"].map(|limit| flow.limits[limit])
    };
    assert_eq!(shares(&recording), [0.2, 0.2, 0.2, 0.4]);
    // Something waits until the end: nothing is done.
    recording.flows.last_mut().unwrap().unsent = 1;
    assert_eq!(shares(&recording), [0.2, 0.4, 0.0, 0.4]);
}

/// A pace of TCP's own is cwnd's, and a busy link takes its time. A configured pace keeps its time while others share
/// the link.
#[test]
fn a_full_link_takes_the_time_of_a_pace_that_nobody_asked_for() {
    let recording = steps(Time::ZERO, &[step(20, Limit::Pacing, 100); 10]);
    let share = |meta: &analysis::RunMeta, limit: &str| {
        analysis::run(meta, &recording).flows[0].limits[limit]
    };
    let mut meta = meta();
    assert_eq!((share(&meta, "link"), share(&meta, "pacing")), (1.0, 0.0));
    meta.flows.push(FlowMeta { name: "other".into(), ..meta.flows[0].clone() });
    assert_eq!(share(&meta, "link"), 1.0);
    meta.flows[0].settings.pace = Some(Pace { rate: 1_000_000, by: "SO_MAX_PACING_RATE" });
    assert_eq!((share(&meta, "link"), share(&meta, "pacing")), (0.0, 1.0));
}

/// In recovery without SACK a hole exhausts the receive window. With SACK, and out of recovery, the window is the
/// limit.
#[test]
fn a_hole_without_sack_is_no_small_window() {
    let mut recording = steps(Time::ZERO, &[step(1, Limit::ReceiveWindow, 10); 20]);
    recording.flows.iter_mut().skip(10).for_each(|sample| sample.ca_state = 3);
    let shares = |meta: &analysis::RunMeta| {
        let flow = &analysis::run(meta, &recording).flows[0];
        ["receive_window", "cwnd_recovery"].map(|limit| flow.limits[limit])
    };
    let mut meta = meta();
    assert_eq!(shares(&meta), [1.0, 0.0]);
    meta.flows[0].settings.without_sack = vec!["receiver".into()];
    assert_eq!(shares(&meta), [0.5, 0.5]);
}

#[test]
fn time_that_nobody_claims_is_unknown() {
    let mut recording = ramp();
    for sample in &mut recording.flows {
        sample.limits[Limit::CwndSlowStart as usize] /= 2;
    }
    let flow = &analysis::run(&meta(), &recording).flows[0];
    assert_eq!(flow.limits["unknown"], 1800.0 / 3800.0);
}

#[test]
fn a_flow_that_starts_later_lives_from_then_on() {
    let mut meta = meta();
    meta.flows.push(FlowMeta {
        shaper: None,
        hosts: ["sender", "receiver"].map(String::from),
        name: "late".into(),
        start: Time::secs(2),
        ..meta.flows[0].clone()
    });
    let mut recording = ramp();
    let mut late = recording.flows.clone();
    for sample in &mut late {
        sample.flow = 1;
        sample.limits = [0; Limit::COUNT];
        sample.limits[0] = sample.time.as_ns().min(2_000_000_000);
        sample.limits[6] = sample.time.as_ns().saturating_sub(2_000_000_000);
    }
    recording.flows.extend(late);
    recording.flows.sort_by_key(|sample| sample.time);
    let run = analysis::run(&meta, &recording);
    assert_eq!(run.flows[1].limits["application"], 1.0);
    assert_eq!(run.flows[1].clock_start_s, 2.0);
    assert_eq!(run.flows[0].intervals.len(), 4);
}

#[test]
fn stages_are_summed_over_the_run() {
    let run = analysis::run(&meta(), &ramp());
    let link = &run.stages[0];
    assert_eq!(
        (link.name.as_str(), link.kind.as_str(), link.capacity),
        ("link", "link", Some(100))
    );
    assert_eq!((link.peak, link.waiting, link.mean_waiting), (38, 37, 18.5));
    assert!((link.busy_s - 0.36).abs() < 1e-12);
}

fn figures(rows: Vec<published::Row>) -> Option<Figures> {
    let run = published::Run { name: "theirs".into(), rows, total_mbit: Some(1.5) };
    Some(Figures { source: "a source".into(), run, calibrated: true })
}

#[test]
fn published_rows_stand_beside_ours_with_a_band() {
    let mut meta = meta();
    let row = |second: u32, bytes, mbit| published::Row {
        start_s: f64::from(second),
        end_s: f64::from(second) + 1.0,
        bytes,
        mbit,
    };
    let rates = [0.5, 1.2, 3.96, 4.0, 4.0, 4.0];
    let rows = rates
        .iter()
        .zip(0..)
        .map(|(rate, second)| row(second, 50_000 * u64::from(second + 1), *rate));
    meta.published = figures(rows.collect());
    let published = analysis::run(&meta, &ramp()).published.unwrap();
    // 3.55 s of our clock cover three rows; theirs saturates in the third: 99 % of 4.0.
    assert_eq!(published.rows.len(), 3);
    assert_eq!(published.rows.iter().map(|r| r.ramp).collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(
        published.rows.iter().map(|r| r.calibrated_on).collect::<Vec<_>>(),
        [false, false, true]
    );
    let second = &published.rows[1];
    assert_eq!((second.bytes, second.simulated_bytes), (100_000, 155_000));
    assert!((second.error - 0.55).abs() < 1e-12);
    // Half a round trip of 200 ms to either side: one sample earlier, one later.
    assert_eq!((second.band_low, second.band_high, second.in_band), (145_000, 165_000, false));
    let first = &published.rows[0];
    assert_eq!((first.band_low, first.band_high, first.in_band), (45_000, 65_000, true));
    assert!((published.median_error_before_plateau.unwrap() - 0.325).abs() < 1e-12);
    assert!((published.worst_error_before_plateau.unwrap() - 0.55).abs() < 1e-12);
}

fn expect(
    target: Target,
    interval: Option<[usize; 2]>,
    of: &[f64],
    tolerance: Tolerance,
) -> Expect {
    let metric = "metric".to_string();
    Expect { metric, target, interval, of: of.to_vec(), within: "as said".into(), tolerance }
}

fn flow_metric(column: &'static str) -> Target {
    Target::Flow { flow: "bulk".into(), column }
}

#[test]
fn expectations_are_judged_with_the_difference() {
    let mut meta = meta();
    let one = Tolerance::Absolute(1.0);
    let link = |column| Target::Stage { stage: "link".into(), column };
    let limit = Target::Limit { flow: "bulk".into(), limit: "cwnd_slow_start" };
    meta.expectations = vec![
        expect(flow_metric("segments_delivered"), Some([0, 3]), &[55.0, 154.0, 256.0], one),
        expect(flow_metric("segments_delivered"), Some([1, 3]), &[155.0, 250.0], one),
        expect(flow_metric("bytes"), None, &[660_000.0], Tolerance::Relative(0.01)),
        expect(flow_metric("plateau_mbit"), None, &[5.0], one),
        expect(flow_metric("cwnd"), Some([3, 6]), &[1.0, 2.0, 3.0], one),
        expect(link("peak"), None, &[38.0], Tolerance::Absolute(0.0)),
        expect(link("dropped"), None, &[2.0], one),
        expect(limit, None, &[0.9], Tolerance::Relative(0.1)),
        expect(Target::Stage { stage: "gone".into(), column: "peak" }, None, &[0.0], one),
    ];
    let run = analysis::run(&meta, &ramp());
    let judged: Vec<(bool, &str)> =
        run.expectations.iter().map(|e| (e.passed, e.detail.as_str())).collect();
    let expected = [
        (true, "interval 2: 255 segments instead of 256 segments, -1 segment or -0.39 %"),
        (false, "interval 2: 255 segments instead of 250 segments, +5 segments or +2.00 %"),
        (true, "666000 bytes instead of 660000 bytes, +6000 bytes or +0.91 %"),
        (false, "the rate did not settle: there is no plateau"),
        (false, "flow bulk has only 4 intervals"),
        (true, "38 segments instead of 38 segments, exactly"),
        (false, "0 segments instead of 2 segments, -2 segments or -100.00 %"),
        (true, "0.9474 instead of 0.9, +0.0474 or +5.26 %"),
        (false, "this run has no stage gone"),
    ];
    assert_eq!(judged, expected);
    assert_eq!(run.expectations[0].measured, [55.0, 155.0, 255.0]);
    assert!(run.expectations[3].measured.is_empty());
}
