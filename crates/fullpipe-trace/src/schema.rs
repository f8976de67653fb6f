//! The tables of a trace: each column declared once, with type, unit, meaning, observation point
//! and clock. Writers, readers and the reference page are made from these declarations.

mod sockets;

use fullpipe_base::limits::{self, about};
use fullpipe_base::trace::{
    Counter, Event, EventKind, FlowSample, Limit, ReceiverSocket, SenderSocket, StageInfo,
    StageSample,
};
use fullpipe_base::units::Time;
use sockets::{receiver_columns, sender_columns};
use std::borrow::Cow;

/// Version of the tables; counts incompatible changes.
pub const FORMAT: u32 = 1;

/// Storage type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Unsigned integer of 8 bits.
    U8,
    /// Unsigned integer of 16 bits.
    U16,
    /// Unsigned integer of 32 bits.
    U32,
    /// Unsigned integer of 64 bits.
    U64,
    /// UTF-8 text.
    Text,
}

impl Kind {
    /// Name in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::U8 => "u8",
            Kind::U16 => "u16",
            Kind::U32 => "u32",
            Kind::U64 => "u64",
            Kind::Text => "text",
        }
    }

    /// Largest value of an integer column.
    pub const fn max(self) -> u64 {
        match self {
            Kind::U8 => u8::MAX as u64,
            Kind::U16 => u16::MAX as u64,
            Kind::U32 => u32::MAX as u64,
            Kind::U64 | Kind::Text => u64::MAX,
        }
    }
}

/// To which moment or span of the engine's clock (ns since the start of the run) a value belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The clock's own value.
    Itself,
    /// A name or a constant, which does not change during a run.
    Constant,
    /// A gauge: the value at `time_ns`.
    Moment,
    /// A counter: from the start of the run to `time_ns`.
    SinceStart,
    /// From the sample before to `time_ns`.
    SinceSample,
}

impl Clock {
    /// Name in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Clock::Itself => "the clock itself",
            Clock::Constant => "constant",
            Clock::Moment => "at time_ns",
            Clock::SinceStart => "cumulative to time_ns",
            Clock::SinceSample => "since the last sample",
        }
    }
}

/// Names that rows refer to by number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names<'a> {
    /// Flow names by index.
    pub flows: &'a [String],
    /// Stages by index.
    pub stages: &'a [StageInfo],
}

/// A column of a table with rows of type `R`.
pub struct Column<R> {
    /// Name, with its unit where it has one.
    pub name: String,
    /// Storage type.
    pub kind: Kind,
    /// Unit; empty for names and indices.
    pub unit: &'static str,
    /// Meaning.
    pub meaning: String,
    /// Where it is observed.
    pub point: &'static str,
    /// When it is observed.
    pub clock: Clock,
    pub(super) access: Access<R>,
}

type Get<R> = Box<dyn Fn(&R) -> u64>;
type Set<R> = Box<dyn Fn(&mut R, u64)>;

/// Reads a column's value from a row, and writes it into one.
pub(super) enum Access<R> {
    /// An integer field.
    Number { get: Get<R>, set: Set<R> },
    /// A text; `set` returns whether the text is a possible one.
    Text { get: for<'a> fn(&R, &Names<'a>) -> Cow<'a, str>, set: fn(&mut R, &str) -> bool },
}

/// A row of a table.
pub trait Row: Sized + 'static {
    /// Name of the table, and of its file.
    const TABLE: &'static str;
    /// Meaning of a row.
    const MEANING: &'static str;
    /// Whether tables of earlier versions lack the column; there it is as in a row of zeros.
    fn is_later(_column: &str) -> bool {
        false
    }
    /// A row of zeros.
    fn blank() -> Self;
    /// The columns in order.
    fn columns() -> Vec<Column<Self>>;
}

/// An integer column for a field of the row.
macro_rules! number {
    ($row:ident $kind:ident $name:literal, $($field:tt).+, $unit:literal, $clock:ident, $point:expr, $meaning:expr) => {
        Column {
            name: $name.into(),
            kind: Kind::$kind,
            unit: $unit,
            meaning: $meaning.into(),
            point: $point,
            clock: Clock::$clock,
            access: Access::Number {
                get: Box::new(|row: &$row| row.$($field).+.into()),
                set: Box::new(|row: &mut $row, value| row.$($field).+ = value as _),
            },
        }
    };
}

pub(super) use number;

/// A text column that repeats a name.
pub(super) fn label<R>(
    name: &str,
    meaning: &str,
    get: for<'a> fn(&R, &Names<'a>) -> Cow<'a, str>,
) -> Column<R> {
    let access = Access::Text { get, set: |_, _| true };
    named(name, meaning, "scenario", access)
}

/// A text column that names the subject of a row.
pub(super) fn named<R>(
    name: &str,
    meaning: &str,
    point: &'static str,
    access: Access<R>,
) -> Column<R> {
    let (name, meaning, clock) = (name.into(), meaning.into(), Clock::Constant);
    Column { name, kind: Kind::Text, unit: "", meaning, point, clock, access }
}

pub(super) fn flow_name<'a>(flow: u16, names: &Names<'a>) -> Cow<'a, str> {
    let name = names.flows.get(usize::from(flow));
    name.map_or_else(|| flow.to_string().into(), |name| name.as_str().into())
}

fn stage_name<'a>(stage: u16, names: &Names<'a>) -> Cow<'a, str> {
    let name = names.stages.iter().find(|info| info.index == stage);
    name.map_or_else(|| stage.to_string().into(), |info| info.name.as_str().into())
}

const TCP: &str = "sender's TCP";
const APP: &str = "receiving application";

impl Row for FlowSample {
    const TABLE: &'static str = "flows";
    const MEANING: &'static str = "one flow at the end of one sample interval, from its beginning on and, where another one follows it, until that one has begun";

    fn is_later(column: &str) -> bool {
        let name =
            column.strip_prefix(LIMIT_PREFIX).and_then(|rest| rest.strip_suffix(LIMIT_SUFFIX));
        let is_later_limit =
            name.and_then(limits::named).is_some_and(|own| own.index >= Limit::FIRST_FORMAT);
        let mut later_fields = sender_columns().into_iter().chain(receiver_columns());
        is_later_limit || later_fields.any(|own| own.name == column)
    }

    fn blank() -> FlowSample {
        FlowSample {
            time: Time::ZERO,
            flow: 0,
            bytes_delivered: 0,
            segments_delivered: 0,
            segments_sent: 0,
            segments_retransmitted: 0,
            bytes_sent: 0,
            bytes_retransmitted: 0,
            bytes_acked: 0,
            acks_received: 0,
            walked_for_sacks: 0,
            walked_to_mark: 0,
            walked_to_resend: 0,
            cwnd: 0,
            ssthresh: 0,
            srtt_us: 0,
            rto_us: 0,
            in_flight: 0,
            snd_wnd: 0,
            unsent: 0,
            ca_state: 0,
            limits: [0; Limit::COUNT],
            sender: SenderSocket::default(),
            receiver: ReceiverSocket::default(),
        }
    }

    #[rustfmt::skip]
    fn columns() -> Vec<Column<FlowSample>> {
        let mut columns = vec![
            number!(FlowSample U64 "time_ns", time.0, "ns", Itself, "engine", "end of the sample interval"),
            number!(FlowSample U16 "flow", flow, "", Constant, "scenario", "index of the flow in the scenario, from 0"),
            label("flow_name", "name of the flow", |row: &FlowSample, names| flow_name(row.flow, names)),
            number!(FlowSample U64 "bytes_delivered", bytes_delivered, "byte", SinceStart, APP, "bytes read"),
            number!(FlowSample U64 "segments_delivered", segments_delivered, "segment", SinceStart, APP, "segments whose last byte was read"),
            number!(FlowSample U64 "segments_sent", segments_sent, "segment", SinceStart, TCP, "segments given to the qdisc, retransmissions included"),
            number!(FlowSample U64 "segments_retransmitted", segments_retransmitted, "segment", SinceStart, TCP, "segments sent again"),
            number!(FlowSample U64 "bytes_sent", bytes_sent, "byte", SinceStart, TCP, "bytes of data given to the qdisc, retransmissions included"),
            number!(FlowSample U64 "bytes_retransmitted", bytes_retransmitted, "byte", SinceStart, TCP, "of these, bytes sent again"),
            number!(FlowSample U64 "bytes_acked", bytes_acked, "byte", SinceStart, TCP, "bytes acknowledged"),
            number!(FlowSample U64 "acks_received", acks_received, "packet", SinceStart, TCP, "ACK packets received"),
            number!(FlowSample U64 "walked_for_sacks", walked_for_sacks, "skb", SinceStart, TCP, "skbs looked at along the queue to look SACK blocks up (before 2.6.25)"),
            number!(FlowSample U64 "walked_to_mark", walked_to_mark, "skb", SinceStart, TCP, "the same, to mark losses"),
            number!(FlowSample U64 "walked_to_resend", walked_to_resend, "skb", SinceStart, TCP, "the same, to find what is to be sent again"),
            number!(FlowSample U32 "cwnd", cwnd, "packet", Moment, TCP, "congestion window"),
            number!(FlowSample U32 "ssthresh", ssthresh, "packet", Moment, TCP, "slow start threshold; 0x7fffffff: none is set"),
            number!(FlowSample U32 "srtt_us", srtt_us, "us", Moment, TCP, "smoothed round-trip time; 0 before the first measurement"),
            number!(FlowSample U32 "rto_us", rto_us, "us", Moment, TCP, "retransmission timeout"),
            number!(FlowSample U32 "in_flight", in_flight, "packet", Moment, TCP, "packets in flight as Linux counts them: sent and neither acknowledged, selectively acknowledged nor taken for lost"),
            number!(FlowSample U64 "snd_wnd", snd_wnd, "byte", Moment, TCP, "window advertised by the receiver, as the sender knows it"),
            number!(FlowSample U64 "unsent", unsent, "byte", Moment, TCP, "bytes written by the application and not yet sent"),
            number!(FlowSample U8 "ca_state", ca_state, "", Moment, TCP, "congestion state: 0 Open, 1 Disorder, 2 CWR, 3 Recovery, 4 Loss"),
        ];

        // Columns that repeat by kind follow: a column per limit, and those of both sockets.
        columns.extend((0..Limit::COUNT).map(limit));
        columns.extend(sender_columns());
        columns.extend(receiver_columns());
        columns
    }
}

/// Text around a limit's name in its column.
const LIMIT_PREFIX: &str = "limit_";
const LIMIT_SUFFIX: &str = "_ns";

fn limit(index: usize) -> Column<FlowSample> {
    Column {
        name: format!("{LIMIT_PREFIX}{}{LIMIT_SUFFIX}", about(index).name),
        kind: Kind::U64,
        unit: "ns",
        meaning: format!("time stopped by: {}", about(index).meaning),
        point: TCP,
        clock: Clock::SinceStart,
        access: Access::Number {
            get: Box::new(move |row| row.limits[index]),
            set: Box::new(move |row, value| row.limits[index] = value),
        },
    }
}

impl Row for StageSample {
    const TABLE: &'static str = "stages";
    const MEANING: &'static str = "one stage at the end of one sample interval";

    fn is_later(column: &str) -> bool {
        ["waiting_ns", "waiting_byte_us", "full_ns", "empty_ns"].contains(&column)
    }

    fn blank() -> StageSample {
        StageSample::default()
    }

    #[rustfmt::skip]
    fn columns() -> Vec<Column<StageSample>> {
        vec![
            number!(StageSample U64 "time_ns", time.0, "ns", Itself, "engine", "end of the sample interval"),
            number!(StageSample U16 "stage", stage, "", Constant, "engine", "number of the stage"),
            label("stage_name", "name of the stage", |row: &StageSample, names| stage_name(row.stage, names)),
            number!(StageSample U64 "waiting", waiting, "stage's unit", Moment, "stage", "units waiting"),
            number!(StageSample U64 "waiting_bytes", waiting_bytes, "byte", Moment, "stage", "bytes waiting; 0 where the stage does not count bytes"),
            number!(StageSample U64 "peak", peak, "stage's unit", SinceSample, "stage", "highest number of units waiting"),
            number!(StageSample U64 "entered", entered, "stage's unit", SinceStart, "stage", "units that entered; dropped ones are not included"),
            number!(StageSample U64 "left", left, "stage's unit", SinceStart, "stage", "units that left"),
            number!(StageSample U64 "dropped", dropped, "stage's unit", SinceStart, "stage", "units dropped"),
            number!(StageSample U64 "marked", marked, "stage's unit", SinceStart, "stage", "units marked (ECN) instead of dropped; they have entered, too"),
            number!(StageSample U64 "requeues", requeues, "skbs", SinceStart, "stage", "of a qdisc: skbs that the driver refused for want of descriptors, so that they were offered again"),
            number!(StageSample U64 "busy_ns", busy_ns, "ns", SinceStart, "stage", "time it was working: serialising, copying, processing"),
            number!(StageSample U64 "blocked_ns", blocked_ns, "ns", SinceStart, "stage", "time it refused new work because it was full; of a transmit ring, in which an skb waited for it"),
            number!(StageSample U64 "waiting_ns", waiting_ns, "ns", SinceStart, "stage", "of a timed stage: time for which units have waited, that of all of them added up; per nanosecond the mean number waiting"),
            number!(StageSample U64 "waiting_byte_us", waiting_byte_us, "us", SinceStart, "stage", "of a timed stage whose capacity is in bytes: the same of the units' bytes, rounded down; else 0"),
            number!(StageSample U64 "full_ns", full_ns, "ns", SinceStart, "stage", "of a timed stage: time in which units waited and there was no room for another one, of a size as that which came last"),
            number!(StageSample U64 "empty_ns", empty_ns, "ns", SinceStart, "stage", "of a timed stage: time in which nothing waited"),
        ]
    }
}

/// Every kind of event that a trace has, in the order of the enumeration.
pub const EVENT_KINDS: [EventKind; 13] = [
    EventKind::Established,
    EventKind::Accepted,
    EventKind::FirstData,
    EventKind::CaState,
    EventKind::Retransmit,
    EventKind::Timeout,
    EventKind::Finished,
    EventKind::Aborted,
    EventKind::Round,
    EventKind::SlowStartEnded,
    EventKind::Answered,
    EventKind::MessageRead,
    EventKind::Began,
];

/// Meaning of an event and of its value.
pub const fn event_meaning(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Established => {
            "the sender's connection is established; value: handshake round trip, ns"
        }
        EventKind::Accepted => "the receiver's accept() returned; value: 0",
        EventKind::FirstData => {
            "the first data segment reached the receiving host; value: its bytes"
        }
        EventKind::CaState => "the congestion state changed; value: the new one, as in ca_state",
        EventKind::Retransmit => {
            "a segment was retransmitted; value: its first sequence number, 0 = first data byte"
        }
        EventKind::Timeout => "the retransmission timer fired; value: how often it has by now",
        EventKind::Finished => "the receiver has read everything; value: bytes",
        EventKind::Aborted => {
            "the kernel gave the connection up, as one of its ends was told; value: errno of Linux, 110 timed out"
        }
        EventKind::Round => {
            "a round of the first slow start begins, up to the 200th: with the first data, then with the first ACK of data that was sent in the one before; value: segments sent for the first time before it (the simulator only)"
        }
        EventKind::SlowStartEnded => {
            "the first slow start is over: cwnd has reached ssthresh, or a recovery has begun; value: segments sent for the first time by then (the simulator only)"
        }
        EventKind::Answered => {
            "the program that asks has read an answer as a whole, up to the 100,000th; value: ns since it began to write the request"
        }
        EventKind::MessageRead => {
            "the receiving program has read a message that nobody answers as a whole, up to the 100,000th; value: ns since the other program began to write it"
        }
        EventKind::Began => {
            "the program opens the next connection of a loop: the flow begins; value: 0. Of remote procedure calls no trace has it, but the connections of their mount as established"
        }
    }
}

impl Row for Event {
    const TABLE: &'static str = "events";
    const MEANING: &'static str = "something that happened to one flow at one moment";

    fn blank() -> Event {
        Event { time: Time::ZERO, flow: 0, kind: EventKind::Established, value: 0 }
    }

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Event>> {
        vec![
            number!(Event U64 "time_ns", time.0, "ns", Itself, "engine", "when it happened"),
            number!(Event U16 "flow", flow, "", Constant, "scenario", "index of the flow in the scenario, from 0"),
            label("flow_name", "name of the flow", |row: &Event, names| flow_name(row.flow, names)),
            Column {
                name: "kind".into(),
                kind: Kind::Text,
                unit: "",
                meaning: "what happened, see the kinds of events".into(),
                point: "engine",
                clock: Clock::Moment,
                access: Access::Text {
                    get: |row, _| row.kind.name().into(),
                    set: |row, text| match EVENT_KINDS.into_iter().find(|kind| kind.name() == text) {
                        Some(kind) => { row.kind = kind; true }
                        None => false,
                    },
                },
            },
            number!(Event U64 "value", value, "see kind", Moment, "engine", "a number that belongs to the event"),
        ]
    }
}

impl Row for Counter {
    const TABLE: &'static str = "counters";
    const MEANING: &'static str = "a counter of a host, under the name that the tools of Linux have for it, or of programs with datagrams, at the end of a sample interval in which it has changed; the simulator tells each that it has at its first one, also where it is 0";

    fn blank() -> Counter {
        Counter { time: Time::ZERO, host: "".into(), name: "".into(), value: 0 }
    }

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Counter>> {
        let host = Access::Text {
            get: |row: &Counter, _| row.host.to_string().into(),
            set: |row, text| { row.host = text.into(); true },
        };
        let name = Access::Text {
            get: |row: &Counter, _| row.name.to_string().into(),
            set: |row, text| { row.name = text.into(); true },
        };
        vec![
            number!(Counter U64 "time_ns", time.0, "ns", Itself, "engine", "end of the sample interval; of datagrams' rtt_ns when the answer came"),
            named("host", "whose counter it is: a host by its name, or kernel where several share it", "engine", host),
            named("name", "its name, as in Tcp.RetransSegs, TcpExt.TCPSackRecovery, softnet.dropped; tc.sent_packets, ethtool.rx_missed_errors (simulator); dev.right.tx_packets (engine linux); datagrams.NAME.sent, refused, received, lost, reordered, duplicates, jitter_ns, rcvbuf_errors, and each round trip as rtt_ns", "engine", name),
            number!(Counter U64 "value", value, "see name", Moment, "operating system", "its value; before its first row it is 0"),
        ]
    }
}

/// Kinds of stages of a host, see [`StageInfo::kind`]; their names are HOST.KIND; the others are [`LINK_STAGES`].
pub const HOST_STAGES: [&str; 9] = [
    "send_buffer",
    "qdisc",
    "tx_ring",
    "rx_ring",
    "backlog",
    "receive_buffer",
    "udp_socket",
    "application",
    "cpu",
];
/// Kinds of link elements, see [`StageInfo::kind`]; a test compares them with the simulator's elements.
pub const LINK_STAGES: [&str; 15] = [
    "link",
    "varying-link",
    "trace-link",
    "delay",
    "flow-delay",
    "loss",
    "gilbert-elliott",
    "drop",
    "mark",
    "reorder",
    "duplicate",
    "jitter",
    "mtu",
    "policer",
    "shaper",
];
/// Kinds of stages, see [`StageInfo::kind`].
pub fn stage_kinds() -> Vec<&'static str> {
    HOST_STAGES.into_iter().chain(LINK_STAGES).collect()
}

/// Ways of packets, see [`StageInfo::direction`].
pub const DIRECTIONS: [&str; 2] = ["forward", "back"];
/// Units of decision, see [`StageInfo::unit`].
pub const UNITS: [&str; 3] = ["skb", "segment", "byte"];
