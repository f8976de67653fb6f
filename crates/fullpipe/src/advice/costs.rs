//! Costs and conditions of advice: memory, one flow alone, another path.

use super::Case;
use super::answer::unequal;
use super::candidates::buffers::{SIDES, Side};
use super::candidates::{MOST_CONNECTIONS, MOST_TRIED, black_hole, most};
use super::case::{alone_for, left};
use super::change::{Change, Rank};
use super::document::Sensitivity;
use super::edit::Edit;
use super::method::{EVEN, Found, Replacement};
use super::trial::{Bench, Outcome, Stopped, changed};
use crate::analysis::numbers;
use crate::analysis::words::{bytes, ms, percent};
use crate::scenario::{Drop, Element, Flow};
use crate::sizing::sizes::{self, PACED_SHARE};
use crate::threads::each;
use fullpipe_base::path::Direction;
use fullpipe_base::units::{Rate, Time};
use fullpipe_sim::cc;
use std::collections::BTreeMap;

/// Share of the best run's rate below which another run differs from it.
const ALIKE: f64 = 0.95;
/// Ratio of times of messages from which on they are later.
const LATER: f64 = 1.1;
/// Part of a flow's life in which it is often alone.
const OFTEN: f64 = 0.2;
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

/// A sentence for each cost and condition.
pub fn notes(case: &Case, found: &Found, engine: &str) -> Vec<String> {
    let changes: Vec<&Change> = found.changes.iter().map(|own| &own.change).collect();
    let mut notes = Vec::new();
    notes.extend(memory(case, &changes));
    notes.extend(alone(case, &changes));

    // Some settings are read when a connection begins.
    if let Some(own) = changes.iter().find(|own| AT_CONNECT.contains(&&own.setting[..])) {
        let setting = &own.setting;
        notes.push(format!(
            "Connections that exist keep what {setting} was when they began: connect again after the change."
        ));
    }
    notes.extend(capped(case, &changes));

    // A pace has conditions of its own.
    if changes.iter().any(|own| own.rank == Rank::Pace) {
        notes.push(
            "The pace has to be below the true rate of the path: above it, it does nothing. \
             `fq maxrate` is no substitute: the excess waits in the host."
                .into(),
        );
    }
    notes.extend(paced_alone(case, &changes));

    // Three runs show whether the changes make chance matter less.
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
    notes.extend(later(&found.today, &found.cured));
    notes.extend(changes.iter().find(|own| own.setting == "MTU").map(|_| {
        "Where a router on the path drops its ICMP messages, net.ipv4.tcp_mtu_probing = 1 lets the sender find the MTU by \
         itself, after some timeouts."
            .into()
    }));
    notes.extend(changes.iter().find_map(|own| cost_of_passing(own)));
    notes.extend(in_its_place(found));
    notes.extend(bound(case, found, engine));
    notes
}

/// Note that the slowest twentieth of the messages takes longer than today.
fn later(today: &Outcome, cured: &Outcome) -> Option<String> {
    let (before, after) = today.message_p95_ms.zip(cured.message_p95_ms)?;
    (after >= LATER * before).then(|| {
        let [before, after] = [before, after].map(ms);
        format!(
            "Slow messages become slower: a twentieth of them takes {after} or more, {before} today."
        )
    })
}

/// Cost of a cure of a path that swallows full packets.
fn cost_of_passing(change: &Change) -> Option<String> {
    let text = match &change.setting[..] {
        black_hole::ROUTE => {
            "The route's MTU holds for all that this host sends there. Every other sender on the path needs its own, and so \
             does this one where the path becomes narrower."
        }
        black_hole::CLAMP => {
            "The clamp helps TCP alone: large datagrams of other protocols are still lost there."
        }
        black_hole::PROBING if change.advised == "2" => {
            "Each connection begins with small segments, also on paths that pass full ones, and tries larger ones as it goes."
        }
        black_hole::PROBING => {
            "Each connection begins with some timeouts before it tries smaller segments: its first seconds carry nothing."
        }
        _ => return None,
    };
    Some(text.into())
}

/// Other cures that were tried in the place of one, with the rate of each.
fn in_its_place(found: &Found) -> Option<String> {
    // A search with other seeds tries the same again: its trials are the last ones.
    let mut tried: BTreeMap<&str, String> = BTreeMap::new();
    for Replacement { what, mbit, then, .. } in &found.replacements {
        tried.insert(what, format!("{what} gives {} ({then})", numbers::rate(*mbit)));
    }

    let last = found.replacements.last()?;
    let all: Vec<String> = tried.into_values().collect();
    Some(format!("In the place of {}: {}.", last.of, all.join(", and ")))
}

/// Sentences that say that a smaller buffer holds other connections back.
fn capped(case: &Case, changes: &[&Change]) -> Vec<String> {
    let of_side = |side: &Side| {
        let own = changes.iter().find(|own| own.setting == side.tuned)?;
        let hosts = case.hosts(side.end);
        let (host, today) = hosts.into_iter().find(|(name, _)| *name == own.whose)?;
        let [.., largest] = (side.sizes)(&today.config.sysctl);
        let name = side.tuned.rsplit('.').next().unwrap_or(side.tuned);
        (most(own)? < largest).then(|| {
            format!(
                "The smaller {name} bounds every connection to {host}, also those on longer paths. A program can ask for it \
                 by {} instead.",
                side.option
            )
        })
    };
    SIDES.iter().filter_map(of_side).collect()
}

/// Sentence on a flow with a pace for the time in which others share its path.
fn paced_alone(case: &Case, changes: &[&Change]) -> Option<String> {
    let allowed = case.allowed.as_ref()?;
    let edits = changes.iter().filter(|own| own.rank == Rank::Pace).flat_map(|own| &own.edits);
    let paced: Vec<&str> = edits
        .filter_map(|edit| match edit {
            // The second part of a pace's key names the flow.
            Edit::Set { key, .. } => key.get(1).map(String::as_str),
            _ => None,
        })
        .collect();
    let alone = |flow: &&Flow| alone_for(&case.today, allowed, flow).unwrap_or(0.0);
    let flows = case.today.flow.iter().filter(|flow| paced.contains(&flow.name.as_str()));

    // The flow that is alone for longest loses most.
    let most = flows.max_by(|a, b| alone(a).total_cmp(&alone(b)))?;
    let part = case.flows.iter().find(|own| own.name == most.name)?.share_mbit?;
    let share = alone(&most);
    let alone_mbit = left(&case.today, case.direction, allowed);
    (share >= OFTEN && part < ALIKE * alone_mbit).then(|| {
        format!(
            "Flow {} is alone for {} of its life. Then its pace leaves capacity unused: a program that can change its pace \
             may send {}.",
            most.name,
            percent(share),
            numbers::rate(PACED_SHARE * alone_mbit)
        )
    })
}

/// Memory that all sockets could take at once.
fn memory(case: &Case, changes: &[&Change]) -> Option<String> {
    // Parallel streams multiply buffers.
    let edits = changes.iter().flat_map(|change| &change.edits);
    let more = edits.map(|edit| match edit {
        Edit::Copies { count, .. } => u64::from(count.saturating_sub(1)),
        Edit::Set { .. } => 0,
    });
    let flows = case.at_once() as u64 + more.sum::<u64>();
    let of = |name: &str| {
        let own = changes.iter().filter(|own| own.setting == name);
        own.filter_map(|own| Some((&own.whose[..], most(own)?.saturating_mul(flows)))).next()
    };
    let both: Vec<(&str, u64)> =
        [of("net.ipv4.tcp_wmem"), of("net.ipv4.tcp_rmem")].into_iter().flatten().collect();

    // The larger of both ends decides what tcp_mem must allow.
    let most = both.iter().map(|(_, most)| *most).max()?;
    let parts: Vec<String> =
        both.iter().map(|(whose, most)| format!("{} at {whose}", bytes(*most))).collect();
    let bound = tcp_mem(most).unwrap_or_default();
    Some(format!("Memory if all buffers were full at once: {}.{bound}", parts.join(" and ")))
}

/// Setting of net.ipv4.tcp_mem for a host with sockets that may take so much memory, bytes.
///
/// By default the first number is three quarters of a sixteenth of the memory that was free at boot (Linux `tcp_init_mem`).
fn tcp_mem(most: u64) -> Option<String> {
    let [low, pressure, high] = sizes::tcp_mem(most);
    let host = low.saturating_mul(sizes::PAGE).saturating_mul(64) / 3;
    (host > SMALL_HOST).then(|| {
        format!(
            " A host with less than {} of memory also needs net.ipv4.tcp_mem = {low} {pressure} {high} (pages of 4 KiB; not \
             tried).",
            bytes(host),
        )
    })
}

/// The slowest flow, where others leave it less than its part.
fn slowest(found: &Found) -> Option<String> {
    let own = found.cured.slowest.as_ref().filter(|own| own.share() < EVEN)?;
    // The answer says it where nothing is advised.
    (!found.changes.is_empty()).then(|| unequal(found, own))
}

/// Sizes for one flow that has the path alone, where several share it.
fn alone(case: &Case, changes: &[&Change]) -> Option<String> {
    let flows = case.at_once();
    if flows < 2 || !changes.iter().any(|own| own.setting.ends_with("mem")) {
        return None;
    }
    let needs = case.flows.iter().filter_map(|flow| flow.alone).max_by_key(|own| own.window)?;
    Some(format!(
        "The sizes are for {flows} flows. A flow that has the path alone needs {} of tcp_wmem and {} of tcp_rmem.",
        bytes(needs.send.advised),
        bytes(needs.receive.advised)
    ))
}

/// Rate that loss leaves of the path, whatever is set.
fn bound(case: &Case, found: &Found, engine: &str) -> Option<String> {
    let is_full = found.cured.fills(super::method::ENOUGH);
    if is_full || !case.is_lossy {
        return None;
    }

    // Only losses that bound a flow are worth a sentence.
    let lossy = case.flows.iter().filter_map(|flow| flow.needs?.lossy).next()?;
    let mut senders = case.hosts(0).into_iter();
    let has_bbr = senders.all(|(_, host)| cc::has_kernel("bbr", &host.config.kernel));
    let tried = match case.today.nfs.is_empty() {
        true => format!("{MOST_TRIED} streams"),
        false => format!("{MOST_CONNECTIONS} connections of a mount"),
    };
    let since = cc::first_kernel("bbr").filter(|_| engine == "sim" && !has_bbr);
    Some(format!(
        "The loss holds a flow at about {}: {} flows, or a congestion control that does not take loss as congestion \
         (bbr), would fill the path. Advice tries up to {tried}.{}",
        numbers::rate(lossy.mbit),
        numbers::count(lossy.flows),
        since.map_or_else(String::new, |since| format!(
            " The simulator has bbr for kernels from {since}: --engine linux tries it on the real kernel."
        ))
    ))
}

/// A difference of a path that advice has to bear.
#[derive(Clone, Copy)]
enum Difference {
    Longer,
    Slower,
    OneLoss,
}

const LOST: &str = "one packet lost";
const DIFFERENCES: [(&str, Difference); 3] = [
    ("round trip 5 % longer", Difference::Longer),
    ("rate 3 % lower", Difference::Slower),
    (LOST, Difference::OneLoss),
];

/// The advised settings on paths that are a little different.
///
/// # Errors
/// A trial has no outcome.
pub fn sensitivity(case: &Case, found: &Found, bench: &Bench) -> Result<Vec<Sensitivity>, Stopped> {
    let edits = found.changes.iter().flat_map(|own| &own.change.edits);
    let cured = changed(&case.today, edits)?.plans()[0].resolved.clone();
    // Equal conditions to the runs that judged the advice.
    let (is_chancy, first_seed) = (found.seeds > 1, found.first_seed);
    let cured = Case { today: cured, is_chancy, first_seed, ..case.clone() };
    let other = |(what, difference): (&'static str, Difference)| {
        // Each difference starts from the advised settings.
        let mut other = cured.clone();
        match difference {
            Difference::Longer => longer(&mut other),
            Difference::Slower => slower(&mut other),
            Difference::OneLoss => with_one_loss(&mut other, found.cured.mbit),
        }

        // A difference that does not apply changes nothing, and is left out.
        (other.today != cured.today).then_some((what, other))
    };
    let others: Vec<(&str, Case)> = DIFFERENCES.into_iter().filter_map(other).collect();
    bench.watch.step("on paths that are a little different", others.len(), case.least());

    // Trials run beside each other, so each runs its seeds one by one.
    let one = Bench { jobs: 1, ..*bench };
    let outcomes =
        each(others.len(), bench.jobs, |other| one.trials(&others[other].1, &[Vec::new()]))?;
    let all = others.iter().zip(outcomes.iter().flatten());
    // The lost packet may be beyond the end of a short trial.
    let differs = all.filter(|((what, _), outcome)| *what != LOST || has_lost(outcome));
    let said = differs.map(|((what, _), outcome)| Sensitivity {
        what: (*what).into(),
        mbit: outcome.mbit,
        share: outcome.share(),
    });
    Ok(said.collect())
}

fn has_lost(outcome: &Outcome) -> bool {
    outcome.run.stages.iter().any(|stage| stage.name == ONE_LOSS && stage.dropped > 0)
}

/// Makes the delays of the path 5 % longer.
fn longer(case: &mut Case) {
    let path = &mut case.today.path;
    for element in path.forward.iter_mut().chain(&mut path.back) {
        if let Element::Delay(own) = element {
            own.delay = Time(own.delay.0 + own.delay.0 / 20);
        }
    }
}

/// Reduces rates to 97 %.
fn slower(case: &mut Case) {
    let less = |rate: &mut Rate| rate.0 = rate.0 / 100 * 97;
    let path = &mut case.today.path;
    for element in path.forward.iter_mut().chain(&mut path.back) {
        match element {
            Element::Link(own) => less(&mut own.rate),
            Element::Shaper(own) => less(&mut own.rate),
            Element::Policer(own) => less(&mut own.rate),
            Element::TraceLink(own) => {
                // Time scales the other way for opportunities: 100/97 of the distance.
                own.opportunities
                    .iter_mut()
                    .for_each(|at| *at = (u64::from(*at) * 100 / 97) as u32);
            }
            _ => {}
        }
    }
}

/// Lets the first flow lose a packet in the middle of its data; nothing where the path loses packets anyway.
fn with_one_loss(case: &mut Case, mbit: f64) {
    let flows = case.today.flow.iter().filter(|flow| flow.direction == case.direction);
    let Some(flow) = flows.clone().next().filter(|_| !case.is_lossy) else { return };

    // A short trial must contain the loss.
    let trial = case.least().saturating_sub(flow.start);
    let lasts = flow.duration.map_or(trial, |lasts| lasts.min(trial)).as_secs_f64();
    let sent = mbit * 1e6 / 8.0 / flows.count() as f64 * lasts;
    let sent = flow.bytes.map_or(sent, |bytes| sent.min(bytes as f64));

    // The middle of the data lets cwnd grow before and recover after.
    let packets = sent / 2.0 / f64::from(case.today.path.mtu);
    let lost = Element::Drop(Drop {
        name: ONE_LOSS.into(),
        flow: flow.name.clone(),
        segments: vec![packets.clamp(1.0, f64::from(u32::MAX)) as u64],
        acks: Vec::new(),
    });
    let path = &mut case.today.path;
    match case.direction {
        Direction::Forward => path.forward.push(lost),
        Direction::Backward => path.back.push(lost),
    }
}
