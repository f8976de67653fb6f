//! Where to capture.

use crate::scenario::{Element, Resolved};
use fullpipe_sim::trace::Point;
use std::convert::Infallible;
use std::str::FromStr;

/// A point by its name; elements by theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At(String);

/// Name, place, and what is seen there.
pub const POINTS: [(&str, Option<Point>, &str); 4] = [
    (
        "sender-qdisc",
        Some(Point::SenderQdisc),
        "where tcpdump listens on the sending host: between qdisc and driver. With TSO a packet is a \
         whole skb of several segments; what the qdisc refused is not seen, as TCP never sent it. ACKs \
         are seen when the softirq takes them.",
    ),
    (
        "sender-wire",
        Some(Point::SenderWire),
        "the sending host's cable: segments as they go, ACKs as they come, before the receive ring can \
         drop them.",
    ),
    (
        "link",
        None,
        "in front of the queue of the link (or of any other element of the way forward, by its name), \
         before it can drop. ACKs are seen where they leave the way back, at the sending host's cable.",
    ),
    (
        "receiver",
        Some(Point::Receiver),
        "where tcpdump listens on the receiving host: data when the softirq takes it, ACKs between \
         qdisc and driver.",
    ),
];

impl FromStr for At {
    type Err = Infallible;

    fn from_str(name: &str) -> Result<At, Infallible> {
        Ok(At(name.into()))
    }
}

impl At {
    /// The name as it was given.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// The point of this name in a scenario. "link" also means its only link, whatever its name.
    ///
    /// # Errors
    /// There is none; the text lists those there are.
    pub fn point(&self, resolved: &Resolved) -> Result<Point, String> {
        let named = POINTS.iter().find(|(name, ..)| *name == self.0);
        if let Some((_, Some(point), _)) = named {
            return Ok(*point);
        }
        let forward = &resolved.path.forward;
        let mut links = (0..).zip(forward).filter(|(_, e)| matches!(e, Element::Link(_)));
        let only = (links.next(), links.next());
        match (forward.iter().position(|e| e.name() == self.0), only) {
            (Some(place), _) => Ok(Point::Element(place)),
            (None, (Some((place, _)), None)) if self.0 == "link" => Ok(Point::Element(place)),
            _ => Err(self.unknown(resolved)),
        }
    }

    fn unknown(&self, resolved: &Resolved) -> String {
        let hosts = POINTS.iter().filter(|(_, point, _)| point.is_some()).map(|(name, ..)| *name);
        let all: Vec<&str> = hosts.chain(resolved.path.forward.iter().map(Element::name)).collect();
        format!("there is no point called {}; expected one of: {}", self.0, all.join(", "))
    }
}
