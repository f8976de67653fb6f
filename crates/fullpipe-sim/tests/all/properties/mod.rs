//! Properties of every run, whatever the scenario. Every loss is counted, nothing is done twice, no queue holds more
//! than it can, no clock runs backwards.

pub mod captures;
mod flows;
mod hashes;
mod link;
mod stages;
mod turned;
mod ways;

use crate::random;
use crate::record::{Record, ToTheEnd};
use crate::scenarios;
use crate::scenarios::Size;
use fullpipe_sim::config::Config;
use proptest::strategy::Strategy;

const SIZE: Size = Size { packets: 4000, samples: 200 };

/// Fails with what was expected and what was found.
macro_rules! hold {
    ($condition:expr, $($found:tt)*) => {
        if !$condition {
            return Err(format!("{} does not hold: {}", stringify!($condition), format!($($found)*)));
        }
    };
}
pub(crate) use hold;

fn run(config: &Config) -> Result<Record, String> {
    let mut record = Record::default();
    fullpipe_sim::sim::run(config, &mut record, &mut ToTheEnd)?;
    Ok(record)
}

fn on_every_scenario(property: fn(&Config) -> Result<(), String>) {
    random::check(1000, scenarios::config(SIZE).prop_map(scenarios::with_ecn), property);
}

#[test]
fn every_stage_keeps_its_books() {
    on_every_scenario(|config| stages::balance(&run(config)?));
}

#[test]
fn every_stage_of_several_hosts_keeps_its_books() {
    random::check(300, scenarios::dumbbell(SIZE), |config| {
        let run = run(config)?;
        stages::balance(&run)?;
        stages::capacities(config, &run)
    });
}

#[test]
fn a_run_of_several_hosts_that_is_watched_is_the_same() {
    random::check(100, scenarios::dumbbell(SIZE), |config| {
        captures::change_nothing(config, &run(config)?)
    });
}

#[test]
fn a_run_that_is_watched_is_the_same() {
    random::check(300, scenarios::config(SIZE), |config| {
        captures::change_nothing(config, &run(config)?)
    });
}

#[test]
fn a_run_that_is_turned_round_is_the_same() {
    on_every_scenario(|config| turned::same(&run(config)?, &run(&turned::round(config))?));
}

#[test]
fn captures_turn_with_the_run() {
    random::check(300, scenarios::config(SIZE), |config| {
        captures::turn_with_the_run(config, &turned::round(config))
    });
}

#[test]
fn what_leaves_one_stage_enters_the_next() {
    on_every_scenario(|config| ways::connect(config, &run(config)?));
}

#[test]
fn no_queue_holds_more_than_it_can() {
    on_every_scenario(|config| stages::capacities(config, &run(config)?));
}

#[test]
fn times_full_and_empty_fit_what_waits() {
    on_every_scenario(|config| stages::times(config, &run(config)?));
}

#[test]
fn nothing_works_more_than_all_the_time_nor_idles_with_work_to_do() {
    on_every_scenario(|config| stages::work(config, &run(config)?));
}

#[test]
fn bytes_are_delivered_in_order_exactly_once() {
    on_every_scenario(|config| flows::delivery(config, &run(config)?));
}

#[test]
fn limits_add_up_to_the_time() {
    on_every_scenario(|config| flows::limits(&run(config)?));
}

#[test]
fn time_goes_forward() {
    on_every_scenario(|config| flows::times(config, &run(config)?));
}

#[test]
fn a_link_is_never_idle_while_its_queue_holds_a_packet() {
    random::check(3000, link::trains_and_link(), |(link, trains)| {
        link::is_work_conserving(link, trains)
    });
}

#[test]
fn equal_seeds_give_equal_bytes_in_two_processes() {
    hashes::compare_with_another_process(
        "properties::equal_seeds_give_equal_bytes_in_two_processes",
    );
}
