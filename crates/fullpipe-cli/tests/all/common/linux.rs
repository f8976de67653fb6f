//! Runs of the engine `linux` on a kernel that has been built. Without one tests are skipped, unless
//! FULLPIPE_REQUIRE_KERNEL is set.

use super::Desk;
use fullpipe::trace::recording::Recording;
use fullpipe::trace::table;
use serde_json::Value;

/// A path without losses, and a queue that holds the window.
pub fn scenario(rate: &str, mtu: u32, window: &str, seconds: f64) -> String {
    let host = format!(
        "kernel = \"3.14\"\nhz = 1000\nsysctl = {{ \"net.core.wmem_max\" = \"{window}\", \
         \"net.core.rmem_max\" = \"{window}\" }}\n"
    );
    format!(
        "title = \"on Linux\"\nseed = 5\nduration = \"{seconds}s\"\n[path]\nmtu = {mtu}\n\
         forward = [\n{{ kind = \"link\", name = \"link\", rate = \"{rate}\", framing = \"ethernet\", \
         queue = {{ limit = \"{window}\" }} }},\n{{ kind = \"delay\", name = \"far\", delay = \"5ms\" }},\n]\n\
         back = [{{ kind = \"delay\", name = \"home\", delay = \"15ms\" }}]\n\
         [hosts.sender]\n{host}[hosts.receiver]\n{host}\
         [[flow]]\nname = \"bulk\"\ncongestion = \"reno\"\nsocket_buffer = \"{window}\"\n\
         duration = \"{seconds}s\"\n"
    )
}

/// Arguments that run on a real kernel.
pub const LINUX: [&str; 4] = ["--engine", "linux", "--as-kernel", "6.12"];

/// A run of the desk's scenario.
pub fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    ["run", "my.toml"].iter().chain(&LINUX).chain(more).copied().collect()
}

/// A desk with the scenario, where a kernel has been built.
pub fn desk(scenario: &str) -> Option<Desk> {
    let desk = Desk::new();
    desk.write("my.toml", scenario);
    let short =
        ["--set", "duration=10ms", "--set", "flow.bulk.duration=10ms", "--out", "probe", "-q"];
    let probe = desk.call(&arguments(&short));
    let none = probe.code == Some(3) && probe.stderr.contains("fullpipe kernel build");
    let required = std::env::var_os("FULLPIPE_REQUIRE_KERNEL").is_some();
    if none && !required {
        println!("skipped: no kernel has been built (fullpipe kernel build)");
        return None;
    }
    assert_eq!(probe.code, Some(0), "{}", probe.stderr);
    Some(desk)
}

/// The result of a run with these changes.
pub fn run(desk: &Desk, out: &str, more: &[&str]) -> Value {
    let arguments = arguments(&[&["--json", "-q", "--out", out], more].concat());
    desk.call(&arguments).ends_with(0).json()
}

/// A stage of the first run.
pub fn stage<'a>(document: &'a Value, name: &str) -> &'a Value {
    let stages = document["runs"][0]["stages"].as_array().expect("stages");
    stages.iter().find(|stage| stage["name"] == name).unwrap_or_else(|| panic!("no stage {name}"))
}

/// A number of a stage, an interval.
pub fn number(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap_or_else(|| panic!("no {key} in {of}"))
}

/// The tables of a run.
pub fn trace(desk: &Desk, out: &str) -> Recording {
    table::read_all(&desk.path(&format!("{out}/base"))).expect("tables")
}
