//! A path that only delays: the same time there and back.

use crate::conversation::SEGMENT;
use crate::record::{Record, ToTheEnd};
use fullpipe_sim::config::{Config, Delay, Element, Flow, Host};
use fullpipe_sim::sim;
use fullpipe_sim::units::Time;

/// One flow between these hosts for a second, with segments of [`SEGMENT`] bytes and a sample each millisecond.
pub fn config(delay: Time, [sender, receiver]: [Host; 2], flow: Flow) -> Config {
    let way = |name: &str| {
        vec![Element::Delay(Delay { name: name.into(), delay, limit: 1000, timer: None })]
    };
    Config {
        seed: 1,
        end: Time::secs(1),
        sample: Time::ms(1),
        counters: None,
        mtu: SEGMENT + 40,
        forward: way("there"),
        back: way("back"),
        sender,
        receiver,
        neighbours: Vec::new(),
        datagrams: Vec::new(),
        rpc: Default::default(),
        flows: vec![flow],
    }
}

/// Complete record of a run.
pub fn run(config: &Config) -> Record {
    let mut record = Record::default();
    sim::run(config, &mut record, &mut ToTheEnd).expect("a valid configuration");
    record
}
