//! Metrics of expectations: one table with their units.

use super::format::context::{Context, Place};
use super::plan::Target;
use super::resolved::{DatagramKind, Resolved};
use fullpipe_base::limits::limit_names;
use fullpipe_sim::config::Direction;

/// A metric of a flow or a stage.
#[derive(Debug)]
pub struct Metric {
    /// Its name: "bytes" in "flow.NAME.bytes".
    pub name: &'static str,
    /// Unit.
    pub unit: Unit,
    /// Whether it has a value per report interval.
    pub per_interval: bool,
    /// Whether it has a value for the whole run.
    pub whole_run: bool,
    /// Meaning.
    pub doc: &'static str,
}

/// Units in which metrics count and tolerances are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Packets, segments, or a stage's units.
    Packets,
    /// Rounds of slow start.
    Rounds,
    /// Megabits per second.
    Mbit,
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// A share from 0 to 1, without a unit.
    Share,
    /// Any number, without a unit.
    Number,
}

impl Unit {
    /// An absolute tolerance in words.
    pub(super) fn example(self) -> &'static str {
        match self {
            Unit::Bytes => "bytes such as \"1 MiB\"",
            Unit::Packets => "packets such as \"1 segment\"",
            Unit::Rounds => "rounds such as \"1 round\"",
            Unit::Mbit => "a rate such as \"5 Mbit\"",
            Unit::Seconds => "a time such as \"1 s\"",
            Unit::Milliseconds => "a time such as \"1 ms\"",
            Unit::Share => "a share such as \"0.05\"",
            Unit::Number => "a number such as \"0.5\"",
        }
    }
}

impl Target {
    /// The unit of its values as it is printed behind them; empty for a share.
    pub fn unit(&self) -> &'static str {
        let of = |table: &[Metric], column: &str| {
            table.iter().find(|metric| metric.name == column).map_or(Unit::Share, |m| m.unit)
        };
        let (unit, packets) = match self {
            // `Unit::Packets` is printed as segments where the column's name says so.
            Target::Flow { column, .. } if column.contains("segments") => {
                (of(FLOW, column), "segments")
            }
            Target::Flow { column, .. } => (of(FLOW, column), "packets"),
            Target::Datagrams { column, .. } => (of(DATAGRAMS, column), "packets"),
            Target::Nfs { column, .. } => (of(NFS, column), "requests"),
            Target::Stage { stage, column } => (of(STAGE, column), counted(stage)),
            Target::Fairness { column } => (of(FAIRNESS, column), "packets"),
            Target::Limit { .. } => (LIMITS.unit, ""),
        };
        match unit {
            Unit::Bytes => "bytes",
            Unit::Packets => packets,
            Unit::Rounds => "rounds",
            Unit::Mbit => "Mb/s",
            Unit::Seconds => "s",
            Unit::Milliseconds => "ms",
            Unit::Share | Unit::Number => "",
        }
    }
}

/// Unit of a stage.
fn counted(stage: &str) -> &'static str {
    match stage.rsplit_once('.') {
        Some((_, "application" | "send_buffer")) => "bytes",
        Some((_, "qdisc")) => "skbs",
        _ => "segments",
    }
}

const fn metric(name: &'static str, unit: Unit, of: Spans, doc: &'static str) -> Metric {
    let per_interval = matches!(of, Spans::Both | Spans::Intervals);
    let whole_run = matches!(of, Spans::Both | Spans::Run);
    Metric { name, unit, per_interval, whole_run, doc }
}

/// Spans of time for which a metric has a value.
#[derive(Clone, Copy)]
enum Spans {
    Intervals,
    Run,
    Both,
}

const BOTH: Spans = Spans::Both;
const INTERVALS: Spans = Spans::Intervals;
const RUN: Spans = Spans::Run;

/// Metrics of a flow: "flow.NAME.METRIC".
pub const FLOW: &[Metric] = &[
    metric("bytes", Unit::Bytes, BOTH, "bytes read by the receiving application"),
    metric("segments_delivered", Unit::Packets, BOTH, "segments read by the receiving application"),
    metric("throughput_mbit", Unit::Mbit, INTERVALS, "delivered payload"),
    metric("retransmitted_segments", Unit::Packets, BOTH, "segments sent again"),
    metric("cwnd", Unit::Packets, INTERVALS, "congestion window at the interval's end"),
    metric("mean_mbit", Unit::Mbit, RUN, "mean rate over the flow's life"),
    metric("settled_mbit", Unit::Mbit, RUN, "mean rate over the second half of the flow's life"),
    metric(
        "loss_epochs",
        Unit::Packets,
        RUN,
        "times the flow entered Recovery or Loss in that half",
    ),
    metric("plateau_mbit", Unit::Mbit, RUN, "median of the highest intervals"),
    metric(
        "time_to_plateau_s",
        Unit::Seconds,
        RUN,
        "until an interval first reached 90 % of the plateau",
    ),
    metric(
        "time_to_full_rate_s",
        Unit::Seconds,
        RUN,
        "to the first of three intervals at 90 % of what the slowest link carries",
    ),
    metric(
        "cpu_sender",
        Unit::Share,
        RUN,
        "working time of the sender's CPU, of the flow's (nuttcp's %TX)",
    ),
    metric("cpu_receiver", Unit::Share, RUN, "the same of the receiver's (%RX)"),
    metric("cwnd_median", Unit::Packets, RUN, "median congestion window of the flow's samples"),
    metric("in_flight_median", Unit::Packets, RUN, "median of what is in flight at them"),
    metric("srtt_median_s", Unit::Seconds, RUN, "median smoothed RTT at them"),
    metric("slow_start_s", Unit::Seconds, RUN, "until cwnd first reached ssthresh, or a loss"),
    metric("slow_start_rounds", Unit::Rounds, RUN, "rounds of slow start, up to 200"),
    metric("slow_start_cwnd", Unit::Packets, RUN, "largest congestion window by then"),
    metric(
        "slow_start_retransmitted_segments",
        Unit::Packets,
        RUN,
        "sent again in the recovery that ends slow start, or begins within an RTT",
    ),
    metric(
        "messages",
        Unit::Number,
        RUN,
        "answers that were read, or messages that nobody answers, up to 100,000",
    ),
    metric(
        "message_median_ms",
        Unit::Milliseconds,
        RUN,
        "median time from request to answer, or from the first write of a message to its last read",
    ),
    metric("message_p95_ms", Unit::Milliseconds, RUN, "95th percentile of that time"),
    metric("message_worst_ms", Unit::Milliseconds, RUN, "longest such time"),
    metric("share", Unit::Share, RUN, "its part of what is delivered while all flows live"),
    metric(
        "variation",
        Unit::Number,
        RUN,
        "standard deviation over mean of its rates in intervals of the second half",
    ),
    metric(
        "slow_start_queued_s",
        Unit::Seconds,
        RUN,
        "largest srtt up to an RTT after slow start, beside the least one",
    ),
];

/// Metrics of flows that share a path.
pub const SHARED: [&str; 2] = ["share", "variation"];

/// A limit's share: "flow.NAME.limits.LIMIT".
pub const LIMITS: Metric =
    metric("limits", Unit::Share, BOTH, "share of the time in which this limit held the flow back");

/// Metrics of files on NFS mounts: "nfs.NAME.METRIC".
pub const NFS: &[Metric] = &[
    metric("took_s", Unit::Seconds, RUN, "from the first write(2) or read(2) to the last close(2)"),
    metric("mean_mbit", Unit::Mbit, RUN, "bytes of the files over this time"),
    metric("requests", Unit::Packets, RUN, "WRITEs or READs that were answered"),
    metric("queue_ms", Unit::Milliseconds, RUN, "mean time that one waited to be sent"),
    metric("rtt_ms", Unit::Milliseconds, RUN, "mean time from when it was sent to its answer"),
    metric(
        "execute_ms",
        Unit::Milliseconds,
        RUN,
        "mean time from when it was asked for to its answer",
    ),
];

/// Metrics of datagrams: "datagrams.NAME.METRIC".
pub const DATAGRAMS: &[Metric] = &[
    metric("sent", Unit::Packets, RUN, "datagrams that the program wrote"),
    metric("refused", Unit::Packets, RUN, "of these, those that the full qdisc refused (ENOBUFS)"),
    metric("received", Unit::Packets, RUN, "those that came back (ping) or were read, each time"),
    metric(
        "lost",
        Unit::Packets,
        RUN,
        "udp: numbers that were left out; ping: requests without an answer",
    ),
    metric("loss_share", Unit::Share, RUN, "lost of what was sent up to the last one that came"),
    metric("reordered", Unit::Packets, RUN, "udp: those that came behind a higher number"),
    metric("duplicates", Unit::Packets, RUN, "those that came again"),
    metric("rcvbuf_errors", Unit::Packets, RUN, "udp: no room in the receiving socket"),
    metric("mean_mbit", Unit::Mbit, RUN, "udp: payload that was read, over the time of sending"),
    metric("jitter_ms", Unit::Milliseconds, RUN, "udp: jitter at the end (RFC 3550)"),
    metric("rtt_min_ms", Unit::Milliseconds, RUN, "ping: least round trip"),
    metric("rtt_avg_ms", Unit::Milliseconds, RUN, "ping: mean round trip"),
    metric("rtt_max_ms", Unit::Milliseconds, RUN, "ping: largest round trip"),
    metric(
        "rtt_mdev_ms",
        Unit::Milliseconds,
        RUN,
        "ping: root of the mean square's distance from the mean's",
    ),
];

/// Metrics of fairness: "fairness.METRIC".
pub const FAIRNESS: &[Metric] = &[
    metric("jain", Unit::Share, BOTH, "Jain's index of the rates while all flows live"),
    metric("jain_settled", Unit::Share, RUN, "the same over the second half of that time"),
    metric(
        "converged_s",
        Unit::Seconds,
        RUN,
        "from the last start until Jain's index stays at 0.95 (docs/competition.md)",
    ),
    metric("converged", Unit::Number, RUN, "1 where the flows converge, else 0"),
    metric(
        "rtt_exponent",
        Unit::Number,
        RUN,
        "k of x1/x2 = (RTT2/RTT1)^k, rates of the second half, RTT without queues",
    ),
    metric("dropped", Unit::Packets, RUN, "units dropped on the data's way while all flows live"),
    metric("queue", Unit::Packets, RUN, "mean number waiting for the slowest link in that time"),
];

/// Counters of a stage: "stage.NAME.METRIC".
pub const STAGE: &[Metric] = &[
    metric("dropped", Unit::Packets, RUN, "units dropped"),
    metric("marked", Unit::Packets, RUN, "units marked (ECN)"),
    metric("requeues", Unit::Packets, RUN, "skbs that the driver refused (of a qdisc)"),
    metric("entered", Unit::Packets, RUN, "units that entered"),
    metric("left", Unit::Packets, RUN, "units that left"),
    metric("waiting", Unit::Packets, RUN, "units waiting at the end"),
    metric("peak", Unit::Packets, RUN, "highest number waiting"),
    metric(
        "mean_waiting",
        Unit::Packets,
        RUN,
        "mean number waiting (`linux` and buffers of sockets: at the samples)",
    ),
    metric("busy_s", Unit::Seconds, RUN, "time it was working"),
    metric("blocked_s", Unit::Seconds, RUN, "time it refused new work"),
];

/// Stages of the sender, after "sender.".
pub const SENDER_STAGES: &[&str] =
    &["application", "send_buffer", "cpu", "qdisc", "tx_ring", "rx_ring", "backlog"];

/// Stages of the receiver, after "receiver.".
pub const RECEIVER_STAGES: &[&str] =
    &["rx_ring", "backlog", "receive_buffer", "cpu", "qdisc", "tx_ring"];

/// Further stages where a flow goes backward.
pub const BACKWARD_STAGES: &[&str] =
    &["receiver.application", "receiver.send_buffer", "sender.receive_buffer"];

/// The stage of a host that receives datagrams, after its name.
pub const UDP_SOCKET: &str = "udp_socket";

/// Finds the subject of `text` in a run. Reports at `place` a name that does not exist.
pub fn find(
    text: &str,
    place: Place,
    run: &Resolved,
    cx: &mut Context,
) -> Option<(Target, &'static Metric)> {
    let mut finder = Finder { text, place, cx };
    match text.split_once('.') {
        Some(("flow", rest)) => finder.flow(rest, run),
        Some(("stage", rest)) => finder.stage(rest, run),
        Some(("datagrams", rest)) => finder.datagrams(rest, run),
        Some(("nfs", rest)) => finder.nfs(rest, run),
        Some(("fairness", rest)) => finder.fairness(rest, run),
        // The answer lists all forms, since the first word was none of them.
        _ => {
            let flows = ["flow.NAME.METRIC", "flow.NAME.limits.LIMIT"];
            let others = ["fairness.METRIC", "stage.NAME.METRIC", "datagrams.NAME.METRIC"];
            let forms = flows.into_iter().chain(others).chain(["nfs.NAME.METRIC"]);
            finder.unknown(text, forms);
            None
        }
    }
}

struct Finder<'a> {
    text: &'a str,
    place: Place,
    cx: &'a mut Context,
}

impl Finder<'_> {
    fn unknown<'n>(&mut self, part: &str, known: impl IntoIterator<Item = &'n str>) {
        let message = format!("there is no metric `{}`", self.text);
        self.cx.error("unknown-name", self.place, message).names(part, known);
    }

    fn flow(&mut self, rest: &str, run: &Resolved) -> Option<(Target, &'static Metric)> {
        let (flow, column) = rest.split_once('.').unwrap_or((rest, ""));
        if !run.flow.iter().any(|known| known.name == flow) {
            self.unknown(flow, run.flow.iter().map(|flow| flow.name.as_str()));
            return None;
        }
        let flow = flow.to_string();

        // Limits have names of their own below a flow.
        if let Some(limit) = column.strip_prefix("limits.") {
            let Some(limit) = limit_names().find(|known| *known == limit) else {
                self.unknown(limit, limit_names());
                return None;
            };
            return Some((Target::Limit { flow, limit }, &LIMITS));
        }
        let metric = self.column(column, FLOW, &["limits.LIMIT"])?;

        // Some metrics need flows that share the path.
        if SHARED.contains(&metric.name) && !self.shared(run) {
            return None;
        }
        Some((Target::Flow { flow, column: metric.name }, metric))
    }

    fn fairness(&mut self, rest: &str, run: &Resolved) -> Option<(Target, &'static Metric)> {
        let metric = self.column(rest, FAIRNESS, &[])?;
        self.shared(run).then_some((Target::Fairness { column: metric.name }, metric))
    }

    /// Whether several flows of one direction share the path; reports that they do not.
    fn shared(&mut self, run: &Resolved) -> bool {
        let of = |direction| run.flow.iter().filter(|flow| flow.direction == direction).count();
        let shared = of(Direction::Forward).max(of(Direction::Backward)) > 1;
        if !shared {
            let message = format!("`{}` is of flows that share the path", self.text);
            self.cx
                .error("conflict", self.place, message)
                .expected("two flows of one direction, or `variant` with one that has them");
        }
        shared
    }

    fn datagrams(&mut self, rest: &str, run: &Resolved) -> Option<(Target, &'static Metric)> {
        let (name, column) = rest.split_once('.').unwrap_or((rest, ""));
        if !run.datagrams.iter().any(|known| known.name == name) {
            self.unknown(name, run.datagrams.iter().map(|own| own.name.as_str()));
            return None;
        }
        let metric = self.column(column, DATAGRAMS, &[])?;
        Some((Target::Datagrams { datagrams: name.into(), column: metric.name }, metric))
    }

    fn nfs(&mut self, rest: &str, run: &Resolved) -> Option<(Target, &'static Metric)> {
        let (name, column) = rest.split_once('.').unwrap_or((rest, ""));
        if !run.nfs.iter().any(|known| known.name == name) {
            self.unknown(name, run.nfs.iter().map(|own| own.name.as_str()));
            return None;
        }
        let metric = self.column(column, NFS, &[])?;
        Some((Target::Nfs { nfs: name.into(), column: metric.name }, metric))
    }

    fn stage(&mut self, rest: &str, run: &Resolved) -> Option<(Target, &'static Metric)> {
        let (stage, column) = rest.rsplit_once('.').unwrap_or((rest, ""));
        let known = stages(run);
        if !known.iter().any(|known| known == stage) {
            let whole = if known.iter().any(|known| known == rest) { rest } else { stage };
            if whole == stage {
                self.unknown(stage, known.iter().map(String::as_str));
                return None;
            }
        }
        let metric = self.column(column, STAGE, &[])?;
        Some((Target::Stage { stage: stage.into(), column: metric.name }, metric))
    }

    fn column(
        &mut self,
        column: &str,
        table: &'static [Metric],
        more: &[&str],
    ) -> Option<&'static Metric> {
        let found = table.iter().find(|metric| metric.name == column);
        if found.is_none() {
            let known = table.iter().map(|metric| metric.name).chain(more.iter().copied());
            self.unknown(column, known);
        }
        found
    }
}

/// Names of all stages of a run.
pub fn stages(run: &Resolved) -> Vec<String> {
    let path = run.path.forward.iter().chain(&run.path.back).map(|e| e.name().to_string());
    let sender = SENDER_STAGES.iter().map(|stage| format!("sender.{stage}"));
    let receiver = RECEIVER_STAGES.iter().map(|stage| format!("receiver.{stage}"));
    let backward = BACKWARD_STAGES.iter().filter(|_| run.has(Direction::Backward));
    let backward = backward.map(|stage| stage.to_string());
    path.chain(sender).chain(receiver).chain(backward).chain(udp_sockets(run)).collect()
}

/// Sockets that receive datagrams, each once.
fn udp_sockets(run: &Resolved) -> Vec<String> {
    let udp = run.datagrams.iter().filter(|own| own.kind == DatagramKind::Udp);
    let hosts = udp.map(|own| match (&own.to, own.direction) {
        (Some(to), _) => to.as_str(),
        (None, Direction::Forward) => "receiver",
        (None, Direction::Backward) => "sender",
    });
    let mut names: Vec<String> = hosts.map(|host| format!("{host}.{UDP_SOCKET}")).collect();
    names.sort_unstable();
    names.dedup();
    names
}
