//! The tables of docs/competition.md, from the records that are kept (`UPDATE_EXPECT=1` rewrites them).

use super::kept::records;
use crate::marked;
use fullpipe::numbers::{fixed, share};
use fullpipe::sweep::cells::{Cell, CellShared, cells};
use fullpipe::sweep::competition::{Companies, Company};
use fullpipe::sweep::{Merged, Record, estimate::Estimate};
use std::collections::BTreeMap;
use std::fmt::Write;

const PAGE: &str = "docs/competition.md";

/// Writes a table of the sweep's cells.
fn table(name: &str, text: impl FnOnce(&Merged, &[Cell]) -> String) {
    let merged = records(name);
    let cells = cells(&merged).expect("cells");
    let repetitions = merged.manifest.seeds;
    let means = format!("\nMeans of {repetitions} repetitions with 95 % intervals.\n");
    marked::committed(PAGE, name, &(text(&merged, &cells) + &means));
}

/// A mean with its interval.
fn mean(of: Option<Estimate>, decimals: usize) -> String {
    let Some(of) = of else { return "–".into() };
    let within =
        of.within.map_or_else(String::new, |within| format!(" ± {}", fixed(within, decimals)));
    fixed(of.mean, decimals) + &within
}

/// The cell of a variant.
fn cell<'a>(cells: &'a [Cell], variant: &str) -> &'a Cell {
    cells.iter().find(|cell| cell.variant == variant).unwrap_or_else(|| panic!("no {variant}"))
}

/// Settled rate of a flow in a variant.
fn rate(cells: &[Cell], variant: &str, flow: &str) -> Option<Estimate> {
    cell(cells, variant).flows.iter().find(|own| own.name == flow).map(|own| own.settled_mbit)
}

fn shared(cells: &[Cell], variant: &str) -> CellShared {
    cell(cells, variant).fairness.unwrap_or_else(|| panic!("{variant}: flows share nothing"))
}

/// Number of repetitions that converge, and their times.
fn converged(cells: &[Cell], variant: &str) -> String {
    let (runs, shared) = (cell(cells, variant).runs, shared(cells, variant));
    let when = shared.converged_s.map_or_else(String::new, |s| format!(", {} s", mean(Some(s), 1)));
    format!("{} of {runs}{when}", shared.converged)
}

#[test]
fn what_others_leave_to_reno_and_compound() {
    table("cern-friendliness", |merged, cells| {
        let mut companies = Companies::new(&merged.manifest);
        let add = |record| {
            companies.add(&record);
            Ok(())
        };
        merged.each(add).expect("records");
        let companies = companies.finish();
        let head = "| flow | beside | rate, Mb/s, it began 10 s before | 10 s after | friendliness, before | after | harm to its rate, before | after |\n";
        let mut text = String::from(head) + "|---|---|--:|--:|--:|--:|--:|--:|\n";
        for flow in ["reno", "compound"] {
            let alone = mean(rate(cells, &format!("{flow} alone"), "standard"), 0);
            writeln!(text, "| {flow} | nobody | {alone} | | | | | |").expect("text");
            for other in ["reno", "compound", "cubic", "bic", "scalable"] {
                let orders = ["before", "after"].map(|order| format!("{flow} {order} {other}"));
                if cells.iter().any(|cell| cell.variant == orders[0]) {
                    let line = beside(cells, &companies, &orders);
                    writeln!(text, "| {flow} | {other} | {line} |").expect("text");
                }
            }
        }
        text
    });
}

/// Rates, friendliness and harm in both orders.
fn beside(cells: &[Cell], companies: &[Company], orders: &[String; 2]) -> String {
    let company = |variant: &String| companies.iter().find(|own| own.variant == *variant);
    let friendliness =
        |variant: &String| company(variant)?.friendliness.map(|ratio| mean(Some(ratio), 2));
    let harm = |variant: &String| company(variant)?.harm.map(|harm| mean(Some(harm.throughput), 2));
    let rates = orders.iter().map(|variant| Some(mean(rate(cells, variant, "standard"), 0)));
    let others = orders.iter().map(friendliness).chain(orders.iter().map(harm));
    let fields: Vec<String> = rates.chain(others).map(Option::unwrap_or_default).collect();
    fields.join(" | ")
}

#[test]
fn each_beside_each() {
    table("cern-pairs", |merged, cells| {
        let [first, second] = &merged.manifest.axes[..] else { panic!("two axes") };
        let name = |point: &Vec<serde_json::Value>| point[0].as_str().expect("a name").to_string();
        let columns: Vec<String> = second.points.iter().map(name).collect();
        let heads = columns.iter().map(|name| format!(" beside {name} |")).collect::<String>();
        let mut text = format!("| first |{heads}\n|---|{}\n", "--:|".repeat(columns.len()));
        for row in first.points.iter().map(name) {
            let share = |column: &String| {
                let of = cells
                    .iter()
                    .find(|cell| cell.at[&first.name] == row && cell.at[&second.name] == **column);
                mean(of.and_then(|cell| cell.flows[0].share), 2)
            };
            let shares: Vec<String> = columns.iter().map(share).collect();
            writeln!(text, "| {row} | {} |", shares.join(" | ")).expect("text");
        }
        text
    });
}

#[test]
fn round_trips_of_10_and_40_ms() {
    table("cern-rtt-fairness", |_, cells| {
        let mut text = String::from(
            "| | k | Jain, settled | 10 ms, Mb/s | 40 ms, Mb/s |\n|---|--:|--:|--:|--:|\n",
        );
        for variant in ["cubic", "reno", "bic", "scalable"] {
            let shared = shared(cells, variant);
            let (k, jain) = (mean(shared.rtt_exponent, 2), mean(shared.jain_settled, 3));
            let [short, long] = ["short", "long"].map(|flow| mean(rate(cells, variant, flow), 0));
            writeln!(text, "| {variant} | {k} | {jain} | {short} | {long} |").expect("text");
        }
        text
    });
}

#[test]
fn flows_of_one_control() {
    table("cern-fairness", |_, cells| {
        let mut text = String::from(
            "| | Jain | settled | converged, after the last start |\n|---|--:|--:|--:|\n",
        );
        for variant in cells.iter().map(|cell| &cell.variant) {
            let shared = shared(cells, variant);
            let (jain, settled) = (mean(Some(shared.jain), 3), mean(shared.jain_settled, 3));
            let when = converged(cells, variant);
            writeln!(text, "| {variant} | {jain} | {settled} | {when} |").expect("text");
        }
        text
    });
}

/// Lines of cern-today on an engine.
fn today(engine: &str, cells: &[Cell]) -> String {
    let controls = ["cubic", "bic", "scalable"];
    let line = |what: &str, of: &dyn Fn(&str) -> String| {
        let fields: Vec<String> = controls.iter().map(|name| of(name)).collect();
        format!("| {what} | {engine} | {} |\n", fields.join(" | "))
    };
    let there = |variant: &String| cells.iter().any(|cell| cell.variant == *variant);
    let field = |variant: String, of: &dyn Fn(&str) -> String| {
        if there(&variant) { of(&variant) } else { String::new() }
    };
    let jain = |of: fn(CellShared) -> Option<Estimate>| {
        move |name: &str| field(format!("{name}, 30 s apart"), &|v| mean(of(shared(cells, v)), 3))
    };
    line("Reno's settled rate beside it, Mb/s, Reno 10 s before", &|name| {
        field(format!("reno, then {name}"), &|v| mean(rate(cells, v, "first"), 0))
    }) + &line("the same, Reno 10 s after", &|name| {
        field(format!("{name}, then reno"), &|v| mean(rate(cells, v, "second"), 0))
    }) + &line("k of round trips of 10 ms and 40 ms", &|name| {
        field(format!("{name}, 10 and 40 ms"), &|v| mean(shared(cells, v).rtt_exponent, 2))
    }) + &line("two flows 30 s apart, Jain", &jain(|shared| Some(shared.jain)))
        + &line("the same, settled", &jain(|shared| shared.jain_settled))
        + &line("they converge, after the last start", &|name| {
            field(format!("{name}, 30 s apart"), &|v| converged(cells, v))
        })
}

#[test]
fn todays_kernel_on_either_engine() {
    table("cern-today", |_, cells| {
        let mut text =
            String::from("| | engine | CUBIC | BIC | Scalable |\n|---|---|--:|--:|--:|\n");
        text += &today("sim", cells);
        let real = fullpipe::sweep::cells::cells(&records("cern-today-linux"));
        text += &today("linux", &real.expect("cells"));
        text
    });
}

/// Run to its flows' bytes, and their settled rates in Mb/s.
fn delivered(merged: &Merged) -> BTreeMap<u64, Vec<(u64, f64)>> {
    let mut all = BTreeMap::new();
    let add = |record: Record| {
        let flows = record.facts.expect("a run that came out").flows;
        all.insert(record.run, flows.iter().map(|own| (own.bytes, own.settled_mbit)).collect());
        Ok(())
    };
    merged.each(add).expect("records");
    all
}

/// Two engines; their runs differ by the engine alone.
#[test]
fn runs_of_today_on_both_engines() {
    let both = ["cern-today", "cern-today-linux"].map(records);
    let [simulated, real] = &both;
    let [simulated, real] = [simulated, real].map(delivered);
    let flows = |run: &u64| simulated[run].iter().zip(&real[run]);
    let same = |run: &&u64| flows(run).all(|(a, b)| a.0 == b.0);
    let apart = |(a, b): (&(u64, f64), &(u64, f64))| (a.1 - b.1).abs() / b.1;
    let furthest = real.keys().flat_map(flows).map(apart).fold(0.0, f64::max);
    let (all, same) = (real.len(), real.keys().filter(same).count());
    assert_eq!(all, simulated.len());
    assert_eq!((same, furthest), (all, 0.0), "README.md says that all are equal");
    let text = format!(
        "Of {all} runs {same} delivered the same bytes of each flow on both engines; settled rates are {} apart at most.\n",
        share(furthest)
    );
    marked::committed(PAGE, "cern-today-engines", &text);
}
