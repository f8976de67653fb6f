//! How late the packets of an emulated path left, which decides how far a run on this machine can be trusted.

use super::Style;
use super::grid::wrap;
use fullpipe_analysis::document::Run;
use fullpipe_analysis::numbers::count;

/// Lateness of 99 % of the packets from which on a run counts as disturbed, ns.
const DISTURBED: u64 = 1_000_000;

/// Nothing of a run whose path was not emulated.
pub fn lines(run: &Run, style: Style) -> Vec<String> {
    let value = |name: &str| {
        let found = run.counters.iter().find(|own| own.host == "path" && own.name == name);
        found.map(|own| own.value)
    };
    let Some(most) = value("emulator.late_max_ns") else { return Vec::new() };
    let half = value("emulator.late_p50_ns").unwrap_or_default();
    let nearly_all = value("emulator.late_p99_ns").unwrap_or_default();
    let mut line = format!(
        "{}: packets left the emulated path {} late in the median, 99 % within {}, the last {}",
        run.variant,
        time(half),
        time(nearly_all),
        time(most)
    );
    if nearly_all >= DISTURBED {
        line += "; the run is disturbed: end other programs, or lower the rate";
    }
    if let Some(overruns) = value("emulator.overruns").filter(|overruns| *overruns > 0) {
        line += &format!(
            "; the run is disturbed: the kernel lost packets {} times, as the emulator was too slow",
            count(overruns)
        );
    }
    wrap(&line, "  ", style.columns())
}

/// A time in us or ms.
fn time(ns: u64) -> String {
    let us = ns as f64 / 1e3;
    if us < 1000.0 { format!("{us:.0} us") } else { format!("{:.1} ms", us / 1e3) }
}
