//! Slow start as an axis of its own. Slow starts of kernels stay with the parameters of the congestion control, and one
//! that no kernel has is a [`SlowStart`] of the flow.

use super::congestion::{self, INITIAL_SSTHRESH};
use super::format::context::{Context, Place};
use super::format::special;
use super::resolved::{Congestion, SlowStart};
use fullpipe_sim::cc::{self, Description, KernelVersion, Parameter};

/// Slow starts of kernels, by parameters of their congestion controls.
const STANDARD: &str = "standard";
const HYSTART: &str = "hystart";

/// Every slow start that a flow can ask for, first those of kernels.
pub fn slow_starts() -> Vec<Description> {
    let one =
        |name, title, parameters| Description { name, title, kernels: Vec::new(), parameters };
    let packets = Parameter {
        name: "packets",
        meaning: "ssthresh at the start (100: that of BIC and CUBIC up to 2.6.21)",
        unit: "packets",
        min: 1,
        max: i32::MAX as u32,
        defaults: vec![(KernelVersion::FIRST, 100)],
    };

    // The kernels' own come first, then those of cc/.
    let mut all = vec![
        one(STANDARD, "Doubles per round trip until a loss (RFC 5681)", Vec::new()),
        one(INITIAL_SSTHRESH, "As standard, up to a cwnd given (bic and cubic)", vec![packets]),
        one(HYSTART, "HyStart as in Linux (cubic)", Vec::new()),
    ];
    all.extend(cc::slow_starts());
    all
}

/// Sets the parameters of `congestion` that the flow's written slow start asks for; returns the slow start if no kernel
/// has it. `own` is the congestion control as written.
pub(super) fn resolve(
    written: Option<&special::Congestion>,
    own: Option<&special::Congestion>,
    congestion: &mut Congestion,
    cx: &mut Context,
) -> Option<Option<SlowStart>> {
    let Some(written) = written else { return Some(None) };
    let (name, place) = (written.name.value.as_str(), written.name.place);
    let known = slow_starts();

    // Parameters can be read only if the name is known.
    let Some(description) = known.iter().find(|known| known.name == name) else {
        let message = format!("no slow start is called \"{name}\"");
        cx.error("unknown-name", place, message).names(name, known.iter().map(|s| s.name));
        return None;
    };
    let mut asked =
        SlowStart { name: name.into(), parameters: congestion::defaults(description, "") };

    // Written parameters replace defaults.
    for (key, place, node) in &written.parameters {
        let value = congestion::parameter(description, key, *place, node, cx)?;
        asked.parameters.insert(key.clone(), value);
    }
    goes_with(name, place, congestion, cx)?;
    let packets = asked.parameters.get("packets").copied().unwrap_or(0);

    // HyStart and ssthresh are parameters of the congestion control in Linux.
    impose(HYSTART, (name == HYSTART).into(), name, own, congestion, cx)?;
    impose(INITIAL_SSTHRESH, packets, name, own, congestion, cx)?;

    // A slow start of kernels is complete with its parameters.
    let of_cc = cc::slow_starts().iter().any(|own| own.name == name);
    Some(of_cc.then_some(asked))
}

/// Checks that the congestion control is one of `cc/`, and that a parameter of it is one.
fn goes_with(name: &str, place: Place, of: &Congestion, cx: &mut Context) -> Option<()> {
    // Some controls have a start of their own, such as bbr.
    if !cc::takes_slow_start(&of.name) {
        let known = cc::algorithms().into_iter().map(|algorithm| algorithm.name);
        let names: Vec<&str> = known.filter(|name| cc::takes_slow_start(name)).collect();
        let message = format!("{} has its own slow start", of.name);
        cx.error("conflict", place, message)
            .expected(format!("`slow_start` with {} only", names.join(", ")));
        return None;
    }

    // HyStart and initial_ssthresh exist only where the control has them.
    let parameter = [HYSTART, INITIAL_SSTHRESH].into_iter().find(|parameter| *parameter == name);
    if parameter.is_some_and(|parameter| !of.parameters.contains_key(parameter)) {
        let message = format!("{} has no parameter `{name}`", of.name);
        cx.error("conflict", place, message)
            .expected("another slow start, or congestion = \"cubic\"");
        return None;
    }
    Some(())
}

/// Sets a parameter, if the algorithm has it, to the value of the slow start; another value must not be written.
fn impose(
    parameter: &str,
    value: i64,
    slow_start: &str,
    own: Option<&special::Congestion>,
    congestion: &mut Congestion,
    cx: &mut Context,
) -> Option<()> {
    let Some(present) = congestion.parameters.get_mut(parameter) else { return Some(()) };
    let written = own.and_then(|own| own.parameters.iter().find(|(key, ..)| key == parameter));
    if let Some((_, place, _)) = written.filter(|_| *present != value) {
        let message =
            format!("`slow_start` is \"{slow_start}\", for which `{parameter}` is {value}");
        cx.error("conflict", *place, message)
            .expected(format!("either `slow_start`, or `{parameter}` of the congestion control"));
        return None;
    }
    *present = value;
    Some(())
}
