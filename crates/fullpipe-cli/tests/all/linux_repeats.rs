//! Equal runs of the engine `linux` leave equal tables, whatever else the machine does. Without a kernel these tests are
//! skipped, unless FULLPIPE_REQUIRE_KERNEL is set.

use crate::common::linux::{desk, number, run, scenario, stage};
use crate::common::{Call, Desk};
use serde_json::Value;

const TABLES: [&str; 4] = ["flows.parquet", "stages.parquet", "events.parquet", "counters.parquet"];

/// Runs of one scenario at the same time.
const AT_ONCE: usize = 3;

fn tables(desk: &Desk, out: &str) -> Vec<Vec<u8>> {
    let read = |name| std::fs::read(desk.path(&format!("{out}/base/{name}"))).expect("a table");
    TABLES.map(read).into()
}

/// A scenario with everything that draws random numbers: several algorithms that begin one after the other, a queue
/// that marks and drops, delays that differ, losses in bursts, copies.
fn rich(kernel: &str) -> String {
    let host = |name: &str| {
        format!(
            "[hosts.{name}]\nkernel = \"{kernel}\"\nhz = 1000\nsysctl = {{ \"net.ipv4.tcp_ecn\" = 1, \
             \"net.core.wmem_max\" = \"4MB\", \"net.core.rmem_max\" = \"4MB\" }}\n"
        )
    };
    let flow = |name: &str, start_ms: u64, end: &str| {
        format!(
            "[[flow]]\nname = \"{name}\"\ncongestion = \"{name}\"\nstart = \"{start_ms}ms\"\n{end}\n"
        )
    };
    [
        "title = \"rich\"\nseed = 5\nduration = \"2s\"\n[path]\nmtu = 1500\nforward = [\n\
         { kind = \"link\", name = \"link\", rate = \"100Mbit\", framing = \"ethernet\", \
         queue = { limit = \"1000 packets\", discipline = \"fq_codel\", ecn = true } },\n\
         { kind = \"jitter\", name = \"shaky\", delay = \"5ms\", jitter = \"1ms\" },\n\
         { kind = \"gilbert-elliott\", name = \"two\", p = 0.002, r = 0.3, loss_bad = 0.5 },\n\
         { kind = \"duplicate\", name = \"twice\", probability = 0.01 },\n]\n\
         back = [{ kind = \"loss\", name = \"noise\", probability = 0.002 },\n\
         { kind = \"delay\", name = \"home\", delay = \"15ms\" }]\n",
        &host("sender"),
        &host("receiver"),
        &flow("cubic", 0, "duration = \"2s\""),
        &flow("bbr", 100, "duration = \"1900ms\""),
        &flow("dctcp", 250, "duration = \"1500ms\""),
        &flow("reno", 333, "bytes = \"1MB\""),
    ]
    .concat()
}

/// A run of a desk's `rich.toml`; none where that kernel has not been built.
fn begin(desk: &Desk, out: &str, seed: u32) -> std::process::Child {
    let seed = format!("seed={seed}");
    let call = ["run", "rich.toml", "--engine", "linux", "--json", "-q", "--out", out];
    desk.start(&[&call[..], &["--set", &seed]].concat())
}

fn end(child: std::process::Child) -> Option<Value> {
    let call = Call::wait(child);
    let missing = call.code == Some(3) && call.stderr.contains("kernel build --version");
    if missing && std::env::var_os("FULLPIPE_REQUIRE_KERNEL").is_none() {
        println!("skipped: {}", call.stderr);
        return None;
    }
    Some(call.ends_with(0).json())
}

/// That a run has all that it is to repeat.
fn is_rich(document: &Value) {
    let count = |name: &str, what: &str| number(stage(document, name), what);
    assert!(count("link", "marked") > 10.0, "{}", stage(document, "link"));
    for name in ["two", "noise"] {
        assert!(count(name, "dropped") > 3.0, "{}", stage(document, name));
    }
    assert!(count("twice", "left") > count("twice", "entered") + 10.0);
    let flows = document["runs"][0]["flows"].as_array().expect("flows");
    assert_eq!(flows.len(), 4);
    for flow in flows {
        assert!(number(flow, "bytes") > 300_000.0, "{}: {}", flow["name"], flow["bytes"]);
    }
}

/// Runs one alone, and several at the same time.
fn repeats(kernel: &str) {
    let Some(desk) = desk(&scenario("100Mbit", 1500, "1MB", 1.0)) else { return };
    desk.write("rich.toml", &rich(kernel));
    let Some(document) = end(begin(&desk, "alone", 7)) else { return };
    is_rich(&document);
    let together: Vec<_> = (0..AT_ONCE).map(|n| begin(&desk, &format!("together{n}"), 7)).collect();
    let other = begin(&desk, "other", 8);
    let alone = tables(&desk, "alone");
    for (n, child) in together.into_iter().enumerate() {
        let result = end(child).expect("a run");
        assert!(result == document, "run {n} has another result");
        let differ: Vec<&str> = tables(&desk, &format!("together{n}"))
            .iter()
            .zip(&alone)
            .zip(TABLES)
            .filter_map(|((a, b), name)| (a != b).then_some(name))
            .collect();
        assert!(differ.is_empty(), "run {n} differs in {differ:?}");
    }
    end(other).expect("a run");
    assert!(tables(&desk, "other") != alone, "another seed is another run");
}

#[test]
fn rich_runs_on_the_newest_kernel_repeat_themselves() {
    repeats("6.12");
}

#[test]
fn rich_runs_on_the_other_kernel_repeat_themselves() {
    repeats("6.1");
}

/// Where nothing is drawn at random the seed does not matter.
#[test]
fn a_run_without_chance_is_the_same_with_any_seed() {
    let Some(desk) = desk(&scenario("1Gbit", 1500, "5MB", 1.0)) else { return };
    run(&desk, "one", &[]);
    run(&desk, "other", &["--set", "seed=6"]);
    assert!(tables(&desk, "one") == tables(&desk, "other"), "the seed matters");
}
