//! Costs and conditions of advice: memory, one flow alone, another path.

use super::Case;
use super::candidates::most;
use super::change::{Change, Rank};
use super::document::Sensitivity;
use super::method::Found;
use super::trial::{Bench, Stopped};
use crate::analysis::words::{bytes, percent};
use crate::scenario::{Element, Resolved};
use fullpipe_base::units::{Rate, Time};

/// Runs below this share of the best one are uneven.
const EVEN: f64 = 0.95;

/// One sentence for each cost and condition.
pub fn notes(case: &Case, found: &Found) -> Vec<String> {
    let changes: Vec<&Change> = found.changes.iter().map(|own| &own.change).collect();
    let mut notes = Vec::new();
    notes.extend(memory(case, &changes));
    notes.extend(alone(case, &changes));
    if changes.iter().any(|own| own.setting == "net.ipv4.tcp_rmem") {
        notes.push(
            "Connections that exist keep their old receive window: connect again after the change."
                .into(),
        );
    }
    if changes.iter().any(|own| own.rank == Rank::Pace) {
        notes.push(
            "The pace has to be below the true rate of the path: above it, it does nothing. \
             `fq maxrate` is no substitute: the excess waits in the host."
                .into(),
        );
    }
    if found.today.evenness < EVEN && found.cured.evenness >= EVEN {
        notes.push(format!(
            "Today three runs differ: the worst has {} of the best. With the changes they are alike.",
            percent(found.today.evenness)
        ));
    }
    if found.cured.evenness < EVEN {
        notes.push(format!(
            "The path is unstable: of three runs that differ by chance the worst has {} of the best.",
            percent(found.cured.evenness)
        ));
    }
    notes.extend(bound(case, found));
    notes
}

/// Memory that all sockets could take at once.
fn memory(case: &Case, changes: &[&Change]) -> Option<String> {
    let flows = case.flows.len() as u64;
    let of =
        |name: &str| changes.iter().filter(|own| own.setting == name).find_map(|own| most(own));
    let (send, receive) = (of("net.ipv4.tcp_wmem"), of("net.ipv4.tcp_rmem"));
    if send.is_none() && receive.is_none() {
        return None;
    }
    let part = |most: Option<u64>, whose: &str| {
        most.map(|most| format!("{} at the {whose}", bytes(most.saturating_mul(flows))))
    };
    let parts: Vec<String> =
        [part(send, "sender"), part(receive, "receiver")].into_iter().flatten().collect();
    Some(format!(
        "Memory if all buffers were full at once: {}. It must fit the second number of net.ipv4.tcp_mem, in pages.",
        parts.join(" and ")
    ))
}

/// Sizes for one flow that has the path alone, where several share it.
fn alone(case: &Case, changes: &[&Change]) -> Option<String> {
    if case.flows.len() < 2 || !changes.iter().any(|own| own.setting.ends_with("mem")) {
        return None;
    }
    let needs = case.flows.iter().filter_map(|flow| flow.alone).max_by_key(|own| own.window)?;
    Some(format!(
        "The sizes are for {} flows. A flow that has the path alone needs {} of tcp_wmem and {} of tcp_rmem.",
        case.flows.len(),
        bytes(needs.send.advised),
        bytes(needs.receive.advised)
    ))
}

/// What loss leaves of the path, whatever is set.
fn bound(case: &Case, found: &Found) -> Option<String> {
    let is_full = found.cured.share().is_some_and(|share| share >= super::method::ENOUGH);
    if is_full || !case.is_lossy {
        return None;
    }
    let lossy = case.flows.iter().filter_map(|flow| flow.needs?.lossy).next()?;
    Some(format!(
        "The loss holds a flow at about {}: {} flows, or a congestion control that does not take loss as congestion \
         (bbr), would fill the path.",
        crate::analysis::numbers::rate(lossy.mbit),
        crate::analysis::numbers::count(lossy.flows)
    ))
}

/// Differences of a path that advice has to bear.
type Difference = (&'static str, fn(&mut Resolved));

const DIFFERENCES: [Difference; 2] =
    [("round trip 5 % longer", longer), ("rate 3 % lower", slower)];

/// The advised settings on paths that are a little different.
///
/// # Errors
/// A trial has no outcome.
pub fn sensitivity(
    case: &Case,
    changes: &[Change],
    bench: &Bench,
) -> Result<Vec<Sensitivity>, Stopped> {
    bench.watch.step("on paths that are a little different", DIFFERENCES.len());
    let mut all = Vec::new();
    for (what, differ) in DIFFERENCES {
        let mut other = case.clone();
        differ(&mut other.today);
        let edits = changes.iter().flat_map(|change| &change.edits).collect();
        for outcome in bench.trials(&other, &[edits])? {
            let share = outcome.share();
            all.push(Sensitivity { what: what.into(), mbit: outcome.mbit, share });
        }
    }
    Ok(all)
}

fn longer(run: &mut Resolved) {
    for element in run.path.forward.iter_mut().chain(&mut run.path.back) {
        if let Element::Delay(own) = element {
            own.delay = Time(own.delay.0 + own.delay.0 / 20);
        }
    }
}

fn slower(run: &mut Resolved) {
    for element in run.path.forward.iter_mut().chain(&mut run.path.back) {
        if let Element::Link(own) = element {
            own.rate = Rate(own.rate.0 / 100 * 97);
        }
    }
}
