//! Laws of every setup: each call is answered once, nothing gets lost, and equal runs are equal.

use super::{KIB, MIB, Run, Setup, run};
use crate::record::{Record, ToTheEnd};
use fullpipe_sim::config::{Config, Element, Loss, Unit};
use fullpipe_sim::rng::Rng;
use fullpipe_sim::rpc::{Operation, ReadAhead, RpcClient, RpcServer, Slots, Taking, WriteBack};
use fullpipe_sim::sim;
use fullpipe_sim::trace::{
    Event, EventKind, FlowSample, Packet, Point, Sink, StageInfo, StageSample,
};
use fullpipe_sim::units::Time;

/// Different in all that there is.
fn setups() -> Vec<Setup> {
    let plain = Setup { end: Time::secs(4), ..Setup::new() };
    let plain = plain.bytes(3 * MIB + 5).record(96 * KIB + 1);
    let pages = plain.clone().record(96 * KIB);
    let slots = |setup: Setup, slots| Setup {
        client: RpcClient { slots, ..setup.client.clone() },
        ..setup
    };
    let connections = |setup: Setup, connections| Setup { connections, ..setup };
    let serves = |setup: Setup, threads, taking, service| {
        let server = RpcServer { threads, taking, service, commit: service, ..setup.server };
        let mut setup = Setup { server, ..setup };
        // A buffer that TCP tunes does not grow for a waiting reader.
        setup.hosts[1].sysctl.rmem_max = MIB;
        setup.server_rcvbuf = (taking == Taking::WholeRecords).then_some(MIB);
        setup
    };
    vec![
        plain.clone(),
        plain.clone().bytes(1),
        connections(plain.clone(), 3),
        slots(connections(plain.clone(), 3), Slots::Session(2)),
        slots(connections(plain.clone(), 2), Slots::PerConnection(1)),
        serves(plain.clone(), 1, Taking::WholeRecords, Time::ZERO),
        serves(connections(plain.clone(), 4), 2, Taking::AsItComes, Time::us(700)),
        serves(connections(plain.clone(), 4), 1, Taking::WholeRecords, Time::ms(3)),
        pages.clone().reading(64),
        connections(pages.clone(), 3).reading(3),
        connections(plain.clone(), 3).written_back(Some(5)),
        serves(connections(pages.clone(), 2).reading(64), 2, Taking::AsItComes, Time::ms(1)),
        replies_wait(serves(connections(pages, 3).reading(64), 2, Taking::AsItComes, Time::ZERO)),
    ]
}

/// The server's send buffers hold less than a reply.
fn replies_wait(mut setup: Setup) -> Setup {
    setup.hosts[1].sysctl.tcp_wmem = [4096, 16_384, 64 * KIB];
    setup.client.slots = Slots::PerConnection(5);
    setup.client.bytes = MIB;
    setup
}

/// Drawn setups, `count` of them.
fn drawn(count: u64) -> impl Iterator<Item = Setup> {
    (0..count).map(|seed| {
        let mut rng = Rng::new(seed, "rpc");
        let mut below = move |most: u64| rng.next_u64() % most;
        let setup = Setup { end: Time::secs(8), delay: Time::us(1 + below(9000)), ..Setup::new() };
        let mut setup = setup.record(1 + below(200 * KIB)).bytes(1 + below(4 * MIB));
        setup.client.bytes = setup.client.bytes.min(u64::from(setup.client.record) * 200);
        setup.connections = 1 + below(4) as usize;
        let out = (below(2) == 0).then(|| 1 + below(8) as u32);
        setup = match below(2) {
            0 => {
                setup.client.record = setup.client.record.next_multiple_of(4096);
                setup.reading(below(9))
            }
            _ => setup.written_back(out),
        };
        let slots = 1 + below(12) as u32;
        setup.client.slots =
            if below(2) == 0 { Slots::Session(slots) } else { Slots::PerConnection(slots) };
        let taking = if below(3) == 0 { Taking::WholeRecords } else { Taking::AsItComes };
        let service = Time::us(below(3) * below(4000));
        let (threads, commit) = (1 + below(4) as u32, Time::us(below(5000)));
        setup.server = RpcServer { threads, taking, service, commit, ..setup.server };
        setup.hosts[1].sysctl.rmem_max = MIB;
        setup.server_rcvbuf = (taking == Taking::WholeRecords).then_some(MIB);
        setup.hosts[0].sysctl.tcp_wmem[2] = (16 * KIB) << below(8);
        setup.hosts[1].sysctl.tcp_wmem[2] = (16 * KIB) << below(8);
        setup
    })
}

/// A configuration with a path that loses some packets.
fn losing(setup: &Setup, seed: u64) -> Config {
    let mut config = Config { seed, end: Time::secs(30), ..setup.config() };
    for (way, name) in [(&mut config.forward, "lost"), (&mut config.back, "back-lost")] {
        let loss = Loss { name: name.into(), probability: 0.01, unit: Unit::Segment };
        way.push(Element::Loss(loss));
    }
    config
}

fn configs() -> Vec<Config> {
    let setups: Vec<Setup> = setups().into_iter().chain(drawn(20)).collect();
    let lossless = setups.iter().map(Setup::config);
    lossless.chain(setups.iter().zip(1..).map(|(setup, seed)| losing(setup, seed))).collect()
}

/// Bytes of all calls, and of all replies, added up call by call; of reads, of which the page cache makes `reads`.
fn by_hand(client: &RpcClient, reads: u64) -> (u64, [u64; 2]) {
    if matches!(client.operation, Operation::Read(_)) {
        let replies = reads * u64::from(client.sizes.reply) + client.bytes.next_multiple_of(4);
        return (reads, [reads * u64::from(client.sizes.call), replies]);
    }
    let (mut left, mut calls, mut bytes) = (client.bytes, 0, [0, 0]);
    while left > 0 {
        let data = left.min(client.record.into());
        left -= data;
        calls += 1;
        bytes[0] += u64::from(client.sizes.call) + data.div_ceil(4) * 4;
        bytes[1] += u64::from(client.sizes.reply);
    }
    for [call, reply] in &client.after {
        calls += 1;
        bytes[0] += u64::from(*call);
        bytes[1] += u64::from(*reply);
    }
    (calls, bytes)
}

#[test]
fn each_call_is_answered_once() {
    for config in configs() {
        let client = &config.rpc.clients[0];
        let run = Run { record: run(&config), bytes: client.bytes };
        let (calls, bytes) = by_hand(client, run.counter("rpc.nfs.calls"));
        for counter in ["nfs.calls", "nfs.replies", "server.calls", "server.replies"] {
            assert_eq!(run.counter(&format!("rpc.{counter}")), calls, "{counter}: {client:?}");
        }
        for counter in ["nfs.slots_in_use", "server.threads_busy"] {
            assert_eq!(run.counter(&format!("rpc.{counter}")), 0, "{counter}: {client:?}");
        }
        let delivered = |way: usize| {
            let flows = client.connections.iter().map(|&calls| (calls + way) as u16);
            flows.map(|flow| run.last(flow).bytes_delivered).sum::<u64>()
        };
        assert_eq!([0, 1].map(delivered), bytes, "{client:?}");
        let finished = run.record.events().filter(|event| event.kind == EventKind::Finished);
        assert_eq!(finished.count(), client.connections.len(), "{client:?}");
    }
}

/// The limits of each flow add up to the time, at each sample, and none of them shrinks.
#[test]
fn limits_add_up() {
    for config in configs() {
        let record = run(&config);
        for flow in 0..config.flows.len() as u16 {
            let mut before = [0; fullpipe_sim::trace::Limit::COUNT];
            for sample in record.flows().filter(|sample| sample.flow == flow) {
                assert_eq!(sample.limits.iter().sum::<u64>(), sample.time.0);
                assert!(before.iter().zip(&sample.limits).all(|(a, b)| a <= b));
                before = sample.limits;
            }
        }
    }
}

/// No more calls are out than there are slots, at any sample.
#[test]
fn slots_are_kept() {
    for config in setups().iter().map(Setup::config) {
        let client = &config.rpc.clients[0];
        let most = match client.slots {
            Slots::PerConnection(slots) => u64::from(slots) * client.connections.len() as u64,
            Slots::Session(slots) => slots.into(),
        };
        let record = run(&Config { sample: Time::ms(1), ..config.clone() });
        let in_use = record.counters().filter(|own| &own.name[..] == "rpc.nfs.slots_in_use");
        let peak = in_use.map(|own| own.value).max().unwrap_or_default();
        assert!((1..=most).contains(&peak), "{peak} of {most}: {client:?}");
    }
}

/// A sink that watches packets: the hosts then take turns at each event, instead of working ahead of each other.
#[derive(Default)]
struct Watched(Record, usize);

impl Sink for Watched {
    fn stages(&mut self, stages: &[StageInfo]) {
        self.0.stages(stages);
    }
    fn flow(&mut self, sample: &FlowSample) {
        self.0.flow(sample);
    }
    fn stage(&mut self, sample: &StageSample) {
        self.0.stage(sample);
    }
    fn event(&mut self, event: &Event) {
        self.0.event(event);
    }
    fn counter(&mut self, counter: &fullpipe_sim::trace::Counter) {
        self.0.counter(counter);
    }
    fn point(&self) -> Option<Point> {
        Some(Point::Wire(0))
    }
    fn packet(&mut self, _packet: &Packet) {
        self.1 += 1;
    }
}

#[test]
fn however_far_hosts_work_ahead() {
    for config in configs() {
        let mut watched = Watched::default();
        sim::run(&config, &mut watched, &mut ToTheEnd).expect("it runs");
        assert!(watched.1 > 0);
        assert!(watched.0 == run(&config), "{:?}", config.rpc);
    }
}

/// Values that the bounds refuse.
#[test]
fn bounds() {
    let with = |change: fn(&mut Config)| {
        let mut config = Setup::new().config();
        change(&mut config);
        config.check().expect_err("it is refused")
    };
    let refused = [
        with(|config| config.rpc.clients[0].connections.clear()),
        with(|config| config.rpc.clients[0].connections.push(0)),
        with(|config| config.rpc.clients[0].connections[0] = 1),
        with(|config| config.rpc.clients[0].connections[0] = 7),
        with(|config| config.rpc.clients[0].record = 0),
        with(|config| config.rpc.clients[0].bytes = 0),
        with(|config| config.rpc.clients[0].slots = Slots::Session(0)),
        with(|config| {
            let cache = Some(WriteBack { out: 0, dirty: 0 });
            config.rpc.clients[0].operation = Operation::Write { cache };
        }),
        with(|config| {
            let ahead = ReadAhead { call: 0, window: 0 };
            config.rpc.clients[0].operation = Operation::Read(ahead);
        }),
        with(|config| config.rpc.clients[0].name = "server".into()),
        with(|config| config.rpc.servers[0].threads = 0),
        with(|config| config.rpc.servers[0].host = "nowhere".into()),
        with(|config| config.rpc.servers.clear()),
        with(|config| config.flows[0].bytes = Some(1)),
    ];
    assert!(refused.iter().all(|message| message.starts_with("rpc")), "{refused:#?}");
}
