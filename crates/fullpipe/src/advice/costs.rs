//! Costs and conditions of advice: memory, one flow alone, another path.

use super::Case;
use super::answer::unequal;
use super::candidates::{MOST_TRIED, most};
use super::change::{Change, Rank};
use super::document::Sensitivity;
use super::edit::Edit;
use super::method::{EVEN, Found};
use super::trial::{Bench, Stopped, changed};
use crate::analysis::words::{bytes, percent};
use crate::scenario::{Drop, Element};
use crate::threads::each;
use fullpipe_base::path::Direction;
use fullpipe_base::units::{Rate, Time};

/// Runs below this share of the best one are unlike it.
const ALIKE: f64 = 0.95;
/// Stage that loses the one packet.
const ONE_LOSS: &str = "advice-one-loss";
/// Memory that each host of a long fat path has, bytes.
const SMALL_HOST: u64 = 4 << 30;

/// Settings that connections take over when they begin.
const AT_CONNECT: [&str; 4] = [
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_timestamps",
];

/// One sentence for each cost and condition.
pub fn notes(case: &Case, found: &Found, engine: &str) -> Vec<String> {
    let changes: Vec<&Change> = found.changes.iter().map(|own| &own.change).collect();
    let mut notes = Vec::new();
    notes.extend(memory(case, &changes));
    notes.extend(alone(case, &changes));
    if let Some(own) = changes.iter().find(|own| AT_CONNECT.contains(&&own.setting[..])) {
        let setting = &own.setting;
        notes.push(format!(
            "Connections that exist keep what {setting} was when they began: connect again after the change."
        ));
    }
    notes.extend(capped(case, &changes));
    if changes.iter().any(|own| own.rank == Rank::Pace) {
        notes.push(
            "The pace has to be below the true rate of the path: above it, it does nothing. \
             `fq maxrate` is no substitute: the excess waits in the host."
                .into(),
        );
    }
    if found.today.evenness < ALIKE && found.cured.evenness >= ALIKE {
        notes.push(format!(
            "Today three runs differ: the worst has {} of the best. With the changes they are alike.",
            percent(found.today.evenness)
        ));
    }
    if found.cured.evenness < ALIKE {
        notes.push(format!(
            "The path is unstable: of three runs that differ by chance the worst has {} of the best.",
            percent(found.cured.evenness)
        ));
    }
    notes.extend(slowest(found));
    notes.extend(changes.iter().find(|own| own.setting == "MTU").map(|_| {
        "Where a router on the path drops its ICMP messages, net.ipv4.tcp_mtu_probing = 1 lets the sender find the MTU by \
         itself (not simulated)."
            .into()
    }));
    notes.extend(bound(case, found, engine));
    notes
}

/// That a smaller receive buffer holds other connections back.
fn capped(case: &Case, changes: &[&Change]) -> Option<String> {
    let own = changes.iter().find(|own| own.setting == "net.ipv4.tcp_rmem")?;
    let hosts = case.hosts(1);
    let (host, today) = hosts.into_iter().find(|(name, _)| *name == own.whose)?;
    (most(own)? < today.config.sysctl.tcp_rmem[2]).then(|| {
        format!(
            "The smaller tcp_rmem bounds every connection to {host}, also those on longer paths. A program can ask for it by \
             SO_RCVBUF instead."
        )
    })
}

/// Memory that all sockets could take at once.
fn memory(case: &Case, changes: &[&Change]) -> Option<String> {
    let edits = changes.iter().flat_map(|change| &change.edits);
    let more = edits.map(|edit| match edit {
        Edit::Copies { count, .. } => u64::from(count.saturating_sub(1)),
        Edit::Set { .. } => 0,
    });
    let flows = case.flows.len() as u64 + more.sum::<u64>();
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
    let most = send.max(receive).unwrap_or(0).saturating_mul(flows);
    let bound = tcp_mem(most).unwrap_or_default();
    Some(format!("Memory if all buffers were full at once: {}.{bound}", parts.join(" and ")))
}

/// Setting of net.ipv4.tcp_mem for a host whose sockets may take so much memory, bytes.
///
/// From the second number on the kernel holds all its sockets back. By default it is a sixteenth of the memory that was free at
/// boot, beside three quarters and one and a half of that (Linux `tcp_init_mem`).
fn tcp_mem(most: u64) -> Option<String> {
    const PAGE: u64 = 4096;
    const PART: u64 = 16;
    let (host, pages) = (most.saturating_mul(PART), most.div_ceil(PAGE));
    (host > SMALL_HOST).then(|| {
        format!(
            " A host with less than {} of memory also needs net.ipv4.tcp_mem = {} {} {} (pages of 4 KiB; not simulated).",
            bytes(host),
            pages / 4 * 3,
            pages,
            pages / 2 * 3
        )
    })
}

/// The slowest flow, where others leave it less than its part.
fn slowest(found: &Found) -> Option<String> {
    let own = found.cured.slowest.as_ref().filter(|own| own.share() < EVEN)?;
    // The answer says it where nothing is advised.
    (!found.changes.is_empty()).then(|| unequal(found.goal, own))
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
fn bound(case: &Case, found: &Found, engine: &str) -> Option<String> {
    let is_full = found.cured.share().is_some_and(|share| share >= super::method::ENOUGH);
    if is_full || !case.is_lossy {
        return None;
    }
    let lossy = case.flows.iter().filter_map(|flow| flow.needs?.lossy).next()?;
    Some(format!(
        "The loss holds a flow at about {}: {} flows, or a congestion control that does not take loss as congestion \
         (bbr), would fill the path. Advice tries up to {MOST_TRIED} streams.{}",
        crate::analysis::numbers::rate(lossy.mbit),
        crate::analysis::numbers::count(lossy.flows),
        if engine == "sim" {
            " The simulator has no bbr: --engine linux tries it on the real kernel."
        } else {
            ""
        }
    ))
}

/// Differences of a path that advice has to bear; each takes the rate with the advice, Mb/s.
type Difference = (&'static str, fn(&mut Case, f64));

const DIFFERENCES: [Difference; 3] = [
    ("round trip 5 % longer", longer),
    ("rate 3 % lower", slower),
    ("one packet lost", with_one_loss),
];

/// The advised settings on paths that are a little different.
///
/// # Errors
/// A trial has no outcome.
pub fn sensitivity(case: &Case, found: &Found, bench: &Bench) -> Result<Vec<Sensitivity>, Stopped> {
    let edits = found.changes.iter().flat_map(|own| &own.change.edits);
    let cured = changed(&case.today, edits)?.plans()[0].resolved.clone();
    let cured = Case { today: cured, ..case.clone() };
    let other = |(what, differ): Difference| {
        let mut other = cured.clone();
        differ(&mut other, found.cured.mbit);
        (other.today != cured.today).then_some((what, other))
    };
    let others: Vec<(&str, Case)> = DIFFERENCES.into_iter().filter_map(other).collect();
    bench.watch.step("on paths that are a little different", others.len(), case.least());
    let one = Bench { jobs: 1, ..*bench };
    let outcomes =
        each(others.len(), bench.jobs, |other| one.trials(&others[other].1, &[Vec::new()]))?;
    let all = others.iter().zip(outcomes.iter().flatten());
    let said = all.map(|((what, _), outcome)| Sensitivity {
        what: (*what).into(),
        mbit: outcome.mbit,
        share: outcome.share(),
    });
    Ok(said.collect())
}

fn longer(case: &mut Case, _mbit: f64) {
    let path = &mut case.today.path;
    for element in path.forward.iter_mut().chain(&mut path.back) {
        if let Element::Delay(own) = element {
            own.delay = Time(own.delay.0 + own.delay.0 / 20);
        }
    }
}

fn slower(case: &mut Case, _mbit: f64) {
    let path = &mut case.today.path;
    for element in path.forward.iter_mut().chain(&mut path.back) {
        if let Element::Link(own) = element {
            own.rate = Rate(own.rate.0 / 100 * 97);
        }
    }
}

/// The first flow loses a packet in the middle of the shortest trial; nothing where the path loses packets anyway.
fn with_one_loss(case: &mut Case, mbit: f64) {
    let flows = case.today.flow.iter().filter(|flow| flow.direction == case.direction);
    let Some(flow) = flows.clone().next().filter(|_| !case.is_lossy) else { return };
    let bytes = mbit * 1e6 / 8.0 / flows.count() as f64 * case.least().as_secs_f64() / 2.0;
    let packets = bytes / f64::from(case.today.path.mtu);
    let lost = Element::Drop(Drop {
        name: ONE_LOSS.into(),
        flow: flow.name.clone(),
        segments: vec![packets.min(f64::from(u32::MAX)) as u64],
        acks: Vec::new(),
    });
    let path = &mut case.today.path;
    match case.direction {
        Direction::Forward => path.forward.push(lost),
        Direction::Backward => path.back.push(lost),
    }
}
