//! A sender's card that is slower than all links: it is the bottleneck, and its ring keeps work from its qdisc.

use fullpipe::analysis::document::Run;
use fullpipe::analysis::{self, Made, RunMeta};
use fullpipe::engine;
use fullpipe::report::terminal::{self, Style};
use fullpipe::scenario::{Beside, Plan, Scenario, Source, load};
use fullpipe::trace::recording::Recording;
use fullpipe_sim::trace::Control;
use fullpipe_sim::units::Time;

const SCENARIO: &str = r#"
title = "A slow card"
[path]
rate = "1Gbit"
delay = { forward = "5ms", back = "5ms" }
[hosts.sender]
kernel = "6.12"
[hosts.receiver]
kernel = "6.12"
[[flow]]
name = "bulk"
congestion = "cubic"
duration = "1s"
"#;

/// Never stops a run.
struct Whole;

impl Control for Whole {
    fn go_on(&mut self, _now: Time) -> bool {
        true
    }
}

/// The scenario with these keys of the sender.
fn scenario(sender: &str) -> Scenario {
    let text = SCENARIO.replace("[hosts.receiver]", &format!("{sender}\n[hosts.receiver]"));
    let source = Source::from_bytes("card.toml", text.as_bytes(), Beside::Nothing);
    source.and_then(|source| load(&source, &[], &[])).unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn meta(scenario: &Scenario, plan: &Plan) -> RunMeta {
    RunMeta::from_plan(scenario, plan, Made { engine: "sim".into(), ..Made::default() })
}

fn run(sender: &str) -> (Scenario, Run) {
    let scenario = scenario(sender);
    let plan = &scenario.plans()[0];
    let mut recording = Recording::default();
    let simulator = engine::find("sim").expect("the simulator");
    simulator.run(&plan.resolved, &mut recording, &mut Whole).expect("it runs");
    let run = analysis::run(&meta(&scenario, plan), &recording);
    (scenario, run)
}

#[test]
fn a_card_slower_than_the_links_is_the_bottleneck() {
    let way = |sender| {
        let scenario = scenario(sender);
        let plan = &scenario.plans()[0];
        meta(&scenario, plan).ways[0].clone()
    };
    let (slow, fast) = (way("nic_rate = \"400Mbit\""), way("nic_rate = \"1Gbit\""));
    assert_eq!((slow.rate, fast.rate), (None, Some(1_000_000_000)));
    assert_eq!(slow.queues, ["sender.qdisc", "sender.tx_ring"]);
    assert_eq!(fast.queues, ["link"]);
    // 1448 bytes of payload in 1538 on an Ethernet wire.
    let capacity = slow.capacity_mbit.expect("a rate");
    assert!((capacity - 400.0 * 1448.0 / 1538.0).abs() < 1e-9, "{capacity}");
    let (_, run) = run("nic_rate = \"400Mbit\"");
    let highest = run.flows[0].series.queue.iter().max().copied();
    let ring = run.stages.iter().find(|stage| stage.name == "sender.tx_ring").expect("a ring");
    assert_eq!(highest, Some(ring.peak));
    assert!(ring.peak > 100, "{ring:?}");
}

#[test]
fn a_qdisc_before_a_ring_that_takes_all_is_named() {
    let card = "nic_rate = \"400Mbit\"\nqdisc = { kind = \"fq_codel\" }";
    let (scenario, idle) = run(card);
    assert_eq!(idle.idle_qdiscs, ["sender.qdisc"]);
    let document = analysis::document(&scenario, &["sim"], vec![idle]);
    let text = terminal::render(&document, Style { width: 80, color: false });
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let note = "note: no packet ever waited in sender.qdisc, as the card's ring of 512 took all;";
    assert!(words.contains(note), "{text}");
    let busy = [format!("{card}\ntx_ring = \"16 descriptors\""), format!("{card}\nbql = true")];
    for sender in busy.iter().map(String::as_str).chain(["nic_rate = \"400Mbit\""]) {
        let (_, run) = run(sender);
        assert!(run.idle_qdiscs.is_empty(), "{sender}: {:?}", run.idle_qdiscs);
    }
}
