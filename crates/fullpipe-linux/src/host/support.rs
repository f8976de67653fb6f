//! Keys of a scenario that this machine does otherwise, or not at all.

use fullpipe_base::path::Direction;
use fullpipe_scenario::engine::Support;
use fullpipe_scenario::{App, Impairment, Resolved};

/// The keys of `run` that the engine does not do exactly.
pub(super) fn support(run: &Resolved) -> Vec<(String, Support)> {
    let mut answers = Vec::new();
    for station in run.stations() {
        let key = station.key();
        let kernel = format!("{} for {}", release(), station.host.config.kernel);
        answers.push((format!("{key}.kernel"), Support::Noted(kernel)));
        if station.host.config.sysctl.tcp_ecn == Some(1) {
            let why = "queues of this engine write no marks into packets yet";
            answers.push(refused(&format!("{key}.sysctl.net.ipv4.tcp_ecn"), why));
        }
    }
    if run.report.packets.is_some() {
        answers.push(refused("report.packets", "this engine records no single packets yet"));
    }
    if !run.nfs.is_empty() {
        answers.push(refused("nfs", "this engine mounts nothing yet"));
    }
    for own in &run.host {
        answers.push(refused(&format!("host.{}", own.name), "this engine has two hosts yet"));
    }
    for flow in run.flow.iter().filter(|flow| matches!(flow.app, App::OnOff { .. })) {
        let why = "the programs of this engine write as much as goes, or at a rate";
        answers.push(refused(&format!("flow.{}.app", flow.name), why));
    }
    for direction in [Direction::Forward, Direction::Backward] {
        path(run, direction, &mut answers);
    }
    answers
}

fn path(run: &Resolved, direction: Direction, answers: &mut Vec<(String, Support)>) {
    let around = run.surroundings();
    let elements = match direction {
        Direction::Forward => &run.path.forward,
        Direction::Backward => &run.path.back,
    };
    for element in elements {
        let why = match element.impairment(&around) {
            Impairment::Copy(_) => "a verdict cannot copy a packet",
            Impairment::MarkListed(_) => "this engine marks no packets yet",
            Impairment::Narrow { .. } => "this engine has no routers of a smaller MTU yet",
            _ => continue,
        };
        answers.push(refused(&format!("path, element {}", element.name()), why));
    }
}

fn refused(key: &str, why: &str) -> (String, Support) {
    (key.into(), Support::Refused(why.into()))
}

/// Name of the running kernel, for instance "Linux 6.12.1".
fn release() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("Linux {}", text.trim())
}
