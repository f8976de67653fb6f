//! Hosts with drivers that refuse skbs for want of descriptors.

use crate::parity::{Seen, same, show};
use crate::properties::captures;
use crate::random;
use crate::scenarios::{self, Size};
use fullpipe_sim::config::{Config, Driver, Qdisc};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Mutex;

static SEEN: Seen = Mutex::new(BTreeMap::new());

fn case() -> impl Strategy<Value = Config> {
    let size = Size { packets: 3000, samples: 50 };
    (scenarios::config(size), 1..64u32).prop_map(|(mut config, descriptors)| {
        for host in [&mut config.sender, &mut config.receiver] {
            (host.tso, host.bql, host.qdisc) = (false, false, Qdisc::PfifoFast);
            (host.driver, host.tx_ring) = (Driver::Requeues, descriptors);
            (host.tx_stop, host.tx_wake) = (1, 1);
        }
        config
    })
}

fn compare(config: &Config) -> Result<(), String> {
    let (record, _) = same(config)?;
    let mut stops = config.clone();
    stops.sender.driver = Driver::Stops;
    let twice = captures::seen_by_driver(config)? - captures::seen_by_driver(&stops)?;
    for stage in record.announced() {
        let last = record.samples().filter(|sample| sample.stage == stage.index).last();
        let Some(last) = last.filter(|last| last.requeues > 0) else { continue };
        if stage.kind != "qdisc" || last.requeues > last.entered {
            return Err(format!("{}: {last:?}", stage.name));
        }
        // A capture between the two sees each of them twice.
        if stage.name == "sender.qdisc" && last.requeues != twice as u64 {
            return Err(format!("{last:?}, and {twice} are seen twice"));
        }
        show(&SEEN, if last.requeues > 20 { "requeued often" } else { "requeued" });
    }
    Ok(())
}

#[test]
fn drivers_requeue() {
    random::check(500, case(), compare);
    let seen = SEEN.lock().unwrap();
    assert!(seen.get("requeued often").is_some_and(|&cases| cases >= 20), "{seen:?}");
}
