//! The path around an element.

use crate::format::context::Context;
use crate::format::keys::At;
use crate::source::Source;
use fullpipe_base::path::Direction;
use fullpipe_base::units::Time;

/// Facts about its surroundings that an element may need.
pub(super) struct Whole<'a> {
    /// Largest IP packet, bytes.
    pub(super) mtu: u32,
    /// The delay of both directions.
    pub(super) round_trip: Time,
    /// Whether the element is in the direction of data.
    pub(super) forward: bool,
    /// The scenario's text; files that it names lie in its folder.
    pub(super) source: &'a Source,
    /// Names of the flows, and the direction of the data of each.
    pub(super) flows: &'a [(String, Direction)],
}

impl Whole<'_> {
    /// The name of a flow; one that no flow has is reported.
    pub(super) fn flow(&self, flow: &At<String>, cx: &mut Context) -> String {
        if self.direction(&flow.value).is_none() {
            cx.error("unknown-name", flow.place, format!("no flow is called \"{}\"", flow.value))
                .names(&flow.value, self.flows.iter().map(|(name, _)| name.as_str()));
        }
        flow.value.clone()
    }

    pub(super) fn direction(&self, flow: &str) -> Option<Direction> {
        let known = self.flows.iter().find(|(name, _)| name == flow);
        known.map(|(_, direction)| *direction)
    }

    /// Whether the element is in the direction of that flow's data, or else of its ACKs.
    pub(super) fn brings_data(&self, flow: &str) -> bool {
        self.forward == (self.direction(flow).unwrap_or_default() == Direction::Forward)
    }
}
