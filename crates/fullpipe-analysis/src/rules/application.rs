//! The program on the sending host gives TCP no more to send.

use super::dialogue::{HABIT, in_words, messages, times};
use super::subject::One;
use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;
use crate::numbers;
use crate::words::{bytes, ms, percent};
use fullpipe_base::limits::Limit;
use fullpipe_scenario::config::System;

/// The rule.
pub const RULE: Rule =
    Rule { name: "application", code: "app_write", when: When::Held(&["application"]), find };

/// Time of a message over the least one from which on it is late.
const LATE: f64 = 1.5;
/// Part of that delay that slow start has to explain.
const EXPLAINS: f64 = 0.5;
/// Name of the limit of slow start.
const SLOW_START: &str = Limit::CwndSlowStart.about().name;
/// Share of a flow's life from which on the program sets the rate.
const MOST: f64 = 0.5;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let host = &one.meta.hosts[0];
    let finding = Finding::new(format!("The program on {host}"), cause.place.clone());
    if let Some(restarts) = restarts(context, one) {
        return Some(restarts);
    }
    // Time between two messages by the clock is no pause of the program.
    if let Some(by_the_clock) = by_the_clock(context, one, &finding) {
        return Some(by_the_clock);
    }

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

/// Messages that a program sends by the clock, and that all arrive; none of other programs.
fn by_the_clock(context: &Context, one: &One, finding: &Finding) -> Option<Finding> {
    let settings = &one.meta.settings;
    let (size, period) = (settings.message?, settings.period?);
    let asked = size as f64 * 8.0 / period.as_secs_f64();
    let times = times(context, one).map_or_else(String::new, |own| format!("; {own}"));
    let host = &one.meta.hosts[0];
    let found = finding.clone().because(format!(
        "it writes a message of {} each {}{times}",
        bytes(size),
        ms(period.as_secs_f64() * 1e3)
    ));
    let found = Finding { as_asked: true, ..found };
    one.reaches(Some(asked as u64)).then(|| {
        found.cure("TCP is not in the way: look at the program").setting(setting(
            "write()",
            host,
            AskedBy::Program,
        ))
    })
}

/// Slow starts after the pauses of a program, where they make its messages late; none where another cause does, or none is
/// late.
fn restarts(context: &Context, one: &One) -> Option<Finding> {
    let messages = messages(context, one).filter(|own| own.count >= HABIT)?;
    let bits = one.meta.settings.message? as f64 * 8.0;
    let path = one.meta.base_rtt?.as_secs_f64() / 2.0;
    let least_ms = (path + bits / (context.subject.allowed_mbit()? * 1e6)) * 1e3;
    let life = &context.lives.flows[one.index];
    let slow_s = one.share(SLOW_START) * life.end.saturating_sub(life.start).as_secs_f64();
    let late_s = (messages.median_ms - least_ms) * 1e-3 * messages.count as f64;
    if messages.median_ms < LATE * least_ms || slow_s < EXPLAINS * late_s {
        return None;
    }
    let host = &one.meta.hosts[0];
    let sysctl = "net.ipv4.tcp_slow_start_after_idle";
    let found = Finding {
        does: "delays the messages of",
        share: Some(one.share(SLOW_START)),
        as_asked: true,
        ..Finding::new(format!("Slow start of {host}"), Some(host.clone()))
    };
    let found = found
        .because(format!(
            "cwnd starts again after each pause of the program; {}, and the path needs {} for one",
            in_words(&messages),
            ms(least_ms)
        ))
        .code("app_onoff");

    // Windows has no such switch.
    Some(match one.meta.settings.systems[0] {
        System::Linux => found
            .cure(format!("Set {sysctl} of {host} to 0, or raise initcwnd on {host}"))
            .setting(setting(sysctl, host, AskedBy::Sysctl)),
        _ => found
            .cure(format!("Raise the first cwnd of {host}, or let its program send all the time"))
            .setting(setting("write()", host, AskedBy::Program)),
    })
}

/// Number of pauses: "once", "3 times".
fn counted(count: usize) -> String {
    match count {
        1 => "once".into(),
        _ => format!("{count} times"),
    }
}
