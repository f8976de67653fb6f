//! The path: routers with qdiscs.

use crate::linux_asks::show::{SCENARIO, devices, way};
use fullpipe::engine::linux;
use fullpipe::scenario::{SetOption, Source, load};

#[test]
fn a_path_is_routers_with_qdiscs() {
    let text = devices(&[]);
    // 45 segments of 1500 bytes are the largest packet for the card, which counts 1514 of 1538 and takes 4 us ahead.
    // Behind a card, and behind a link, is its wire.
    let expected = "\
sender: tbf rate 9843953185 burst 68130 and 4000 ns limit 4294967295 overhead 0
sender: Pfifo { limit: 1000 }
router 0 forward: netem delay 0 ns limit 100000000 None seeded false wire 10000000000 overhead 24
router 1 forward: drop of flow 0: segments [3, 17], acks []
router 1 forward: Htb { rate: 1000000000, overhead: -14 }
router 1 forward: Bfifo { limit: 1000000 }
router 2 forward: netem delay 0 ns limit 100000000 None seeded false wire 1000000000 overhead -14
router 3 forward: netem delay 0 ns limit 100000000 Random { probability: 0.01 } seeded true
router 3 back: drop of flow 0: segments [], acks [2]
router 3 back: netem delay 30000000 ns limit 100000000 None seeded true
router 4 forward: netem delay 20000000 ns limit 100000000 None seeded true
router 4 back: netem delay 0 ns limit 100000000 None seeded false wire 10000000000 overhead 24
";
    assert_eq!(text, expected, "found:\n{text}");
}

/// Representations of elements on the data's way; the sender's own and its card's wire, which is first, are left out.
fn forward(elements: &str) -> String {
    let text = devices(&[&format!("path.forward=[{elements}]"), "path.back=[]"]);
    let mut ways = text.lines().filter_map(|line| line.strip_prefix("router "));
    let first = ways.next().and_then(|line| line.strip_suffix(" overhead 24"));
    let (first, _) = first.and_then(|line| line.rsplit_once(" wire ")).expect("the card's wire");
    let rest = ways.filter(|line| !line.contains(" back: "));
    // A constant delay has taken it over; else it has a router of its own, and the others follow.
    if !first.contains(" delay 0 ns ") {
        return rest.fold(format!("{first}\n"), |all, line| all + line + "\n");
    }
    rest.fold(String::new(), |all, line| {
        let (number, what) = line.split_once(' ').expect("a router's number");
        let number: usize = number.parse().expect("a number");
        all + &format!("{} {what}\n", number - 1)
    })
}

#[test]
fn what_elements_do_has_its_counterpart() {
    let cases = [
        (
            r#"{ kind = "jitter", name = "x", delay = "10ms", jitter = "2ms" }"#,
            "0 forward: netem delay 10000000 ns limit 100000000 None seeded true \
             spread 2000000 ns normal false keep_order false\n",
        ),
        (
            r#"{ kind = "jitter", name = "x", delay = "10ms", jitter = "2ms",
                 distribution = "normal", keep_order = true }"#,
            "0 forward: netem delay 10000000 ns limit 100000000 None seeded true \
             spread 2000000 ns normal true keep_order true\n",
        ),
        (
            r#"{ kind = "reorder", name = "x", delay = "10ms", probability = 0.1,
                 correlation = 0.25, gap = 5 }"#,
            "0 forward: netem delay 10000000 ns limit 100000000 None seeded true \
             overtake 0.1 0.25 gap 5\n",
        ),
        // Packets have to be counted before they are copied: on the card's wire they are.
        (
            r#"{ kind = "duplicate", name = "x", probability = 0.1, correlation = 0.25 }"#,
            "0 forward: netem delay 0 ns limit 100000000 None seeded true duplicate 0.1 0.25\n",
        ),
        (
            r#"{ kind = "delay", name = "y", delay = "1ms" },
               { kind = "duplicate", name = "x", probability = 0.1 }"#,
            "0 forward: netem delay 1000000 ns limit 100000000 None seeded true\n\
             1 forward: netem delay 0 ns limit 100000000 None seeded true duplicate 0.1 0\n",
        ),
        // The same flow again has the next router.
        (
            r#"{ kind = "flow-delay", name = "x", flow = "bulk", delay = "1ms" },
               { kind = "flow-delay", name = "y", flow = "bulk", delay = "2ms" }"#,
            "0 forward: flow 0: netem delay 1000000 ns limit 100000000 None seeded true\n\
             1 forward: flow 0: netem delay 2000000 ns limit 100000000 None seeded true\n",
        ),
        (
            r#"{ kind = "policer", name = "x", rate = "10Mbit", burst = "30kB" }"#,
            "0 forward: police 10000000 burst 30000 overhead 14\n",
        ),
        (r#"{ kind = "mtu", name = "x", mtu = 1400 }"#, "0 forward: nothing above 1400 bytes\n"),
        (
            r#"{ kind = "mtu", name = "x", mtu = 1400, mss_clamp = "pmtu" },
               { kind = "mtu", name = "y", mtu = 1300, mss_clamp = 1200 }"#,
            "0 forward: nothing above 1400 bytes\n\
             0 forward: MSS 1360 at most\n\
             1 forward: nothing above 1300 bytes\n\
             1 forward: MSS 1200 at most\n",
        ),
        // Packets that leave it are on no wire.
        (
            r#"{ kind = "shaper", name = "x", rate = "10Mbit", burst = "30kB", queue = { limit = "90kB" } },
               { kind = "delay", name = "y", delay = "1ms" }"#,
            "0 forward: tbf rate 10000000 burst 30000 and 0 ns limit 90000 overhead 0\n\
             0 forward: Bfifo { limit: 90000 }\n\
             1 forward: netem delay 1000000 ns limit 100000000 None seeded true\n",
        ),
        (
            r#"{ kind = "varying-link", name = "x", rate = "100Mbit", framing = "ethernet",
                 steps = [{ at = "1s", rate = "1Gbit" }], queue = { limit = "300 packets" } }"#,
            "0 forward: Htb { rate: 100000000, overhead: 0 }\n\
             0 forward: Pfifo { limit: 300 }\n\
             0 forward: at 1000000000 ns 0: Htb { rate: 1000000000, overhead: 0 }\n\
             1 forward: netem delay 0 ns limit 100000000 None seeded false wire 100000000 overhead 0\n\
             1 forward: at 1000000000 ns 0: netem delay 0 ns limit 100000000 None seeded false \
             wire 1000000000 overhead 0\n",
        ),
        // At some time a packet takes more than a minute, which `htb` does not count.
        (
            r#"{ kind = "varying-link", name = "x", rate = "200bit", framing = "ethernet",
                 steps = [{ at = "1s", rate = "1kbit" }], queue = { limit = "300 packets" } }"#,
            "0 forward: tbf rate 200 burst 1514 and 20 ns limit 300 overhead 0\n\
             0 forward: Pfifo { limit: 300 }\n\
             0 forward: at 1000000000 ns 0: tbf rate 1000 burst 1514 and 20 ns limit 300 overhead 0\n\
             1 forward: netem delay 0 ns limit 100000000 None seeded false wire 200 overhead 0\n\
             1 forward: at 1000000000 ns 0: netem delay 0 ns limit 100000000 None seeded false \
             wire 1000 overhead 0\n",
        ),
        // A constant delay takes the wire over, with its later changes.
        (
            r#"{ kind = "varying-link", name = "x", rate = "100Mbit", framing = "ip",
                 steps = [{ at = "1s", rate = "1Gbit" }], queue = { discipline = "cake", limit = "9MB" } },
               { kind = "delay", name = "y", delay = "1ms", limit = "50 packets" }"#,
            "0 forward: Cake { rate: Some(100000000), rtt_us: 100000, overhead: -14, \
             memory: Some(9000000), ack_filter: false }\n\
             0 forward: at 1000000000 ns 0: Cake { rate: Some(1000000000), rtt_us: 100000, overhead: -14, \
             memory: Some(9000000), ack_filter: false }\n\
             1 forward: netem delay 1000000 ns limit 50 None seeded true wire 100000000 overhead -14\n\
             1 forward: at 1000000000 ns 0: netem delay 1000000 ns limit 50 None seeded true \
             wire 1000000000 overhead -14\n",
        ),
    ];
    for (element, expected) in cases {
        let found = forward(element);
        assert_eq!(found, expected, "{element}: found\n{found}");
    }
}

/// A link of 100 Mb/s with such a queue.
fn link(queue: &str) -> String {
    forward(&format!(
        "{{ kind = \"link\", name = \"x\", rate = \"100Mbit\", framing = \"ethernet\", queue = {{ {queue} }} }}"
    ))
}

const HTB: &str = "Htb { rate: 100000000, overhead: 0 }";

#[test]
fn disciplines_have_the_options_of_linux_and_its_defaults() {
    let wire =
        "1 forward: netem delay 0 ns limit 100000000 None seeded false wire 100000000 overhead 0\n";
    let below = |qdisc: &str| format!("0 forward: {HTB}\n0 forward: {qdisc}\n{wire}");
    let asked = |limit: &str, qdisc: &str| {
        let shaper = format!("tbf rate 100000000 burst 1514 and 20 ns limit {limit} overhead 0");
        let netem = "netem delay 0 ns limit 100000000 None seeded true";
        format!("0 forward: {shaper}\n0 forward: {netem}\n0 forward: {qdisc}\n{wire}")
    };
    let cases = [
        (
            "discipline = \"fq\"",
            below("Fq { limit: 10000, flow_limit: 100, initial_quantum: None, max_rate: None }"),
        ),
        (
            "discipline = \"fq\", limit = \"9 packets\", flow_limit = \"8 packets\"",
            below("Fq { limit: 9, flow_limit: 8, initial_quantum: None, max_rate: None }"),
        ),
        (
            "discipline = \"codel\"",
            below("Codel { limit: 1000, target_us: 5000, interval_us: 100000, ecn: false }"),
        ),
        (
            "discipline = \"fq_codel\"",
            below("FqCodel { limit: 10240, target_us: 5000, interval_us: 100000, ecn: true }"),
        ),
        (
            "discipline = \"fq_codel\", target = \"1ms\", interval = \"20ms\", ecn = false",
            below("FqCodel { limit: 10240, target_us: 1000, interval_us: 20000, ecn: false }"),
        ),
        (
            "discipline = \"pie\", ecn = true",
            below("Pie { limit: 1000, target_us: 15000, update_us: 15000, ecn: true }"),
        ),
        (
            "discipline = \"red\", limit = \"1200kB\"",
            asked(
                "1200000",
                "Red { limit: 1200000, min: 100000, max: 300000, weight_log: 9, probability: 0.02, \
                 packet_ns: 121120, ecn: false }",
            ),
        ),
        // Linux averages no lengths from 2^22 on by a weight of 2^-9.
        (
            "discipline = \"red\", limit = \"40MB\", ecn = true",
            asked(
                "40000000",
                "Red { limit: 40000000, min: 3333333, max: 10000000, weight_log: 7, \
                 probability: 0.02, packet_ns: 121120, ecn: true }",
            ),
        ),
        (
            "discipline = \"cake\", rtt = \"20ms\"",
            "0 forward: Cake { rate: Some(100000000), rtt_us: 20000, overhead: 0, \
             memory: Some(4194304), ack_filter: false }\n"
                .to_string()
                + wire,
        ),
    ];
    for (queue, expected) in cases {
        let found = link(queue);
        assert_eq!(found, expected, "{queue}: found\n{found}");
    }
}

#[test]
fn delays_of_several_flows_share_a_router() {
    let other = "[[flow]]\nname = \"other\"\nbytes = \"1MB\"\ncongestion = \"reno\"\n";
    let elements = r#"path.forward=[
        { kind = "flow-delay", name = "x", flow = "other", delay = "1ms" },
        { kind = "flow-delay", name = "y", flow = "bulk", delay = "2ms" },
        { kind = "delay", name = "z", delay = "3ms" } ]"#;
    let sets = [elements, "path.back=[]"].map(|set| SetOption(set.into()));
    let source = Source::text("asked.toml", &format!("{SCENARIO}{other}"));
    let plans = load(&source, &sets, &[]).expect("valid");
    let plan = linux::plan(&plans.plans()[0].resolved).expect("it can be asked");
    let text: String = plan.routers.iter().map(|router| way("", &router.forward)).collect();
    let expected = "\
: netem delay 0 ns limit 100000000 None seeded false wire 10000000000 overhead 24
: flow 1: netem delay 1000000 ns limit 100000000 None seeded true
: flow 0: netem delay 2000000 ns limit 100000000 None seeded true
: netem delay 3000000 ns limit 100000000 None seeded true
";
    assert_eq!(text, expected, "found:\n{text}");
    assert_eq!(plan.routers.len(), 3);
}
