//! The page on the gigabit experiments with one flow: its table is made from runs of the recipes (`UPDATE_EXPECT=1`
//! rewrites it).

use crate::made::{ToTheEnd, made};
use crate::marked;
use fullpipe::analysis::{self, Made, RunMeta, document::Run};
use fullpipe::engine;
use fullpipe::scenario::{self, Plan, SetOption};
use fullpipe::trace::recording::Recording;
use fullpipe_sim::trace::{
    Event, EventKind, FlowSample, Limit, Packet, Point, Sink, StageInfo, StageSample,
};
use fullpipe_sim::units::Time;

const PAGE: &str = "docs/onl-gigabit.md";
/// Two ways of 25 ms, without queues.
const ROUND_MS: u64 = 50;
const CWR: u64 = 2;
const OPEN: u64 = 0;
/// Data in a packet, bytes.
const MSS: u64 = 1448;
/// Bits of a packet as the page counts them.
const PACKET_BITS: f64 = 1500.0 * 8.0;

/// Results of a run of a recipe.
struct Seen {
    trace: Recording,
    established: Time,
}

impl Seen {
    /// The recipe's first variant.
    fn of(recipe: &str, set: &[&str]) -> Seen {
        Seen::variant(recipe, 0, set)
    }

    /// The recipe's variant at that index. Its expectations have to hold where no key is changed.
    fn variant(recipe: &str, place: usize, set: &[&str]) -> Seen {
        let source = scenario::recipe(recipe).expect("the recipe").source();
        let options: Vec<_> = set.iter().map(|set| SetOption((*set).into())).collect();
        let scenario = scenario::load(&source, &options, &[]).unwrap_or_else(|e| panic!("{e}"));
        let (run, trace) = made(&scenario, &scenario.plans()[place]);
        let failed = run.expectations.iter().find(|e| !e.passed);
        assert!(!set.is_empty() || failed.is_none(), "{recipe}: {failed:?}");
        let event = trace.events.iter().find(|e| e.kind == EventKind::Established);
        let established = event.expect("a connection").time;
        Seen { trace, established }
    }

    fn flow_at(&self, time: Time) -> &FlowSample {
        self.trace.flows.iter().rfind(|sample| sample.time <= time).expect("a sample")
    }

    /// Packets that are sent in each complete round of slow start: while all of them are in flight, the next round has
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

    /// The first sample of a stage for which a condition holds.
    fn first(&self, name: &str, holds: impl Fn(&StageSample) -> bool) -> Option<Time> {
        self.stage(name).find(|sample| holds(sample)).map(|sample| sample.time)
    }

    /// The number of the round that a time is in, from the first on.
    fn round_of(&self, time: Time) -> u64 {
        (time.0 - self.established.0) / Time::ms(ROUND_MS).0 + 1
    }

    /// Mb/s of IP packets from the first change of a count to the last one, in the round of that number.
    fn rate(&self, round: u64, counts: impl Iterator<Item = (Time, u64)>) -> f64 {
        let within: Vec<_> = counts.filter(|(time, _)| self.is_in(round, *time)).collect();
        let changes: Vec<_> = within.windows(2).filter(|two| two[0].1 != two[1].1).collect();
        let (first, last) = (changes[0][1], changes[changes.len() - 1][1]);
        (last.1 - first.1) as f64 * PACKET_BITS / (last.0.0 - first.0.0) as f64 * 1000.0
    }

    fn is_in(&self, round: u64, time: Time) -> bool {
        time >= self.established && self.round_of(time) == round
    }

    /// Mb/s of packets that the card sends in a round, from the first requeue to the last one.
    fn rate_with_requeues(&self, round: u64) -> f64 {
        let qdisc: Vec<_> = self.stage("sender.qdisc").collect();
        let more = qdisc.windows(2).filter(|two| two[0].requeues != two[1].requeues);
        let times: Vec<_> = more.map(|two| two[1].time).filter(|t| self.is_in(round, *t)).collect();
        let within = times[0]..=times[times.len() - 1];
        let ring = self.stage("sender.tx_ring").filter(|sample| within.contains(&sample.time));
        self.rate(round, ring.map(|sample| (sample.time, sample.left)))
    }

    fn state_since(&self, state: u64, after: Time) -> Option<Time> {
        let mut states = self.trace.events.iter().filter(|e| e.kind == EventKind::CaState);
        states.find(|e| e.value == state && e.time >= after).map(|e| e.time)
    }

    /// From when on the send buffer holds TCP back.
    fn stalled(&self) -> Option<Time> {
        let held = |sample: &&FlowSample| sample.limits[Limit::SendBuffer as usize] > 0;
        self.trace.flows.iter().find(held).map(|sample| sample.time)
    }

    fn sent_again(&self) -> u64 {
        self.trace.flows.last().expect("samples").segments_retransmitted
    }
}

/// Figures of the page on slow start: rounds, their packets, when and where it ends.
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
    /// Rates of TCP's sending, of ACKs and of the card with requeues, in the last whole round of slow start, Mb/s.
    rates: [f64; 3],
    /// From the first sight of a packet that the driver refuses to the second one, in a capture; median.
    twice_apart: Time,
}

/// A run that is captured on its sender: its trace, and the time after which each duplicate of a packet was seen.
#[derive(Default)]
struct Captured {
    trace: Recording,
    last: Packet,
    apart: Vec<Time>,
}

impl Sink for Captured {
    fn stages(&mut self, stages: &[StageInfo]) {
        self.trace.stages(stages);
    }
    fn flow(&mut self, sample: &FlowSample) {
        self.trace.flow(sample);
    }
    fn stage(&mut self, sample: &StageSample) {
        self.trace.stage(sample);
    }
    fn event(&mut self, event: &Event) {
        self.trace.event(event);
    }
    fn point(&self) -> Option<Point> {
        Some(Point::Qdisc(0))
    }
    fn packet(&mut self, packet: &Packet) {
        if packet.again {
            assert_eq!(packet.seq, self.last.seq, "nothing else is offered before it");
            self.apart.push(Time(packet.time.0 - self.last.time.0));
        }
        if packet.forward {
            self.last = packet.clone();
        }
    }
}

fn captured(plan: &Plan) -> Captured {
    let mut captured = Captured::default();
    let simulator = engine::find("sim").expect("the simulator");
    simulator.run(&plan.resolved, &mut captured, &mut ToTheEnd).expect("a run");
    captured
}

/// The median of the times between the two sights of a packet.
fn twice_apart(set: &[&str]) -> Time {
    let source = scenario::recipe("onl-reno-1flow").expect("the recipe").source();
    let set: Vec<_> = set.iter().map(|set| SetOption((*set).into())).collect();
    let scenario = scenario::load(&source, &set, &[]).unwrap_or_else(|e| panic!("{e}"));
    let mut apart = captured(&scenario.plans()[0]).apart;
    apart.sort_unstable();
    apart[apart.len() / 2]
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
    // In that state half as much is sent as is acknowledged.
    let sent = |at| seen.flow_at(at).segments_sent;
    let acked = |at| seen.flow_at(at).bytes_acked / MSS;
    let whole = seen.round_of(dropped) - 1;
    let flows = || seen.trace.flows.iter();
    let rates = [
        seen.rate(whole, flows().map(|f| (f.time, f.segments_sent))),
        seen.rate(whole, flows().map(|f| (f.time, f.bytes_acked / MSS))),
        seen.rate_with_requeues(whole),
    ];
    SlowStart {
        rates,
        twice_apart: twice_apart(&set),
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
    // Slow start sends at the card's rate until the ring of 256 is full: two packets enter it for each one that
    // leaves.
    assert!((480..=560).contains(&two.before_requeues), "{}", two.before_requeues);
    // Half as much is sent as is acknowledged, and that ends within a round.
    assert!((two.share_in_cwr - 0.5).abs() < 0.02, "{}", two.share_in_cwr);
    assert_eq!(two.open_in, 13);
    // One skb is refused; the ring takes the next waiting one within a packet's time or two.
    let packet = Time::us(13);
    assert!(two.full > Time::ZERO && two.full < packet + packet, "{}", two.full);
    assert!((two.ends - 0.65).abs() < 0.05, "{}", two.ends);
    // Two packets for one that the port of 960 Mb/s lets through; the card's own rate is 1500 of 1538 bytes.
    for (rate, is) in two.rates.iter().zip([1920.0, 960.0, 975.3]) {
        assert!((rate / is - 1.0).abs() < 0.02, "{rate} Mb/s, not {is}");
    }
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
        row("in the last whole round: TCP sends, Gb/s", "1.88", &|run| {
            format!("{:.2}", run.rates[0] / 1000.0)
        }),
        row("ACKs come for, Mb/s", "960", &|run| format!("{:.0}", run.rates[1])),
        row("the card sends with requeues, Mb/s", "960", &|run| format!("{:.0}", run.rates[2])),
        row("packets seen twice, µs apart", "about 12", &|run| {
            format!("{:.1}", run.twice_apart.as_ns() as f64 / 1000.0)
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
fn twelve_rounds_of_slow_start_are_found() {
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
    // A drop of the qdisc ends the last round, in which less is sent than in a whole one.
    let dropped = trace.events.iter().find(|e| e.kind == EventKind::CaState && e.value == CWR);
    let end = rounds[11].end_s.expect("an end") + run.flows[0].clock_start_s;
    assert!((end - dropped.expect("CWR").time.as_secs_f64()).abs() < 1e-9, "{end}");
    assert!(segments[11] < 1 << 12, "{segments:?}");
    // An engine that does not record them has the same in its samples of 5 ms.
    trace.events.retain(|e| !matches!(e.kind, EventKind::Round | EventKind::SlowStartEnded));
    let meta = RunMeta::from_plan(&scenario, &scenario.plans()[0], Made::default());
    let counted = analysis::run(&meta, &trace).flows.remove(0).slow_start_rounds.expect("rounds");
    assert_eq!(counted.len(), 12);
    for (exact, counted) in rounds.iter().zip(&counted) {
        assert!((exact.start_s - counted.start_s).abs() < 0.006, "{exact:?} {counted:?}");
    }
}

/// A larger ring, as in the recipe, with a smaller buffer of the socket, and with a smaller window.
#[test]
fn a_larger_ring_lets_the_burst_through() {
    let mut table = String::from(
        "| run | requeues | drops of the qdisc | most in flight, MB | the send buffer holds TCP back from, s | drops of the port | the first one, s | most in the ring | most at the port |\n|---|{}\n",
    )
    .replace("{}", &"--:|".repeat(8));
    let window = ["hosts.receiver.sysctl.net.core.rmem_max=16000000"];
    let ring = "onl-reno-1flow-ring";
    let runs: [(&str, &str, usize, &[&str]); 5] = [
        ("`onl-reno-1flow-ring`: reno, ring", ring, 0, &[]),
        ("its other variant: buffer of 10.5 MiB", ring, 1, &[]),
        ("the first one, `rmem_max` of 16,000,000", ring, 0, &window),
        ("`onl-reno-1flow-host`", "onl-reno-1flow-host", 0, &[]),
        ("`onl-bic-1flow`", "onl-bic-1flow", 0, &[]),
    ];
    for (name, recipe, place, set) in runs {
        let seen = Seen::variant(recipe, place, set);
        let most = seen.trace.flows.iter().map(|f| u64::from(f.in_flight)).max().unwrap_or(0);
        let peak = |stage| seen.stage(stage).map(|sample| sample.peak).max().unwrap_or(0);
        let qdisc = seen.last("sender.qdisc");
        assert_eq!((qdisc.requeues, qdisc.dropped), (0, 0), "{name}");
        let (port, megabytes) = (seen.last("port").dropped, (most * MSS) as f64 / 1e6);
        assert_eq!(port == 0, place == 1, "{name}");
        let as_published = place == 1 || !set.is_empty();
        assert!(!as_published || (15.5..=17.0).contains(&megabytes), "{name}: {megabytes} MB");
        let [dropped, stalled] = [seen.first("port", |sample| sample.dropped > 0), seen.stalled()];
        assert!(dropped.zip(stalled).is_none_or(|(dropped, stalled)| dropped > stalled), "{name}");
        let [ring, queue] = ["sender.tx_ring", "port"].map(peak);
        let [stalled, dropped] = [stalled, dropped].map(seconds);
        table += &format!(
            "| {name} | {} | {} | {megabytes:.1} | {stalled} | {port} | {dropped} | {ring} | {queue} |\n",
            qdisc.requeues, qdisc.dropped
        );
    }
    marked::committed(PAGE, "ring", &table);
}

/// With large rings and queues cwnd passes the BDP in slow start and stays: it grows by no ACK before which it was not used up.
/// The same run without that check says so.
#[test]
fn what_is_unused_keeps_cwnd_where_it_is() {
    let mut table = String::from(
        "| run | cwnd at 1 s | at 2 s | at 3 s | most in flight until then | in slow start |\n|---|--:|--:|--:|--:|---|\n",
    );
    let without = ["hosts.sender.behaviour.cwnd_limited=always"];
    let runs: [(&str, &[&str]); 2] =
        [("`onl-reno-1flow-host`", &[]), ("without the check", &without)];
    let rows = runs.map(|(name, set)| {
        let seen = Seen::variant("onl-reno-1flow-host", 0, set);
        let until = seen.trace.flows.iter().filter(|flow| flow.time <= Time::secs(3));
        let most = until.map(|flow| flow.in_flight).max().expect("samples");
        let at = [1, 2, 3].map(|second| seen.flow_at(Time::secs(second)));
        let slow_start = at.iter().all(|flow| flow.cwnd <= flow.ssthresh);
        let [first, second, third] = at.map(|flow| flow.cwnd);
        let found = if slow_start { "yes" } else { "no" };
        table += &format!("| {name} | {first} | {second} | {third} | {most} | {found} |\n");
        (first, third, most, slow_start)
    });
    marked::committed(PAGE, "validation", &table);
    let [(first, third, most, slow_start), (.., unchecked, _, _)] = rows;
    assert!(slow_start && first > 4167 && third < first + first / 8, "{rows:?}");
    assert!((most..=most + most / 20).contains(&third) && unchecked > 5 * third, "{rows:?}");
}

/// A moment in a table.
fn seconds(time: Option<Time>) -> String {
    time.map_or("–".into(), |time| format!("{:.1}", time.as_secs_f64()))
}

/// The page's hosts slow down where they capture: CPU costs chosen, as in `scenarios/captures/cost.toml`.
#[test]
fn a_capture_on_the_sender_lowers_its_rate() {
    let source = scenario::recipe("onl-reno-1flow-ring").expect("the recipe").source();
    let cpu = r#"{ transmit = "4us/packet", ack = "2us/packet", capture = "10us/packet" }"#;
    let set = ["path.forward.port.rate=1Gbit".into(), format!("hosts.sender.cpu={cpu}")];
    let scenario = scenario::load(&source, &set.map(SetOption), &[]);
    let scenario = scenario.unwrap_or_else(|e| panic!("{e}"));
    let plan = &scenario.plans()[1];
    let meta = RunMeta::from_plan(&scenario, plan, Made::default());
    let row = |name: &str, run: &Run| {
        let flow = &run.flows[0];
        let settled = flow.settled.expect("a second half").mbit;
        let cpu = 100.0 * flow.cpu.expect("costs").sender;
        let ring = run.stages.iter().find(|stage| stage.name == "sender.rx_ring").expect("it");
        (settled, format!("| {name} | {settled:.0} | {cpu:.0} | {} |\n", ring.dropped))
    };
    let (without, first) = row("no capture", &made(&scenario, plan).0);
    let run = analysis::run(&meta, &captured(plan).trace);
    let (with, second) = row("captured on the sender", &run);
    // The card's rate, then less than that.
    assert!((without / 941.5 - 1.0).abs() < 0.01, "{without}");
    assert!(with < 0.9 * without, "{with} and {without}");
    let head = "| run | second half, Mb/s | sender's CPU, % | ACKs dropped by its ring |\n|---|--:|--:|--:|\n";
    marked::committed(PAGE, "capture", &(head.to_string() + &first + &second));
}
