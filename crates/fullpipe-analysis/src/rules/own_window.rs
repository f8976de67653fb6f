//! A receive window that another system bounds: fixed, asked for from Winsock, or held by Windows' autotuning level.
//!
//! The rule looks for a flow that the window holds, to a host that is not Linux. It names the level, the program or the
//! system, for no sysctl acts there.
//!
//! Twin: such a window that is larger than the path needs, and has not grown yet.

use super::buffer::{Side, and_then, window};
use super::subject::One;
use super::{Cause, Context, Finding, Rule, When, valued};
use crate::document::AskedBy;
use crate::words::{self, bytes};
use fullpipe_scenario::config::{Autotuning, System};

/// The rule.
pub const RULE: Rule =
    Rule { name: "own-window", code: "rwnd_fixed", when: When::Held(&["receive_window"]), find };

/// Name of the setting, as `netsh` has it.
pub const LEVEL: &str = "autotuninglevel";

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let settings = &one.meta.settings;
    let side = Side::receive(one);
    let found = match (settings.systems[1], settings.receive.asked) {
        (System::Linux, _) => return None,
        (System::FixedWindow(_), _) => fixed(&side, cause),
        (System::Windows(level), Some(asked)) => asked_for(&side, cause, level, asked),
        (System::Windows(level), None) => tuned(context, one, &side, cause, level),
    };

    // A larger window alone is of no use to a sender with a small buffer.
    let then = and_then(context, one, &Side::send(one));
    let is_small = side.missing().is_some();
    Some(Finding { cure: found.cure.map(|own| if is_small { own + &then } else { own }), ..found })
}

/// The largest window of a level, as it is published.
fn ends(level: Autotuning) -> String {
    bytes(level.most().next_power_of_two())
}

/// Window that the path needs, where the host's is less.
fn needed(side: &Side) -> String {
    side.missing().map_or(String::new(), |needs| format!(", the path needs {}", bytes(needs)))
}

/// A window that the system does not tune.
fn fixed(side: &Side, cause: &Cause) -> Finding {
    let (host, own) = (side.host, bytes(side.buffer.allows()));
    let raise = side.missing().map(bytes);
    let to = raise.clone().unwrap_or_else(|| "more".into());
    side.window(cause)
        .because(format!("{host} announces {own} and tunes nothing{}", needed(side)))
        .cure(format!(
            "Let the program or system on {host} announce {to}, or use several connections: no sysctl raises this window"
        ))
        .setting(valued("window", host, own, raise, AskedBy::Program))
}

/// A window that the program has asked for.
fn asked_for(side: &Side, cause: &Cause, level: Autotuning, asked: u64) -> Finding {
    let half = side.missing().map(|needs| format!(", or let it ask for {}", bytes(needs)));
    side.window(cause)
        .because(format!(
            "the program asks for {} by SO_RCVBUF, which Windows announces as it is and does not tune{}",
            bytes(asked),
            needed(side)
        ))
        .cure(format!(
            "Let the program ask for none, so that Windows tunes the window up to {} ({LEVEL} {}){}",
            ends(level),
            level.name(),
            half.unwrap_or_default()
        ))
        .setting(valued("SO_RCVBUF", side.host, bytes(asked), None, AskedBy::Program))
}

/// A window that the autotuning level bounds, or that has not grown yet.
fn tuned(context: &Context, one: &One, side: &Side, cause: &Cause, level: Autotuning) -> Finding {
    let (host, most) = (side.host, ends(level));
    let finding = side.window(cause);

    // A level that allows enough needs only time.
    let Some(needs) = side.missing() else {
        let grown = window(context, one).map_or(most.clone(), words::window);
        return Finding { grows: true, code: "rwnd_grow", ..finding }
            .because(format!(
                "it has grown to {grown} so far, {LEVEL} {} allows {most}",
                level.name()
            ))
            .cure("Set nothing: a longer transfer gets the full rate");
    };

    // Only a level above the present one is a cure.
    let higher = Autotuning::for_window(needs).filter(|higher| higher.most() > level.most());
    let cure = match higher {
        Some(higher) => format!(
            "Set {LEVEL} of {host} to {} (netsh int tcp set global {LEVEL}={}), which ends at {}",
            higher.name(),
            higher.name(),
            ends(higher)
        ),
        None => "Use several connections: no level allows a larger window".into(),
    };
    let advised = higher.map(|higher| higher.name().into());
    finding
        .code("rwnd_auto")
        .because(format!("{LEVEL} {} ends at {most}{}", level.name(), needed(side)))
        .cure(cure)
        .setting(valued(LEVEL, host, level.name().into(), advised, AskedBy::Sysctl))
}
