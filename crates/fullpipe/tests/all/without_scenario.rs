//! Rules do not read the scenario: without facts of the scenario alone, causes and places are the same. Figures in their texts
//! may differ. Each rule has a run in which it fires, and one near it in which it is quiet.

use crate::field;
use crate::made::{by_two, made, scenario_files};
use fullpipe::analysis::document::Run;
use fullpipe::analysis::rules::RULES;
use fullpipe::analysis::settings::FlowSettings;
use fullpipe::analysis::sizing::Question;
use fullpipe::analysis::{self, DatagramsMeta, FlowMeta, Made, RunMeta};
use fullpipe::scenario::{self, Plan, Scenario, Source};
use fullpipe::trace::recording::Recording;
use fullpipe_sim::units::Time;
use std::path::PathBuf;

/// Settings of a run that an audit of its hosts, programs and devices shows, and facts that any observer knows: names, times,
/// directions.
///
/// Each field is here by name, so that a new one raises the question whether an observer can know it.
fn observed(meta: &RunMeta) -> RunMeta {
    RunMeta {
        variant: String::new(),
        set: serde_json::Map::new(),
        engine: String::new(),
        substituted: Vec::new(),
        unvalidated: Vec::new(),
        chosen_qdiscs: Vec::new(),
        tuned: meta.tuned.clone(),
        notes: Vec::new(),
        places: meta.places.clone(),
        partial: meta.partial,
        main_way: meta.main_way,
        main_datagrams: meta.main_datagrams.clone(),
        or_settled: meta.or_settled,
        flows: meta.flows.iter().map(flow).collect(),
        loops: Vec::new(),
        waits: Vec::new(),
        datagrams: meta.datagrams.iter().map(datagrams).collect(),
        nfs: meta.nfs.clone(),
        mss: meta.mss,
        interval: meta.interval,
        first_interval: meta.first_interval,
        clock_offset: meta.clock_offset,
        sample: meta.sample,
        bin: meta.bin,
        // Owners of links know their rates, and when these changed.
        ways: meta.ways.clone(),
        published: None,
        expectations: Vec::new(),
    }
}

fn flow(own: &FlowMeta) -> FlowMeta {
    FlowMeta {
        name: own.name.clone(),
        direction: own.direction,
        hosts: own.hosts.clone(),
        congestion: own.congestion.clone(),
        kernel: own.kernel.clone(),
        start: own.start,
        // The trace says when such a connection begins.
        follows: own.follows,
        // A socket that closes shows when its program has stopped.
        stop: own.stop,
        bytes: own.bytes,
        base_rtt: None,
        reverse_flow: own.reverse_flow,
        shaper: own.shaper.clone(),
        settings: settings(&own.settings),
        earlier: own.earlier,
        pasted: own.pasted.clone(),
    }
}

fn settings(own: &FlowSettings) -> FlowSettings {
    let wrong = |end: Question| Question { rtt: Time::us(1), ..end };
    FlowSettings {
        kernels: own.kernels.clone(),
        systems: own.systems,
        send: own.send.clone(),
        receive: own.receive.clone(),
        ends: own.ends.map(|ends| ends.map(wrong)),
        loss: 0.0,
        without_scaling: own.without_scaling.clone(),
        without_sack: own.without_sack.clone(),
        pace: own.pace.clone(),
        first_ssthresh: own.first_ssthresh,
        write: own.write,
        message: own.message,
        period: own.period,
        is_corked: own.is_corked,
        read: own.read,
        hosts: own.hosts.clone(),
    }
}

fn datagrams(own: &DatagramsMeta) -> DatagramsMeta {
    DatagramsMeta { rate: None, ..own.clone() }
}

/// Codes, rules and places of a run's headline and findings.
fn verdict(run: &Run) -> Vec<[String; 3]> {
    let headline = run.headline.as_ref().expect("a run has a headline");
    let first = [&headline.code, &headline.rule, &headline.place];
    let first = first.map(|own| own.clone().unwrap_or_default());
    let others = run
        .findings
        .iter()
        .map(|own| [own.code.clone(), own.rule.clone(), own.place.clone().unwrap_or_default()]);
    std::iter::once(first).chain(others).collect()
}

/// Fails where the findings of a run depend on facts of its scenario alone.
pub fn has_the_same_findings(scenario: &Scenario, plan: &Plan, run: &Run, recording: &Recording) {
    let meta = RunMeta::from_plan(scenario, plan, Made::default());
    let blind = analysis::run(&observed(&meta), recording);
    let text = |run: &Run| run.headline.as_ref().map(|own| own.text.clone()).unwrap_or_default();
    let name = format!("{}, {}", scenario.name, run.variant);
    assert_eq!(verdict(run), verdict(&blind), "{name}: {}\n{}", text(run), text(&blind));
}

/// A variant of a scenario, and the rules of its findings, first the headline's.
struct Judged {
    scenario: String,
    rules: Vec<String>,
}

/// A rule, a run that fires it, and a run near it that does not, for rules without such a pair among the files.
const PAIRS: [(&str, &str, &str); 12] = [
    ("application", WRITER, PLAIN),
    ("round-trips", TURNS, TWO_TURNS),
    ("random-loss", LOSSY, PLAIN),
    ("without-scaling", SCALING_OFF, PLAIN),
    ("aqm", CODEL, DROP_TAIL),
    ("initial-ssthresh", THRESHOLD, PLAIN),
    ("slow-reader", READER, PLAIN),
    ("small-packets", SMALL, PLAIN),
    ("program-window", WINDOW, WIDE),
    ("program-window", FEW_REQUESTS, WIDE),
    ("delayed-ack", TWO_WRITES, ONE_WRITE),
    ("growing-window", LARGE_START, SHORT),
];

/// Pairs in which the near run has other words in one place: the rule, the run, its words, and the other ones.
const WORDS: [(&str, &str, &str, &str); 15] = [
    ("write-back", LITTLE_MEMORY, "memory = \"1GiB\"\n", ""),
    ("small-reads", SMALL_READS, "1KiB", "64KiB"),
    ("tcp-mem", TIGHT, "512 768 1024", "8192 12288 16384"),
    ("tcp-mem-drops", TIGHT_ALONE, "512 768 1024", "8192 12288 16384"),
    ("ack-path", SLOW_BACK, "300kbit", "10Mbit"),
    ("tx-ring", SHORT_RING, "20 descriptors", "4096 descriptors"),
    ("rpc-slots", TWO_SLOTS, "slots = 2\nwsize = \"64KiB\"\n", ""),
    ("server-threads", ONE_THREAD, "threads = 1\nservice = \"10ms\"\n", ""),
    ("server-work", WORKING, "service = \"300ms\"\n", ""),
    ("call-timeouts", HASTY, "timeo = \"700ms\"\n", ""),
    ("black-hole", NARROW, "mtu = 1400", "mtu = 1500"),
    ("late-mtu", LATE_MTU, "mtu = 1300", "mtu = 1500"),
    ("slow-growth", HYSTART, "hystart = 1", "hystart = 0"),
    ("stuck-window", JUMBO, "mtu = 9001", "mtu = 2000"),
    ("slow-window", SLOW_TUNING, "6.16", "6.18"),
];

const WRITER: &str = "[[flow]]\nname = \"bulk\"\nwrite = \"14480B\"\nduration = \"5s\"\n\
    app = { kind = \"rate\", rate = \"5Mbit\" }\n";
const TURNS: &str = "[[flow]]\nname = \"calls\"\nbytes = \"6kB\"\nwrite = \"200B\"\n\
    [[flow]]\nname = \"replies\"\nreply_to = \"calls\"\nwrite = \"100kB\"\n";
const TWO_TURNS: &str = "[[flow]]\nname = \"calls\"\nbytes = \"400B\"\nwrite = \"200B\"\n\
    [[flow]]\nname = \"replies\"\nreply_to = \"calls\"\nwrite = \"100kB\"\n";
const WINDOW: &str =
    "[[flow]]\nname = \"bulk\"\nduration = \"10s\"\napp = { window = \"64KiB\" }\n";
const FEW_REQUESTS: &str = "[[flow]]\nname = \"bulk\"\nduration = \"10s\"\n\
    app = { requests = 4, size = \"32KiB\" }\n";
const TWO_WRITES: &str = "[[flow]]\nname = \"calls\"\nduration = \"5s\"\nwrite = \"200B\"\n\
    [[flow]]\nname = \"replies\"\nreply_to = \"calls\"\nwrite = \"600B\"\n\
    app = { kind = \"messages\", size = \"1200B\" }\n";
const ONE_WRITE: &str = "[[flow]]\nname = \"calls\"\nduration = \"5s\"\nwrite = \"200B\"\n\
    [[flow]]\nname = \"replies\"\nreply_to = \"calls\"\nwrite = \"1200B\"\n";
const WIDE: &str =
    "[[flow]]\nname = \"bulk\"\nduration = \"10s\"\napp = { program = \"openssh\" }\n";
const LOSSY: &str = "[path.loss]\nforward = 2e-3\nback = 0.0\n\
    [[flow]]\nname = \"bulk\"\nduration = \"10s\"\n";
const PLAIN: &str = "[[flow]]\nname = \"bulk\"\nduration = \"10s\"\n";
const SCALING_OFF: &str = "[hosts.receiver.sysctl]\n\"net.ipv4.tcp_window_scaling\" = 0\n\
    [[flow]]\nname = \"bulk\"\nduration = \"10s\"\n";
const CODEL: &str = "[path.queue]\ndiscipline = \"fq_codel\"\n\
    [[flow]]\nname = \"bulk\"\nduration = \"10s\"\n";
const DROP_TAIL: &str = "[path.queue]\nlimit = \"10MB\"\n\
    [[flow]]\nname = \"bulk\"\nduration = \"10s\"\n";
const THRESHOLD: &str = "[[flow]]\nname = \"bulk\"\nduration = \"10s\"\n\
    congestion = { name = \"cubic\", initial_ssthresh = 20, hystart = 0 }\n";

const READER: &str =
    "[[flow]]\nname = \"bulk\"\nduration = \"10s\"\nreader = { rate = \"5Mbit\" }\n";
const SMALL: &str = "mtu = 200\n[[flow]]\nname = \"bulk\"\nduration = \"10s\"\n";

/// 60 connections of a program that does not read, 128 KiB each, at a host with 4 MiB for its sockets, and one that is
/// read.
const TIGHT: &str = "[path]\nrate = \"1Gbit\"\ndelay = { forward = \"5ms\", back = \"5ms\" }\n\
    [hosts.sender]\nkernel = \"6.12\"\n[hosts.receiver]\nkernel = \"6.12\"\n\
    sysctl = { \"net.ipv4.tcp_mem\" = \"512 768 1024\" }\n\
    [[flow]]\nname = \"hoarder\"\nduration = \"8s\"\ncount = 60\nreader = { rate = \"100bit\" }\n\
    [[flow]]\nname = \"victim\"\nstart = \"1s\"\nduration = \"5s\"\n";
/// The 60 connections without the one that is read.
const TIGHT_ALONE: &str = "[path]\nrate = \"1Gbit\"\ndelay = { forward = \"5ms\", back = \"5ms\" }\n\
    [hosts.sender]\nkernel = \"6.12\"\n[hosts.receiver]\nkernel = \"6.12\"\n\
    sysctl = { \"net.ipv4.tcp_mem\" = \"512 768 1024\" }\n\
    [[flow]]\nname = \"hoarder\"\nduration = \"8s\"\ncount = 60\nreader = { rate = \"100bit\" }\n";

/// A way back of 300 kb/s under 50 Mb/s of data, and of 10 Mb/s.
const SLOW_BACK: &str = "[path]\n\
    forward = [{ kind = \"link\", name = \"link\", rate = \"50Mbit\" }, { kind = \"delay\", name = \"there\", delay = \"20ms\" }]\n\
    back = [{ kind = \"link\", name = \"up\", rate = \"300kbit\" }, { kind = \"delay\", name = \"back\", delay = \"20ms\" }]\n\
    [[flow]]\nname = \"bulk\"\nduration = \"10s\"\n";
/// The driver learns of sent packets each millisecond. In this time 1 Gb/s sends more than 20 descriptors hold, but less
/// than 4096 hold.
const SHORT_RING: &str = "[path]\nrate = \"1Gbit\"\ndelay = { forward = \"10ms\", back = \"10ms\" }\n\
    [hosts.sender]\nkernel = \"6.12\"\ntx_ring = \"20 descriptors\"\ntx_coalesce = \"1ms\"\n\
    qdisc = { kind = \"pfifo_fast\", limit = \"10000 packets\" }\n[hosts.receiver]\nkernel = \"6.12\"\n\
    [[flow]]\nname = \"bulk\"\nduration = \"5s\"\n";
/// 1 MB over 1 Gb/s x 40 ms, from a first cwnd that the window of the receiver does not follow, and from the usual one.
const LARGE_START: &str = "[path]\nrate = \"1Gbit\"\ndelay = { forward = \"20ms\", back = \"20ms\" }\n\
    [hosts.sender]\nkernel = \"6.12\"\ninitcwnd = \"1000 packets\"\n[hosts.receiver]\nkernel = \"6.12\"\n\
    [[flow]]\nname = \"bulk\"\nbytes = \"1MB\"\n";
const SHORT: &str = "[path]\nrate = \"1Gbit\"\ndelay = { forward = \"20ms\", back = \"20ms\" }\n\
    [[flow]]\nname = \"bulk\"\nbytes = \"1MB\"\n";
/// A mount over 1 Gb/s x 20 ms: two calls of 64 KiB at a time, a server of one slow thread, and neither.
const TWO_SLOTS: &str = "[path]\nrate = \"1Gbit\"\ndelay = { forward = \"10ms\", back = \"10ms\" }\n\
    [[nfs]]\nname = \"m\"\noperation = \"write\"\nfile = \"50MB\"\nslots = 2\nwsize = \"64KiB\"\n";
const ONE_THREAD: &str = "[path]\nrate = \"1Gbit\"\ndelay = { forward = \"10ms\", back = \"10ms\" }\n\
    [[nfs]]\nname = \"m\"\noperation = \"write\"\nfile = \"50MB\"\nthreads = 1\nservice = \"10ms\"\n";
/// A receiver with jumbo frames before Linux 5.10, and a sender without.
const JUMBO: &str = "[path]\nrate = \"1Gbit\"\nmtu = 1500\ndelay = { forward = \"35ms\", back = \"35ms\" }\n\
    [hosts]\nsender = { kernel = \"6.1\" }\n\
    receiver = { kernel = \"6.1\", mtu = 9001, behaviour = { space_within_ssthresh = false } }\n\
    [[flow]]\nname = \"bulk\"\nduration = \"10s\"\n";
/// 20 MB over 10 Gb/s x 50 ms, in buffers that are large enough.
const SLOW_TUNING: &str = "[path]\nrate = \"10Gbit\"\ndelay = { forward = \"25ms\", back = \"25ms\" }\n\
    [hosts.sender]\nkernel = \"6.16\"\nsysctl = { \"net.ipv4.tcp_wmem\" = \"4096 16384 300000000\" }\n\
    [hosts.receiver]\nkernel = \"6.16\"\nsysctl = { \"net.ipv4.tcp_rmem\" = \"4096 131072 300000000\" }\n\
    [[flow]]\nname = \"bulk\"\nduration = \"5s\"\n";
/// A tunnel that passes no full packets.
const NARROW: &str = "[path]\nmtu = 1500\nforward = [{ kind = \"link\", name = \"link\", rate = \"50Mbit\" }, \
    { kind = \"mtu\", name = \"tunnel\", mtu = 1400 }, { kind = \"delay\", name = \"there\", delay = \"20ms\" }]\n\
    back = [{ kind = \"delay\", name = \"back\", delay = \"20ms\" }]\n\
    [[flow]]\nname = \"bulk\"\nduration = \"10s\"\n";
/// A router's message comes a round trip after the first window, which is lost.
const LATE_MTU: &str = "[path]\nmtu = 1500\nforward = [{ kind = \"link\", name = \"link\", rate = \"50Mbit\" }, \
    { kind = \"mtu\", name = \"tunnel\", mtu = 1300, icmp = true }, { kind = \"delay\", name = \"there\", delay = \"40ms\" }]\n\
    back = [{ kind = \"delay\", name = \"back\", delay = \"40ms\" }]\n\
    [[flow]]\nname = \"short\"\nbytes = \"60kB\"\n";
/// A CPU that spends 20 us on each read keeps up with 1 Gb/s in reads of 64 KiB, not in reads of 1 KiB.
const SMALL_READS: &str = "[path]\nrate = \"1Gbit\"\ndelay = { forward = \"1ms\", back = \"1ms\" }\n\
    [hosts.sender]\nkernel = \"6.12\"\n[hosts.receiver]\nkernel = \"6.12\"\ncpu = { read = \"20us/call\" }\n\
    [[flow]]\nname = \"bulk\"\nduration = \"5s\"\nreader = { rate = \"100Gbit\", read = \"1KiB\" }\n";
/// The answers to the last calls of 20 MB come 300 ms after their data, and at once.
const WORKING: &str = "[path]\nrate = \"100Mbit\"\ndelay = { forward = \"10ms\", back = \"10ms\" }\n\
    [[nfs]]\nname = \"m\"\noperation = \"write\"\nfile = \"20MB\"\nservice = \"300ms\"\n";
/// Fifteen calls of 1 MiB take 1.26 s of 100 Mb/s.
const HASTY: &str = "[path]\nrate = \"100Mbit\"\ndelay = { forward = \"1ms\", back = \"1ms\" }\n\
    [[nfs]]\nname = \"m\"\nversion = \"3\"\noperation = \"read\"\nfile = \"64MiB\"\nreadahead = \"15MiB\"\ntimeo = \"700ms\"\n";
/// HyStart of Linux 2.6.35 ends slow start next to a flow of 300 Mb/s, long before 1 Gb/s x 100 ms is full.
const HYSTART: &str = "[path]\nrate = \"1Gbit\"\ndelay = { forward = \"50ms\", back = \"50ms\" }\nqueue = { limit = \"30MB\" }\n\
    [hosts.sender]\nkernel = \"2.6.35\"\nsysctl = { \"net.ipv4.tcp_wmem\" = \"4096 16384 100000000\" }\n\
    [hosts.receiver]\nkernel = \"2.6.35\"\nsysctl = { \"net.ipv4.tcp_rmem\" = \"4096 131072 100000000\" }\n\
    [[flow]]\nname = \"small\"\nduration = \"3s\"\napp = { kind = \"rate\", rate = \"300Mbit\" }\n\
    [[flow]]\nname = \"bulk\"\nstart = \"1s\"\nduration = \"6s\"\ncongestion = { name = \"cubic\", hystart = 1 }\n";

/// 500 MB in the page cache of a client with 1 GiB, over a path that holds 100 MB.
const LITTLE_MEMORY: &str = "[path]\nrate = \"10Gbit\"\ndelay = { forward = \"40ms\", back = \"40ms\" }\n\
    [hosts.sender]\nkernel = \"6.12\"\nsysctl = { \"net.ipv4.tcp_wmem\" = \"4096 16384 400000000\" }\n\
    [hosts.receiver]\nkernel = \"6.12\"\nsysctl = { \"net.ipv4.tcp_rmem\" = \"4096 131072 400000000\" }\n\
    [[nfs]]\nname = \"m\"\nversion = \"3\"\noperation = \"write\"\nfile = \"500MB\"\nmemory = \"1GiB\"\n";

/// Rules without a pair in which one run fires them and a near one does not. The list only shrinks.
const WITHOUT_A_PAIR: &[&str] =
    &["recovery", "full-qdisc", "nagle", "record-gate", "full-receive-buffer"];

/// A path of 50 Mb/s and 40 ms between hosts of Linux 6.12, or with the path and hosts of `rest`. An MTU at the
/// beginning of `rest` is the path's.
fn near(rest: &str) -> String {
    if rest.starts_with("[path]\n") {
        let hosts = match rest.contains("[hosts") {
            true => "",
            false => "[hosts.sender]\nkernel = \"6.12\"\n[hosts.receiver]\nkernel = \"6.12\"\n",
        };
        return format!("duration = \"15s\"\n{}", rest.replacen("[[", &format!("{hosts}[["), 1));
    }
    let at = rest.find('[').filter(|_| rest.starts_with("mtu")).unwrap_or(0);
    let (mtu, rest) = rest.split_at(at);
    format!(
        "duration = \"15s\"\n[path]\n{mtu}rate = \"50Mbit\"\ndelay = {{ forward = \"20ms\", back = \"20ms\" }}\n\
         [hosts.sender]\nkernel = \"6.12\"\n[hosts.receiver]\nkernel = \"6.12\"\n{rest}"
    )
}

/// The rules of a run of a scenario.
fn judged(scenario: &str, run: &Run) -> Judged {
    let rules = verdict(run).into_iter().map(|[_, rule, _]| rule).collect();
    Judged { scenario: scenario.into(), rules }
}

/// Runs all variants of a scenario, each with and without facts of the scenario alone.
fn runs(name: &str, source: &Source) -> Vec<Judged> {
    let scenario = scenario::load(source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
    let plan = |plan: &Plan| {
        let (run, recording) = made(&scenario, plan);
        has_the_same_findings(&scenario, plan, &run, &recording);
        judged(name, &run)
    };
    scenario.plans().iter().map(plan).collect()
}

/// Each rule of the pairs, with the run that fires it and the near one.
fn pairs() -> Vec<(&'static str, [String; 2])> {
    let pairs =
        PAIRS.iter().map(|(rule, fires, quiet)| (*rule, [*fires, *quiet].map(str::to_string)));
    let words = WORDS.iter();
    let words =
        words.map(|(rule, fires, from, to)| (*rule, [fires.to_string(), fires.replace(from, to)]));
    pairs.chain(words).collect()
}

/// Scenarios of `limits` and the pairs. Scenarios of `field` are run by their own test, with the same comparison.
fn all() -> Vec<Judged> {
    let is_limit = |path: &PathBuf| path.parent().is_some_and(|own| own.ends_with("limits"));
    let file = |path: PathBuf| {
        (path.display().to_string(), Source::read(&path).unwrap_or_else(|e| panic!("{e}")))
    };
    let files = scenario_files().into_iter().filter(is_limit).map(file);
    let pairs = pairs().into_iter().flat_map(|(rule, pair)| {
        pair.map(|text| (rule.to_string(), Source::text("near.toml", &near(&text))))
    });
    let all: Vec<(String, Source)> = files.chain(pairs).collect();
    let all = by_two(all.len(), |at| runs(&all[at].0, &all[at].1)).into_iter().flatten();
    let field = field::documents().iter();
    let field = field.flat_map(|own| own.runs.iter().map(|run| judged(&own.scenario.name, run)));
    all.chain(field).collect()
}

#[test]
fn rules_do_not_read_the_scenario_and_have_a_pair() {
    let all = all();
    let has_pair = |rule: &str| {
        let fires = all.iter().filter(|own| own.rules.iter().any(|name| name == rule));
        let is_quiet = |own: &Judged| own.rules.iter().all(|name| name != rule);
        let near = |own: &Judged| {
            all.iter().any(|other| other.scenario == own.scenario && is_quiet(other))
        };
        fires.into_iter().any(near)
    };
    for (rule, _) in pairs() {
        let own: Vec<&Judged> = all.iter().filter(|own| own.scenario == rule).collect();
        for pair in own.chunks(2) {
            let fires = pair.iter().map(|own| own.rules.iter().any(|name| name == rule));
            assert_eq!(fires.collect::<Vec<_>>(), [true, false], "{rule}");
        }
    }
    let missing = RULES.iter().map(|rule| rule.name).filter(|rule| !has_pair(rule));
    assert_eq!(missing.collect::<Vec<_>>(), WITHOUT_A_PAIR);
}
