//! Autotuning of the receive window cannot begin: it waits for more in a round trip than the window lets in.
//!
//! Source: Linux before 5.10 `tcp_init_buffer_space`, and `tcp_rcv_space_adjust`.

use super::buffer::Side;
use super::{Cause, Context, Finding, Rule, When, valued};
use crate::document::AskedBy;
use crate::words::bytes;
use fullpipe_base::trace::FlowSample;
use fullpipe_base::units::Time;

/// The rule.
pub const RULE: Rule =
    Rule { name: "stuck-window", code: "rwnd_stuck", when: When::Held(&["receive_window"]), find };

/// Round trips after which autotuning has begun elsewhere.
const ROUND_TRIPS: u64 = 10;
/// Default of `tcp_rmem` with which autotuning begins at any MTU, bytes: half of it is the first window of 65,535 bytes
/// and a packet of 65,535 bytes (`tcp_init_buffer_space`).
pub const TUNING_RCVBUF: u64 = 256 << 10;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let side = Side::receive(one);
    let last = waits(context, one)?;
    let own = &last.receiver;
    Some(
        side.window(cause)
            .because(format!(
                "it cannot grow, as autotuning waits for {} in a round trip and the window lets {} in (Linux before 5.10, where \
                 {} takes packets of {} and gets {})",
                bytes(own.rcv_space),
                bytes(own.rcv_ssthresh),
                side.host,
                bytes(own.advmss.into()),
                bytes(own.rcv_mss.into()),
            ))
            .cure(format!(
                "Set the default (second number) of {} of {} to {}, or the MTU of {} to that of the path, or use a kernel from \
                 5.10",
                side.tuned,
                side.host,
                bytes(TUNING_RCVBUF),
                side.host
            ))
            .setting(valued(side.tuned, side.host,
                bytes(own.rcvbuf),
                Some(bytes(TUNING_RCVBUF)),
                AskedBy::Sysctl,
            )),
    )
}

/// The flow's last sample, where the receive buffer never grew and waits for more than the window lets in.
fn waits<'a>(context: &'a Context, one: &super::One) -> Option<&'a FlowSample> {
    // A buffer that the program asked for never grows: other rules name it.
    if one.meta.settings.receive.asked.is_some() {
        return None;
    }

    // Samples before the handshake have no buffer.
    let samples = &context.traces.flows[one.index].samples;
    let first = samples.iter().find(|sample| sample.receiver.rcvbuf > 0)?;
    let last = samples.iter().rfind(|sample| sample.receiver.rcvbuf > 0)?;
    let round_trip = one.meta.base_rtt.unwrap_or(Time::ZERO);

    // Autotuning has had time to measure and to grow.
    let is_long = last.time.saturating_sub(first.time).as_ns()
        >= round_trip.as_ns().saturating_mul(ROUND_TRIPS);
    let never_grew = samples.iter().all(|sample| sample.receiver.rcvbuf <= first.receiver.rcvbuf);

    // Growth needs rcv_space in one round trip, and rcv_ssthresh lets in less.
    let waits = last.receiver.rcv_space > last.receiver.rcv_ssthresh;
    (is_long && never_grew && waits).then_some(last)
}
