//! The transfer is over before TCP has grown to the path.
//!
//! Twin: a limit that would hold a longer transfer, too. A longer transfer decides.

use super::late_mtu::fallen;
use super::subject::One;
use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;
use crate::numbers;
use crate::words::bytes;
use fullpipe_base::limits::{Derived, Limit};

/// The rule.
pub const RULE: Rule = Rule { name: "few-round-trips", code: "too_short", when: GROWING, find };

/// Limits in which growth shows.
const GROWING: When = When::Held(&["receive_window", "cwnd_slow_start", "pacing"]);
/// Round trips below which a transfer says little about the path.
///
/// Slow start from ten packets fills a window of a million packets in 17 round trips. A handshake, a first loss and the
/// lag of autotuning take some more.
const FEW: f64 = 30.0;
/// Name of the limit of a handshake.
const CONNECTING: &str = Derived::Connecting.about().name;
/// Share of the transfer in slow start below which cwnd was not in its way.
const LITTLE: f64 = 0.05;
/// Growth has to explain this share of the transfer.
const EXPLAINS: f64 = 0.5;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let base = one.meta.base_rtt?.as_secs_f64();
    let took = one.flow.completion_s.filter(|took| *took < FEW * base)?;
    let slow_start = one.share(Limit::CwndSlowStart.about().name);

    // The receive window takes the blame only where slow start was not in the way.
    let is_window = cause.limit == Limit::ReceiveWindow.about().name && slow_start < LITTLE;

    // A window of a fixed size does not grow with round trips.
    let is_window = is_window && one.meta.settings.receive.asked.is_none();

    // Growth must cost much of the transfer's time.
    if growth(one) < EXPLAINS {
        return None;
    }
    let [from, to] = &one.meta.hosts;
    let reuse = reuse(context);
    let few = format!(
        "{}{} in {} are {} round trips, too few to fill the path",
        anew(context),
        bytes(one.flow.bytes),
        numbers::seconds(took),
        numbers::short(took / base.max(1e-9))
    );
    let found = |what: String, host: &str| {
        Finding { grows: true, ..Finding::new(what, Some(host.into())) }.because(few)
    };
    let first = match one.meta.settings.systems[0].is_windows() {
        true => "InitialCongestionWindowMss (Set-NetTCPSetting)",
        false => "initcwnd",
    };
    Some(match is_window {
        true => found(format!("The growing receive window of {to}"), to).cure(format!(
            "{reuse}, or send more at a time: autotuning grows the window with each round trip"
        )),
        false => found("Slow start".into(), from)
            .cure(format!(
                "{reuse}, send more at a time, or raise {first} on {from}{}",
                narrower(context)
            ))
            .setting(setting("initcwnd", from, AskedBy::Sysctl)),
    })
}

/// "each of 35 connections starts anew, and ": the cost of a loop of connections.
fn anew(context: &Context) -> String {
    match context.subject.is_loop() {
        true => format!("each of {} connections starts anew, and ", context.subject.of_loops()),
        false => String::new(),
    }
}

/// "; set mtu 1,476 on its route as well", where a connection lost its first window to packets that are too large.
fn narrower(context: &Context) -> String {
    let mut fell = context.subject.flows.iter().filter_map(|one| fallen(context, one));
    fell.next().map_or(String::new(), |(_, after)| {
        format!("; set mtu {} on its route as well", numbers::count(after.into()))
    })
}

/// Cure that saves the start of a connection.
pub(super) fn reuse(context: &Context) -> &'static str {
    match context.subject.is_loop() {
        true => "Keep one connection open for all",
        false => "Reuse the connection",
    }
}

/// Share of the flow's life in which it connects or grows.
fn growth(one: &One) -> f64 {
    let of = |limit: Limit| one.share(limit.about().name);
    let own = &one.meta.settings;
    let suffices = one.needs.is_none_or(|needs| needs.receive.least <= own.receive.allows());
    let window = if suffices { of(Limit::ReceiveWindow) } else { 0.0 };
    let paced = if own.pace.is_none() { of(Limit::Pacing) } else { 0.0 };
    of(Limit::CwndSlowStart) + one.share(CONNECTING) + window + paced
}
