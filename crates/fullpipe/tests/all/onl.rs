//! The page on the gigabit experiments with one flow: its table comes from runs of the recipes (`FULLPIPE_BLESS=1` rewrites it).

use crate::made::made;
use crate::marked;
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

/// What a run of a recipe shows, up to the end of its second second.
struct Seen {
    trace: Recording,
    established: Time,
}

impl Seen {
    fn of(recipe: &str) -> Seen {
        let source = scenario::recipe(recipe).expect("the recipe").source();
        let set = ["duration=2s", "flow.bulk.duration=2s", "report.sample=0.1ms"];
        let set = set.map(|set| SetOption(set.into()));
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

fn line(what: &str, published: &str, here: &str) -> String {
    format!("| {what} | {published} | {here} |\n")
}

#[test]
fn one_reno_flow_fills_its_hosts_ring_and_qdisc() {
    let seen = Seen::of("onl-reno-1flow");
    let rounds = seen.rounds(11);
    let doubling: Vec<u64> = (1..=11).map(|round| 1 << round).collect();
    assert_eq!(rounds, doubling);
    let qdisc = "sender.qdisc";
    let requeued = seen.first(qdisc, |sample| sample.requeues > 0).expect("a full ring");
    let sent_before: u64 = doubling[..9].iter().sum();
    let into_round = seen.flow_at(requeued).segments_sent - sent_before;
    let dropped = seen.first(qdisc, |sample| sample.dropped > 0).expect("a drop");
    let cwr = seen.state_since(CWR, Time::ZERO).expect("CWR");
    let open = seen.state_since(OPEN, cwr).expect("its end");
    let found = [seen.round_of(requeued), seen.round_of(dropped), seen.last(qdisc).dropped];
    assert_eq!((found, seen.sent_again()), ([10, 12, 1], 0));
    // What slow start sends at the card's rate until the ring of 256 is full: two packets go in for one that goes out.
    assert!((480..=560).contains(&into_round), "{into_round}");
    // Of what is acknowledged in that state half as much is sent.
    let sent = |at| seen.flow_at(at).segments_sent;
    let acked = |at| seen.flow_at(at).bytes_acked / MSS;
    let share = (sent(open) - sent(cwr)) as f64 / (acked(open) - acked(cwr)) as f64;
    assert!((share - 0.5).abs() < 0.08, "{share}");
    let ends = cwr.as_secs_f64();
    assert!((ends - 0.65).abs() < 0.05, "{ends}");
    let [ring, host] = ["onl-reno-1flow-ring", "onl-reno-1flow-host"].map(Seen::of);
    for larger in [&ring, &host] {
        let qdisc = larger.last(qdisc);
        assert_eq!((qdisc.requeues, qdisc.dropped, larger.sent_again()), (0, 0, 0));
    }
    let most = |seen: &Seen| seen.trace.flows.iter().map(|f| u64::from(f.in_flight)).max();
    let in_flight = |seen: &Seen| most(seen).unwrap_or(0) * MSS;
    // Validation holds cwnd near what is in flight, though slow start has not ended.
    let last = host.trace.flows.last().expect("samples");
    let packets = most(&host).unwrap_or(0);
    assert!(u64::from(last.cwnd) <= packets + packets / 50, "{} {packets}", last.cwnd);
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let table = [
        line("rounds of slow start", "12", &found[1].to_string()),
        line("packets in rounds 2 to 11", "2^K", "2^K"),
        line("packets in round 1", "1", &rounds[0].to_string()),
        line("slow start ends, s", "0.65", &format!("{ends:.2}")),
        line("first round with requeues", "10", &found[0].to_string()),
        line("packets of that round before them", "about 512", &into_round.to_string()),
        line("drops of the qdisc, all in round 12", "1", &found[2].to_string()),
        line("packets sent again", "0", "0"),
        line("sent in CWR, of what is acknowledged", "half", &format!("{share:.2}")),
        line("ring of 16,192: requeues, drops", "0, 0", "0, 0"),
        line("the same: most in flight", "16 MB", &megabytes(in_flight(&ring))),
    ];
    let head = "| | published | simulated |\n|---|--:|--:|\n";
    marked::committed(PAGE, "onl", &(head.to_string() + &table.concat()));
}
