//! A local client and a remote one on one server.

use super::{KIB, START, Setup, run};
use crate::record::Record;
use fullpipe_sim::config::{Config, Element, FlowDelay};
use fullpipe_sim::rpc::{RpcClient, Slots};
use fullpipe_sim::trace::EventKind;
use fullpipe_sim::units::Time;

/// Two threads that need 10 ms for a call, and two clients with so many calls of 4 KiB and slots. The first client is
/// 200 us away, the other one 31.6 ms.
fn config([local, remote]: [(u64, u32); 2]) -> Config {
    let setup = Setup { delay: Time::us(100), connections: 2, ..Setup::new() };
    let setup = setup.record(4 * KIB).threads(2, Time::ms(10));
    let mut config = setup.config();
    let own = |name: &str, calls: usize, (count, slots): (u64, u32)| RpcClient {
        name: name.into(),
        connections: vec![calls],
        bytes: count * 4 * KIB,
        slots: Slots::PerConnection(slots),
        ..setup.client.clone()
    };
    config.rpc.clients = vec![own("local", 0, local), own("remote", 2, remote)];
    for (way, name) in [(&mut config.forward, "far"), (&mut config.back, "far-back")] {
        let (name, delay) = (name.into(), Time::us(15_700));
        way.push(Element::FlowDelay(FlowDelay { name, flows: vec![2, 3], delay }));
    }
    config
}

/// Duration of both, ms.
fn took(record: &Record) -> [f64; 2] {
    [1, 3].map(|replies| {
        let mut events = record.events();
        let done = events.find(|own| (own.kind, own.flow) == (EventKind::Finished, replies));
        (done.expect("it is done").time - START).0 as f64 / 1e6
    })
}

/// Connections with calls take turns, however far away they are. At 200 calls/s in total and 200 calls each, both are
/// done in 2 s.
#[test]
fn connections_take_turns() {
    let [local, remote] = took(&run(&config([(200, 16), (200, 16)])));
    assert!((1900.0..2000.0).contains(&local), "{local} ms");
    assert!((2000.0..2100.0).contains(&remote), "{remote} ms");
}

/// A remote client with one slot waits for its round trip, the 10 ms of its own call, and at most those of another one.
/// The local client has the rest.
#[test]
fn one_slot_far_away() {
    let [local, remote] = took(&run(&config([(400, 16), (40, 1)])));
    assert!((40.0 * 41.6..41.0 * 51.6).contains(&remote), "{remote} ms");
    assert!((2150.0..2250.0).contains(&local), "{local} ms");
}
