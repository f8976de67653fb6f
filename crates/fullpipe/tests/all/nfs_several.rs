//! Several clients of one server: a near one and a far one, which share its line.

use crate::made::{made, made_on};
use fullpipe::analysis::document::Run;
use fullpipe::engine::{self, Support};
use fullpipe::scenario::{self, Scenario, Source};

/// A line of 100 Mb/s, 2 ms to one client and 42 ms to the other.
const TEXT: &str = r#"
duration = "30s"
[path]
[[path.forward]]
kind = "link"
name = "in"
rate = "100Mbit"
queue = { limit = "1MB" }
[[path.forward]]
kind = "delay"
name = "cable"
delay = "1ms"
[[path.back]]
kind = "link"
name = "out"
rate = "100Mbit"
queue = { limit = "1MB" }
[[path.back]]
kind = "delay"
name = "cable-back"
delay = "1ms"
[[path.back]]
kind = "flow-delay"
name = "way"
flow = "far"
delay = "40ms"
[hosts]
sender = { kernel = "6.12" }
receiver = { kernel = "6.12" }
[[host]]
name = "beside"
beside = "sender"
[[nfs]]
name = "near"
operation = "write"
file = "24MiB"
start = "2s"
[[nfs]]
name = "far"
from = "beside"
operation = "read"
version = "3"
file = "8MiB"
readahead = "1MiB"
[[variant]]
name = "one each way"
[[variant]]
name = "both write"
set = { "nfs.far.operation" = "write" }
[[variant]]
name = "both read"
set = { "nfs.near.operation" = "read" }
"#;

fn load(text: &str) -> Scenario {
    scenario::load(&Source::text("several.toml", text), &[], &[]).unwrap_or_else(|e| panic!("{e}"))
}

fn rates(run: &Run) -> Vec<f64> {
    run.nfs.iter().map(|own| own.mean_mbit.unwrap_or_else(|| panic!("{}", own.name))).collect()
}

/// Each mount has its own rate, requests and connection, at the host that has it, and the far one its own round trip.
#[test]
fn each_client_has_its_own() {
    let scenario = load(TEXT);
    for plan in scenario.plans() {
        let name = plan.name();
        let (run, _) = made(&scenario, plan);
        let flows: Vec<&str> = run.flows.iter().map(|flow| &flow.name[..]).collect();
        assert_eq!(flows, ["near", "far"], "{name}");
        let requests: Vec<u64> =
            run.nfs.iter().map(|own| own.requests.expect("requests").count).collect();
        assert_eq!(requests, [24, 8], "{name}");
        let [near, far] = rates(&run)[..] else { panic!("two mounts") };
        assert!(near > far && far > 5.0, "{name}: {near} {far}");
        let srtt = run.flows[1].medians.expect("samples").srtt_us;
        assert!((42_000..150_000).contains(&srtt), "{name}: {srtt}");
    }
}

/// Genuine Linux has the same rates: within 5 %.
#[test]
fn genuine_clients_are_as_fast() {
    let scenario = load(TEXT);
    let linux = engine::find("linux").expect("the engine");
    if let Err(why) = linux.ready(&scenario.plans()[0].resolved) {
        assert!(std::env::var_os("FULLPIPE_REQUIRE_KERNEL").is_none(), "{why}");
        println!("skipped: {why}");
        return;
    }
    for plan in scenario.plans() {
        let (model, _) = made(&scenario, plan);
        let (genuine, _) = made_on("linux", &scenario, plan);
        for (model, genuine) in rates(&model).into_iter().zip(rates(&genuine)) {
            let apart = model / genuine - 1.0;
            assert!(apart.abs() < 0.05, "{}: {model} for {genuine}", plan.name());
        }
        let reads = genuine.nfs.iter().map(|own| own.requests.expect("requests").count);
        assert!(reads.eq([24, 8]), "{}", plan.name());
    }
}

/// What one kernel cannot have twice, and where no client of a guest stands.
#[test]
fn one_kernel_has_one_of_each() {
    let linux = engine::find("linux").expect("the engine");
    let refused = |from: &str, to: &str| {
        let (first, _) = TEXT.split_once("[[variant]]").expect("variants");
        let text = first.replace(from, to);
        assert_ne!(text, first);
        let support = linux.support(&load(&text).plans()[0].resolved).into_iter();
        let refused = support.filter(|(_, support)| matches!(support, Support::Refused(_)));
        refused.map(|(key, _)| key).collect::<Vec<_>>()
    };
    assert_eq!(refused("24MiB", "23MiB"), [""; 0]);
    assert_eq!(refused("start = \"2s\"", "slots = 16"), ["nfs.far.slots"]);
    assert_eq!(refused("start = \"2s\"", "congestion = \"reno\""), ["nfs.far.congestion"]);
    let flow =
        "[[flow]]\nname = \"other\"\nfrom = \"beside\"\nbytes = \"1MB\"\n[[nfs]]\nname = \"near\"";
    assert_eq!(refused("[[nfs]]\nname = \"near\"", flow), ["host.beside"]);
    let listed = "kind = \"drop\"\nname = \"way\"\nflow = \"far\"\nsegments = [1]";
    let delay = "kind = \"flow-delay\"\nname = \"way\"\nflow = \"far\"\ndelay = \"40ms\"";
    assert_eq!(refused(delay, listed), ["path, element way, flow"]);
}
