//! Remote procedure calls: files written to and read from a server over a long path.

mod laws;
mod limits;
mod mixed;
mod order;
mod real;
mod sizes;

use crate::conversation;
use crate::record::{Record, ToTheEnd};
use fullpipe_sim::config::{
    Config, Delay, Direction, Discipline, Element, Flow, Host, Link, QueueLimit, Rpc, Sysctl,
};
use fullpipe_sim::rpc::nfs3::Caller;
use fullpipe_sim::rpc::{Operation, ReadAhead, RpcClient, RpcServer, Slots, Taking, WriteBack};
use fullpipe_sim::sim;
use fullpipe_sim::trace::{EventKind, FlowSample, Limit};
use fullpipe_sim::units::{Framing, Rate, Time};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// A client and a server, as the tests set them; the rest is that of [`Setup::new`].
#[derive(Clone)]
struct Setup {
    rate: Rate,
    /// Delay of each direction.
    delay: Time,
    end: Time,
    connections: usize,
    client: RpcClient,
    server: RpcServer,
    hosts: [Host; 2],
    /// Options of the server's sockets.
    server_rcvbuf: Option<u64>,
}

/// Time at which the files are written or read: long after the connections.
const START: Time = Time::secs(1);

/// A host of Linux 6.12 with its defaults, but for these maxima of its buffers.
fn host(rmem: u64, wmem: u64) -> Host {
    let plain = conversation::host();
    Host {
        kernel: "6.12".into(),
        timestamps: true,
        tso: true,
        tx_ring: 512,
        rx_ring: 512,
        sysctl: Sysctl {
            rmem_max: 212_992,
            wmem_max: 212_992,
            tcp_rmem: [4096, 131_072, rmem],
            tcp_wmem: [4096, 16_384, wmem],
            tcp_adv_win_scale: 1,
            tcp_fack: false,
            tcp_frto: 2,
            tcp_early_retrans: 3,
            ..plain.sysctl
        },
        ..plain
    }
}

impl Setup {
    /// NFSv3 on 1 Gb/s x 31.4 ms, 64 slots, records of 1 MiB, 32 threads, 64 MiB written; buffers of 16 MiB.
    fn new() -> Setup {
        let caller = Caller { machine_name: 8, groups: 1, file_handle: 28 };
        Setup {
            rate: Rate::gbit(1),
            delay: Time::us(15_700),
            end: Time::secs(20),
            connections: 1,
            client: RpcClient {
                name: "nfs".into(),
                connections: Vec::new(),
                start: START,
                before: Vec::new(),
                operation: Operation::Write { cache: None },
                bytes: 64 * MIB,
                record: MIB as u32,
                slots: Slots::PerConnection(64),
                retry: None,
                sizes: caller.write(),
                after: vec![caller.commit()],
            },
            server: RpcServer {
                host: "receiver".into(),
                threads: 32,
                taking: Taking::AsItComes,
                service: Time::ZERO,
                commit: Time::ZERO,
            },
            hosts: [host(16 * MIB, 16 * MIB), host(16 * MIB, 16 * MIB)],
            server_rcvbuf: None,
        }
    }

    fn slots(self, slots: u32) -> Setup {
        let client = RpcClient { slots: Slots::PerConnection(slots), ..self.client };
        Setup { client, ..self }
    }

    fn record(self, bytes: u64) -> Setup {
        Setup { client: RpcClient { record: bytes as u32, ..self.client }, ..self }
    }

    fn bytes(self, bytes: u64) -> Setup {
        Setup { client: RpcClient { bytes, ..self.client }, ..self }
    }

    /// Setup in which so many calls are written back at a time, or all at once.
    fn written_back(self, out: Option<u32>) -> Setup {
        let cache = out.map(|out| WriteBack { out, dirty: 0 });
        let operation = Operation::Write { cache };
        Setup { client: RpcClient { operation, ..self.client }, ..self }
    }

    /// Reading by calls of a record, with a window of so many records.
    fn reading(self, window: u64) -> Setup {
        let caller = Caller { machine_name: 8, groups: 1, file_handle: 28 };
        let record = self.client.record;
        let ahead = ReadAhead { call: record, window: window * u64::from(record) };
        let client = RpcClient { operation: Operation::Read(ahead), ..self.client };
        let client = RpcClient { sizes: caller.read(), after: Vec::new(), ..client };
        Setup { client, ..self }
    }

    fn threads(self, threads: u32, service: Time) -> Setup {
        Setup { server: RpcServer { threads, service, ..self.server }, ..self }
    }

    fn config(&self) -> Config {
        let (mut flows, mut connections) = (Vec::new(), Vec::new());
        for connection in 0..self.connections {
            let calls = flows.len();
            connections.push(calls);
            let flow = |name: &str| Flow {
                congestion: "cubic".into(),
                ..conversation::flow(&format!("{name}-{connection}"), 1)
            };
            flows.push(Flow { rcvbuf: self.server_rcvbuf, ..flow("calls") });
            let replies = Flow { direction: Direction::Backward, ..flow("replies") };
            flows.push(Flow { answers: Some(calls), ..replies });
        }
        let client = RpcClient { connections, ..self.client.clone() };
        let [sender, receiver] = self.hosts.clone();
        Config {
            seed: 1,
            end: self.end,
            sample: Time::ms(100),
            counters: None,
            mtu: 1500,
            forward: self.way("there"),
            back: self.way("back"),
            sender,
            receiver,
            neighbours: Vec::new(),
            datagrams: Vec::new(),
            flows,
            rpc: Rpc { clients: vec![client], servers: vec![self.server.clone()] },
        }
    }

    fn way(&self, name: &str) -> Vec<Element> {
        let (rate, delay) = (self.rate, self.delay);
        let limit = QueueLimit::Packets(u32::MAX);
        let (framing, discipline) = (Framing::Ethernet, Discipline::Fifo);
        let link = format!("{name}-link");
        let delayed = Delay { name: name.into(), delay, limit: u32::MAX, timer: None };
        vec![
            Element::Link(Link { name: link, rate, framing, limit, discipline }),
            Element::Delay(delayed),
        ]
    }

    fn run(&self) -> Run {
        let config = self.config();
        Run { record: run(&config), bytes: config.rpc.clients[0].bytes }
    }
}

/// Record and counters of a run.
struct Run {
    record: Record,
    bytes: u64,
}

fn run(config: &Config) -> Record {
    let mut record = Record::default();
    sim::run(config, &mut record, &mut ToTheEnd).expect("a valid configuration");
    record
}

impl Run {
    /// Time of the last reply's reading, after the start.
    fn lasted(&self) -> Time {
        let finished = self.record.events().filter(|event| event.kind == EventKind::Finished);
        finished.map(|event| event.time).max().expect("it is done") - START
    }

    /// Speed from the start to the end of close().
    fn kib_per_s(&self) -> f64 {
        self.bytes as f64 / KIB as f64 / self.lasted().as_secs_f64()
    }

    fn last(&self, flow: u16) -> &FlowSample {
        self.record.flows().filter(|sample| sample.flow == flow).last().expect("a sample")
    }

    /// Share of a limit in the time from the start to the end, %.
    fn share(&self, flow: u16, limit: Limit) -> f64 {
        let lasted = self.lasted().0 as f64;
        100.0 * self.last(flow).limits[limit as usize] as f64 / lasted
    }

    /// The last value of a counter, by its name.
    fn counter(&self, name: &str) -> u64 {
        let own = self.record.counters().filter(|counter| &counter.name[..] == name);
        own.last().map(|counter| counter.value).unwrap_or_default()
    }

    fn retransmitted(&self) -> u64 {
        self.record.events().filter(|event| event.kind == EventKind::Retransmit).count() as u64
    }
}
