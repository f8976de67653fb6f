//! A run of a scenario as a reader of its capture sees it: the packets that pass one point, and nothing else.

use super::{Input, Judged, Watch, overview};
use crate::analysis::view::View;
use crate::base::trace::Sink;
use crate::capture::{About, At, Capture, SNAP};
use crate::engine::{Failed, Outcome};
use crate::observation::{Party, Selection};
use crate::scenario::{Plan, Scenario};
use crate::trace::recording::Recording;
use std::net::IpAddr;

/// Address and port of the end that receives the first flow's data.
const RECEIVES: ([u8; 4], u16) = ([10, 0, 0, 2], 5001);
/// Name of the capture in messages.
const FILE: &str = "run.pcapng";

/// Point at which a run is captured for this view; none for views of a trace.
pub fn point(view: View) -> Option<At> {
    let name = match view {
        View::SenderCapture => "sender-qdisc",
        View::MiddleCapture => "link",
        View::ReceiverCapture => "receiver",
        View::Model | View::SenderSockets | View::ReceiverSockets => return None,
    };
    Some(At::named(name))
}

/// The verdict on the first flow of a run, by the packets that pass a point. The reader finds the place of the capture itself.
///
/// The capture lies in the folder for temporary files meanwhile.
///
/// # Errors
/// The scenario has no such point, the run failed, its packets cannot be kept, or `watch` ended the reading.
pub fn judged(
    scenario: &Scenario,
    plan: &Plan,
    at: &At,
    run: impl FnOnce(&mut dyn Sink) -> Result<Outcome, Failed>,
    watch: &mut dyn Watch,
) -> Result<Judged, Failed> {
    let failed = |why: String| Failed::Machine(why);
    let folder = tempfile::tempdir().map_err(|why| failed(why.to_string()))?;
    let path = folder.path().join(FILE);

    // The run, whose packets alone are kept.
    let about = About { scenario, plan, at, snap: SNAP };
    let mut capture = Capture::create(&path, &about).map_err(|why| failed(why.to_string()))?;
    let mut recording = Recording::default();
    let outcome = run(&mut capture.before(&mut recording))?;
    capture.finish(outcome.end, outcome.complete).map_err(|why| failed(why.to_string()))?;

    // The reader knows the file, and the connection that is asked about.
    let inputs = [Input { name: FILE.into(), path }];
    let all = overview(&inputs, watch).map_err(failed)?;
    let (address, port) = RECEIVES;
    let there = Party::of(vec![IpAddr::from(address)], Some(port));
    let wanted = Selection { there, ..Selection::default() };
    let chosen = all.busiest(&wanted);
    let first = chosen.first().ok_or_else(|| failed("its first flow has no packet".into()))?;
    let own = all.judge(&inputs, &[*first], None, watch).map_err(failed)?;
    own.into_iter().next().ok_or_else(|| failed("its first flow was not read again".into()))
}
