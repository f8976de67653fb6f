//! Hosts with the qdisc fq, which keeps packets until their time: flows with and without a pace, over random paths.

use crate::parity::{Seen, same, show};
use crate::random;
use crate::scenarios::{self, Size, log_uniform};
use fullpipe_sim::config::{Config, Discipline, Qdisc, QueueLimit};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Mutex;

static SEEN: Seen = Mutex::new(BTreeMap::new());

/// Limits of fq in all, and of a flow.
fn fq() -> impl Strategy<Value = Qdisc> {
    let sizes = (log_uniform(2, 10_000), scenarios::paths::fq(1514, 2..100));
    sizes.prop_map(|(limit, fq)| Qdisc::Of(Discipline::Fq(fq), QueueLimit::Packets(limit as u32)))
}

fn case() -> impl Strategy<Value = Config> {
    let size = Size { packets: 2000, samples: 100 };
    let hosts = (fq(), fq(), prop::sample::select(vec!["6.1", "6.12"]));
    (scenarios::config(size), hosts).prop_map(|(mut config, (there, back, kernel))| {
        config.sender.kernel = kernel.into();
        (config.sender.qdisc, config.receiver.qdisc) = (there, back);
        scenarios::with_options(config)
    })
}

fn compare(config: &Config) -> Result<(), String> {
    let (record, _) = same(config)?;
    let most = |name: &str| {
        let stage = record.announced().iter().find(|stage| stage.name == name).map(|s| s.index);
        record.samples().filter(|s| Some(s.stage) == stage).map(|s| (s.peak, s.dropped)).max()
    };
    let paced =
        record.flows().any(|flow| flow.limits[fullpipe_sim::trace::Limit::Pacing as usize] > 0);
    let (peak, dropped) = most("sender.qdisc").unwrap_or_default();
    let kinds = [("waits", peak > 0), ("drops", dropped > 0), ("held back by the pace", paced)];
    kinds.iter().filter(|(_, seen)| *seen).for_each(|(what, _)| show(&SEEN, what));
    Ok(())
}

#[test]
fn paced_by_fq() {
    random::check(1500, case(), compare);
    let seen = SEEN.lock().unwrap();
    assert_eq!(seen.len(), 3, "{seen:?}");
    assert!(seen.values().all(|&cases| cases >= 20), "{seen:?}");
}
