//! The page on the gigabit experiments: a port that drops without a queue, and three flows through it. Its tables are
//! made from runs of the recipes (`UPDATE_EXPECT=1` rewrites them).

use crate::made::made;
use crate::marked;
use fullpipe::analysis::document::{Run, Stage};
use fullpipe::scenario::{self, SetOption};
use fullpipe::trace::recording::Recording;
use fullpipe_sim::trace::EventKind;
use fullpipe_sim::units::Time;
use std::collections::BTreeMap;

const PAGE: &str = "docs/onl-gigabit.md";
/// Bytes of a full packet, as the port counts it.
const PACKET: u64 = 1500;
/// When the second flow begins.
const SECOND: Time = Time(2_000_000_000);

/// The runs of a recipe, each with the name of its variant.
fn runs(recipe: &str) -> Vec<(String, Run, Recording)> {
    chosen(recipe, &[], &[])
}

/// The runs of some variants (none: of all), with other values of some keys.
fn chosen(recipe: &str, variants: &[&str], set: &[&str]) -> Vec<(String, Run, Recording)> {
    let source = scenario::recipe(recipe).expect("the recipe").source();
    let set: Vec<_> = set.iter().map(|set| SetOption((*set).into())).collect();
    let variants: Vec<_> = variants.iter().map(ToString::to_string).collect();
    let scenario = scenario::load(&source, &set, &variants).unwrap_or_else(|e| panic!("{e}"));
    let run = |plan: &scenario::Plan| {
        let (run, trace) = made(&scenario, plan);
        (plan.variant.clone(), run, trace)
    };
    scenario.plans().iter().map(run).collect()
}

fn stage<'a>(run: &'a Run, name: &str) -> &'a Stage {
    run.stages.iter().find(|stage| stage.name == name).expect(name)
}

fn delivered(run: &Run) -> u64 {
    run.flows.iter().map(|flow| flow.bytes).sum()
}

/// Jain's index of the flows' delivered bytes (R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984): 1 where all have the same.
fn fairness(run: &Run) -> f64 {
    let bytes = run.flows.iter().map(|flow| flow.bytes as f64);
    let squares: f64 = bytes.clone().map(|bytes| bytes * bytes).sum();
    let sum: f64 = bytes.sum();
    sum * sum / (run.flows.len() as f64 * squares)
}

/// Time after its beginning by which all packets of the second flow's slow start have arrived at the port.
const BURST: Time = Time(1_500_000_000);

/// Most packets that waited at the port, in megabytes. The first value covers the time from the second flow's beginning
/// until its sender left slow start, the second one the time until all data of its slow start had arrived there.
fn queue_in_slow_start(trace: &Recording) -> [f64; 2] {
    let leaves = |e: &&fullpipe_sim::trace::Event| e.flow == 1 && e.kind == EventKind::CaState;
    let ended = trace.events.iter().find(leaves).expect("an end of slow start").time;
    let port = trace.stages.iter().find(|stage| stage.name == "port").expect("the port").index;
    let most = |until: Time| {
        let samples = trace.stage_samples.iter().filter(|sample| sample.stage == port);
        let within = samples.filter(|sample| sample.time >= SECOND && sample.time <= until);
        let packets = within.map(|sample| sample.peak).max().expect("samples");
        (packets * PACKET) as f64 / 1e6
    };
    [most(ended), most(SECOND + BURST)]
}

/// Megabytes by which the queue falls after a large peak.
const LARGE: f64 = 1.0;

/// The large peaks of the port's queue, in megabytes: it was lower by [`LARGE`] before, and is afterwards.
fn large_peaks(trace: &Recording) -> Vec<f64> {
    let port = trace.stages.iter().find(|stage| stage.name == "port").expect("the port").index;
    let samples = trace.stage_samples.iter().filter(|sample| sample.stage == port);
    let (mut peaks, mut low, mut high) = (Vec::new(), 0.0_f64, 0.0_f64);
    for sample in samples {
        let [peak, now] = [sample.peak, sample.waiting].map(|it| (it * PACKET) as f64 / 1e6);
        high = high.max(peak);
        if high - now >= LARGE {
            if high - low >= LARGE {
                peaks.push(high);
            }
            (low, high) = (now, now);
        }
        if now < low {
            (low, high) = (now, now);
        }
    }
    peaks
}

/// Interval of samples in the page's charts.
const CHART: Time = Time::ms(250);

/// Highest values of the same peak in a chart, in megabytes, ascending: one for each phase of its samples.
fn charted(trace: &Recording) -> Vec<f64> {
    let port = trace.stages.iter().find(|stage| stage.name == "port").expect("the port").index;
    let mut shown = BTreeMap::<u64, u64>::new();
    for sample in trace.stage_samples.iter().filter(|sample| sample.stage == port) {
        if sample.time >= SECOND && sample.time <= SECOND + BURST {
            let own = shown.entry(sample.time.0 % CHART.0).or_default();
            *own = sample.waiting.max(*own);
        }
    }
    let mut shown: Vec<f64> = shown.into_values().map(|it| (it * PACKET) as f64 / 1e6).collect();
    shown.sort_by(f64::total_cmp);
    shown
}

fn in_a_cell(peaks: &[f64]) -> String {
    let texts: Vec<_> = peaks.iter().map(|peak| format!("{peak:.1}")).collect();
    if texts.is_empty() { "–".into() } else { texts.join(", ") }
}

#[test]
fn a_port_above_its_transmit_block_drops_without_a_queue() {
    let runs = runs("onl-port-1gbit");
    let mut table = String::from(
        "| variant | drops of the transmit block | drops of the queue | most in the queue | delivered, MB |\n|---|--:|--:|--:|--:|\n",
    );
    for (variant, run, _) in &runs {
        let (port, block) = (stage(run, "port"), stage(run, "port-tx"));
        let megabytes = delivered(run) / 1_000_000;
        table += &format!(
            "| {variant} | {} | {} | {} | {megabytes} |\n",
            block.dropped, port.dropped, port.peak
        );
    }
    let [fast, slow, ring] = &runs[..] else { panic!("three runs") };
    for (variant, run, _) in [fast, ring] {
        let (port, block) = (stage(run, "port"), stage(run, "port-tx"));
        assert_eq!((port.peak, port.dropped), (0, 0), "{variant}");
        assert!(block.dropped > 0, "{variant}");
    }
    assert_eq!(stage(&slow.1, "port-tx").dropped, 0);
    assert!(stage(&slow.1, "port").peak > 0);
    assert!(delivered(&fast.1) < delivered(&slow.1) / 2);
    marked::committed(PAGE, "port", &table);
}

/// Drops of the transmit block within 4 s, with these keys otherwise.
fn block_drops(set: &[&str]) -> u64 {
    let set = [&["duration=4s", "flow.bulk.duration=4s"][..], set].concat();
    let runs = chosen("onl-port-1gbit", &["port of 1 Gb/s"], &set);
    stage(&runs[0].1, "port-tx").dropped
}

/// Bytes that three flows deliver through the port of 1 Gb/s.
fn three_with(burst: &str) -> u64 {
    delivered(&chosen("onl-reno-3flows", &["reno, port of 1 Gb/s"], &[burst])[0].1)
}

/// The reported drops of the page hang on keys that the page does not state: the burst of the block, and the rate of
/// the card.
#[test]
#[ignore = "a study: make studies"]
fn study_what_the_block_drops_is_not_determined() {
    let own = delivered(&chosen("onl-reno-3flows", &["reno"], &[])[0].1);
    let ring = "hosts.sender.tx_ring=16192 descriptors";
    let mut table = String::from(
        "| burst of the block, bytes | card 12.3 µs a packet: ring 256 | 16,192 | card 12 µs: ring 256 | 16,192 | three flows, of what they deliver at 960 Mb/s |\n|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut all = Vec::new();
    for bytes in [15_000, 30_000, 60_000, 90_000] {
        let burst = format!("path.forward.port-tx.burst={bytes}B");
        table += &format!("| {bytes} |");
        // A packet of 1538 bytes on the wire takes 12.3 µs at 1 Gb/s.
        for card in ["hosts.sender.nic_rate=1Gbit", "hosts.sender.nic_rate=1025.4Mbit"] {
            for set in [&[&*burst, card][..], &[&*burst, card, ring]] {
                let drops = block_drops(set);
                table += &format!(" {drops} |");
                all.push(drops);
            }
        }
        let share = 100.0 * three_with(&burst) as f64 / own as f64;
        table += &format!(" {share:.0} % |\n");
        assert!((10.0..60.0).contains(&share), "{bytes}: {share} %");
    }
    // From none to more than the page reports.
    let ends = (all.iter().min(), all.iter().max());
    assert!(matches!(ends, (Some(0), Some(51..))), "{all:?}");
    // The receiver's ring has no part in it.
    let receiver = "hosts.receiver.rx_ring=16192 descriptors";
    assert_eq!([block_drops(&[receiver]), block_drops(&[ring, receiver])], [all[0], all[1]]);
    marked::committed(PAGE, "block", &table);
}

#[test]
#[ignore = "a study: make studies"]
fn study_three_flows_share_the_port() {
    let all: Vec<_> = ["onl-reno-3flows", "onl-bic-3flows"].into_iter().flat_map(runs).collect();
    let mut table = String::from(
        "| variant | delivered, MB | Jain's index | drops of the queue | of the transmit block | most in the queue, MB: second sender in slow start | of what it sent there | its large peaks, MB |\n|---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (variant, run, trace) in &all {
        let [early, most] = queue_in_slow_start(trace);
        table += &format!(
            "| {variant} | {} | {:.3} | {} | {} | {:.2} | {:.2} | {} |\n",
            delivered(run) / 1_000_000,
            fairness(run),
            stage(run, "port").dropped,
            stage(run, "port-tx").dropped,
            early,
            most,
            in_a_cell(&large_peaks(trace))
        );
    }
    marked::committed(PAGE, "flows", &table);
    let [reno, fast, bic, _] = &all[..] else { panic!("four runs") };
    let shown = charted(&reno.2);
    let [least, most] = [shown[0], shown[shown.len() - 1]];
    let near = shown.iter().filter(|it| (3.0..=3.5).contains(*it)).count();
    let table = format!(
        "| samples 0.25 s apart: phases | least that the second flow's peak is seen as, MB | most | phases in which it is 3 to 3.5 |\n|--:|--:|--:|--:|\n| {} | {least:.2} | {most:.2} | {near} |\n",
        shown.len()
    );
    marked::committed(PAGE, "charted", &table);
    assert!(near > 0 && least < 3.0 && most > 3.5, "{least} {most} {near}");
    let of_others = delivered(&fast.1) as f64 / delivered(&reno.1) as f64;
    assert!((0.1..0.6).contains(&of_others), "{of_others}");
    // Capacity of the port of 960 Mb/s; the three flows should get nearly all of it.
    let carried = 960e6 / 8.0 * (reno.1.duration_s - 1.0) * 1448.0 / 1500.0;
    assert!(delivered(&reno.1) as f64 > 0.9 * carried, "{carried}");
    assert_eq!(stage(&fast.1, "port").dropped, 0);
    assert!(stage(&fast.1, "port-tx").dropped > 0);
    assert_eq!(stage(&reno.1, "port-tx").dropped, 0);
    assert!(delivered(&bic.1) > delivered(&reno.1) && fairness(&bic.1) < fairness(&reno.1));
}

/// The page's 3 MB and more are missed by either reading: they lie between them, and between two first windows.
#[test]
fn the_queue_hangs_on_where_slow_start_ends() {
    let mut table = String::from(
        "| initcwnd, packets | cwnd at the end of slow start | most in the queue, MB: second sender in slow start | of what it sent there |\n|--:|--:|--:|--:|\n",
    );
    let mut all = Vec::new();
    for packets in 1..=4 {
        let initcwnd = format!("hosts.sender.initcwnd={packets} packets");
        let set = [&initcwnd[..], "duration=5s", "flow.third.start=4500ms"];
        let runs = chosen("onl-reno-3flows", &["reno"], &set);
        let (_, run, trace) = &runs[0];
        let cwnd = run.flows[1].slow_start.as_ref().expect("an end of slow start").cwnd;
        let [early, most] = queue_in_slow_start(trace);
        table += &format!("| {packets} | {cwnd} | {early:.2} | {most:.2} |\n");
        all.push([early, most]);
    }
    marked::committed(PAGE, "first-window", &table);
    let within = |value: f64, about: f64| (value - about).abs() < 0.1;
    let [_, [early, most], [_, other], _] = all[..] else { panic!("four runs") };
    assert!(within(early, 1.5) && within(most, 4.1) && within(other, 2.6), "{all:?}");
}
