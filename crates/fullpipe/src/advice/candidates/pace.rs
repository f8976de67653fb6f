//! A pace just below the path, as each socket's SO_MAX_PACING_RATE, which counts payload.
//!
//! `fq maxrate` is no substitute: TCP does not know it, so the excess waits in the host, and beyond `flow_limit` fq drops.

use super::super::case::{Case, Sent, demand};
use super::super::change::{Change, How, Rank, Scope};
use super::super::edit::Edit;
use super::flows::counted;
use crate::analysis::numbers;
use crate::scenario::{App, Element, MAX_PACING_RATE, Version};
use crate::sizing::sizes::{PACED_SHARE, PACES_ITSELF};
use fullpipe_sim::tcp::modelled::are_modelled;

/// Round trips at the full rate below which a transfer is short.
const SHORT: f64 = 5.0;

/// Each bulk flow sends a little less than its part of the path.
pub fn changes(case: &Case) -> Vec<Change> {
    at(case, PACED_SHARE)
}

/// Each bulk flow sends this share of its part of the path.
pub fn at(case: &Case, share: f64) -> Vec<Change> {
    let mut all: Vec<(u64, Vec<&str>)> = Vec::new();
    for flow in &case.flows {
        let Some(bytes_per_s) = paced(case, flow, share) else { continue };
        match all.iter_mut().find(|(own, _)| *own == bytes_per_s) {
            Some((_, names)) => names.push(&flow.name),
            None => all.push((bytes_per_s, vec![&flow.name])),
        }
    }
    all.into_iter().map(|(bytes_per_s, names)| change(case, share, bytes_per_s, &names)).collect()
}

/// Pace of a bulk flow on a kernel that paces, bytes per second; none of other flows.
fn paced(case: &Case, flow: &Sent, share: f64) -> Option<u64> {
    let own = flow.share_bytes()?;
    let about = case.today.flow.iter().find(|own| own.name == flow.name)?;
    // A transfer that is over within some round trips has no use for a pace.
    let least = own * case.round_trip.as_secs_f64() * SHORT;
    let is_long = about.bytes.is_none_or(|bytes| bytes as f64 >= least);
    let [from, _] = case.today.hosts_of(about);
    let version: Option<Version> = flow.settings.kernels[0].parse().ok();
    let paces = version.is_some_and(|own| own >= PACES_ITSELF)
        && are_modelled(&from.host.config).unwrap_or(false);
    // A program that reads more slowly than its part of the path paces its flow already.
    let is_bulk = about.app == App::Bulk && demand(about) * 1e6 / 8.0 >= own;
    Some((own * share) as u64).filter(|pace| *pace > 0 && is_bulk && is_long && paces)
}

/// A change that gives several flows one pace.
fn change(case: &Case, share: f64, bytes_per_s: u64, names: &[&str]) -> Change {
    let whose = counted(case, names);
    let rate = numbers::rate(bytes_per_s as f64 * 8.0 / 1e6);
    let edits = names
        .iter()
        .map(|name| Edit::flow(name, &["sockopt", MAX_PACING_RATE], Some(bytes_per_s.into())));
    let how = How::SocketOption { name: MAX_PACING_RATE.into(), value: Some(bytes_per_s) };
    Change::new(MAX_PACING_RATE, &whose, Scope::Application, how)
        .rank(Rank::Pace)
        .values("not set", format!("{} bytes/s", numbers::count(bytes_per_s)))
        .why(format!(
            "{rate} of payload is {} of {}, so that no burst {}",
            numbers::share(share),
            if case.flows.len() > 1 { "each flow's part of the path" } else { "the path" },
            match is_policed(case) {
                true => "is more than the policer's bucket holds",
                false => "overflows its queue",
            }
        ))
        .edits(edits)
}

/// Whether a policer of the path drops packets beyond its bucket.
fn is_policed(case: &Case) -> bool {
    case.today.way(case.direction).iter().any(|element| matches!(element, Element::Policer(_)))
}
