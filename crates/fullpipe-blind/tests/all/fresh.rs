//! Thirty new cases: the seed is the day.

use fullpipe::analysis::view::View;
use fullpipe::engine::sim::Simulator;
use fullpipe::experiment::Allowed;
use fullpipe_blind::generate::{self, Case, Hosts};
use fullpipe_blind::score::{self, Scored, markdown, summary};
use fullpipe_blind::work;
use std::thread::available_parallelism;
use std::time::{SystemTime, UNIX_EPOCH};

/// Cases.
const COUNT: usize = 30;
/// Bars for thirty cases: by chance alone, rules that are right in 95 % fall below the first once in 300 days, and rules that
/// are right in 90 % fall below the second once in 500. Sure verdicts that are right in 98 % fall below the third once in
/// 3,000 days.
const RIGHT: f64 = 0.83;
const RIGHT_GROUP: f64 = 0.73;
const SURE_RIGHT: f64 = 0.85;
/// Most healthy flows that may be called broken.
const MOST_BROKEN: f64 = 1.0;

/// Days since 1970.
fn today() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("a clock after 1970").as_secs() / 86_400
}

fn scored(cases: &[Case], view: View, jobs: usize) -> Vec<Scored> {
    let allowed = Allowed { as_kernel: None, without: &[] };
    let one = |n: usize| score::score(&cases[n], &Simulator, allowed, view);
    work::all("scored", cases.len(), jobs, one).expect("scores")
}

#[test]
fn thirty_fresh_cases_are_judged() {
    let (seed, jobs) = (today(), available_parallelism().map_or(1, std::num::NonZeroUsize::get));
    let causes = generate::causes(seed, COUNT, Hosts::Full);
    let drawn =
        work::all("drawn", COUNT, jobs, |n| generate::draw(seed, n, causes[n], Hosts::Full));
    let cases: Vec<Case> = drawn.expect("cases").into_iter().filter_map(|own| own.case).collect();
    assert!(cases.len() >= COUNT - 3, "{} cases of seed {seed}", cases.len());

    let all = scored(&cases, View::Model, jobs);
    let (own, page) = (summary(&all), markdown(&format!("Seed {seed}."), &all));
    assert!(own.exact.value() >= RIGHT, "{page}");
    assert!(own.sure_exact.value() >= SURE_RIGHT, "{page}");
    assert!(own.healthy_called_broken.points <= MOST_BROKEN, "{page}");
    let all = scored(&cases, View::SenderSockets, jobs);
    let page = markdown(&format!("Seed {seed}, sender-sockets."), &all);
    assert!(summary(&all).group.value() >= RIGHT_GROUP, "{page}");
}
