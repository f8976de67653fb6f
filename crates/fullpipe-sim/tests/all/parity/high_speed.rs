//! Congestion controls for high speeds over random paths: their input does not depend on trains.

use crate::parity::{Seen, same, show};
use crate::random;
use crate::scenarios::{self, Size};
use fullpipe_sim::cc::algorithms;
use fullpipe_sim::config::Config;
use fullpipe_sim::trace::{EventKind, Limit};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Mutex;

static SEEN: Seen = Mutex::new(BTreeMap::new());

/// Controls that the other tests of parity draw, and those that old kernels do not have here (`with_options` draws bbr).
const OTHERS: [&str; 10] =
    ["reno", "bic", "cubic", "bbr", "hybla", "illinois", "vegas", "veno", "westwood", "yeah"];

fn names() -> Vec<&'static str> {
    let all = algorithms().into_iter().map(|algorithm| algorithm.name);
    all.filter(|name| !OTHERS.contains(name)).collect()
}

/// Any flows, each with one of them in the place of its own.
fn case() -> impl Strategy<Value = Config> {
    let size = Size { packets: 3000, samples: 100 };
    let names = vec(prop::sample::select(names()), 16);
    (scenarios::config(size), names).prop_map(|(config, names)| {
        let mut config = scenarios::with_options(scenarios::with_ecn(config));
        let others = config.flows.iter_mut().filter(|flow| flow.congestion != "bbr");
        for (flow, name) in others.zip(names.iter().cycle()) {
            flow.congestion = name.to_string();
            flow.parameters.clear();
        }
        config
    })
}

fn compare(config: &Config) -> Result<(), String> {
    let (record, _) = same(config)?;
    for (number, flow) in config.flows.iter().enumerate() {
        let own = || record.flows().filter(|sample| usize::from(sample.flow) == number);
        let avoids = own().any(|sample| sample.limits[Limit::CwndAvoidance as usize] > 0);
        let resends = record
            .events()
            .any(|event| usize::from(event.flow) == number && event.kind == EventKind::Retransmit);
        for (what, seen) in [("avoids congestion", avoids), ("resends", resends)] {
            if seen && !OTHERS.contains(&flow.congestion.as_str()) {
                show(&SEEN, &format!("{} {what}", flow.congestion));
            }
        }
    }
    Ok(())
}

#[test]
fn high_speed_controls_give_equal_traces() {
    random::check(1000, case(), compare);
    let seen = SEEN.lock().unwrap();
    assert_eq!(seen.len(), 2 * names().len(), "{seen:?}");
    assert!(seen.values().all(|&cases| cases >= 20), "{seen:?}");
}
