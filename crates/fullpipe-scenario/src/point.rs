//! Where to capture.

use super::resolved::Resolved;
use fullpipe_base::trace::Point;
use std::convert::Infallible;
use std::str::FromStr;

/// A point by its name; elements by theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At(String);

/// Names of points, and the packets visible there.
pub const POINTS: [(&str, &str); 4] = [
    (
        "sender-qdisc",
        "where tcpdump listens on the sending host: between qdisc and driver. With TSO a packet is a \
         whole skb of several segments; what the qdisc refused is not seen, as TCP never sent it. ACKs \
         are seen when the softirq takes them.",
    ),
    (
        "sender-wire",
        "the sending host's cable: segments as they go, ACKs as they come, before the receive ring can \
         drop them.",
    ),
    (
        LINK,
        "in front of the queue of the bottleneck, which is the element that has one (a policer has \
         none); where there are several, and for any other element of the way forward, its name is the \
         point. Data is seen before the element can drop it, ACKs where they leave the way back, at a \
         host's cable.",
    ),
    (
        RECEIVER,
        "where tcpdump listens on the receiving host: data as the softirq hands it up, ACKs between \
         qdisc and driver. With GRO a packet is an skb of all segments that were joined, of up to 64 KB. Every host, also one of `[[host]]`, has the points `NAME-qdisc` (of the receiver the same as \
         `receiver`) and `NAME-wire`.",
    ),
];
const LINK: &str = "link";
/// Short for the sender's qdisc.
const SENDER: &str = "sender";
/// The receiver's qdisc.
const RECEIVER: &str = "receiver";

impl FromStr for At {
    type Err = Infallible;

    fn from_str(name: &str) -> Result<At, Infallible> {
        Ok(At::named(name))
    }
}

impl At {
    /// The point of this name; "sender" is short for "sender-qdisc".
    pub fn named(name: &str) -> At {
        At(if name == SENDER { "sender-qdisc" } else { name }.into())
    }

    /// The name as it was given.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// The point of this name in a scenario. Where no element is called "link", the point "link" is the element with a
    /// queue.
    ///
    /// # Errors
    /// There is none, or "link" could be several; the text lists the existing points.
    pub fn point(&self, resolved: &Resolved) -> Result<Point, String> {
        // A host goes before an element of its name.
        if let Some(point) = (0..)
            .zip(resolved.stations())
            .find_map(|(place, station)| self.of_host(place, station.name))
        {
            return Ok(point);
        }
        let forward = &resolved.path.forward;
        if let Some(place) = forward.iter().position(|e| e.name() == self.0) {
            return Ok(Point::Element(place));
        }

        // Only the point "link" has a substitute.
        if self.0 != LINK {
            return Err(self.unknown(resolved));
        }

        // The element with the only queue is the one that users mean.
        let queued = (0..).zip(forward).filter(|(_, element)| element.queue().is_some());
        match queued.collect::<Vec<_>>()[..] {
            [] => Err(format!("nothing on the way forward has a queue; {}", points(resolved))),
            [(place, _)] => Ok(Point::Element(place)),
            ref queued => {
                let names: Vec<&str> = queued.iter().map(|(_, element)| element.name()).collect();
                Err(several(&names))
            }
        }
    }

    /// The point, if it belongs to the host of this name at this place.
    fn of_host(&self, place: usize, name: &str) -> Option<Point> {
        let what = match self.0.as_str() {
            RECEIVER => (name == RECEIVER).then_some("-qdisc"),
            point => point.strip_prefix(name),
        };
        match what? {
            "-qdisc" => Some(Point::Qdisc(place)),
            "-wire" => Some(Point::Wire(place)),
            _ => None,
        }
    }

    fn unknown(&self, resolved: &Resolved) -> String {
        let back = match resolved.path.back.iter().any(|e| e.name() == self.0) {
            true => ", which is on the way back",
            false => "",
        };
        format!("there is no point called {}{back}; {}", self.0, points(resolved))
    }
}

/// The points that a scenario has, as a clause.
fn points(resolved: &Resolved) -> String {
    let hosts = resolved.stations().into_iter().flat_map(|station| match station.name {
        RECEIVER => vec![RECEIVER.into(), format!("{RECEIVER}-wire")],
        name => ["qdisc", "wire"].map(|what| format!("{name}-{what}")).to_vec(),
    });
    let elements = resolved.path.forward.iter().map(|element| element.name().to_string());
    let all: Vec<String> = hosts.chain(elements).collect();
    format!("expected one of: {}", all.join(", "))
}

/// "link" could be any of these.
fn several(names: &[&str]) -> String {
    let (all, first) = (names.join(", "), names[0]);
    format!("link could be any of {all}, which all have a queue; name one: --at {first}")
}
