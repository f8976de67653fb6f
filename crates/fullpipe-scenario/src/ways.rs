//! Ways of a run's path: the elements of each direction, and what full packets meet there.

use super::path::{Element, Mtu};
use super::resolved::{Host, Resolved};
use fullpipe_sim::config::Direction;
use fullpipe_sim::tcp::HEADERS;

impl Resolved {
    /// Elements of the path in one direction.
    pub fn way(&self, direction: Direction) -> &[Element] {
        match direction {
            Direction::Forward => &self.path.forward,
            Direction::Backward => &self.path.back,
        }
    }

    /// Links in one direction that drop full packets and send no ICMP; none where a router clamps the MSS to what they pass.
    pub fn swallowing(&self, direction: Direction) -> impl Iterator<Item = &Mtu> {
        self.narrow(direction).filter(|own| !own.icmp)
    }

    /// Links in one direction that drop full packets, with ICMP or without it; none where a router clamps the MSS to what
    /// they pass.
    pub fn narrow(&self, direction: Direction) -> impl Iterator<Item = &Mtu> {
        let largest = self.mss_clamp().map_or(u32::MAX, |mss| mss + HEADERS).min(self.path.mtu);
        self.way(direction).iter().filter_map(move |element| match element {
            Element::Mtu(own) if own.mtu < largest => Some(own),
            _ => None,
        })
    }

    /// Least MSS to which a router of the path clamps, bytes without options. SYNs and SYN-ACKs pass the routers of both ways.
    pub fn mss_clamp(&self) -> Option<u32> {
        let elements = self.path.forward.iter().chain(&self.path.back);
        let clamps = elements.filter_map(|element| match element {
            Element::Mtu(own) => own.mss_clamp,
            _ => None,
        });
        clamps.min()
    }

    /// Directions that carry data, each with its elements and the host at its beginning.
    pub fn ways_of_data(&self) -> impl Iterator<Item = (Direction, &[Element], &Host)> {
        let ways = [
            (Direction::Forward, &self.path.forward[..], &self.hosts.sender),
            (Direction::Backward, &self.path.back[..], &self.hosts.receiver),
        ];
        ways.into_iter().filter(|(direction, ..)| self.has(*direction))
    }
}
