//! Facts about a run that its trace does not have: the flows, the places, the settings and the expectations.

use crate::lookup::Lives;
use crate::pasted::Pasted;
use crate::settings;
use fullpipe_base::path::Direction;
use fullpipe_base::units::Time;
use fullpipe_scenario::{Expect, published as figures};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::ops::Range;

/// Facts about a run that the analysis needs and its trace does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct RunMeta {
    /// Name of the run, unique in the document.
    pub variant: String,
    /// Changes by the variant, the sweep point and `--set`.
    pub set: Map<String, Value>,
    /// Engine that made the trace.
    pub engine: String,
    /// Keys that the engine did otherwise than the scenario says.
    pub substituted: Vec<String>,
    /// Kernels of its hosts without a profile that was validated on a real kernel, each once.
    pub unvalidated: Vec<String>,
    /// Qdiscs of hosts that send data which are not as the kernel sets them up, by their stage.
    pub chosen_qdiscs: Vec<String>,
    /// Buffers of sockets that the kernel tunes: largest bytes of memory, by their stage.
    pub tuned: BTreeMap<String, u64>,
    /// Settings that do less than was asked, one sentence each.
    pub notes: Vec<String>,
    /// Settings of the path's elements.
    pub places: settings::Places,
    /// Whether the run was cut short.
    pub partial: bool,
    /// Way of the data that the run is about; none where no flow sends.
    pub main_way: Option<Direction>,
    /// Name of the datagrams of UDP that the run is about; none where it is about flows.
    pub main_datagrams: Option<String>,
    /// End that the scenario says, where a run may end earlier because its rate has settled.
    pub or_settled: Option<Time>,
    /// The flows, by index.
    pub flows: Vec<FlowMeta>,
    /// Loops of connections that end by their number or by a time.
    pub loops: Vec<LoopMeta>,
    /// Flows that wait for the end of another one, in the scenario's order.
    pub waits: Vec<WaitMeta>,
    /// Packets that are no TCP segments.
    pub datagrams: Vec<DatagramsMeta>,
    /// Files on NFS mounts.
    pub nfs: Vec<NfsMeta>,
    /// Payload of a full segment, bytes; above 0.
    pub mss: u32,
    /// Length of the report's intervals; above 0.
    pub interval: Time,
    /// Length of the first interval; above 0.
    pub first_interval: Time,
    /// Time by which the interval clock starts before accept().
    pub clock_offset: Time,
    /// Interval of the trace's samples; above 0.
    pub sample: Time,
    /// Length of the bins of queues, rates and drops over time; above 0.
    pub bin: Time,
    /// Path of the flows, by their direction.
    pub ways: [WayMeta; 2],
    /// Published figures to compare the first flow with.
    pub published: Option<Figures>,
    /// Expectations that apply to the run.
    pub expectations: Vec<Expect>,
}

impl RunMeta {
    /// Path of the flows of one direction.
    pub fn way(&self, direction: Direction) -> &WayMeta {
        &self.ways[direction as usize]
    }

    /// Whether other flows or UDP datagrams share a flow's path while it lives; connections of one mount are one.
    pub(crate) fn shares_its_way(&self, lives: &Lives, index: usize) -> bool {
        let (own, life) = (&self.flows[index], &lives.flows[index]);
        let backward = own.direction == Direction::Backward;
        let lives_too = |start: Time, end: Time| start < life.end && life.start < end;
        let datagrams = self.datagrams.iter().filter(|own| !own.echo && own.backward == backward);
        let mut datagrams = datagrams.map(|own| (own.start, own.start + own.lasts));
        let mut others = (0..self.flows.len()).filter(|at| self.is_beside(index, *at));
        others.any(|at| lives_too(lives.flows[at].start, lives.flows[at].end))
            || datagrams.any(|(start, end)| lives_too(start, end))
    }

    /// Whether data of flow `at` takes the path of flow `index`, and they are no connections of one mount.
    fn is_beside(&self, index: usize, at: usize) -> bool {
        let direction = self.flows[index].direction;
        let backward = direction == Direction::Backward;
        let (here, there) = (self.mount_of(index), self.mount_of(at));
        let carries = there.is_none_or(|mount| self.nfs[mount].reads == backward);
        let apart = at != index && (here.is_none() || here != there);
        apart && self.flows[at].direction == direction && carries
    }

    /// Whether the flow is a connection of a mount: connections of mounts are the last flows.
    pub(crate) fn is_of_mount(&self, flow: usize) -> bool {
        self.mount_of(flow).is_some()
    }

    /// Indices of a mount's connections among all `flows` of the run: they lie side by side, up to the next mount's first.
    pub(crate) fn connections(&self, mount: usize, flows: usize) -> Range<usize> {
        let end = self.nfs.get(mount + 1).map_or(flows, |next| next.connection);
        self.nfs[mount].connection..end
    }

    /// Index of the mount of which the flow is a connection.
    pub(crate) fn mount_of(&self, flow: usize) -> Option<usize> {
        self.nfs.iter().rposition(|own| flow >= own.connection)
    }
}

/// Facts about the path in one direction that the analysis needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WayMeta {
    /// Names of the links and stages of the card that can be the bottleneck.
    pub bottlenecks: Vec<String>,
    /// Names of stages where packets wait in front of the slowest of them. Reports show the one with most waiting
    /// packets, or the first.
    pub queues: Vec<String>,
    /// Rate of the slowest link, bit/s, where it is constant and no card is slower.
    pub rate: Option<u64>,
    /// Payload that the slowest link can carry, or a card that is slower, Mb/s; none where no element has a rate.
    pub capacity_mbit: Option<f64>,
    /// Least rate of its elements and of the cards that send into it.
    pub allowed: Option<settings::Allowed>,
}

/// Engine, kernel and completeness of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// Name of the engine.
    pub engine: String,
    /// The real kernel that ran, where one did.
    pub kernel: Option<String>,
    /// Keys that the engine did otherwise than the scenario says.
    pub substituted: Vec<String>,
    /// Whether the run was cut short.
    pub partial: bool,
}

/// A loop of connections that ends by their number or by a time, whichever is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopMeta {
    /// Indices of its first and last connection.
    pub ends: [usize; 2],
    /// Number of its connections.
    pub count: usize,
    /// Time from the end of a connection to the next one.
    pub pause: Time,
    /// No connection begins then or later.
    pub until: Time,
}

/// A flow that begins when a flow of another entry of the scenario is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitMeta {
    /// Index of the flow.
    pub flow: usize,
    /// Index of the flow that has to be over first.
    pub before: usize,
    /// Moment from which on the flow does not begin any more; none: the run's end.
    pub until: Option<Time>,
}

/// Facts about a flow that the analysis needs.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowMeta {
    /// Name, unique in the run.
    pub name: String,
    /// Direction of its data.
    pub direction: Direction,
    /// Names of the hosts that send and receive its data.
    pub hosts: [String; 2],
    /// Congestion control.
    pub congestion: String,
    /// Kernel profile of the sender.
    pub kernel: String,
    /// When it connects; of one that follows another one the earliest moment.
    pub start: Time,
    /// Whether it follows another one in a loop: an event says when it begins, if it does.
    pub follows: bool,
    /// When the application stops writing, where that is a matter of time.
    pub stop: Option<Time>,
    /// Bytes after which the application stops writing, where their number decides that.
    pub bytes: Option<u64>,
    /// Round trip without queues, where it is known.
    pub base_rtt: Option<Time>,
    /// Flow of the other direction of its connection, by index; none of a connection with data one way.
    pub reverse_flow: Option<usize>,
    /// Its sender's qdisc, where that holds it to a configured rate.
    pub shaper: Option<String>,
    /// Settings of its hosts and sockets.
    pub settings: settings::FlowSettings,
    /// Its life before the trace begins; none of a flow that begins in it.
    pub earlier: Option<Earlier>,
    /// Facts from a pasted text, and columns that it lacks.
    pub pasted: Pasted,
}

/// Life of a flow before its trace begins. The counters of the trace do not include it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    /// Bytes acknowledged.
    pub bytes: u64,
    /// Segments sent again.
    pub retransmitted: u64,
}

/// Facts about files on an NFS mount that the analysis needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NfsMeta {
    /// Name, unique in the run.
    pub name: String,
    /// Version of the protocol.
    pub version: &'static str,
    /// The host that mounts it.
    pub host: String,
    /// Whether the program reads; else it writes.
    pub reads: bool,
    /// Bytes of all files.
    pub bytes: u64,
    /// Wait for an answer after which a call is sent again; none where no call is.
    pub timeo: Option<Time>,
    /// Most data of a call, bytes: rsize or wsize.
    pub call: u32,
    /// Bytes of a file that the page cache reads ahead.
    pub read_ahead: u64,
    /// Threads of the server.
    pub threads: u32,
    /// Time for which a thread of the server works on a call with data. On a real server its storage has it (`await` of
    /// iostat).
    pub service: Time,
    /// Index of the first connection among the flows.
    pub connection: usize,
}

/// Facts about datagrams that the analysis needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatagramsMeta {
    /// Name, unique in the run.
    pub name: String,
    /// Whether they are echo requests.
    pub echo: bool,
    /// Whether they go from the receiver to the sender.
    pub backward: bool,
    /// Payload of each, bytes.
    pub size: u32,
    /// When the first one is written.
    pub start: Time,
    /// Time for which the program writes them.
    pub lasts: Time,
    /// The rate of payload that the program asks for, bit/s; none of echo requests.
    pub rate: Option<u64>,
    /// SO_RCVBUF that the reading program asks for, bytes; none where it asks for none.
    pub rcvbuf: Option<u64>,
}

/// Published figures of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Source of the figures.
    pub source: String,
    /// The published run.
    pub run: figures::Run,
    /// Whether a host's CPU costs were fitted to the rows on the plateau.
    pub calibrated: bool,
}
