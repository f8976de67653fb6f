//! Several clients of one server: a near one and a far one. Their programs begin at nearly the same time and share the
//! line from then on, or one of them mounts through the queue that the other one makes.

use crate::made::{has_kernel, loaded, made, made_on};
use fullpipe::analysis::document::Run;
use fullpipe::engine::{self, Support};
use fullpipe::trace::recording::Recording;

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
start = "635ms"
[[nfs]]
name = "far"
from = "beside"
operation = "read"
file = "24MiB"
readahead = "1MiB"
[[variant]]
name = "one each way"
[[variant]]
name = "both write"
set = { "nfs.far.operation" = "write", "nfs.far.version" = "3", "nfs.near.start" = "470ms" }
[[variant]]
name = "both write, version 4.2"
set = { "nfs.far.operation" = "write" }
[[variant]]
name = "both read"
set = { "nfs.near.operation" = "read" }
[[variant]]
name = "both write, the far one mounts through a queue"
set = { "nfs.far.operation" = "write", "nfs.near.start" = "300ms" }
"#;

fn rates(run: &Run) -> Vec<f64> {
    run.nfs.iter().map(|own| own.mean_mbit.unwrap_or_else(|| panic!("{}", own.name))).collect()
}

/// Each mount has its own rate, requests and connection, at its host, and the far one its own round trip.
#[test]
fn each_client_has_its_own() {
    let scenario = loaded(TEXT);
    for plan in scenario.plans() {
        let name = plan.name();
        let (run, _) = made(&scenario, plan);
        let flows: Vec<&str> = run.flows.iter().map(|flow| &flow.name[..]).collect();
        assert_eq!(flows, ["near", "far"], "{name}");
        let requests: Vec<u64> =
            run.nfs.iter().map(|own| own.requests.expect("requests").count).collect();
        assert_eq!(requests, [24, 24], "{name}");
        let [near, far] = rates(&run)[..] else { panic!("two mounts") };
        assert!(near > 70.0 && far > 20.0, "{name}: {near} {far}");
        let srtt = run.flows[1].medians.expect("samples").srtt_us;
        assert!((42_000..150_000).contains(&srtt), "{name}: {srtt}");
    }
}

/// Largest distance of the model from real Linux.
const APART: f64 = 0.02;

/// Real Linux has nearly the same rates.
#[test]
#[ignore = "a study: make studies"]
fn study_real_clients_are_as_fast() {
    let scenario = loaded(TEXT);
    if !has_kernel(&scenario.plans()[0]) {
        return;
    }
    for plan in scenario.plans() {
        let (model, _) = made(&scenario, plan);
        let (real, recording) = made_on("linux", &scenario, plan);
        for (model, real) in rates(&model).into_iter().zip(rates(&real)) {
            let apart = (model / real - 1.0).abs();
            assert!(apart < APART, "{}: {model} for {real}", plan.name());
        }
        let reads = real.nfs.iter().map(|own| own.requests.expect("requests").count);
        assert!(reads.eq([24, 24]), "{}", plan.name());
        let known = ["sender", "beside"].map(|host| introduced(&recording, host));
        if plan.name() == "both write, version 4.2" {
            assert!(known[0] > 0 && known[0] == known[1], "{known:?}");
        }
    }
}

/// Number of times that a host's client has identified itself to the server: two of one name drive each other out.
fn introduced(recording: &Recording, host: &str) -> u64 {
    let counters = recording.counters.iter().rev();
    let mut own = counters.filter(|own| &*own.host == host);
    own.find(|own| &*own.name == "nfs.EXCHANGE_ID.ops").map_or(0, |own| own.value)
}

/// Settings that one kernel cannot have twice, and hosts where a guest can have no client.
#[test]
fn one_kernel_has_one_of_each() {
    let linux = engine::find("linux").expect("the engine");
    let refused = |from: &str, to: &str| {
        let (first, _) = TEXT.split_once("[[variant]]").expect("variants");
        let text = first.replace(from, to);
        assert_ne!(text, first);
        let support = linux.support(&loaded(&text).plans()[0].resolved).into_iter();
        let refused = support.filter(|(_, support)| matches!(support, Support::Refused(_)));
        refused.map(|(key, _)| key).collect::<Vec<_>>()
    };
    assert_eq!(refused("24MiB", "23MiB"), [""; 0]);
    assert_eq!(refused("start = \"635ms\"", "slots = 16"), ["nfs.far.slots"]);
    assert_eq!(refused("start = \"635ms\"", "slots = 16\nversion = \"3\""), [""; 0]);
    assert_eq!(refused("24MiB", "999MiB"), ["nfs.near.file"]);
    assert_eq!(refused("start = \"635ms\"", "congestion = \"reno\""), ["nfs.far.congestion"]);
    let flow =
        "[[flow]]\nname = \"other\"\nfrom = \"beside\"\nbytes = \"1MB\"\n[[nfs]]\nname = \"near\"";
    assert_eq!(refused("[[nfs]]\nname = \"near\"", flow), ["host.beside"]);
    let listed = "kind = \"drop\"\nname = \"way\"\nflow = \"far\"\nsegments = [1]";
    let delay = "kind = \"flow-delay\"\nname = \"way\"\nflow = \"far\"\ndelay = \"40ms\"";
    assert_eq!(refused(delay, listed), ["path, element way, flow"]);
}
