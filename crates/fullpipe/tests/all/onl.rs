//! The page on the gigabit experiments with one flow: its table comes from runs of the recipes (`FULLPIPE_BLESS=1` rewrites it).

use crate::made::made;
use crate::marked;
use fullpipe::analysis::{self, Made, RunMeta};
use fullpipe::scenario::{self, SetOption};
use fullpipe::trace::recording::Recording;
use fullpipe_sim::trace::{EventKind, FlowSample, StageSample};
use fullpipe_sim::units::Time;

const PAGE: &str = "docs/onl-gigabit.md";
/// Two ways of 25 ms, without what a queue adds.
const ROUND_MS: u64 = 50;
const CWR: u64 = 2;
const OPEN: u64 = 0;
/// Data in a packet, bytes.
const MSS: u64 = 1448;

/// What a run of a recipe shows.
struct Seen {
    trace: Recording,
    established: Time,
}

impl Seen {
    fn of(recipe: &str, set: &[&str]) -> Seen {
        let source = scenario::recipe(recipe).expect("the recipe").source();
        let set: Vec<_> = set.iter().map(|set| SetOption((*set).into())).collect();
        let scenario = scenario::load(&source, &set, &[]).unwrap_or_else(|e| panic!("{e}"));
        let (_, trace) = made(&scenario, &scenario.plans()[0]);
        let event = trace.events.iter().find(|e| e.kind == EventKind::Established);
        let established = event.expect("a connection").time;
        Seen { trace, established }
    }

    fn flow_at(&self, time: Time) -> &FlowSample {
        self.trace.flows.iter().rfind(|sample| sample.time <= time).expect("a sample")
    }

    /// Packets that are sent in each round of slow start that nothing cuts short: while all of them are in flight, the next one has
    /// not begun.
    fn rounds(&self, count: u64) -> Vec<u64> {
        let sent = |round: u64| {
            let end = Time(self.established.0 + Time::ms(ROUND_MS).0 * round - 100_000);
            self.flow_at(end).segments_sent
        };
        (1..=count).map(|round| sent(round) - if round > 1 { sent(round - 1) } else { 0 }).collect()
    }

    fn stage(&self, name: &str) -> impl Iterator<Item = &StageSample> {
        let index = self.trace.stages.iter().find(|stage| stage.name == name).expect(name).index;
        self.trace.stage_samples.iter().filter(move |sample| sample.stage == index)
    }

    fn last(&self, name: &str) -> &StageSample {
        self.stage(name).last().expect("samples")
    }

    /// The first sample of a stage of which that is true.
    fn first(&self, name: &str, holds: impl Fn(&StageSample) -> bool) -> Option<Time> {
        self.stage(name).find(|sample| holds(sample)).map(|sample| sample.time)
    }

    /// The number of the round that a time is in, from the first on.
    fn round_of(&self, time: Time) -> u64 {
        (time.0 - self.established.0) / Time::ms(ROUND_MS).0 + 1
    }

    fn state_since(&self, state: u64, after: Time) -> Option<Time> {
        let mut states = self.trace.events.iter().filter(|e| e.kind == EventKind::CaState);
        states.find(|e| e.value == state && e.time >= after).map(|e| e.time)
    }

    fn sent_again(&self) -> u64 {
        self.trace.flows.last().expect("samples").segments_retransmitted
    }
}

/// What the page tells of slow start: rounds, their packets, when and where it ends.
struct SlowStart {
    first_round: u64,
    requeued_in: u64,
    before_requeues: u64,
    dropped_in: u64,
    drops: u64,
    /// For how long the qdisc was full.
    full: Time,
    ends: f64,
    share_in_cwr: f64,
    /// The round in which CWR ends.
    open_in: u64,
}

fn slow_start(initcwnd: &str) -> SlowStart {
    let first = format!("hosts.sender.initcwnd={initcwnd}");
    let set = ["duration=2s", "flow.bulk.duration=2s", "report.sample=0.1ms", &first];
    let seen = Seen::of("onl-reno-1flow", &set);
    let qdisc = "sender.qdisc";
    let requeued = seen.first(qdisc, |sample| sample.requeues > 0).expect("a full ring");
    let requeued_in = seen.round_of(requeued);
    let rounds = seen.rounds(requeued_in + 1);
    assert!(rounds.windows(2).all(|two| two[1] == 2 * two[0]), "{rounds:?}");
    let before: u64 = rounds[..requeued_in as usize - 1].iter().sum();
    let dropped = seen.first(qdisc, |sample| sample.dropped > 0).expect("a drop");
    let cwr = seen.state_since(CWR, Time::ZERO).expect("CWR");
    let open = seen.state_since(OPEN, cwr).expect("its end");
    assert_eq!(seen.sent_again(), 0);
    // Of what is acknowledged in that state half as much is sent.
    let sent = |at| seen.flow_at(at).segments_sent;
    let acked = |at| seen.flow_at(at).bytes_acked / MSS;
    SlowStart {
        first_round: rounds[0],
        requeued_in,
        before_requeues: seen.flow_at(requeued).segments_sent - before,
        dropped_in: seen.round_of(dropped),
        drops: seen.last(qdisc).dropped,
        full: Time(seen.last(qdisc).full_ns),
        ends: cwr.as_secs_f64(),
        open_in: seen.round_of(open),
        share_in_cwr: (sent(open) - sent(cwr)) as f64 / (acked(open) - acked(cwr)) as f64,
    }
}

#[test]
fn one_reno_flow_fills_its_hosts_ring_and_qdisc() {
    let [two, three] = ["2 packets", "3 packets"].map(slow_start);
    assert_eq!([two.first_round, two.requeued_in, two.dropped_in, two.drops], [2, 10, 12, 1]);
    // What slow start sends at the card's rate until the ring of 256 is full: two packets go in for one that goes out.
    assert!((480..=560).contains(&two.before_requeues), "{}", two.before_requeues);
    // Half as much as is acknowledged goes out, and that ends within a round.
    assert!((two.share_in_cwr - 0.5).abs() < 0.02, "{}", two.share_in_cwr);
    assert_eq!(two.open_in, 13);
    // One skb is refused; the ring takes the next one of those that wait within a packet's time or two.
    let packet = Time::us(13);
    assert!(two.full > Time::ZERO && two.full < packet + packet, "{}", two.full);
    assert!((two.ends - 0.65).abs() < 0.05, "{}", two.ends);
    let row = |what: &str, published: &str, of: &dyn Fn(&SlowStart) -> String| {
        format!("| {what} | {published} | {} | {} |\n", of(&two), of(&three))
    };
    let table = [
        row("packets in round 1", "1", &|run| run.first_round.to_string()),
        row("rounds of slow start", "12", &|run| run.dropped_in.to_string()),
        row("it ends, s", "0.65", &|run| format!("{:.2}", run.ends)),
        row("first round with requeues", "10", &|run| run.requeued_in.to_string()),
        row("packets of that round before them", "about 512", &|run| {
            run.before_requeues.to_string()
        }),
        row("drops of the qdisc, all in the last round", "1", &|run| run.drops.to_string()),
        row("it is full for, µs", "–", &|run| {
            format!("{:.0}", run.full.as_ns() as f64 / 1000.0)
        }),
        row("packets sent again", "0", &|_| "0".into()),
        row("last round of CWR", "13", &|run| run.open_in.to_string()),
        row("sent in CWR, of what is acknowledged", "half", &|run| {
            format!("{:.2}", run.share_in_cwr)
        }),
    ];
    let head = "| | published | first cwnd 2 | 3 |\n|---|--:|--:|--:|\n";
    marked::committed(PAGE, "onl", &(head.to_string() + &table.concat()));
}

/// The metric of the recipe's expectation, without packets that are kept; of each round the segments.
#[test]
fn twelve_rounds_of_slow_start_are_told() {
    let source = scenario::recipe("onl-reno-1flow").expect("the recipe").source();
    let set = ["duration=2s", "flow.bulk.duration=2s"].map(|set| SetOption(set.into()));
    let scenario = scenario::load(&source, &set, &[]).unwrap_or_else(|e| panic!("{e}"));
    let (run, mut trace) = made(&scenario, &scenario.plans()[0]);
    assert!(run.expectations.len() >= 2 && run.expectations.iter().all(|e| e.passed), "{run:?}");
    let qdisc = run.picture.places.iter().find(|place| place.stage == "sender.qdisc");
    let qdisc = qdisc.expect("a place");
    assert!(qdisc.exact && qdisc.full.is_some_and(|share| share > 0.0), "{qdisc:?}");
    let rounds = run.flows[0].slow_start_rounds.as_ref().expect("rounds");
    let segments: Vec<u64> = rounds.iter().map(|round| round.segments).collect();
    let doubling: Vec<u64> = (1..=11).map(|round| 1 << round).collect();
    assert_eq!(segments[..11], doubling);
    assert_eq!(segments.len(), 12);
    // A drop of the qdisc ends the last one, of which less is sent than in a whole one.
    let dropped = trace.events.iter().find(|e| e.kind == EventKind::CaState && e.value == CWR);
    let end = rounds[11].end_s.expect("an end") + run.flows[0].clock_start_s;
    assert!((end - dropped.expect("CWR").time.as_secs_f64()).abs() < 1e-9, "{end}");
    assert!(segments[11] < 1 << 12, "{segments:?}");
    // An engine that does not tell them has the same in its samples of 5 ms.
    trace.events.retain(|e| !matches!(e.kind, EventKind::Round | EventKind::SlowStartEnded));
    let meta = RunMeta::from_plan(&scenario, &scenario.plans()[0], Made::default());
    let counted = analysis::run(&meta, &trace).flows.remove(0).slow_start_rounds.expect("rounds");
    assert_eq!(counted.len(), 12);
    for (exact, counted) in rounds.iter().zip(&counted) {
        assert!((exact.start_s - counted.start_s).abs() < 0.006, "{exact:?} {counted:?}");
    }
}

/// A larger ring, as the recipe has it, and with a smaller buffer of the socket.
#[test]
fn a_larger_ring_lets_the_burst_through() {
    let mut table = String::from(
        "| run | requeues | drops of the qdisc | drops of the port | most in flight, MB | most in the ring | most at the port |\n|---|{}\n",
    )
    .replace("{}", &"--:|".repeat(6));
    let smaller = ["flow.bulk.socket_buffer=10.5MiB"];
    let window = ["hosts.receiver.sysctl.net.core.rmem_max=16000000"];
    let runs: [(&str, &str, &[&str]); 5] = [
        ("`onl-reno-1flow-ring`", "onl-reno-1flow-ring", &[]),
        ("the same, buffer of 10.5 MiB", "onl-reno-1flow-ring", &smaller),
        ("the same, `rmem_max` of 16,000,000", "onl-reno-1flow-ring", &window),
        ("`onl-reno-1flow-host`", "onl-reno-1flow-host", &[]),
        ("`onl-bic-1flow`", "onl-bic-1flow", &[]),
    ];
    for (name, recipe, set) in runs {
        let seen = Seen::of(recipe, set);
        let most = seen.trace.flows.iter().map(|f| u64::from(f.in_flight)).max().unwrap_or(0);
        let peak = |stage| seen.stage(stage).map(|sample| sample.peak).max().unwrap_or(0);
        let qdisc = seen.last("sender.qdisc");
        assert_eq!((qdisc.requeues, qdisc.dropped), (0, 0), "{name}");
        let (port, megabytes) = (seen.last("port").dropped, (most * MSS) as f64 / 1e6);
        assert_eq!(port == 0, set == smaller, "{name}");
        assert!(set.is_empty() || (15.5..=17.0).contains(&megabytes), "{name}: {megabytes} MB");
        // Validation holds cwnd near what is in flight, though slow start has not ended.
        let early = seen.flow_at(Time::secs(3));
        let near = (most - most / 50..=most + most / 50).contains(&u64::from(early.cwnd));
        let slow_start = early.cwnd <= early.ssthresh;
        assert!(near && slow_start, "{name}: {early:?}, {most} in flight");
        let [ring, queue] = ["sender.tx_ring", "port"].map(peak);
        table += &format!(
            "| {name} | {} | {} | {port} | {megabytes:.1} | {ring} | {queue} |\n",
            qdisc.requeues, qdisc.dropped
        );
    }
    marked::committed(PAGE, "ring", &table);
}
