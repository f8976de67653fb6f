//! Autotuning of Linux 6.16 and 6.17 grows the receive window more slowly than cwnd grows.
//!
//! Source: Linux 6.16 `tcp_rcvbuf_grow` and its repair in 6.18, commit aa251c84636c "tcp: fix too slow
//! tcp_rcvbuf_grow() action".

use super::buffer::{Side, window};
use super::subject::One;
use super::{Cause, Context, Finding, Rule, When};
use crate::words;
use fullpipe_base::limits::Limit;
use fullpipe_base::trace::FlowSample;
use fullpipe_base::units::Time;
use fullpipe_scenario::Version;

/// The rule.
pub const RULE: Rule =
    Rule { name: "slow-window", code: "rwnd_slow", when: When::Held(&["receive_window"]), find };

/// First kernel with the slow growth.
const BROKEN: Version = Version::new(6, 16, 0);
/// First kernel that is repaired.
const REPAIRED: Version = Version::new(6, 18, 0);
/// Part of the largest window from which on its growth is over.
const GROWN: f64 = 0.7;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let side = Side::receive(one);
    let kernel = Version::read(side.kernel)?;
    let is_tuned = side.buffer.asked.is_none() && !side.buffer.counts_data;
    if kernel < BROKEN || kernel >= REPAIRED || !is_tuned {
        return None;
    }

    let (took, round_trip) = (growth(context, one)?, one.meta.base_rtt?);
    let round_trips = took.as_secs_f64() / round_trip.as_secs_f64();
    Some(
        side.window(cause)
            .because(format!(
                "autotuning of Linux 6.16 and 6.17 grows it too slowly, and {} took {} ({round_trips:.0} round trips)",
                words::window(window(context, one)?),
                words::ms(1e3 * took.as_secs_f64()),
            ))
            .cure(format!("Use Linux 6.18 or later on {}, or one before 6.16", side.host)),
    )
}

/// Time until the window had grown; none where the window stopped the flow for longer afterwards.
fn growth(context: &Context, one: &One) -> Option<Time> {
    let largest = window(context, one)? as f64;
    let samples = &context.traces.flows[one.index].samples;
    let first = samples.iter().find(|sample| sample.snd_wnd > 0)?;
    let grown = samples.iter().find(|sample| sample.snd_wnd as f64 >= GROWN * largest)?;

    let stopped = |sample: &FlowSample| sample.limits[Limit::ReceiveWindow as usize];
    let (before, all) = (stopped(grown), stopped(samples.last()?));
    (2 * before > all).then(|| grown.time.saturating_sub(first.time))
}
