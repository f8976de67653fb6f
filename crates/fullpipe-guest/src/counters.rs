//! Counters of the whole run, at its end.

use fullpipe_guest::record::{DONE, DROPPED, SNMP, SOFTNET};

use crate::error::{Context, Result};
use crate::path::Path;
use crate::run;

/// Records them, and that the run is done.
pub fn record(path: &Path, time_ns: u64) -> Result<()> {
    let mut out = run::out()?;
    for (number, namespace) in path.namespaces.iter().enumerate() {
        namespace.enter()?;
        let text = read("/proc/thread-self/net/snmp")? + &read("/proc/thread-self/net/netstat")?;
        out.record(SNMP, number, time_ns, text.as_bytes());
    }
    out.record(SOFTNET, 0, time_ns, read("/proc/thread-self/net/softnet_stat")?.as_bytes());
    for dropper in &path.droppers {
        out.numbers(DROPPED, dropper.router, time_ns, &dropper.seen()?);
    }
    out.record(DONE, 0, time_ns, &[]);
    out.flush().at(|| "records")
}

fn read(path: &str) -> Result<String> {
    std::fs::read_to_string(path).at(|| path)
}
