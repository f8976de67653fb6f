//! Variants that are compared with each other, to measure effects of flows on another one.

use super::copies::is_or_copies;
use super::format::context::{Context, Place};
use super::format::keys::At;
use super::resolved::Flow;
use super::written;
use serde::{Deserialize, Serialize};

/// A variant in which a flow competes with others, and the variants to compare it with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Competes {
    /// The variant.
    pub variant: String,
    /// The flow; of copies all.
    pub flow: String,
    /// Variant in which it is alone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub solo: Option<String>,
    /// Variant in which it competes with its like.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub like: Option<String>,
}

impl Competes {
    /// A variant's key as written, with the place of the flow's name.
    pub(super) fn of(variant: &str, at: &At<written::Competes>) -> Option<(Competes, Place)> {
        let flow = at.value.flow.as_ref()?;
        let name = |at: &Option<At<String>>| at.as_ref().map(|at| at.value.clone());
        let (solo, like) = (name(&at.value.solo), name(&at.value.like));
        let own = Competes { variant: variant.into(), flow: flow.value.clone(), solo, like };
        Some((own, flow.place))
    }

    /// Whether it needs runs of that variant.
    pub fn is_about(&self, variant: &str) -> bool {
        let names = [Some(&self.variant), self.solo.as_ref(), self.like.as_ref()];
        names.into_iter().flatten().any(|name| name == variant)
    }

    /// Whether a flow of that name is meant.
    pub fn is_of(&self, flow: &str) -> bool {
        is_or_copies(flow, &self.flow)
    }

    /// Reports a flow that the variant does not have.
    pub(super) fn check(&self, place: Place, flows: &[Flow], cx: &mut Context) {
        if !flows.iter().any(|flow| self.is_of(&flow.name)) {
            let message = format!("no flow of this variant is called \"{}\"", self.flow);
            let names = flows.iter().map(|flow| flow.name.as_str());
            cx.error("unknown-name", place, message).names(&self.flow, names);
        }
    }
}
