//! The program on the sending host gives TCP no more to send.

use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;
use crate::words::{bits, percent};

/// The rule.
pub const RULE: Rule =
    Rule { name: "application", code: "app_write", when: When::Held(&["application"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let host = &one.meta.hosts[0];
    let writes = one.meta.settings.writer.filter(|rate| *rate > 0);
    let rate = writes.map_or(String::new(), |rate| format!(" than {}", bits(rate)));
    let finding = Finding::new(format!("The program on {host}"), cause.place.clone());
    // A program that pauses, or ends, names no rate.
    let as_asked = writes.is_none() || one.reaches(writes);
    let pauses = context.pauses(one);
    if pauses.are_a_habit() {
        return Some(
            Finding { as_asked, ..finding }
                .because(format!(
                    "it pauses {} times, for {} of the time",
                    pauses.count,
                    percent(pauses.share)
                ))
                .cure("TCP is not in the way: look at what the program waits for")
                .code("app_onoff")
                .setting(setting("write()", host, AskedBy::Program)),
        );
    }
    Some(
        Finding { as_asked, ..finding }
            .because(format!("it writes no more{rate}"))
            .cure("TCP is not in the way: look at the program")
            .setting(setting("write()", host, AskedBy::Program)),
    )
}
