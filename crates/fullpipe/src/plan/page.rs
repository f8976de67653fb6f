//! Advice as text of at most 80 columns, but for commands.

use super::proof::Proof;
use super::{Advice, Demand};
use crate::advice::files::File;
use crate::numbers;
use crate::report::terminal::grid::words_of;
use crate::scenario::outline;
use std::fmt::Write;

/// Width of text.
const WIDTH: usize = 80;

/// The answer, its proof, the settings with their undo, and the hints.
pub fn render(demand: &Demand, advice: &Advice, proof: Option<&Proof>) -> String {
    let mut out = String::new();
    // One line, however long: programs take the first.
    let _ = writeln!(out, "{}", super::answer::answer(demand, advice, proof));

    // Without a proof the reader must know that nothing was run.
    match proof {
        Some(proof) => proven(&mut out, proof, advice),
        None if demand.loss > 0.0 || advice.changes() => {
            out.push_str("\nNot proven: this is arithmetic, without a run to its end.\n");
        }
        None => {}
    }
    settings(&mut out, advice);
    heading(&mut out, "Also");
    for hint in &advice.hints {
        wrapped(&mut out, &format!("  {:<12} ", hint.about), &hint.text);
    }
    out
}

/// A line of text after an empty one. Writing to a string cannot fail, here and below.
pub fn heading(out: &mut String, text: &str) {
    let _ = writeln!(out, "\n{text}");
}

fn proven(out: &mut String, proof: &Proof, advice: &Advice) {
    let _ = writeln!(
        out,
        "\nProof: engine {}, second half of each run, a queue of {}",
        proof.engine,
        outline::size(proof.queue_bytes)
    );

    // Lossy paths have one more column.
    let is_lossy = proof.runs.iter().any(|run| run.losses.is_some());
    let head = if is_lossy { "  losses" } else { "" };
    let _ = writeln!(
        out,
        "  {:<18} {:>6} {:>8} {:>8}{head}  held back by",
        "settings", "s", "Mb/s", "of path"
    );
    for run in &proof.runs {
        let (mbit, share) =
            (numbers::short(run.mbit), numbers::share(run.mbit / proof.payload_mbit));
        let losses = run.losses.map_or(String::new(), |n| format!("{:>8}", numbers::count(n)));
        let seconds = numbers::short(run.seconds);
        let _ = writeln!(
            out,
            "  {:<18} {seconds:>6} {mbit:>8} {share:>8}{losses}  {}, {} of the time",
            run.settings,
            run.held_back_by,
            numbers::share(run.share)
        );
    }

    // A little below the path is rounding, not TCP's window.
    if advice.reachable_mbit < 0.999 * proof.payload_mbit {
        let most = numbers::rate(advice.reachable_mbit);
        wrapped(out, "  ", &format!("TCP's largest window, 1 GiB a flow, allows {most}."));
    }
    for note in &proof.notes {
        wrapped(out, "  ", &format!("Note: {note}."));
    }
}

fn settings(out: &mut String, advice: &Advice) {
    for reason in &advice.reasons {
        let (today, planned) = (size(&reason.today), size(&reason.planned));
        heading(out, &format!("{}: {planned} maximum instead of {today}", reason.setting));
        wrapped(out, "  ", &reason.why);
    }
    files(out, &advice.files, "on both hosts");
    if let Some(pace) = advice.pacing_bytes_per_s {
        heading(out, "In the sending program");
        let _ = writeln!(
            out,
            "  setsockopt(SO_MAX_PACING_RATE, {pace})  bytes/s; iperf3 --fq-rate {}K",
            pace * 8 / 1000
        );
    }
}

fn size(bytes: &str) -> String {
    bytes.parse().map_or_else(|_| bytes.to_string(), crate::sizing::sizes::mib)
}

fn files(out: &mut String, files: &[File], hosts: &str) {
    for file in files {
        // Each file comes with what to keep before, and how to undo it.
        if let Some(save) = &file.save {
            heading(out, &format!("First, {hosts}, as root: keep what the host has"));
            let _ = writeln!(out, "  {}", save.replace("; ", ";\n  ").replace("|| ", "||\n  "));
        }
        heading(out, &format!("To set, {hosts}, as root: {}", file.path));
        for line in file.text.lines() {
            let _ = writeln!(out, "  {line}");
        }
        let _ = writeln!(out, "  Keep a larger value that a host has already.");
        let _ = writeln!(out, "At once:  {}", file.apply);
        let undo = file.undo.replace("&& ", "&&\n          ");
        let _ = writeln!(out, "To undo:  rm {}\n          {undo}", file.path);
    }
}

/// Words behind an indent, on as many lines as they need.
pub fn wrapped(out: &mut String, indent: &str, text: &str) {
    let mut line = indent.to_string();
    let blank = " ".repeat(indent.chars().count());
    for word in words_of(text) {
        if line.chars().count() + word.chars().count() > WIDTH && line.trim() != indent.trim() {
            let _ = writeln!(out, "{}", line.trim_end());
            line.clone_from(&blank);
        }
        line.push_str(&word);
        line.push(' ');
    }
    let _ = writeln!(out, "{}", line.trim_end());
}
