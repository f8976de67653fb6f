//! A plan as text of at most 80 columns, but for commands.

use super::files::{files, mount, version};
use super::memory::Memory;
use super::proof::Proof;
use super::settings::Reason;
use super::{Plan, Question};
use crate::advice::files::File;
use crate::numbers;
use crate::plan::page::{heading, wrapped};
use std::fmt::Write;

/// The whole plan, with its proof where there is one.
pub fn render(q: &Question, plan: &Plan, proof: Option<&Proof>) -> String {
    let mut out = String::new();

    // The answer of the proof stands first.
    if let Some(proof) = proof {
        wrapped(&mut out, "", &proof.answer());
        out.push('\n');
    }
    path(&mut out, q, plan);
    if let Some(proof) = proof {
        proven(&mut out, proof);
    }
    for bound in &plan.bounds {
        wrapped(&mut out, "  Not to be mended: ", bound);
    }
    reasons(&mut out, &plan.reasons);

    // Settings that gain nothing are not shown as commands.
    if proof.is_none_or(Proof::is_worth_it) {
        to_set(&mut out, q, plan);
    }
    memory(&mut out, q, &plan.memory);
    out
}

// Writing to a string cannot fail, here and below.
fn line(out: &mut String, label: &str, value: &str) {
    let _ = writeln!(out, "  {label:<28} {value}");
}

fn path(out: &mut String, q: &Question, plan: &Plan) {
    let path = &plan.path;
    let _ = writeln!(
        out,
        "NFS {} over {} ({}) x {} ms, MTU {}, Linux {}",
        version(q.version),
        q.path.rate,
        path.framing,
        numbers::short(path.rtt_s * 1e3),
        path.mtu_bytes,
        path.kernel
    );
    line(out, "highest payload rate", &numbers::rate(path.payload_mbit));
    if q.loss > 0.0 {
        line(out, "packets lost", &format!("{} %", numbers::short(q.loss * 100.0)));
    }
    line(out, "under way when it is full", &mib(plan.under_way_bytes));
}

fn proven(out: &mut String, proof: &Proof) {
    let file = mib(proof.file_bytes);
    heading(out, &format!("One client alone, a file of {file}, engine {}", proof.engine));
    let _ = writeln!(
        out,
        "  {:<8} {:<8} {:>12} {:>8}  held back by",
        "settings", "", "Mb/s", "of line"
    );
    for run in &proof.runs {
        let rate = run.mbit.map_or(numbers::ABSENT.into(), numbers::short);
        let share = run
            .mbit
            .map_or(numbers::ABSENT.into(), |mbit| numbers::share(mbit / proof.payload_mbit));
        let limit = format!("{}, {} of the time", run.held_back_by, numbers::share(run.share));
        let _ = writeln!(
            out,
            "  {:<8} {:<8} {rate:>12} {share:>8}  {limit}",
            run.settings, run.operation
        );
    }
}

fn reasons(out: &mut String, reasons: &[Reason]) {
    heading(out, "Settings (today: as the kernel has them where nothing was set)");
    let _ = writeln!(out, "  {:<40} {:>16} {:>16}", "", "today", "planned");
    for reason in reasons {
        let _ =
            writeln!(out, "  {:<40} {:>16} {:>16}", reason.setting, reason.today, reason.planned);
        wrapped(out, "      ", &reason.why);
    }
}

fn to_set(out: &mut String, q: &Question, plan: &Plan) {
    let files = files(q, plan);
    heading(out, "To set");
    for file in &files {
        one(out, file);
    }
    let _ = writeln!(out, "  client:  {}", mount(q, &plan.settings));
    heading(out, "To undo: remove these lines; the echo lines restore the defaults");
    for file in &files {
        let _ = writeln!(out, "  {}:  {}", file.host, file.undo);
    }
    let _ = writeln!(out, "  client:  umount /MNT");
}

fn one(out: &mut String, file: &File) {
    let _ = writeln!(out, "  {}:  {}", file.host, file.path);
    for line in file.text.lines() {
        let _ = writeln!(out, "      {line}");
    }
    if let Some(save) = &file.save {
        let _ = writeln!(out, "    before:   {save}");
    }
    let _ = writeln!(out, "    at once:  {}", file.apply);
}

fn memory(out: &mut String, q: &Question, memory: &Memory) {
    heading(out, "Memory at most, if all buffers were full at once");
    line(out, "a client's sockets", &mib(memory.client));
    line(out, &format!("server, {} far", clients(q.clients)), &mib(memory.server_far));
    if q.near > 0 {
        line(out, &format!("server, {} near", clients(q.near)), &mib(memory.server_near));
    }
    line(out, "server, threads", &mib(memory.server_threads));
    line(out, "server, together", &mib(memory.server));

    // Under pressure the kernel shrinks windows, so full buffers would not help.
    if memory.server_far + memory.server_near > memory.server_pressure {
        let why = format!(
            "the server holds sockets back from {} on (net.ipv4.tcp_mem, the second number): \
             clients that all fill their buffers get less",
            mib(memory.server_pressure)
        );
        wrapped(out, "  ", &why);
    }
}

fn clients(n: u32) -> String {
    format!("{} {}", numbers::count(n.into()), if n == 1 { "client" } else { "clients" })
}

fn mib(n: u64) -> String {
    format!("{} MiB", numbers::fixed(n as f64 / f64::from(1 << 20), 2))
}
