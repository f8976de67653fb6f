//! The tables of docs/how-true.md and README.md.

use crate::marked;
use crate::parity::causes::Causes;
use crate::parity::distances::Both;
use crate::parity::{record, runs, suite};
use fullpipe::parity::bars::{self, Bar, Figure, Miss};
use fullpipe::parity::both::{JUDGE, JUDGED};
use fullpipe::parity::case::Case;
use fullpipe::parity::distance::{self, Unit};
use fullpipe::parity::newer;
use fullpipe::parity::random::{self, Hosts};
use fullpipe::parity::terminal;
use fullpipe::parity::twin::{self, Chance, Twinned, Twins};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Mutex;

pub const PAGE: &str = "docs/how-true.md";
/// Seeds and number of the random scenarios that the page reports, and twins of those that miss a bar.
const RANDOM: ([u64; 3], u64, u32) = ([1, 2, 3], 40, 20);

/// The bars, a line each; a column per congestion control.
pub fn figures(units: &[Unit]) -> String {
    let judged = bars::judge(units);
    let mut text = "| | bar |".to_string();
    judged.iter().for_each(|one| text += &format!(" {} |", one.congestion));
    text += "\n|---|---|";
    judged.iter().for_each(|_| text += "--:|");
    text += "\n";
    for bar in Bar::ALL {
        let [what, least] = bar.says();
        let _ = write!(text, "| {what} | {least} |");
        judged.iter().for_each(|one| text += &format!(" {} |", cell(one.figure(bar))));
        text += "\n";
    }
    text
}

fn cell(figure: Option<&Figure>) -> String {
    let Some(figure) = figure else { return "–".into() };
    let value = terminal::value(figure);
    if figure.met { value } else { format!("**{value}**, missed") }
}

/// Runs with messages, and a line for each file of scenarios with newer keys.
pub fn newer(units: &[Unit]) -> String {
    let summary = newer::whole(units).messages.expect("the newer files have messages");
    let mut text = format!(
        "The {}.\n\n| scenarios | runs | throughput apart, median | under 5 % apart | messages within the bar | worst, of what is \
         allowed |\n|---|--:|--:|--:|--:|--:|\n",
        terminal::summed(&summary)
    );
    for row in newer::of(units).into_iter().chain([newer::whole(units)]) {
        let [file, runs, median, close, messages] = terminal::cells(&row);
        let worst = row.messages.map(|messages| terminal::share(messages.worst.excess()));
        let worst = worst.unwrap_or_else(|| "–".into());
        let _ = writeln!(text, "| {file} | {runs} | {median} % | {close} | {messages} | {worst} |");
    }
    text
}

/// Size of the suite, and its kernel.
pub fn size(suite: &[Both]) -> String {
    let flows: usize = suite.iter().map(|both| both.case.plan.resolved.flow.len()).sum();
    let mut kernels: BTreeMap<&str, usize> = BTreeMap::new();
    for both in suite {
        let kernel = &both.linux.origin.kernel;
        *kernels.entry(kernel.split(" (").next().unwrap_or(kernel)).or_default() += 1;
    }

    // The kernel of most runs comes first.
    let mut kernels: Vec<(&str, usize)> = kernels.into_iter().collect();
    kernels.sort_by_key(|&(_, runs)| std::cmp::Reverse(runs));
    let kernels: Vec<String> =
        kernels.iter().map(|(kernel, runs)| format!("{runs} against {kernel}")).collect();
    format!("{} runs with {flows} flows: {}.\n", suite.len(), kernels.join(", "))
}

/// The runs that miss a bar, the furthest apart first, with their causes.
pub fn missed(units: &[Unit], causes: &Causes) -> String {
    let mean = |unit: &Unit| unit.throughput.map_or(0.0, |throughput| throughput.mean);
    let mut missed: Vec<(&Unit, Miss)> = units
        .iter()
        .filter_map(|unit| Some((unit, bars::misses(std::slice::from_ref(unit)).pop()?)))
        .collect();
    missed.sort_by(|(a, _), (b, _)| mean(b).total_cmp(&mean(a)));
    let mut text =
        "| run | throughput apart | times what is allowed | cause |\n|---|--:|---|---|\n"
            .to_string();
    for (unit, miss) in missed {
        let (name, apart) = (unit.name(), mean(unit) * 100.0);
        let times = miss.misses.iter().map(|(bar, times)| terminal::so_much(*bar, *times));
        let times = times.collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "| {name} | {apart:.1} % | {times} | {} |", causes[&unit.run]);
    }
    text
}

/// Scenarios of a seed, with the twins of those that miss a bar.
#[derive(Default)]
struct Drawn {
    units: Vec<Unit>,
    twins: Twinned,
}

impl Drawn {
    fn of(seed: u64, hosts: &Hosts, twins: u32) -> Drawn {
        let cases: Vec<Case> =
            (0..RANDOM.1).map(|number| random::case(seed, number, hosts)).collect();
        let all = Mutex::new(Drawn::default());
        record::parallel(&cases, |case: &Case| {
            let (units, found) = with_twins(case, twins);
            let mut all = all.lock().expect("no panic");
            all.units.extend(units);
            all.twins.itself.extend(found.itself);
            all.twins.chances.extend(found.chances);
        });
        let mut all = all.into_inner().expect("no panic");
        all.twins.chances.sort_by_key(|chance| (chance.run.clone(), chance.congestion.clone()));
        all
    }
}

fn with_twins(case: &Case, count: u32) -> (Vec<Unit>, Twinned) {
    let (linux, sim) = (runs::table(JUDGE, case), runs::table(JUDGED, case));
    let units = distance::units(case, &linux, &sim).unwrap_or_else(|why| panic!("{why}"));
    let run = |name: &str, case: &Case| Ok::<_, String>(Some(runs::table(name, case)));
    let ran = Twins::of(case, &units, count).run(run);
    let ran = ran.ok().flatten().expect("whole runs");
    let found = twin::found(case, &units, &linux, &ran).unwrap_or_else(|why| panic!("{why}"));
    (units, found)
}

/// A line per miss: its distance, Linux's distance from itself, and the verdict.
fn misses(chances: &[Chance]) -> String {
    let mut text = format!(
        "| run | times what is allowed: the simulator | Linux itself, median | as far, of {} | distributions apart | \
         may be chance |\n|---|--:|--:|--:|--:|---|\n",
        RANDOM.2
    );
    for chance in chances {
        let furthest = chance.spreads.iter().map(|spread| spread.apart).fold(0.0, f64::max);
        let verdict = if chance.by_chance { "yes" } else { "**no**" };
        for (n, rank) in chance.ranks.iter().enumerate() {
            let [what, by] = [terminal::so_much(rank.bar, rank.sim), times(rank.itself)];
            let end = match n {
                0 => format!("{furthest:.2} | {verdict}"),
                _ => "|".into(),
            };
            let (run, control) = (&chance.run, &chance.congestion);
            let _ =
                writeln!(text, "| {run}, {control} | {what} | {by} | {} | {end} |", rank.as_far);
        }
    }
    text
}

fn times(distance: f64) -> String {
    if distance.is_finite() { format!("{distance:.2} x") } else { "–".into() }
}

#[test]
#[ignore = "runs random scenarios on a kernel; make parity-record"]
fn random_scenarios_on_both_engines() {
    let (seeds, count, each) = RANDOM;
    let Some(kernel) = runs::kernel(&random::case(seeds[0], 0, &Hosts::default())) else { return };
    let version = &kernel.source_version;
    let mut text = String::new();
    for seed in seeds {
        let Drawn { units, twins } = Drawn::of(seed, &Hosts::default(), each);
        let by_chance = twins.chances.iter().filter(|chance| chance.by_chance).count();
        let _ = write!(
            text,
            "`fullpipe parity --random {count} --seed {seed} --twins {each}`, against Linux {version}:\n\n{}\n\
             Linux beside itself, 20 m further away:\n\n{}\n\
             Of {} that miss a bar {by_chance} may be chance:\n\n{}\n",
            figures(&units),
            figures(&twins.itself),
            twins.chances.len(),
            misses(&twins.chances),
        );
    }
    marked::rewritten(PAGE, "random", text.trim_end_matches('\n').to_string().as_str());
}

#[test]
#[ignore = "runs random scenarios on other kernels; make parity-record"]
fn random_scenarios_on_other_kernels() {
    let (seeds, count, _) = RANDOM;
    let mut text = String::new();
    for (option, kernel, hz) in [("--hz 250", "6.12", 250), ("--kernel 6.1", "6.1", 1000)] {
        let hosts = Hosts { kernel: kernel.into(), hz };
        let Some(kernel) = runs::kernel(&random::case(seeds[0], 0, &hosts)) else { return };
        let (version, seed) = (&kernel.source_version, seeds[0]);
        let command = format!("fullpipe parity --random {count} --seed {seed} {option}");
        let units = Drawn::of(seed, &hosts, 0).units;
        let _ = writeln!(text, "`{command}`, against Linux {version}:\n\n{}", figures(&units));
    }
    marked::rewritten(PAGE, "others", text.trim_end_matches('\n'));
}

#[test]
fn bars_that_are_missed_are_marked() {
    let unit = Unit { congestion: "reno".into(), retransmitted: [0, 9], ..Unit::default() };
    let text = figures(&[Unit { retransmitted: [0, 3], ..unit.clone() }, unit]);
    assert!(text.starts_with("| | bar | reno |\n|---|---|--:|\n"), "{text}");
    assert!(text.contains("| runs with the same retransmissions | all | **1 of 2**, missed |"));
    assert!(text.contains("| loss-free runs with the same cwnd | all | – |"), "{text}");
}

/// Names such as 1-28 between two texts.
fn numbers(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_digit() && c != '-');
    let is_one = |word: &&str| {
        let parts: Vec<&str> = word.split('-').collect();
        parts.len() == 2 && parts.iter().all(|part| !part.is_empty())
    };
    words.filter(is_one).map(String::from).collect()
}

/// The text around the tables is about the runs that they do not call chance, each of them once.
#[test]
fn each_run_that_is_no_chance_is_accounted_for() {
    let path = suite::folder().join("../..").join(PAGE);
    let text = std::fs::read_to_string(path).expect("the page");
    let (tables, rest) = text.split_once("<!-- /random -->").expect("the tables' end");
    let list = rest.split("\n## ").next().expect("a list");
    let row = |line: &str| Some(line.split_once("| random-")?.1.split_once(',')?.0.to_string());
    let no: BTreeSet<String> =
        tables.lines().filter(|line| line.contains("**no**")).filter_map(row).collect();
    assert_eq!(numbers(list), no, "beside the tables, and in them");
    // Runs of the suite are in causes.txt.
    let random = text.split("\n## The worst runs").next().expect("what comes before them");
    let said = random.matches("not found yet.").count();
    assert!(said <= 1, "one list says what is not found");
}
