//! The keys of a scenario: one list for the parser, its diagnostics, the reference and the schema.
//!
//! The keys of the path are declared in `path/`, with their meaning.

mod app;
mod choices;
mod program;

pub(crate) use app::{After, Again, AppTable, DatagramReader, Reader};
pub use app::{MessageSize, ShortApp};
pub use choices::{
    AppKind, Clock, DatagramKind, NfsExport, NfsOperation, NfsServerReads, NfsVersion, Os,
    QdiscKind, Quickack, Until,
};
pub use program::{Limit, Program};

use crate::format::axes::Axes;
use crate::format::dotted::Assignments;
use crate::format::keys::Default::{Absent, Empty, Is, Required, Unless};
use crate::format::keys::group;
use crate::format::sockopt::Sockopts;
use crate::format::special::{Behaviour, Congestion, Numbers, QueueLimit, Range, SlowStart};
use crate::format::sysctl::Sysctls;
use crate::format::values::{
    AnyRate, AnyTime, InDescriptors, InPackets, InRate, InSize, InTime, InTimePerByte,
    InTimePerCall, InTimePerPacket, Int, Kept, LONGEST, List, Name, Named, Probability, Quantity,
    SomeTime,
};
use crate::path::keys::Path;
use fullpipe_sim::config::{Autotuning, Direction, Driver, ReceivePath};

/// The kernel keeps buffer sizes in an `int`.
const KERNEL_INT: u64 = i32::MAX as u64;
/// Longest work on one packet or byte, and longest pause of a card: a second.
const WORK: u64 = 1_000_000_000;

type SampleTime = Quantity<InTime, 1_000, LONGEST>;
type Buffer = Quantity<InSize, 1, KERNEL_INT>;
type PerCall = Quantity<InTimePerCall, 0, WORK>;
type PerPacket = Quantity<InTimePerPacket, 0, WORK>;
type Moderation = Quantity<InTime, 0, WORK>;
type Ring = Quantity<InDescriptors, 1, 1_000_000_000>;

group! {
    /// What is run.
    Run "the scenario" {
        /// One line that says what this is about.
        title: String, Absent("the file's name without its ending");
        /// Seed of all random streams.
        seed: Int<0, { i64::MAX }>, Is("1");
        /// When the run ends, in simulated time. Needed where a flow has `bytes` and no `duration`.
        duration: SomeTime, Absent("the end of the last flow's `duration`, one second and two base round trips later");
        /// What is reported, and how finely it is traced.
        report: Report, Empty;
        /// What packets pass between the hosts.
        path: Path, Required;
        /// The hosts at the ends of the path.
        hosts: Hosts, Required;
        /// Further hosts, each beside one of these: the path is a dumbbell. What the hosts of a side send enters the path in order of time, on ways with a delay (netem without a `timer`). Engine linux: beside the sender, for mounts alone.
        host: Named<Neighbour>, Absent("none");
        /// The flows.
        flow: Named<Flow>, Unless("nfs");
        /// Packets that are no TCP segments, beside the flows: UDP at a constant rate, and ping. The simulator only.
        datagrams: Named<Datagrams>, Absent("none");
        /// Files that a program writes to an NFS mount, or reads there. The mount's connections are flows, too.
        nfs: Named<Nfs>, Absent("none");
    }
}

group! {
    /// What is asked about the run.
    Asked "the scenario" {
        /// File with published figures that are drawn beside the result, relative to the scenario. The file has the form of `scenarios/published/data/`; iperf3 JSON, ss logs and CSV are not read yet.
        published: String, Absent("none");
        /// Name of the run in `published` to compare with, where there are no variants.
        published_run: String, Absent("none");
        /// Named alternatives; each is one run.
        variant: List<Variant>, Absent("one run, named base");
        /// Axes of a product: dotted keys, each with a list of values or a range. Each point is one run of each variant.
        sweep: Axes, Absent("no sweep");
        /// Repetitions of each run with other seeds.
        repeat: Repeat, Absent("each point is one run");
        /// What the result has to be. A scenario is also a test.
        expect: List<Expect>, Absent("nothing is expected");
    }
}

group! {
    /// The hosts at the ends of the path.
    Hosts "[hosts]" {
        /// Sends data.
        sender: Kept<Host>, Required;
        /// Sends ACKs.
        receiver: Kept<Host>, Required;
    }
}

group! {
    /// A host beside `hosts.sender` or `hosts.receiver`. Flows name it (`from`, `to`), stages have its name in front.
    Neighbour "[[host]]" {
        /// Name, unique; "sender" and "receiver" are taken.
        name: Name, Required;
        /// "sender" or "receiver": where it stands, and what it is where `set` says nothing.
        beside: Name, Required;
        /// What is otherwise, by the keys of that host. TCP's timestamps, SACK and window scaling are the same.
        set: Assignments, Absent("nothing");
    }
}

group! {
    /// A host: its kernel's behaviour, its buffers, its network card and its CPU.
    Host "[hosts.sender] or [hosts.receiver]" {
        /// Kernel profile. A host with another `system` or with a `window` of its own may leave it out, and acts like Linux 6.12 in all that these do not say.
        kernel: String, Absent("needed; with `system` or `window` 6.12");
        /// Operating system. Of Windows the published parts are there. Receive windows follow `autotuning`. SO_RCVBUF and SO_SNDBUF count data, as in Winsock, and nothing is doubled. The send buffer follows the ideal send backlog. There are no timestamps. Unvalidated: no real system judges it. Simulator only.
        system: Os, Is("linux");
        /// Windows: receive window autotuning level (`netsh int tcp show global`). The window begins with 64 KiB and grows with what the reader takes: up to 64 KiB ("disabled"), 256 KiB ("highlyrestricted"), 1 MiB ("restricted"), 16 MiB ("normal") or 1 GiB ("experimental").
        autotuning: Autotuning, Absent("windows: normal");
        /// A receive window of so many bytes that nothing tunes, as lwIP, iPXE and old systems announce it. Scaled no more than needed, and cut to 65,535 bytes without window scaling. Simulator only; unvalidated.
        window: Quantity<InSize, 1, { 65_535 << 14 }>, Absent("as its kernel tunes it");
        /// Timer ticks per second (CONFIG_HZ).
        hz: Int<1, 1000>, Absent("as the kernel profile");
        /// TCP timestamps (net.ipv4.tcp_timestamps).
        timestamps: bool, Absent("as the kernel profile");
        /// TCP segmentation offload of the card.
        tso: bool, Absent("as the kernel profile");
        /// First cwnd of the route to the other host (`ip route change ... initcwnd`), to which cwnd also goes back after a pause.
        initcwnd: Quantity<InPackets, 1, 65_535>, Absent("as the kernel profile");
        /// MTU of the card, in bytes, where it is larger than the path's. The host announces a larger MSS then, and its windows are in units of that.
        /// One host of a run may have it: between two of them path MTU discovery would act, which is not there.
        mtu: Int<68, 65535>, Absent("path.mtu");
        /// sysctls by the kernel's full names.
        sysctl: Sysctls, Absent("as the kernel profile");
        /// Overrides of single behaviours of the profile, by name, to see what they do.
        behaviour: Behaviour, Absent("as the kernel profile");
        /// The queue between TCP and the driver.
        qdisc: Qdisc, Empty;
        /// Transmit ring.
        tx_ring: Ring, Absent("as the kernel profile");
        /// Transmit interrupt moderation (`ethtool -C ... tx-usecs`): so long after a segment was sent the driver hears of it, and of all sent meanwhile. Until then their descriptors are in use, byte queue limits count them, and TCP small queues their skbs. 0: the driver hears of each at once, and small queues count an skb until the card has it.
        tx_coalesce: Moderation, Is("0s");
        /// The driver stops its queue when an skb leaves fewer descriptors free.
        tx_stop: Ring, Is("1 descriptors");
        /// Free descriptors with which the driver wakes its queue; at least `tx_stop`.
        tx_wake: Ring, Absent("as tx_stop");
        /// Byte queue limits (BQL) of the driver: the transmit ring takes about as many bytes as keep the wire busy, what is more waits in the qdisc. From Linux 3.3 on.
        bql: bool, Is("false");
        /// Behaviour of the driver when the transmit ring is full. "stops": it stops the queue before an skb is offered in vain. "requeues": it refuses the skb, which is requeued. A capture between qdisc and driver then sees the skb twice ("hardware duplicate"). This needs pfifo_fast or pfifo, without `tso` and `bql`.
        driver: Driver, Is("stops");
        /// Receive ring.
        rx_ring: Ring, Absent("as the kernel profile");
        /// Line rate of the card, counted as on an Ethernet wire.
        nic_rate: AnyRate, Absent("ten times the fastest link of the path, so that the card is not the limit unless it is asked to be; 10Gbit where the path has no link");
        /// Receive interrupt moderation (`ethtool -C ... rx-usecs`): time from the first packet to the interrupt, which brings all packets of that time.
        rx_coalesce: Moderation, Is("0s");
        /// Packets after which the interrupt comes before `rx_coalesce` ends (`ethtool -C ... rx-frames`); 0: it waits for the time alone. Acts with `rx_coalesce` alone.
        rx_frames: Quantity<InPackets, 0, 65_535>, Is("0 packets");
        /// Least time between two receive interrupts, of cards that count from interrupt to interrupt.
        coalesce: Moderation, Is("0s");
        /// Generic receive offload: segments of a flow that one poll of the card takes come to TCP as one, which has one ACK. Acts from Linux 2.6.29 on, where `rx_coalesce`, `coalesce`, a busy CPU or `gro_flush_timeout` let a poll find several.
        gro: bool, Is("true");
        /// How long GRO keeps segments for those that follow, counted from the last poll (/sys/class/net/*/gro_flush_timeout); 0: each poll hands on what it took. From Linux 3.19 on.
        gro_flush_timeout: Moderation, Is("0s");
        /// Receive path of the driver: polled, or by interrupt into the backlog.
        receive_path: ReceivePath, Is("napi");
        /// What the CPU spends.
        cpu: Cpu, Empty;
    }
}

group! {
    /// The queue between TCP and the driver.
    Qdisc "a qdisc" {
        /// Its kind.
        kind: QdiscKind, Is("pfifo_fast");
        /// What it holds: a size with bfifo and red, else packets (pfifo_fast: txqueuelen).
        limit: QueueLimit, Absent("pfifo_fast, pfifo: as the kernel profile; fq: 10000 packets, codel, netem: 1000 packets, fq_codel: 10240 packets; bfifo: as many full packets as pfifo_fast; red: needed");
        /// fq: packets of one flow.
        flow_limit: Quantity<InPackets, 1, 1_000_000_000>, Absent("100 packets");
        /// fq: bytes with Ethernet headers that a flow sends before it is held to a rate.
        initial_quantum: Quantity<InSize, 1, { i32::MAX as u64 }>, Absent("ten full packets");
        /// fq: largest rate of each flow, Ethernet headers included. An skb leaves whole, at the rate of the card, and the next one of its flow waits as long as it takes at this rate.
        maxrate: Quantity<InRate, 8, { 8 * (u32::MAX as u64 - 1) }>, Absent("none");
        /// codel, fq_codel, red: whether a packet of a flow with ECN is marked instead of dropped.
        ecn: bool, Absent("fq_codel: true; codel, red: false");
        /// codel, fq_codel: acceptable delay in the queue, in whole microseconds.
        target: AnyTime, Absent("5ms");
        /// codel, fq_codel: how long the delay may be above it, about a round trip; in whole microseconds.
        interval: AnyTime, Absent("100ms");
        /// red: average length from which on packets are dropped or marked.
        min: Quantity<InSize, 1, { (1 << 30) - 1 }>, Absent("a third of `max`");
        /// red: average length from which on all are.
        max: Quantity<InSize, 1, { (1 << 30) - 1 }>, Absent("three times `min`, at most `limit`; without `min` a quarter of `limit`");
        /// red: probability of a drop or a mark when the average is just below `max`.
        probability: Probability, Absent("0.02");
        /// red: a packet counts 1 / 2^weight in the average.
        weight: Int<1, 30>, Absent("9, or as much as `max` allows");
        /// netem: how long each packet waits.
        delay: AnyTime, Absent("0s");
        /// netem: probability that a packet is lost. Its sender does not notice.
        loss: Probability, Absent("0");
    }
}

group! {
    /// CPU time per piece of work.
    Cpu "a cpu" {
        /// Copy between application and kernel.
        copy: Quantity<InTimePerByte, 0, { WORK * 1000 }>, Is("0ps/byte");
        /// A call of write(2) or sendto(2), besides its bytes. Small writes cost one each.
        write: PerCall, Is("0ns/call");
        /// A call of read(2) or recvfrom(2), besides its bytes.
        read: PerCall, Is("0ns/call");
        /// Transmission of a data segment.
        transmit: PerPacket, Is("0ns/packet");
        /// Reception of a data segment.
        receive: PerPacket, Is("0ns/packet");
        /// Reception of an ACK, with what TCP does with it.
        ack: PerPacket, Is("0ns/packet");
        /// Each skb of the send queue that is looked at for SACKs, marking or sending again, in kernels before 2.6.25.
        sack_walk: PerPacket, Is("0ns/packet");
        /// Each packet that a capture in the host sees, where one is taken there (`sender-qdisc`, `receiver`): each skb that goes
        /// out, and each packet that comes, of which GRO may have joined several.
        capture: PerPacket, Is("0ns/packet");
        /// Whether these costs were fitted to measurements of the host that is modelled.
        calibrated: bool, Is("false");
    }
}

group! {
    /// A flow: data that goes one way, in a connection of its own or in that of the flow that it answers. It needs `duration` or `bytes`, unless it answers; with both, the first one ends it.
    Flow "[[flow]]" {
        /// Name, unique; dotted keys and metrics address the flow by it.
        name: Name, Required;
        /// Where its data goes: forward from `hosts.sender` to `hosts.receiver`, or backward. The host that sends it connects and has the flow's sending socket.
        direction: Direction, Is("forward");
        /// The host that sends its data.
        from: Name, Absent("`hosts.sender`; backward `hosts.receiver`");
        /// The host that receives it.
        to: Name, Absent("`hosts.receiver`; backward `hosts.sender`");
        /// The flow that this one answers. Both are one connection, in which the data of this one go back: requests and responses. After each message of that flow has been read this one writes a message, and that flow's next message waits until all of it is read; a message is one write, or as `app` says. `direction`, `from`, `to`, `start`, `duration`, `bytes` and `count` follow from that flow.
        reply_to: String, Absent("a connection of its own, with data one way");
        /// Congestion control, with parameters.
        congestion: Congestion, Absent("the kernel profile's default");
        /// How slow start goes and ends, with parameters: as congestion control and kernel have it, or another way.
        slow_start: SlowStart, Absent("as the parameters of the congestion control say");
        /// SO_SNDBUF and SO_RCVBUF as requested on both ends. The kernel doubles what it grants.
        socket_buffer: Buffer, Absent("`sndbuf` and `rcvbuf`");
        /// SO_SNDBUF as requested.
        sndbuf: Buffer, Absent("not requested: net.ipv4.tcp_wmem decides");
        /// SO_RCVBUF as requested.
        rcvbuf: Buffer, Absent("not requested: net.ipv4.tcp_rmem decides");
        /// Other socket options of the sending socket, by the kernel's names; bytes may have a unit. The simulator has TCP_NODELAY and TCP_CORK, and SO_MAX_PACING_RATE and TCP_NOTSENT_LOWAT for kernels from 6.1 on. Engine linux has every one, such as TCP_USER_TIMEOUT.
        sockopt: Sockopts, Absent("as the kernel has them");
        /// Other socket options of the receiving socket. The simulator has TCP_QUICKACK; engine linux has every one.
        receiver_sockopt: Sockopts, Absent("as the kernel has them");
        /// When the receiving program sets TCP_QUICKACK: "once", as soon as it has the socket; "each-read", after each read as well, for Linux leaves quick ACK mode by itself. The value is that in `receiver_sockopt`, or 1.
        quickack: Quickack, Absent("not set, or \"once\" where `receiver_sockopt` has it");
        /// When it connects.
        start: AnyTime, Is("0s");
        /// The flow that is over before this one connects, with `bytes` of its own and from the same host: a program opens a new connection as soon as the one before it is closed. Copies follow copies.
        after: After, Absent("it connects at `start`");
        /// A loop: connections like this one, one after another, each of them new. They are copies of it. Each has the `bytes`, or lasts the `duration`.
        again: Again, Absent("one connection");
        /// How long it writes, from `start`. A write that waits for room then is interrupted, and its rest is written when there is some.
        duration: SomeTime, Absent("until `bytes` are written");
        /// How much it writes.
        bytes: Quantity<InSize, 1, { i64::MAX as u64 }>, Absent("until `duration` is over");
        /// What the application offers.
        app: ShortApp, Is("bulk");
        /// Size of one write.
        write: Quantity<InSize, 1, { u32::MAX as u64 }>, Is("64KiB");
        /// How fast the receiving application reads.
        reader: Reader, Absent("all there is, at once");
        /// Parallel copies, named NAME-1, NAME-2 ...; a single flow keeps its name. 0: there is none, as in a variant in which another flow is alone.
        count: Int<0, 10_000>, Is("1");
    }
}

group! {
    /// Datagrams that a program sends at a pace, whatever becomes of them. They need `duration` or `count`; with both, the first one ends them. They pass the hosts and the path as the flows do: copying costs `cpu.copy`, sending `cpu.transmit`, receiving `cpu.receive`; a full qdisc refuses them (ENOBUFS). One that is refused has used its number.
    Datagrams "[[datagrams]]" {
        /// Name, unique, also among flows; dotted keys and metrics address them by it.
        name: Name, Required;
        /// UDP, counted by numbers at a socket of the other host; or echo requests, which the other kernel answers.
        kind: DatagramKind, Required;
        /// Where they go: forward from `hosts.sender` to `hosts.receiver`, or backward.
        direction: Direction, Is("forward");
        /// The host that sends them.
        from: Name, Absent("`hosts.sender`; backward `hosts.receiver`");
        /// The host that they go to.
        to: Name, Absent("`hosts.receiver`; backward `hosts.sender`");
        /// Payload of each; with 28 bytes of headers it fits into the path's MTU.
        size: Quantity<InSize, 1, 65_507>, Absent("ping: 56B; udp: needed");
        /// udp: rate of payload. Each datagram is written when those before it have taken their time at this rate; a program that is late makes up for it.
        rate: AnyRate, Absent("udp: needed");
        /// ping: time from one request to the next.
        interval: Quantity<InTime, 1_000, LONGEST>, Absent("ping: 1s");
        /// udp: SO_RCVBUF of the receiving socket as requested. The kernel doubles what it grants (`net.core.rmem_max`).
        rcvbuf: Buffer, Absent("not requested: 212992 bytes, the usual net.core.rmem_default");
        /// udp: how the program reads that receives them.
        reader: DatagramReader, Absent("each datagram as soon as its CPU allows");
        /// When the first one is written.
        start: AnyTime, Is("0s");
        /// How long they are written, from `start`.
        duration: SomeTime, Absent("until there were `count`");
        /// How many there are.
        count: Int<1, { i64::MAX }>, Absent("until `duration` is over");
    }
}

group! {
    /// An NFS client and server, on engine linux the kernel's own: `hosts.receiver` exports a file system in its memory, which `hosts.sender` or a host beside it mounts.
    /// A program there writes new files, each followed by an fsync, or reads files that nobody has read before. Each connection of the mount is a flow of this name, of several NAME-1, NAME-2 and so on.
    /// Several mounts have one server. Its keys (`threads`, `service`, `server_buffer`, `server_reads`, `export`) and `memory` are the same in all of them. Each mount has a host of its own.
    Nfs "[[nfs]]" {
        /// Name, unique among these, flows and datagrams.
        name: Name, Required;
        /// Version of the protocol.
        version: NfsVersion, Is("4.2");
        /// The host that mounts it: the sender or a [[host]] beside it.
        from: Name, Absent("`hosts.sender`");
        /// What the program does.
        operation: NfsOperation, Required;
        /// Size of a file.
        file: Quantity<InSize, 1, 1_099_511_627_776>, Required;
        /// Files that are written or read at a time, by a thread each.
        files: Int<1, 1000>, Is("1");
        /// Size of one call of write(2) or read(2).
        record: Quantity<InSize, 1, 1_073_741_824>, Is("1MiB");
        /// The mount's `rsize`: most bytes of a READ, a multiple of 4 KiB.
        rsize: Quantity<InSize, 4_096, 1_048_576>, Is("1MiB");
        /// The mount's `wsize`: most bytes of a WRITE, a multiple of 4 KiB.
        wsize: Quantity<InSize, 4_096, 1_048_576>, Is("1MiB");
        /// Requests at a time. Version 3: RPC slots of each connection (`sunrpc.tcp_slot_table_entries` and `tcp_max_slot_table_entries`); 4.2: slots of the session (`nfs.max_session_slots`), up to 1024, of which nfsd of 6.12 grants 30.
        slots: Int<2, 65535>, Absent("as the kernel has it: up to 65536 with version 3, 64 with 4.2");
        /// The mount's `nconnect`: connections, among which requests go in turn.
        nconnect: Int<1, 16>, Is("1");
        /// Threads of the server.
        threads: Int<1, 1024>, Is("8");
        /// How long a thread of the server works on a request before it answers: its disk's time. Simulator only.
        service: AnyTime, Is("0s");
        /// Buffers that the server asks for each socket (SO_RCVBUF and SO_SNDBUF, which the kernel doubles). A setting of the server for this was proposed in 2008. It gets no more than `net.core.rmem_max` and `wmem_max`, and no less than its threads need. 0: the server asks for nothing. Simulator only.
        server_buffer: Quantity<InSize, 0, 1_099_511_627_776>, Absent("0: of Linux 2.6.25 three messages of max(rsize, wsize) + 4 KiB to receive, and a message for each thread and three more to send; later ones are tuned by the kernel");
        /// How a thread of the server takes a request from its socket: what is there of it ("as-they-come"), or nothing until all of it is ("whole-records"). Simulator only.
        server_reads: NfsServerReads, Absent("as the server's kernel: whole records in 2.6.25, as they come later");
        /// When the server answers: when data is where it stays ("sync"), or at once ("async"). In a file system in memory it always is.
        export: NfsExport, Is("sync");
        /// How far the client reads ahead (`read_ahead_kb` of the mount), a multiple of 1 KiB.
        readahead: Quantity<InSize, 0, 1_073_741_824>, Absent("as the kernel has it: 128 KiB");
        /// The mount's `timeo`: how long a request waits for its answer before it is sent again over the same connection, a multiple of 0.1 s; the mount option counts tenths of a second. Each time the wait is so much longer. Version 3; version 4 sends none again before its connection breaks.
        timeo: Quantity<InTime, 100_000_000, 600_000_000_000>, Absent("60s");
        /// The mount's `retrans`: longer and longer waits before the first one comes again.
        retrans: Int<1, 1000>, Absent("2");
        /// Memory of both hosts together, in whole MiB. A fifth of what is free may wait in the client's page cache before programs that write have to wait (`vm.dirty_ratio`).
        memory: Quantity<InSize, 1_073_741_824, 8_589_934_592>, Absent("as much as the files and the socket buffers need, and 1 GiB");
        /// Congestion control of both hosts' sockets, with parameters.
        congestion: Congestion, Absent("the kernel profile's default");
        /// When it is mounted, and the program opens its files.
        start: AnyTime, Is("0s");
    }
}

group! {
    /// What is reported.
    Report "[report]" {
        /// Length of an interval.
        interval: SampleTime, Is("1s");
        /// Length of the first interval, where a tool's differs.
        first_interval: SampleTime, Absent("as `interval`");
        /// What starts a flow's interval clock: the receiver's accept().
        clock: Clock, Is("accept");
        /// How much earlier than that the clock starts.
        clock_offset: AnyTime, Is("0s");
        /// Interval of the trace's samples.
        sample: SampleTime, Absent("1 ms, or more where the flows last longer than 30 s or more than ten of them live at a time, so that a run has 30000 samples, and 300000 of flows, or little more");
        /// Interval of the hosts' counters, rounded up to samples.
        counters: SampleTime, Absent("engine `linux`: 10 ms; simulator: at the end of the run only");
        /// Length of the bins of queues, rates and drops over time.
        bin: SampleTime, Absent("250 ms, or a multiple where the run has more than 4000 of these, or `sample` where that is longer");
        /// When the run ends: when the scenario says so ("end"), or when the rate of acknowledged data has settled ("steady"). It has settled when three spans in a row carry the same within 2 %. A span has ten round trips, and at least 0.5 s. None begins before 30 round trips and 2 s. The verdict says which end it was.
        until: Until, Is("end");
        /// Which packets are kept, with their time-sequence graph.
        packets: Packets, Absent("none are");
    }
}

group! {
    /// Which packets are kept.
    Packets "`report.packets`" {
        /// The point at which they are seen: as of captures, `sender-qdisc`, `sender-wire`, `link`, `receiver`, or an element of the way forward by its name.
        at: String, Is("sender-qdisc");
        /// The flow they are of; all copies of one with a `count`.
        flow: String, Absent("all flows");
        /// From when on.
        from: AnyTime, Is("0s");
        /// Until when.
        to: SomeTime, Absent("the run's end");
    }
}

group! {
    /// A named alternative.
    Variant "[[variant]]" {
        /// Name, unique.
        name: String, Required;
        /// What differs from the file's base: dotted keys with values. A table replaces the whole value.
        set: Assignments, Absent("nothing");
        /// Name of the run in `published` to compare with.
        published_run: String, Absent("none");
        /// Which variants tell what the others do to one of its flows: `fullpipe sweep` compares them.
        competes: Competes, Absent("it is compared with none");
    }
}

group! {
    /// A flow that competes, and the variants in which it competes with nobody and with its like. Repetitions are compared one by one.
    Competes "variant.competes" {
        /// The flow; of copies (`count`) all.
        flow: String, Required;
        /// Variant in which it is alone: it says what harm the others do.
        solo: String, Absent("no harm is told");
        /// Variant in which flows of its own kind stand in the others' place: it says how friendly they are.
        like: String, Absent("no friendliness is told");
    }
}

group! {
    /// Repetitions: `fullpipe sweep` makes all of them, `fullpipe run` the first of each point.
    Repeat "[repeat]" {
        /// Runs of each point, with the scenario's `seed` and those after it.
        seeds: Int<1, 100000>, Is("1");
        /// Each flow starts later by a random part of this, which follows from the seed and its name.
        start_jitter: AnyTime, Is("0s");
        /// Each delay of the path is longer by a random part of this, which follows from the seed and its name.
        delay_jitter: AnyTime, Is("0s");
        /// Each host takes up to this longer to send a packet: a random time anew for each, and none overtakes another. A stage
        /// `sender_jitter` or `receiver_jitter` at the beginning of either way. As long as the bottleneck needs for a packet is what
        /// Floyd and Jacobson recommend.
        host_jitter: AnyTime, Is("0s");
    }
}

group! {
    /// What a result has to be.
    Expect "[[expect]]" {
        /// The variant that this is about.
        variant: String, Absent("all of them");
        /// Points of the sweep that this is about: keys of axes with one of their values each.
        at: Assignments, Absent("all of them");
        /// What is measured. Over the repetitions of a sweep the mean is judged.
        metric: String, Required;
        /// Report intervals from the first to one before the last.
        interval: Range, Absent("the whole run");
        /// Expected values, one per interval; one for the whole run.
        of: Numbers, Absent("`above` or `below` is");
        /// Tolerance, in the metric's unit or relative: "1 segment", "2 %".
        within: String, Absent("`above` or `below` is");
        /// A variant of which the value is smaller. Over the repetitions of a sweep the differences' 95 % interval is judged; `fullpipe
        /// run` does not judge it.
        above: String, Absent("no other variant is");
        /// A variant of which the value is larger.
        below: String, Absent("no other variant is");
    }
}
