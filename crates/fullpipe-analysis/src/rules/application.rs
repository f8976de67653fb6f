//! The program on the sending host gives TCP no more to send.

use super::dialogue::times;
use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;
use crate::numbers;
use crate::words::percent;

/// The rule.
pub const RULE: Rule =
    Rule { name: "application", code: "app_write", when: When::Held(&["application"]), find };

/// Share of a flow's life from which on the program sets the rate.
const MOST: f64 = 0.5;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let host = &one.meta.hosts[0];
    let finding = Finding::new(format!("The program on {host}"), cause.place.clone());
    // TCP waits for the program most of the time: the rate is the program's own.
    let as_asked = cause.share >= MOST;
    let pauses = context.pauses(one);
    if pauses.are_a_habit() {
        return Some(
            Finding { as_asked: true, ..finding }
                .because(match pauses.count {
                    0 => "it pauses, and cwnd starts again after each pause".into(),
                    count => format!(
                        "it pauses {}, for {} of the time",
                        counted(count),
                        percent(pauses.share)
                    ),
                })
                .cure("TCP is not in the way: look at what the program waits for")
                .code("app_onoff")
                .setting(setting("write()", host, AskedBy::Program)),
        );
    }

    // Messages may be on time although the rate is low.
    let times = times(context, one).map_or_else(String::new, |own| format!("; {own}"));

    // A part of the time alone does not prove the program's own rate.
    let because = match as_asked {
        true => format!("it writes no more than {}{times}", numbers::rate(one.best_mbit())),
        false => "it writes no more in that time".into(),
    };
    Some(
        Finding { as_asked, ..finding }
            .because(because)
            .cure("TCP is not in the way: look at the program")
            .setting(setting("write()", host, AskedBy::Program)),
    )
}

/// Number of pauses: "once", "3 times".
fn counted(count: usize) -> String {
    match count {
        1 => "once".into(),
        _ => format!("{count} times"),
    }
}
