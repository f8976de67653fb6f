//! The limits that a run can be said to have and a user can relieve, judged by their counterfactual: relieving the named
//! limit raises the rate, relieving another does not. The scenarios are scenarios/limits/*.toml.

use crate::made::made;
use fullpipe::analysis::document::Run;
use fullpipe::scenario::{self, SetOption, Source};
use std::collections::BTreeMap;
use std::path::Path;

/// The runs of a scenario, by variant.
fn made_all(name: &str, sets: &[SetOption]) -> BTreeMap<String, Run> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/limits");
    let source = Source::read(&folder.join(format!("{name}.toml"))).unwrap();
    let scenario = scenario::load(&source, sets, &[]).unwrap_or_else(|e| panic!("{e}"));
    let runs = scenario.plans().iter().map(|plan| (plan.variant.clone(), made(&scenario, plan).0));
    runs.collect()
}

/// The runs "base", "relieved" and "other" of a scenario.
fn runs(name: &str, sets: &[SetOption]) -> [Run; 3] {
    let mut made = made_all(name, sets);
    ["base", "relieved", "other"].map(|variant| made.remove(variant).unwrap())
}

/// The limit is named with more than half of the flow's life, at its place of the path's picture, and its counterfactual
/// holds.
fn holds(name: &str, limit: &str, place: Option<&str>) {
    holds_with(name, &[], limit, place);
}

/// Where the picture says that the flow was held back for more than half of its life.
fn blamed(run: &Run) -> Option<&str> {
    let share = |limits: &BTreeMap<String, f64>| limits.get(&run.flows[0].name).copied();
    let places = run.picture.places.iter();
    let mut blamed = places.filter(|place| share(&place.limits).is_some_and(|share| share > 0.5));
    blamed.next().map(|place| &place.stage[..])
}

fn holds_with(name: &str, sets: &[SetOption], limit: &str, place: Option<&str>) {
    let runs = runs(name, sets);
    assert_eq!(blamed(&runs[0]), place, "{name}");
    let [base, relieved, other] = runs.map(|run| run.flows[0].clone());
    let table = format!(
        "{name}: base {:.1} Mb/s, {limit} relieved {:.1}, other relieved {:.1}; limits {:?}",
        base.mean_mbit, relieved.mean_mbit, other.mean_mbit, base.limits
    );
    let share = base.limits.get(limit).copied().unwrap_or(0.0);
    assert!(share > 0.5, "{limit} is not named. {table}");
    assert!(relieved.mean_mbit > 1.2 * base.mean_mbit, "relief does not help. {table}");
    let change = (other.mean_mbit / base.mean_mbit - 1.0).abs();
    assert!(change < 0.02, "relieving another limit helps. {table}");
    let sum: f64 = base.limits.values().sum();
    assert!((sum - 1.0).abs() < 1e-9, "shares add up to {sum}. {table}");
}

#[test]
fn cwnd() {
    holds("cwnd", "cwnd_avoidance", None);
}

/// A large skb that waits for more of cwnd (TSO deferral) is not the CPU's fault.
#[test]
fn cwnd_with_tso_deferral() {
    let set = |key: &str| SetOption(format!("hosts.{key}.kernel=2.6.25"));
    let sets = [set("sender"), set("receiver")];
    holds_with("cwnd", &sets, "cwnd_avoidance", None);
    holds_with("receive_window", &sets, "receive_window", Some("receiver.receive_buffer"));
}

#[test]
fn receive_window() {
    holds("receive_window", "receive_window", Some("receiver.receive_buffer"));
}

/// A reader that is slow leaves no window.
#[test]
fn reader() {
    holds("reader", "reader", Some("receiver.receive_buffer"));
}

#[test]
fn send_buffer() {
    holds("send_buffer", "send_buffer", Some("sender.send_buffer"));
}

#[test]
fn application() {
    holds("application", "application", Some("sender.application"));
}

#[test]
fn sender_cpu() {
    holds("sender_cpu", "sender_cpu", Some("sender.cpu"));
}

#[test]
fn link() {
    holds("link", "link", Some("link"));
}

#[test]
fn nic() {
    holds("nic", "nic", Some("sender.tx_ring"));
}

/// TCP that waits for its own skbs to leave the host (3.6 and later) waits for the card, not for the CPU. The
/// attribution finds the CPU where TCP does wait for it.
#[test]
fn nic_and_sender_cpu_with_small_queues() {
    for kernel in ["3.14", "6.1", "6.12"] {
        let set = |key: &str| SetOption(format!("hosts.{key}.kernel={kernel}"));
        let sets = [set("sender"), set("receiver")];
        holds_with("nic", &sets, "nic", Some("sender.tx_ring"));
        holds_with("sender_cpu", &sets, "sender_cpu", Some("sender.cpu"));
    }
}

/// A ring that is short for the driver's interrupts: skbs wait for it, and the wire waits for them.
#[test]
fn tx_ring() {
    holds("tx_ring", "tx_ring", Some("sender.tx_ring"));
    let [base, relieved, _] = runs("tx_ring", &[]);
    let ring = |run: &Run| {
        let ring = run.stages.iter().find(|stage| stage.name == "sender.tx_ring").unwrap();
        [ring.blocked_s, ring.busy_s]
    };
    let [blocked, busy] = ring(&base);
    assert!(blocked > 0.9 * base.duration_s && busy < 0.3 * base.duration_s, "{blocked} {busy}");
    assert!(ring(&relieved)[1] > 2.0 * busy);
}

/// Sent packets that the driver does not know of count for small queues: TCP waits for its own host.
#[test]
fn completion() {
    holds("completion", "small_queues", Some("sender.tx_ring"));
}

#[test]
fn receiver_cpu() {
    holds("receiver_cpu", "receiver_cpu", Some("receiver.cpu"));
}

/// A CPU that has no time left: ACKs wait in front of it, so that windows look exhausted.
#[test]
fn acks_that_wait_for_the_sender_s_cpu() {
    holds("ack_cpu", "sender_cpu", Some("sender.cpu"));
}

/// The rate that a socket asks for (SO_MAX_PACING_RATE).
#[test]
fn pacing() {
    holds("pacing", "pacing", None);
}

/// fq spreads cwnd over the round trip. The slow card behind it is the limit, not a pace, because none is configured.
#[test]
fn card_behind_fq() {
    holds("card_behind_fq", "nic", Some("sender.tx_ring"));
    let [base, ..] = runs("card_behind_fq", &[]);
    let paced = base.flows[0].limits["pacing"];
    assert!(paced < 0.05, "pacing takes the card's blame for {paced} of the flow's life");
}

/// The share of a limit.
fn share(run: &Run, limit: &str) -> f64 {
    run.flows[0].limits[limit]
}

/// Without SACK a hole exhausts the receive window. Recovery is to blame, and the first line names SACK.
#[test]
fn hole_without_sack() {
    let [base, relieved, other] = runs("hole_without_sack", &[]);
    let (recovery, window) = (share(&base, "cwnd_recovery"), share(&base, "receive_window"));
    assert!(recovery > 0.5 && recovery > 4.0 * window, "recovery {recovery}, window {window}");
    let rates = [&base, &relieved, &other].map(|run| run.flows[0].mean_mbit);
    assert!(rates[1] > 1.2 * rates[0] && (rates[2] / rates[0] - 1.0).abs() < 0.02, "{rates:?}");
    let line = &base.headline.as_ref().expect("a headline").text;
    assert!(line.contains("net.ipv4.tcp_sack"), "{line}");
    let recovery = share(&relieved, "cwnd_recovery");
    assert!(recovery < 0.3, "with SACK recovery takes {recovery}");
}

/// Packets that overtake others cut cwnd although none is lost.
#[test]
fn reordering() {
    let [base, relieved, other] = runs("reordering", &[]);
    let cut = |run: &Run| run.flows[0].reductions.get("threads").copied().unwrap_or(0.0);
    assert!(cut(&base) > 0.5, "{:?}", base.flows[0].reductions);
    assert!(cut(&relieved) < 0.01, "{:?}", relieved.flows[0].reductions);
    assert!(base.stages.iter().all(|stage| stage.dropped == 0));
    let rates = [&base, &relieved, &other].map(|run| run.flows[0].mean_mbit);
    assert!(rates[1] > 1.2 * rates[0] && (rates[2] / rates[0] - 1.0).abs() < 0.02, "{rates:?}");
    let line = &base.headline.as_ref().expect("a headline").text;
    assert!(line.contains("Reordering at threads"), "{line}");
}

/// ACKs wait on a slow way back.
#[test]
fn slow_way_back() {
    holds("slow_way_back", "ack_path", Some("up"));
    let [base, ..] = runs("slow_way_back", &[]);
    let line = &base.headline.as_ref().expect("a headline").text;
    assert!(line.contains("way back at up"), "{line}");
}

/// The handshake has a name of its own, and a long transfer shows next to nothing of it.
#[test]
fn connecting() {
    let made = made_all("connecting", &[]);
    let (base, long) = (&made["base"], &made["long"]);
    let connecting = share(base, "connecting");
    // 200 ms of the handshake, 100 ms until all data, sent at once, has arrived.
    assert!((connecting - 2.0 / 3.0).abs() < 0.01, "{:?}", base.flows[0].limits);
    assert!((share(base, "done") - 1.0 / 3.0).abs() < 0.01, "{:?}", base.flows[0].limits);
    let line = &base.headline.as_ref().expect("a headline").text;
    assert!(line.contains("Connecting"), "{line}");
    assert!(share(long, "connecting") < 0.1, "{:?}", long.flows[0].limits);
}

/// The rate of the host's own fq, whoever waits for it: TCP small queues, a window, or TCP's own pace. A larger limit
/// of small queues (tcp_limit_output_bytes) changes nothing.
#[test]
fn maxrate() {
    holds("maxrate", "pacing", Some("sender.qdisc"));
    let set = |key: &str| SetOption(format!("hosts.{key}.kernel=3.14"));
    holds_with("maxrate", &[set("sender"), set("receiver")], "pacing", Some("sender.qdisc"));
}

/// A socket that datagrams find full: the verdict names it, and nothing else drops any.
#[test]
fn udp_socket() {
    let [base, relieved, other] = runs("udp_socket", &[]);
    let place = "receiver.udp_socket";
    for run in [&base, &other] {
        let dropping: Vec<&str> =
            run.stages.iter().filter(|s| s.dropped > 0).map(|s| &s.name[..]).collect();
        assert_eq!(dropping, [place]);
        let full = run.picture.places.iter().find(|own| own.stage == place).unwrap().full;
        assert!(full.is_some_and(|share| share > 0.01), "{full:?}");
        let sentence = fullpipe::report::fate(run, &run.datagrams[0]);
        assert!(sentence.contains(&format!("at {place}")), "{sentence}");
    }
    let rate = |run: &Run| run.datagrams[0].mean_mbit.unwrap();
    assert!(rate(&relieved) > 1.2 * rate(&base) && relieved.datagrams[0].undelivered == 0);
    assert!((rate(&other) / rate(&base) - 1.0).abs() < 0.02);
}

/// On a shared link a slow reader holds its flow back, though the link is full; the CPU holds a program that writes
/// datagrams.
#[test]
fn beside_others() {
    holds("shared_reader", "reader", Some("receiver.receive_buffer"));
    let [base, relieved, other] = runs("datagram_cpu", &[]);
    let fate = |run: &Run| fullpipe::report::fate(run, &run.datagrams[0]);
    assert!(fate(&base).contains("asked for: the sender's CPU never rests"), "{}", fate(&base));
    assert!(fate(&other) == fate(&base) && fate(&relieved).ends_with("delivered"));
    let rate = |run: &Run| run.datagrams[0].sent_mbit.unwrap();
    assert!(rate(&relieved) > 1.2 * rate(&base));
}

/// With a second host at each end, a flow's limits are its own hosts'; the other hosts' card and CPU are busy, too.
#[test]
fn limits_of_a_flow_among_several_hosts() {
    holds("beside_a_slow_card", "receive_window", Some("receiver.receive_buffer"));
    holds("second_receiver_cpu", "receiver_cpu", Some("receiver-2.cpu"));
}

/// ACKs that are lost: no window says so, the report does.
#[test]
fn dropped_acks() {
    for (name, place) in [("ack_qdisc", "receiver.qdisc"), ("ack_ring", "sender.rx_ring")] {
        let [base, relieved, other] = runs(name, &[]).map(|run| run.flows[0].clone());
        let share = base.acks_dropped.get(place).copied().unwrap_or(0.0);
        assert!(share > 0.3, "{name}: {:?}", base.acks_dropped);
        assert_eq!(base.acks_dropped.len(), 1, "{name}");
        assert!(relieved.acks_dropped.is_empty(), "{name}: {:?}", relieved.acks_dropped);
        assert!(relieved.mean_mbit > 1.2 * base.mean_mbit, "{name}: relief does not help");
        let change = (other.mean_mbit / base.mean_mbit - 1.0).abs();
        assert!(change < 0.02, "{name}: relieving another limit helps");
        let sentence = fullpipe::report::shares::dropped_acks(&base).expect("a sentence");
        assert!(sentence.contains(place) && sentence.starts_with("ACKs: "), "{sentence}");
    }
}

/// Drops at a place keep cwnd small: the verdict is cwnd, and the place is where it was cut.
fn cut_at(name: &str, place: &str) {
    holds(name, "cwnd_avoidance", Some(place));
    let [base, relieved, _] = runs(name, &[]);
    let share = |run: &Run| run.flows[0].reductions.get(place).copied().unwrap_or(0.0);
    let (base, relieved) = (share(&base), share(&relieved));
    assert!(base > 0.5, "{name}: {place} has cut cwnd for {base} of its life");
    assert!(relieved < base, "{name}: {place} relieved has cut cwnd for {relieved} of its life");
}

/// A qdisc that refuses skbs: local congestion without losses.
#[test]
fn qdisc() {
    cut_at("qdisc", "sender.qdisc");
    let [base, ..] = runs("qdisc", &[]);
    assert_eq!(base.flows[0].retransmitted_segments, 0);
}

#[test]
fn link_queue() {
    cut_at("link_queue", "link");
}

#[test]
fn policer() {
    cut_at("policer", "police");
}

#[test]
fn rx_ring() {
    cut_at("rx_ring", "receiver.rx_ring");
}

#[test]
fn backlog() {
    cut_at("backlog", "receiver.backlog");
}

#[test]
fn random_loss() {
    let [base, relieved, _] = runs("loss", &[]);
    for run in [&base, &relieved] {
        assert_eq!(
            run.flows[0].reductions.keys().next_back().map(|place| &place[..]),
            Some("loss")
        );
    }
    holds("loss", "cwnd_avoidance", Some("loss"));
}

/// The CPU that softirqs use up: the program that reads falls behind.
#[test]
fn softirq() {
    holds("softirq", "receiver_cpu", Some("receiver.cpu"));
}

/// A program that softirqs leave no CPU. It reads where fewer packets arrive, and where ksoftirqd shares the CPU with
/// it and does all of their work (4.9 to 6.4). A pass of 6.12 is a poll whatever the budget is, which only counts.
#[test]
fn datagram_flood() {
    let made = made_all("datagram_flood", &[]);
    let of = |variant: &str| {
        let run = &made[variant];
        let squeezed = run
            .counters
            .iter()
            .find(|own| own.host == "receiver" && own.name == "softnet.time_squeeze");
        (run.datagrams[0].mean_mbit.expect("UDP"), squeezed.map_or(0, |own| own.value))
    };
    let names = [
        "base",
        "relieved",
        "other",
        "no lock",
        "no lock, budget 1",
        "ksoftirqd",
        "inline",
        "inline, budget 1",
    ];
    let table = names.map(|name| (name, of(name)));
    let [base, relieved, other, no_lock, short, ksoftirqd, inline, small] =
        table.map(|(_, (read, _))| read);
    assert!(base < 2.0 && (other - base).abs() < 0.1 * base, "{table:?}");
    assert!((299.0..301.0).contains(&relieved), "{table:?}");
    // A round of 42 ms from a tick on, and up to the next one, at 44 ms, 2 ms for datagrams of 17.7 us: 30 Mb/s.
    assert!((24.0..33.0).contains(&no_lock), "{table:?}");
    assert!(short > 2.0 * no_lock, "{table:?}");
    // Half of the CPU, at 17.7 us for a datagram of 1472 bytes: 333 Mb/s.
    assert!((280.0..340.0).contains(&ksoftirqd), "{table:?}");
    assert!(inline < 0.2 * ksoftirqd && (small - inline).abs() < 0.01 * inline, "{table:?}");
    let [_, _, _, few, many, _, whole, polls] = table.map(|(_, (_, squeezed))| squeezed);
    assert!(many > 20 * few && few > 0, "{table:?}");
    assert!(polls > 1000 && polls > 20 * whole, "{table:?}");
    // Undelivered datagrams are counted, whatever numbers the read ones have.
    let own = &made["base"].datagrams[0];
    assert!(own.lost == 0 && own.undelivered == own.sent - own.received, "{own:?}");
    assert!(own.undelivered_share > 0.99, "{own:?}");
}
