//! NFS: calls are sent again before they are answered, and the server answers them twice.
//!
//! Of calls that the client sends again and again none may ever be answered: the client throws the rest of an answer away
//! when it sends the call again (Linux `xs_read_stream_request`).
//!
//! The share is the time that the repetitions cost. They take the link, but some of them fill time in which the client
//! waits for its last answers anyway.
//!
//! Twin: a limit that delays the answers. Where most data belongs to repeated calls, their timeout is the first cause,
//! unless the server's threads work for most of the time: then calls time out because they wait for a thread.

use super::calls::CallTimes;
use super::mount::Mount;
use super::{Cause, Context, Finding, Rule, When, server_threads, setting};
use crate::document::{AskedBy, Nfs, Requests};
use crate::numbers;
use crate::words::{ms, percent};
use fullpipe_base::units::Time;

/// The rule.
pub const RULE: Rule = Rule { name: "call-timeouts", code: "nfs", when: When::Always, find };

/// Limits of a connection on a path or a server that is busy with calls sent again.
const LIMITS: &[&str] = &["link", "application", "server_threads", "idle"];
/// The usual wait for an answer over TCP (nfs(5)).
const USUAL: Time = Time::secs(60);
/// Part of all calls that are sent again from which on they count.
const COUNTS: f64 = 0.02;
/// Share of a mount's life below which the repetitions cost nothing.
const COSTS: f64 = 0.02;
/// Share of useful data below which repeated calls explain the rate, whatever limits the connection.
const HALF: f64 = 0.5;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let at = context.meta.mount_of(context.most(cause).index)?;
    let own = context.run.nfs.get(at)?;

    // A few calls sent again cost nothing: only many of them explain a rate.
    let is_busy = !cause.is_cut && LIMITS.contains(&&cause.limit[..]);
    let explains = own.useful() < HALF || is_busy && own.requests.as_ref().is_some_and(is_much);
    if !explains {
        return None;
    }
    // A program that has not finished shows only which part of its data was sent for nothing.
    let times = CallTimes::of(context, at);
    let share = times.as_ref().map_or(1.0 - own.useful(), CallTimes::again);
    if share < COSTS {
        return None;
    }
    // Calls that wait for a busy server come in time where it has more threads: that gains the work, too.
    let busy = times.as_ref().map_or(0.0, CallTimes::busy);
    if busy >= server_threads::BUSY && busy > share {
        return None;
    }
    let mount = Mount::of(context, cause);
    let client = mount.client;
    let timeo = context.meta.nfs[at].timeo;
    let cure = match timeo.is_some_and(|own| own >= USUAL) {
        true => format!("Mount on {client} with a timeo that is longer than the answers take"),
        false => format!("Mount on {client} with timeo=600 (60 s, the default)"),
    };
    // The last answers may cost more than all repetitions.
    let waits = times.map(|own| own.waits()).filter(|waits| *waits > share);
    let more = waits.map_or(String::new(), |waits| {
        format!("; the last answers take {} ({})", percent(waits), mount.work())
    });
    let stop = Finding {
        does: "stop",
        share: Some(share),
        ..Finding::new(format!("NFS calls that time out on {client}"), Some(client.into()))
    };
    let because = repeated(own, &mount, timeo) + &more;
    Some(stop.because(because).cure(cure).setting(setting("timeo", client, AskedBy::Program)))
}

/// How many calls are sent again, and what that costs the server.
fn repeated(own: &Nfs, mount: &Mount, timeo: Option<Time>) -> String {
    // For a read the server carries the data twice, else its work alone doubles.
    let work = if mount.reads {
        "the server sends their data again"
    } else {
        "the server does them again"
    };
    match own.requests {
        Some(calls) if calls.sent_again == 1 => format!(
            "of {} calls one was sent again before its answer came, and {work}",
            numbers::count(calls.count)
        ),
        Some(calls) => format!(
            "{} calls were sent again {} times in all before their answers came, and {work}",
            numbers::count(calls.count),
            numbers::count(calls.sent_again)
        ),
        None => format!(
            "calls are sent again before their answer comes{}, {work}, and no call was ever answered",
            timeo.map_or(String::new(), |own| format!(
                " (timeo is {})",
                ms(own.as_secs_f64() * 1e3)
            ))
        ),
    }
}

fn is_much(calls: &Requests) -> bool {
    calls.sent_again as f64 >= COUNTS * calls.count as f64
}
