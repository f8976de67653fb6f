//! Several flows that lose packets, to a host which holds their ACKs back: the timer of one lets others' go.

use crate::parity::{Seen, same, show};
use crate::random;
use crate::scenarios::{self, Size};
use fullpipe_sim::config::{App, Config, Direction, Element, Loss, Unit};
use fullpipe_sim::units::Time;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Mutex;

static SEEN: Seen = Mutex::new(BTreeMap::new());

/// Three flows like each of the scenario's, and one packet of 30 lost.
fn case() -> impl Strategy<Value = Config> {
    let size = Size { packets: 6000, samples: 20 };
    scenarios::config(size).prop_map(|mut config| {
        for host in [&mut config.sender, &mut config.receiver] {
            host.kernel = "6.12".into();
            host.sysctl.tcp_sack = true;
            host.rx_ring = 4096;
        }
        let loss = Loss { name: "lossy".into(), probability: 1.0 / 30.0, unit: Unit::Segment };
        config.forward.retain(|e| matches!(e, Element::Link(_) | Element::Delay(_)));
        config.forward.push(Element::Loss(loss));
        let flows = std::mem::take(&mut config.flows);
        let alike = flows.into_iter().flat_map(|flow| [flow.clone(), flow.clone(), flow]);
        config.flows = alike.collect();
        for (i, flow) in config.flows.iter_mut().enumerate() {
            flow.name = format!("flow{i}");
            flow.bytes = None;
            (flow.direction, flow.start) = (Direction::Forward, Time::ZERO);
            (flow.app, flow.sndbuf, flow.rcvbuf) = (App::Bulk, None, None);
        }
        config
    })
}

fn compare(config: &Config) -> Result<(), String> {
    let (_, done) = same(config)?;
    if done.fired_together > 0 {
        show(&SEEN, "two together");
    }
    Ok(())
}

#[test]
#[ignore = "a study: make studies"]
fn study_held_acks_go_together() {
    random::check(400, case(), compare);
    let seen = SEEN.lock().unwrap();
    assert!(seen.get("two together").is_some_and(|&cases| cases >= 20), "{seen:?}");
}
