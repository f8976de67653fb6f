//! The place of a capture on the path of a connection.

use super::connections::Connection;
use fullpipe_base::units::Time;

/// Part of the round trip up to which an end is here.
const NEAR: f64 = 0.05;
/// Time up to which an end is here, where that is a small part of the round trip: a host answers within it.
const QUICK: Time = Time::ms(1);
/// That part.
const SMALL: f64 = 0.25;
/// Shortest round trip of which the halves mean something: a host alone takes some tens of microseconds.
const SHORTEST: Time = Time::us(100);

/// Place of a capture, seen from the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the host that sends the data.
    Sender,
    /// At the host that receives it.
    Receiver,
    /// Between them.
    Middle,
}

impl Place {
    /// Name in commands and documents.
    pub const fn name(self) -> &'static str {
        match self {
            Place::Sender => "sender",
            Place::Receiver => "receiver",
            Place::Middle => "middle",
        }
    }
}

/// Place and round trip of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    /// Place of the capture.
    pub place: Place,
    /// Least time from here to the receiver and back; none where it was not measured.
    pub beyond: Option<Time>,
    /// Least time from here to the sender and back; none where it was not measured.
    pub before: Option<Time>,
    /// Whether both were measured, so that the place is known.
    pub is_known: bool,
}

impl Placed {
    /// Least round trip, as far as it was measured.
    pub fn round_trip(&self) -> Option<Time> {
        match (self.beyond, self.before) {
            (None, None) => None,
            (beyond, before) => {
                Some(Time(beyond.unwrap_or_default().0 + before.unwrap_or_default().0))
            }
        }
    }
}

/// Finds the place where the data of that way was captured.
pub fn placed(own: &Connection, way: usize) -> Placed {
    let [syn, answer, ack] = own.handshake;
    let gap = |from: Option<Time>, to: Option<Time>| Some(to?.saturating_sub(from?));
    let [first, second] = [gap(syn, answer), gap(answer, ack)];

    // The handshake measures both halves; of the end that opened the connection the first half is beyond.
    let (beyond, before) = if way == 0 { (first, second) } else { (second, first) };
    let least = |a: Option<Time>, b: Option<Time>| match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    let beyond = least(beyond, own.ways[way].answered);
    let before = least(before, own.ways[way].echoed);
    let [there, here] = [beyond, before].map(|own| own.unwrap_or_default().as_ns() as f64);
    let sum = there + here;
    let is_measured = beyond.is_some() && before.is_some();
    let is_known = is_measured && sum >= SHORTEST.as_ns() as f64;
    let quick = (QUICK.as_ns() as f64).min(SMALL * sum);
    let near = |half: f64| half <= (NEAR * sum).max(quick);
    let place = match is_known {
        true if near(here) && here <= there => Place::Sender,
        true if near(there) => Place::Receiver,
        true => Place::Middle,
        false if is_measured && there < here => Place::Receiver,
        false if is_measured => Place::Sender,
        // An end that answers at once is here.
        false if beyond.is_some_and(|own| own <= QUICK) => Place::Receiver,
        false => Place::Sender,
    };
    Placed { place, beyond, before, is_known }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::connections::Way;
    use std::net::{Ipv4Addr, SocketAddr};

    /// A connection with these gaps of its handshake.
    fn connection(gaps: Option<[u64; 2]>) -> Connection {
        let times = gaps.map_or([None; 3], |[first, second]| {
            [Some(Time::ZERO), Some(Time::us(first)), Some(Time::us(first + second))]
        });
        Connection {
            ends: [SocketAddr::from((Ipv4Addr::LOCALHOST, 1)); 2],
            first: Time::ZERO,
            last: Time::ZERO,
            ways: [Way::default(), Way::default()],
            handshake: times,
            index: 0,
        }
    }

    #[test]
    fn the_handshake_shows_both_halves_of_the_path() {
        use Place::{Middle, Receiver, Sender};
        let table = [
            ([60_280, 40], Sender),
            ([40, 41_680], Receiver),
            ([30_000, 10_000], Middle),
            ([900, 20], Sender),
            ([300, 250], Middle),
            ([50_000, 900], Sender),
        ];
        for (gaps, expected) in table {
            let own = placed(&connection(Some(gaps)), 0);
            assert_eq!((own.place, own.is_known), (expected, true), "{gaps:?}");
            assert_eq!(own.round_trip(), Some(Time::us(gaps[0] + gaps[1])));
        }
        // Data of the end that was called goes the other way.
        assert_eq!(placed(&connection(Some([60_280, 40])), 1).place, Receiver);
        assert!(!placed(&connection(None), 0).is_known);
    }

    #[test]
    fn without_a_handshake_data_and_echoes_show_it() {
        let mut own = connection(None);
        own.ways[0].answered = Some(Time::us(100));
        own.ways[0].echoed = Some(Time::ms(80));
        let found = placed(&own, 0);
        assert_eq!((found.place, found.is_known), (Place::Receiver, true));
    }
}
