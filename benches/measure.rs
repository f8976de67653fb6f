//! What the benchmarks share: CPU time, medians, and how the table of what recovery costs is kept.
#![allow(dead_code)] // each benchmark uses a part

use fullpipe_sim::trace::Control;
use fullpipe_sim::units::Time;
use rustix::time::{ClockId, clock_gettime};
use std::path::{Path, PathBuf};

/// Lets a run go to its end.
pub struct ToTheEnd;

impl Control for ToTheEnd {
    fn go_on(&mut self, _now: Time) -> bool {
        true
    }
}

/// CPU time of this thread, ns.
pub fn cpu_ns() -> f64 {
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    spent.tv_sec as f64 * 1e9 + spent.tv_nsec as f64
}

/// CPU time of this process, s.
pub fn process_cpu_s() -> f64 {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9
}

/// The middle value of an odd number of them.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// What a packet costs with a kernel, ns of CPU.
pub struct Cost {
    pub kernel: String,
    pub whole: f64,
    pub in_recovery: f64,
    /// How many times `whole` it is in recovery.
    pub times: f64,
}

impl Cost {
    /// Medians over rounds, each a pair of times of both. A machine's speed changes from one second to
    /// the next, so that only what was measured together is compared.
    pub fn of(kernel: &str, rounds: &[(f64, f64)]) -> Cost {
        let (whole, in_recovery, times) = medians(rounds);
        Cost { kernel: kernel.into(), whole, in_recovery, times }
    }
}

/// Medians of the first, of the second, and of their ratio.
pub fn medians(rounds: &[(f64, f64)]) -> (f64, f64, f64) {
    let of = |value: fn(&(f64, f64)) -> f64| median(rounds.iter().map(value).collect());
    (of(|round| round.0), of(|round| round.1), of(|round| round.1 / round.0))
}

/// What was measured of a packet in recovery; each has two columns of the table.
#[derive(Clone, Copy)]
pub enum Of {
    Sender,
    Run,
}

/// Prints the costs, and with `--record FILE` writes them into a text's table, too.
pub fn report(of: Of, costs: &[Cost]) {
    for Cost { kernel, whole, in_recovery, times } in costs {
        println!("{kernel}: {whole:.0} {in_recovery:.0} {times:.2}");
    }
    record("recovery", |table| {
        let mut lines: Vec<String> = table.lines().take(2).map(str::to_string).collect();
        lines.extend(costs.iter().map(|cost| row(table, of, cost)));
        lines.join("\n")
    });
}

/// With `--record FILE`: what stands between the marks of this name in the file becomes what `new` makes
/// of it. A relative name counts from the repository's root.
pub fn record(name: &str, new: impl FnOnce(&str) -> String) {
    let mut arguments = std::env::args_os().skip_while(|word| word != "--record").skip(1);
    let Some(file) = arguments.next() else { return };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PathBuf::from(file));
    let at = file.display();
    let (begin, end) = (format!("<!-- {name} -->\n\n"), format!("\n\n<!-- /{name} -->"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{at}: {e}"));
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("{at}: no {begin}"));
    let (table, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{at}: no {end}"));
    let text = format!("{before}{begin}{}{end}{after}", new(table));
    std::fs::write(&file, text).unwrap_or_else(|e| panic!("{at}: {e}"));
}

/// A kernel's row, with the other columns as they are in the table.
fn row(table: &str, of: Of, cost: &Cost) -> String {
    let cells =
        |line: &str| line.split('|').map(|cell| cell.trim().to_string()).collect::<Vec<_>>();
    let found = table.lines().map(cells).find(|cells| cells.get(1) == Some(&cost.kernel));
    let mut cells = match found {
        Some(cells) => cells[1..6].to_vec(),
        None => [&cost.kernel, "", "", "", ""].map(str::to_string).to_vec(),
    };
    let first = match of {
        Of::Sender => 1,
        Of::Run => 3,
    };
    cells[first] = format!("{:.0}", cost.in_recovery);
    cells[first + 1] = format!("{:.1}", cost.times);
    format!("| {} |", cells.join(" | "))
}
