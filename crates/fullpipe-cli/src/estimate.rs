//! Estimate of the time and memory that a run will take.

use fullpipe::base::units::Framing;
use fullpipe::engine::Engine;
use fullpipe::scenario::metric::stages;
use fullpipe::scenario::{Element, Resolved};
use serde::Serialize;

/// Bytes of a row of the trace on disk, compressed; measured on the runs of fink-2007.
const BYTES_PER_ROW: f64 = 9.0;

/// An estimate for one run; the path counts as full all the time, so it is an upper bound in the
/// number of segments.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Simulated seconds.
    pub simulated_s: f64,
    /// Segments that the path can carry in that time.
    pub segments_at_most: f64,
    /// Seconds of one core for them.
    pub core_s_at_most: f64,
    /// Rows of the trace.
    pub trace_rows: f64,
    /// Bytes of the trace on disk, roughly.
    pub trace_bytes: f64,
}

/// The estimate for one run on each of these engines.
pub fn estimate(run: &Resolved, engines: &[&dyn Engine]) -> Estimate {
    let seconds = run.duration.as_secs_f64();
    let segments = seconds * packets_per_second(run);
    let samples = seconds / run.report.sample.as_secs_f64();
    let rows = samples * (run.flows_at_once() + stages(run).len()) as f64;
    Estimate {
        simulated_s: seconds,
        segments_at_most: segments,
        core_s_at_most: engines.iter().map(|engine| segments / engine.pace()).sum(),
        trace_rows: rows,
        trace_bytes: rows * BYTES_PER_ROW,
    }
}

/// Full packets per second that the narrowest place of each direction of data lets through.
fn packets_per_second(run: &Resolved) -> f64 {
    let mtu = run.path.mtu;
    let rate =
        |bits: u64, framing: Framing| bits as f64 / 8.0 / f64::from(mtu + framing.overhead());
    let ways = run.ways_of_data().map(|(_, elements, host)| {
        let links = elements.iter().filter_map(Element::rate);
        let links = links.map(|(bits, framing)| rate(bits.0, framing));
        links.fold(rate(host.config.nic_rate.0, Framing::EthernetWire), f64::min)
    });
    ways.sum()
}
