//! Sockets of Linux 6.12 on a real kernel and in the simulator, sample by sample, and the counters that diagnose a sender.
//! Without a kernel these tests are skipped, unless FULLPIPE_REQUIRE_KERNEL is set.
//!
//! All columns are equal in all samples, but for the times of tcp_chrono, which may differ by two jiffies.

use crate::common::Desk;
use crate::common::linux::{desk, trace};
use fullpipe::base::trace::FlowSample;
use fullpipe::trace::recording::Recording;
use std::collections::BTreeMap;

/// Parts that a scenario adds to a path of 100 Mb/s and 40 ms between two hosts.
#[derive(Default)]
struct Adds<'a> {
    path: &'a str,
    sender: &'a str,
    receiver: &'a str,
    flow: &'a str,
}

/// A path between hosts with Linux 6.12, with a flow that outlives the run. Largest buffers are equal, as one kernel
/// has them for both hosts.
fn scenario(Adds { path, sender, receiver, flow }: &Adds) -> String {
    let limits = "\"net.core.wmem_max\" = \"64MB\", \"net.core.rmem_max\" = \"64MB\"";
    let host =
        "kernel = \"6.12\"\nnic_rate = \"1000Gbit\"\ntx_ring = \"4096 descriptors\"\nhz = 1000\n";
    format!(
        "title = \"sockets\"\nseed = 1\nduration = \"4s\"\n[path]\nforward = [\n\
         {{ kind = \"link\", name = \"link\", rate = \"100Mbit\", framing = \"ethernet\", \
         queue = {{ limit = \"500kB\" }} }},\n{path}\
         {{ kind = \"delay\", name = \"far\", delay = \"20ms\" }},\n]\n\
         back = [{{ kind = \"delay\", name = \"home\", delay = \"20ms\" }}]\n\
         [hosts.sender]\n{host}sysctl = {{ {limits}{sender} }}\n\
         [hosts.receiver]\n{host}sysctl = {{ {limits}{receiver} }}\n\
         [[flow]]\nname = \"bulk\"\ncongestion = \"cubic\"\nduration = \"5s\"\n{flow}\n\
         [report]\nsample = \"10ms\"\n"
    )
}

/// A column by its name.
type Field = (&'static str, fn(&FlowSample) -> u64);

macro_rules! fields {
    ($($($field:ident).+),+ $(,)?) => {
        &[$((stringify!($($field).+), |sample: &FlowSample| u64::from(sample.$($field).+))),+]
    };
}

const EXACT: &[Field] = fields![
    cwnd,
    ssthresh,
    srtt_us,
    sender.min_rtt_us,
    sender.rttvar_us,
    sender.unacked,
    sender.sacked,
    sender.lost,
    sender.retrans_out,
    sender.reordering,
    sender.reord_seen,
    sender.dsack_dups,
    sender.pacing_rate,
    sender.max_pacing_rate,
    sender.snd_mss,
    sender.pmtu,
    sender.delivered,
    sender.delivered_ce,
    sender.wmem_queued,
    sender.sndbuf,
    sender.wmem_alloc,
    sender.options,
    sender.snd_wscale,
    sender.rcv_wscale,
    sender.backoff,
    sender.retransmits,
    sender.total_rto,
    receiver.rcv_rtt_us,
    receiver.rcv_space,
    receiver.rcv_ooopack,
    receiver.rcv_wnd,
    receiver.rcvbuf,
    receiver.rmem_alloc,
    receiver.unread,
    receiver.rcv_mss,
    receiver.advmss,
    receiver.rcv_ssthresh,
    receiver.bytes_received,
];

const CHRONO: &[Field] =
    fields![sender.busy_time_us, sender.rwnd_limited_us, sender.sndbuf_limited_us];

/// The traces of both engines: the kernel's and the simulator's.
fn both(scenario: &str) -> Option<[Recording; 2]> {
    let desk = desk(scenario)?;
    Some(["linux", "sim"].map(|engine| run(&desk, engine)))
}

fn run(desk: &Desk, engine: &str) -> Recording {
    let own = ["run", "my.toml", "--engine", engine, "-q", "--out", engine];
    desk.call(&own).ends_with(0);
    trace(desk, engine)
}

/// Counters of a host that show events of a sender.
const COUNTERS: [&str; 26] = [
    "Tcp.RetransSegs",
    "TcpExt.TCPHystartTrainDetect",
    "TcpExt.TCPHystartTrainCwnd",
    "TcpExt.TCPHystartDelayDetect",
    "TcpExt.TCPHystartDelayCwnd",
    "TcpExt.TCPDSACKRecv",
    "TcpExt.TCPDSACKOfoRecv",
    "TcpExt.TCPSACKReorder",
    "TcpExt.TCPTSReorder",
    "TcpExt.TCPRenoReorder",
    "TcpExt.TCPFullUndo",
    "TcpExt.TCPPartialUndo",
    "TcpExt.TCPDSACKUndo",
    "TcpExt.TCPLossUndo",
    "TcpExt.TCPLostRetransmit",
    "TcpExt.TCPTimeouts",
    "TcpExt.TCPLossProbes",
    "TcpExt.TCPSpuriousRTOs",
    "TcpExt.TCPRcvCollapsed",
    "TcpExt.PruneCalled",
    "TcpExt.TCPRcvQDrop",
    "TcpExt.TCPOFOQueue",
    "TcpExt.TCPOFODrop",
    "TcpExt.TCPWantZeroWindowAdv",
    "TcpExt.TCPToZeroWindowAdv",
    "TcpExt.TCPFromZeroWindowAdv",
];

/// Last values of these counters, by host and name, where they are not 0.
fn counters(trace: &Recording) -> BTreeMap<String, u64> {
    let own = trace.counters.iter().filter(|c| COUNTERS.contains(&&*c.name));
    let last: BTreeMap<_, _> = own.map(|c| (format!("{} {}", c.host, c.name), c.value)).collect();
    last.into_iter().filter(|(_, value)| *value > 0).collect()
}

/// Columns that differ by more than `tolerance`: samples, and the first one's time in ms with both values.
fn differences(traces: &[Recording; 2], fields: &[Field], tolerance: u64) -> Vec<String> {
    let [linux, sim] = traces;
    assert_eq!(linux.flows.len(), sim.flows.len());
    let mut found = Vec::new();
    for (name, of) in fields {
        // Before the connection is there the simulator knows cwnd and ssthresh, and the kernel shows nothing.
        let pairs = linux.flows.iter().zip(&sim.flows).filter(|(a, _)| a.sender.snd_mss > 0);
        let differ: Vec<_> = pairs.filter(|(a, b)| of(a).abs_diff(of(b)) > tolerance).collect();
        if let Some((a, b)) = differ.first() {
            let ms = a.time.0 / 1_000_000;
            found.push(format!("{name}: {} samples, at {ms} ms {} {}", differ.len(), of(a), of(b)));
        }
    }
    found
}

/// Compares both engines; the kernel's last sample and counters.
fn compare(adds: &Adds) -> Option<(FlowSample, BTreeMap<String, u64>)> {
    let traces = both(&scenario(adds))?;
    let apart = [differences(&traces, EXACT, 0), differences(&traces, CHRONO, 2_000)].concat();
    assert!(apart.is_empty(), "Linux and simulator:\n{}", apart.join("\n"));
    let [linux, sim] = traces.each_ref().map(counters);
    assert_eq!(linux, sim);
    Some((traces[0].flows.last().expect("samples").clone(), linux))
}

#[test]
fn a_small_window_is_named_as_the_limit() {
    let receiver = ", \"net.ipv4.tcp_rmem\" = \"4096 131072 262144\"";
    let adds = Adds { receiver, flow: "sndbuf = \"4MB\"", ..Adds::default() };
    let Some((last, counters)) = compare(&adds) else { return };
    let sender = last.sender;
    assert!(sender.rwnd_limited_us > 3_000_000 && sender.busy_time_us > 3_900_000, "{sender:?}");
    assert_eq!((sender.options, sender.snd_mss, sender.pmtu), (7, 1448, 1500));
    assert_eq!(last.receiver.rcvbuf, 262_144);
    assert_eq!(counters.get("sender Tcp.RetransSegs"), None);
}

/// A buffer that the kernel tunes up to 300 kB, and one that the application has set.
#[test]
fn a_small_send_buffer_is_named_as_the_limit() {
    let sender = ", \"net.ipv4.tcp_wmem\" = \"4096 16384 300000\"";
    let Some((last, _)) = compare(&Adds { sender, ..Adds::default() }) else { return };
    assert!(last.sender.sndbuf_limited_us > 50_000, "{:?}", last.sender);
    assert_eq!(last.sender.sndbuf, 300_000);
    let set = Adds { flow: "sndbuf = \"200kB\"", ..Adds::default() };
    let Some((last, _)) = compare(&set) else { return };
    assert_eq!(last.sender.sndbuf, 400_000);
}

/// Single losses among packets of which each 100th is 1 ms early, then packets that arrive too late for RACK.
#[test]
fn losses_and_reordering_are_distinguished() {
    let path = "{ kind = \"drop\", name = \"list\", flow = \"bulk\", \
                segments = [300, 301, 900, 2500, 2507, 5000] },\n\
                { kind = \"reorder\", name = \"reorder\", delay = \"1ms\", probability = 1, gap = 100 },\n";
    let Some((last, counters)) = compare(&Adds { path, ..Adds::default() }) else { return };
    let sender = last.sender;
    assert!(sender.reord_seen > 50 && sender.reordering > 3, "{sender:?}");
    assert_eq!(counters["sender Tcp.RetransSegs"], 6);
    assert_eq!(counters["sender TcpExt.TCPSACKReorder"], sender.reord_seen);
    assert!(counters["receiver TcpExt.TCPOFOQueue"] > 50 && last.receiver.rcv_ooopack > 50);

    let path = "{ kind = \"reorder\", name = \"reorder\", delay = \"15ms\", probability = 1, gap = 300 },\n";
    let Some((last, counters)) = compare(&Adds { path, ..Adds::default() }) else { return };
    let dsacks = ["Recv", "OfoRecv"].map(|kind| format!("sender TcpExt.TCPDSACK{kind}"));
    let dsacks: u64 = dsacks.iter().filter_map(|name| counters.get(name)).sum();
    assert!(last.sender.dsack_dups > 0 && dsacks > 0, "{counters:?}");
}

#[test]
fn a_slow_writer_is_busy_without_a_limit() {
    let flow = "app = { kind = \"rate\", rate = \"40Mbit\" }";
    let Some((last, _)) = compare(&Adds { flow, ..Adds::default() }) else { return };
    let sender = last.sender;
    assert!(sender.busy_time_us > 3_800_000, "{sender:?}");
    assert_eq!((sender.rwnd_limited_us, sender.sndbuf_limited_us), (0, 0));
}

#[test]
fn a_slow_reader_leaves_no_window() {
    let flow = "reader = { rate = \"21Mbit\" }";
    let Some((last, _)) = compare(&Adds { flow, ..Adds::default() }) else { return };
    assert!(last.sender.rwnd_limited_us > 3_000_000 && last.receiver.unread > 500_000, "{last:?}");

    let flow = "rcvbuf = \"60kB\"\nreader = { rate = \"1Mbit\" }";
    let Some((_, counters)) = compare(&Adds { flow, ..Adds::default() }) else { return };
    for adv in ["WantZero", "ToZero", "FromZero"] {
        let name = format!("receiver TcpExt.TCP{adv}WindowAdv");
        assert!(counters.get(&name).is_some_and(|&value| value > 2), "{counters:?}");
    }
}
