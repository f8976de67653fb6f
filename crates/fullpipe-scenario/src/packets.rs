//! Which packets are kept: `report.packets`.

use super::format::context::Context;
use super::format::keys::At;
use super::point::At as Point;
use super::resolved::{Flow, Packets, Resolved};
use super::written;
use fullpipe_base::units::Time;

/// The keys with their meaning; a flow that there is not, and a time that ends before it begins, are reported.
pub(super) fn resolve(
    written: &written::Packets,
    flows: &[Flow],
    cx: &mut Context,
) -> Option<Packets> {
    let from = Time::ns(written.from.as_ref()?.value.0);
    let packets = Packets {
        at: Point::named(&written.at.as_ref()?.value).name().into(),
        flow: written.flow.as_ref().map(|at| at.value.clone()),
        from,
        to: written.to.as_ref().map(|at| Time::ns(at.value.0)),
    };

    // A flow that does not exist would keep nothing.
    if let Some(At { value, place, .. }) = &written.flow
        && !flows.iter().any(|flow| packets.are_of(&flow.name))
    {
        cx.error("unknown-name", *place, format!("no flow is called \"{value}\""))
            .names(value, flows.iter().map(|flow| flow.name.as_str()));
    }
    if let Some(at) = &written.to
        && at.value.0 <= from.as_ns()
    {
        cx.error("out-of-range", at.place, "`to` is not after `from`")
            .expected(format!("more than {from}"));
    }
    Some(packets)
}

/// Reports a point that there is not.
pub(super) fn check(written: Option<&At<written::Packets>>, run: &Resolved, cx: &mut Context) {
    let (Some(written), Some(packets)) = (written, &run.report.packets) else { return };
    if let Err(why) = Point::named(&packets.at).point(run) {
        let place = written.value.at.as_ref().map_or(written.place, |at| at.place);
        let (what, expected) = why.split_once("; expected ").unwrap_or((&why, "another name"));
        cx.error("unknown-name", place, what).expected(expected);
    }
}
