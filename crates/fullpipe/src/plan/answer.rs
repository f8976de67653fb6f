//! The first sentence: the settings, and their gain.

use super::proof::Proof;
use super::scenario::{PLANNED, TODAY, streams_name};
use super::{Advice, Demand, FULL};
use crate::numbers;
use crate::sizing::sizes::{self, mib};

/// The answer in one sentence or two; `advice` is judged by `proof` where there is one.
pub fn answer(demand: &Demand, advice: &Advice, proof: Option<&Proof>) -> String {
    let today = proof.and_then(|proof| proof.mbit(TODAY));
    let planned = proof.and_then(|proof| proof.mbit(PLANNED));

    // Rates of the proof go before arithmetic, and a change before none.
    let first = match (advice.changes(), today, planned) {
        (true, Some(today), Some(planned)) => format!(
            "{}: {} of {} instead of {} (simulated).",
            set(advice),
            number(planned),
            numbers::rate(demand.payload_mbit()),
            number(today)
        ),
        (true, ..) => format!("{}: {}.", set(advice), arithmetic(demand, advice)),
        (false, Some(today), _) => format!(
            "Set nothing: the defaults of Linux {} carry {} of {}{} (simulated).",
            demand.path.kernel,
            number(today),
            numbers::rate(demand.payload_mbit()),
            if advice.streams.is_some() {
                ", and larger socket buffers do not change that"
            } else {
                ""
            }
        ),
        // Losses bound the flow below what any buffer allows.
        (false, None, _) if sizes::loss_bounds(demand) => format!(
            "Set nothing: no buffer helps, as the loss holds a flow at about {}.",
            numbers::rate(sizes::lossy_mbit(demand))
        ),
        (false, None, _) => format!(
            "Set nothing: the defaults of Linux {} suffice for {}.",
            demand.path.kernel,
            numbers::rate(advice.reachable_mbit)
        ),
    };
    [Some(first), below(advice, proof), streams(demand, advice, proof), unsure(proof)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
}

/// "Set tcp_rmem to 173 MiB and tcp_wmem to 162 MiB maximum".
fn set(advice: &Advice) -> String {
    let (own, today) = (advice.advised, advice.today);

    // Two buffers of one size need one mention.
    let sizes = match (own.receive != today.receive, own.send != today.send) {
        (true, true) if own.receive == own.send => {
            Some(format!("tcp_rmem and tcp_wmem to {} maximum", mib(own.receive)))
        }
        (true, true) => Some(format!(
            "tcp_rmem to {} and tcp_wmem to {} maximum",
            mib(own.receive),
            mib(own.send)
        )),
        (true, false) => Some(format!("tcp_rmem to {} maximum", mib(own.receive))),
        (false, true) => Some(format!("tcp_wmem to {} maximum", mib(own.send))),
        (false, false) => None,
    };
    let pace =
        advice.pacing_bytes_per_s.map(|pace| format!("SO_MAX_PACING_RATE to {pace} bytes/s"));
    let parts: Vec<String> = [sizes, pace].into_iter().flatten().collect();
    format!("Set {}", parts.join(", and "))
}

fn arithmetic(demand: &Demand, advice: &Advice) -> String {
    let share = sizes::window_share(demand.path.kernel, demand.path.mtu);
    let in_flight =
        (advice.today.receive as f64 * share).min(advice.today.send as f64 * sizes::SENT_SHARE);
    format!(
        "the path holds {}, and today's buffers allow {} in flight",
        mib(demand.path.bdp_bytes()),
        mib(in_flight as u64)
    )
}

/// Parallel flows, where the requested ones cannot fill the path.
fn streams(demand: &Demand, advice: &Advice, proof: Option<&Proof>) -> Option<String> {
    let needed = advice.streams?;
    let why = match sizes::loss_bounds(demand) {
        true => "the loss bounds each flow",
        false => "TCP's largest window, 1 GiB, bounds each flow",
    };
    let proven = proof.and_then(|proof| proof.mbit(&streams_name(advice, needed)));
    let simulated = proven
        .map_or_else(String::new, |mbit| format!(", {} together (simulated)", numbers::rate(mbit)));

    // So many flows are no advice: another congestion control is.
    let text = match needed > sizes::MOST_STREAMS {
        true => format!(
            "{why}: {} flows would fill the path. Use a congestion control that does not take loss as congestion (bbr).",
            numbers::count(needed)
        ),
        false => format!(
            "{why}: use {needed} parallel flows{simulated}{}.",
            each(demand, advice, needed)
        ),
    };
    Some(capitalised(text))
}

/// The pace of each of `flows`.
fn each(demand: &Demand, advice: &Advice, flows: u64) -> String {
    let more = demand.with_flows(flows);
    advice.pacing_bytes_per_s.map_or(String::new(), |_| {
        format!(", each with SO_MAX_PACING_RATE {} bytes/s", sizes::paced(&more))
    })
}

/// That the advised settings do not fill the path.
fn below(advice: &Advice, proof: Option<&Proof>) -> Option<String> {
    let own = proof?.run(PLANNED).filter(|_| advice.changes() && advice.streams.is_none())?;
    let is_full = matches!(&own.held_back_by[..], "link" | "pacing");
    (!is_full && own.mbit < FULL * advice.reachable_mbit).then(|| {
        format!(
            "That does not fill the path: {} holds the flow back {} of the time.",
            own.held_back_by,
            numbers::share(own.share)
        )
    })
}

/// That the runs saw too few losses to judge the settings by.
fn unsure(proof: Option<&Proof>) -> Option<String> {
    let losses = proof?.too_few_losses()?;
    let losses = numbers::segments(losses);
    Some(format!("Not proven: a run lost {losses}, and a rate needs 10 losses at least."))
}

fn capitalised(text: String) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A rate without its unit.
fn number(mbit: f64) -> String {
    numbers::short(mbit)
}
