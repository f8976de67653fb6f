//! Random scenarios for both engines: `make parity-random SEED=7 COUNT=5`.

use crate::golden::Table;
use crate::suite::Case;
use crate::{distances, golden, runs, sane};
use fullpipe::scenario::{self, Source};
use fullpipe_sim::rng::Rng;
use std::fmt::Write;

/// Segments that a link can carry in a run at most, so that a run takes seconds.
const SEGMENTS: f64 = 100_000.0;

/// A scenario of the space that the suite covers: 10 Mb/s to 10 Gb/s, 1 to 200 ms, queues of 0.1 to 4
/// bandwidth-delay products, both MTUs, fixed and tuned buffers, lists of losses, one or two flows.
/// Equal seeds and numbers give equal texts.
pub fn scenario(seed: u64, number: u64, kernel: &str) -> String {
    let mut rng = Rng::new(seed, &format!("parity {number}"));
    let rate = between(&mut rng, 1e7, 1e10).round();
    let one_way_us = between(&mut rng, 500.0, 100_000.0).round();
    let mtu = pick(&mut rng, &[1500_u32, 9000]);
    let bdp = rate / 8.0 * one_way_us * 2e-6;
    let queue = (bdp * between(&mut rng, 0.1, 4.0)).max(f64::from(mtu) * 3.0).round();
    let frame = f64::from(mtu + 14);
    // From slow start's first round trips to half a minute.
    let longest = (SEGMENTS * frame * 8.0 / rate).min(30.0);
    let duration_ms = (longest * 1e3 * between(&mut rng, 0.3, 1.0)).max(50.0).round();
    let flows: u32 = pick(&mut rng, &[1, 1, 2]);
    let mut text = format!(
        "title = \"random {seed}/{number}\"\nseed = {number}\nduration = \"{duration_ms}ms\"\n\
         [path]\nmtu = {mtu}\nforward = [\n{}\
         {{ kind = \"link\", name = \"link\", rate = \"{rate}bit\", framing = \"ethernet\", \
         queue = {{ limit = \"{queue}B\" }} }},\n\
         {{ kind = \"delay\", name = \"delay\", delay = \"{one_way_us}us\" }},\n]\n\
         back = [{{ kind = \"delay\", name = \"back-delay\", delay = \"{one_way_us}us\" }}]\n",
        list(&mut rng)
    );
    for (host, limit) in [("sender", "wmem_max"), ("receiver", "rmem_max")] {
        let sysctl = format!("sysctl = {{ \"net.core.{limit}\" = \"256MB\" }}");
        let _ = write!(text, "[hosts.{host}]\nkernel = \"{kernel}\"\nhz = 1000\n{sysctl}\n");
    }
    for flow in 0..flows {
        text += &one_flow(&mut rng, flow, duration_ms, bdp + queue);
    }
    let sample_us = (duration_ms * 1e3 / 320.0).max(500.0).round();
    text + &format!(
        "[report]\ninterval = \"{}ms\"\nsample = \"{sample_us}us\"\n",
        duration_ms / 10.0
    )
}

/// In every other scenario a list of up to eight segments to lose, early ones more often.
fn list(rng: &mut Rng) -> String {
    if rng.unit() < 0.5 {
        return String::new();
    }
    let count = pick(rng, &[1, 2, 4, 8]);
    let mut segments: Vec<u64> = (0..count).map(|_| between(rng, 1.0, 20_000.0) as u64).collect();
    segments.sort_unstable();
    segments.dedup();
    format!("{{ kind = \"drop\", name = \"list\", flow = \"flow0\", segments = {segments:?} }},\n")
}

/// A flow with buffers that the kernel tunes, or with fixed ones around `path`, what the path holds, bytes.
fn one_flow(rng: &mut Rng, index: u32, duration_ms: f64, path: f64) -> String {
    let congestion = pick(rng, &["reno", "cubic", "bic"]);
    let buffer = match rng.unit() < 0.5 {
        true => String::new(),
        false => {
            let bytes = (path * between(rng, 0.3, 2.0)).clamp(30_000.0, 256e6).round();
            format!("socket_buffer = \"{bytes}B\"\n")
        }
    };
    let start = if index == 0 { 0.0 } else { (duration_ms * 0.2).round() };
    let length = (duration_ms - start).round();
    format!(
        "[[flow]]\nname = \"flow{index}\"\ncongestion = \"{congestion}\"\n{buffer}\
         start = \"{start}ms\"\nduration = \"{length}ms\"\n"
    )
}

/// Equally likely at each scale.
fn between(rng: &mut Rng, low: f64, high: f64) -> f64 {
    (low.ln() + rng.unit() * (high.ln() - low.ln())).exp()
}

fn pick<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[(rng.next_u64() % of.len() as u64) as usize]
}

/// The scenario as a case.
fn case(seed: u64, number: u64, kernel: &str) -> Case {
    let text = scenario(seed, number, kernel);
    let source = Source::text("random.toml", &text);
    let scenario = scenario::load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Case { file: format!("random-{seed}"), variant: number.to_string(), scenario }
}

#[test]
fn scenarios_follow_from_the_seed_and_cover_the_space() {
    let texts: Vec<String> = (0..300).map(|number| scenario(7, number, "6.12")).collect();
    assert_eq!(texts[5], scenario(7, 5, "6.12"));
    assert_ne!(texts[5], scenario(8, 5, "6.12"));
    for number in 0..300 {
        let case = case(7, number, "6.12");
        let run = &case.plan().resolved;
        let link = run.path.forward.iter().find_map(|element| element.rate()).expect("a link").0;
        let segments = link.0 as f64 * run.duration.as_secs_f64() / 8.0 / f64::from(run.path.mtu);
        assert!(segments <= SEGMENTS * 1.01 || run.duration.as_secs_f64() <= 0.05, "{number}");
        assert!((10_000_000..=10_000_000_000).contains(&link.0), "{number}");
    }
    let parts =
        ["\"reno\"", "\"cubic\"", "\"bic\"", "mtu = 1500", "mtu = 9000", "segments = [", "flow1"];
    for part in parts {
        let count = texts.iter().filter(|text| text.contains(part)).count();
        assert!((60..=240).contains(&count), "{part} in {count} of 300");
    }
    let fixed = texts.iter().filter(|text| text.contains("socket_buffer")).count();
    assert!((100..=240).contains(&fixed), "fixed buffers in {fixed} of 300");
}

/// What the simulator makes of a random scenario, as a table that is possible.
fn simulated(seed: u64, number: u64) -> Table {
    let case = case(seed, number, "6.12");
    let table = distances::simulated(&case);
    sane::possible(&format!("{seed}/{number} simulated"), &case.plan().resolved, &table);
    table
}

#[test]
fn what_the_simulator_makes_of_random_scenarios_is_possible() {
    (0..12).for_each(|number| drop(simulated(3, number)));
}

#[test]
#[ignore = "runs random scenarios on a kernel; make parity-random"]
fn random_scenarios_on_both_engines() {
    let number = |name: &str, otherwise: u64| {
        let text = std::env::var(name).ok();
        text.map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text}")))
    };
    let (seed, count) = (number("FULLPIPE_PARITY_SEED", 1), number("FULLPIPE_PARITY_COUNT", 5));
    print!("{}", distances::HEAD);
    for number in 0..count {
        let genuine = case(seed, number, "6.12");
        if runs::kernel(&genuine).is_none() {
            return;
        }
        let body = golden::body(&genuine, &runs::trace("linux", &genuine.plan().resolved));
        let linux = golden::read(&body).expect("a table");
        sane::possible(&format!("{seed}/{number} on Linux"), &genuine.plan().resolved, &linux);
        let sim = simulated(seed, number);
        print!("{}", distances::lines(&genuine, &linux, &sim));
    }
}
