//! Files on NFS mounts: the client, the server and the connections that stand for a mount, and their records in the
//! trace.
//!
//! A connection has data both ways, so it is two flows of the simulator. One is the scenario's flow, which has the
//! file's data. The other one is for the other way; it is numbered after all others, and not recorded.

use super::mounting;
use crate::scenario::memory;
use crate::scenario::{NFS_2008, Nfs, NfsOperation, NfsServerReads, NfsVersion, Resolved};
use fullpipe_base::trace::{
    Counter, Event, EventKind, FlowSample, Packet, Point, Sink, StageInfo, StageSample,
};
use fullpipe_base::units::Time;
use fullpipe_sim::config::{Config, Element, Flow, Rpc};
use fullpipe_sim::rpc::nfs3::Caller;
use fullpipe_sim::rpc::{
    Operation, ReadAhead, RpcClient, RpcServer, Sizes, Slots, Taking, WriteBack, nfs4,
};
use std::ops::Range;

/// Sizes in calls: the host's name ("(none)"), no groups, a file's handle of a tmpfs.
const CALLER: Caller = Caller { machine_name: 6, groups: 0, file_handle: 20 };
/// Slots of a connection: as many as it asks for (6.12 `RPC_MAX_SLOT_TABLE`).
const CONNECTION_SLOTS: u32 = 65_536;
/// Slots of a connection of a client of 2008 (2.6.25 `RPC_DEF_SLOT_TABLE`).
const CONNECTION_SLOTS_2008: u32 = 16;
/// Slots that a client asks a session for (6.12 `max_session_slots`), and most that it gets.
const SESSION_SLOTS: (u32, u32) = (64, nfs4::SESSION_SLOTS);
/// The most that `nfs_congestion_kb` is, KiB (6.12 `nfs_init_writepagecache`).
const MOST_CONGESTION_KIB: u64 = 256 << 10;

/// Adds the clients of one server that represent the mounts of `run`.
pub(super) fn add(run: &Resolved, config: &mut Config) {
    // Mounts share one server, so the first one describes it.
    let Some(first) = run.nfs.first() else { return };
    let clients = run.mounts().map(|(own, connections)| {
        let calls = connections.map(|at| both_ways(own, run, at, config)).collect();
        client(own, run, calls)
    });
    let clients = clients.collect();
    let server = RpcServer {
        host: "receiver".into(),
        threads: first.threads,
        taking: match first.reads_of(&run.hosts.receiver) {
            NfsServerReads::AsTheyCome => Taking::AsItComes,
            NfsServerReads::WholeRecords => Taking::WholeRecords,
        },
        service: first.service,
        commit: Time::ZERO,
    };
    config.rpc = Rpc { clients, servers: vec![server] };
}

/// Adds the other way of the connection that has the data of flow `at`. The flow with the calls.
fn both_ways(own: &Nfs, run: &Resolved, at: usize, config: &mut Config) -> usize {
    let Config { flows, forward, back, .. } = config;
    let (data, last) = (&flows[at], flows.len());

    // The other way has the same flow with its hosts exchanged.
    let other = Flow {
        name: format!("{}, the other way", data.name),
        direction: data.direction.turned(),
        from: data.to.clone(),
        to: data.from.clone(),
        ..data.clone()
    };
    flows.push(other);

    // A delay of single flows must hold for both ways of the connection.
    for element in forward.iter_mut().chain(back) {
        if let Element::FlowDelay(own) = element
            && own.flows.contains(&(at as u16))
        {
            own.flows.push(last as u16);
        }
    }

    // Calls go to the server, whichever way the file goes.
    let [asks, answers] = match own.operation {
        NfsOperation::Write => [at, last],
        NfsOperation::Read => [last, at],
    };
    let [sndbuf, rcvbuf] = own.server_buffers(&run.hosts.receiver);
    flows[asks].rcvbuf = rcvbuf;
    flows[answers].sndbuf = sndbuf;
    flows[answers].answers = Some(asks);
    asks
}

fn client(own: &Nfs, run: &Resolved, connections: Vec<usize>) -> RpcClient {
    let kernel = run.client(own).host.config.kernel.as_str();
    RpcClient {
        name: own.name.clone(),
        connections,
        start: own.start,
        before: mounting::calls(own),
        operation: match own.operation {
            NfsOperation::Write => Operation::Write { cache: write_back(own, run) },
            NfsOperation::Read => {
                Operation::Read(ReadAhead { call: own.record, window: own.read_ahead(kernel) })
            }
        },
        bytes: own.file,
        record: match own.operation {
            NfsOperation::Write => own.wsize,
            NfsOperation::Read => own.rsize,
        },
        slots: slots(own, kernel),
        retry: own.retry(),
        sizes: sizes(own),
        after: after(own),
    }
}

fn slots(own: &Nfs, client: &str) -> Slots {
    let asked = own.slots.map(u32::from);
    let default = if client == NFS_2008 { CONNECTION_SLOTS_2008 } else { CONNECTION_SLOTS };
    match own.version {
        NfsVersion::V3 => Slots::PerConnection(asked.unwrap_or(default)),
        NfsVersion::V4_2 => {
            let (default, most) = SESSION_SLOTS;
            Slots::Session(asked.unwrap_or(default).min(most))
        }
    }
}

fn sizes(own: &Nfs) -> Sizes {
    match (own.version, own.operation) {
        (NfsVersion::V3, NfsOperation::Write) => CALLER.write(),
        (NfsVersion::V3, NfsOperation::Read) => CALLER.read(),
        (NfsVersion::V4_2, NfsOperation::Write) => nfs4::write(CALLER),
        (NfsVersion::V4_2, NfsOperation::Read) => nfs4::read(CALLER),
    }
}

/// Calls for which the program waits when its data is written or read: COMMIT, and CLOSE of version 4.
fn after(own: &Nfs) -> Vec<[u32; 2]> {
    let writes = own.operation == NfsOperation::Write;
    let commits = writes && own.file > own.wsize.into();
    let (commit, close) = match own.version {
        NfsVersion::V3 => (CALLER.commit(), None),
        NfsVersion::V4_2 => (nfs4::commit(CALLER), Some(nfs4::close(CALLER, writes))),
    };
    commits.then_some(commit).into_iter().chain(close).collect()
}

/// Bytes of a file that the client's page cache takes at once: as much as may be dirty without its writer having to
/// wait.
///
/// Source: 6.12 `domain_dirty_freerun`. The bound is half way between vm.dirty_background_ratio, 10 %, and
/// vm.dirty_ratio, 20 %, of the memory that is free, here taken as all. A file that fits is flushed as a whole, without
/// bound. Else nfs_congestion_kb bounds what is written back while the writer waits (`nfs_init_writepagecache`).
fn write_back(own: &Nfs, run: &Resolved) -> Option<WriteBack> {
    let memory = memory::of_kernel_mib(run) << 20;
    let dirty = memory / 100 * 15;
    let congestion = (16 * (memory / 4096).isqrt() * 4).min(MOST_CONGESTION_KIB) << 10;
    let calls = |bytes: u64| u32::try_from(bytes / u64::from(own.wsize)).unwrap_or(u32::MAX);
    (own.file > dirty).then(|| WriteBack { out: calls(congestion).max(1), dirty: calls(dirty) })
}

/// Records a run with mounts as the scenario has it.
pub(super) struct MountRecorder<'a> {
    sink: &'a mut dyn Sink,
    /// Flows of the scenario.
    flows: u16,
    mounts: Vec<Mount>,
}

struct Mount {
    /// The flows that have the data, and of each the simulator's flow that has the calls, and the one that has the replies.
    connections: Vec<[u16; 3]>,
    /// Whether its program has begun.
    begun: bool,
    bytes: u64,
    /// Names of the simulator's counters begin so.
    prefix: String,
    /// "READ" or "WRITE".
    calls: &'static str,
    /// Times of calls, ns: until they were sent, and from then on.
    times: [u64; 2],
}

impl<'a> MountRecorder<'a> {
    /// To that sink, if the run has a mount.
    pub(super) fn new(
        run: &Resolved,
        sink: &'a mut dyn Sink,
    ) -> Result<MountRecorder<'a>, &'a mut dyn Sink> {
        if run.nfs.is_empty() {
            return Err(sink);
        }
        let flows = run.flow.len();
        // The second flows of all connections are numbered after all flows, in the same order.
        let others = flows - run.mounts().next().map_or(0, |(_, own)| own.start);
        let mounts = run.mounts().map(|(own, connections)| Mount::new(own, connections, others));
        Ok(MountRecorder { sink, flows: flows as u16, mounts: mounts.collect() })
    }
}

impl Mount {
    /// Mount of which each connection has two flows: flow `n` for the data, and flow `n + others`.
    fn new(own: &Nfs, connections: Range<usize>, others: usize) -> Mount {
        let reads = own.operation == NfsOperation::Read;

        // The second flow of each connection follows all flows of the scenario.
        let connections = connections.map(|data| {
            let other = data + others;
            let [calls, replies] = if reads { [other, data] } else { [data, other] };
            [data, calls, replies].map(|flow| flow as u16)
        });
        Mount {
            begun: false,
            connections: connections.collect(),
            bytes: own.bytes(),
            prefix: format!("rpc.{}.data.", own.name),
            calls: if reads { "READ" } else { "WRITE" },
            times: [0; 2],
        }
    }

    /// The program begins: so do its connections, as far as it can see.
    fn begin(&mut self, now: Time, sink: &mut dyn Sink) {
        self.begun = true;
        for &[flow, ..] in &self.connections {
            for kind in [EventKind::Established, EventKind::Accepted] {
                sink.event(&Event { time: now, flow, kind, value: 0 });
            }
        }
    }

    /// Counters of a kernel's client for its calls (`mountstats`), from the simulator's counter.
    fn count(&mut self, counter: &Counter, sink: &mut dyn Sink) {
        let Mount { prefix, calls, times, .. } = self;

        // Counters of other mounts and of other operations are left out.
        let Some(what) = counter.name.strip_prefix(prefix.as_str()) else { return };
        let mut emit = |what: &str, value| {
            let name = format!("nfs.{calls}.{what}").into();
            sink.counter(&Counter { name, value, ..counter.clone() });
        };

        // The kernel counts times in milliseconds.
        let ms = |ns: u64| ns / 1_000_000;
        match what {
            "replies" => emit("ops", counter.value),
            "transmissions" => emit("ntrans", counter.value),
            "queue_ns" => {
                times[0] = counter.value;
                emit("queue", ms(counter.value));
            }
            "rtt_ns" => {
                times[1] = counter.value;
                emit("rtt", ms(counter.value));
                // Execution lasts from a request's making to its answer: queue and round trip together.
                emit("execute", ms(times[0] + times[1]));
            }
            _ => {}
        }
    }
}

impl Sink for MountRecorder<'_> {
    fn stages(&mut self, stages: &[StageInfo]) {
        self.sink.stages(stages);
    }

    fn flow(&mut self, sample: &FlowSample) {
        if sample.flow < self.flows {
            self.sink.flow(sample);
        }
    }

    fn stage(&mut self, sample: &StageSample) {
        self.sink.stage(sample);
    }

    fn event(&mut self, event: &Event) {
        // Events of both flows belong to the mount's connection.
        let found = self.mounts.iter_mut().find_map(|mount| {
            let own = mount.connections.iter().find(|own| own[1..].contains(&event.flow)).copied();
            own.map(|own| (own, mount))
        });
        let Some(([flow, _, replies], mount)) = found else { return self.sink.event(event) };

        // A mount shows its program: the connection's own handshake is no beginning.
        match event.kind {
            EventKind::Began => mount.begin(event.time, self.sink),
            EventKind::Established | EventKind::Accepted => {}
            // The program is done when its last answer has come.
            EventKind::Finished if event.flow == replies => {
                self.sink.event(&Event { flow, value: mount.bytes, ..*event });
            }
            // Mounting precedes the program, and is not shown.
            EventKind::FirstData | EventKind::Round if !mount.begun => {}
            _ if event.flow == flow => self.sink.event(event),
            _ => {}
        }
    }

    fn counter(&mut self, counter: &Counter) {
        self.sink.counter(counter);
        self.mounts.iter_mut().for_each(|own| own.count(counter, self.sink));
    }

    fn point(&self) -> Option<Point> {
        self.sink.point()
    }

    fn packet(&mut self, packet: &Packet) {
        self.sink.packet(packet);
    }
}
