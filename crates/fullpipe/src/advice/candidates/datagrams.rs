//! Remedies for datagrams of UDP that a place drops: a larger socket, and a delay that holds more of them.

use super::super::case::{Asked, Case};
use super::super::change::{Change, How, Rank, Scope};
use super::super::edit::Edit;
use super::hosts::At;
use crate::analysis::document::{Reading, Stage};
use crate::analysis::words::bytes;
use crate::scenario::Element;

/// Room of a delay, as a multiple of the packets that it holds.
const SPARE: f64 = 1.25;
/// Factor by which a socket that is too small grows, repeatedly.
const LARGER: u64 = 4;
/// Largest SO_RCVBUF that is tried, bytes: with a larger need the reader is too slow.
const LARGEST: u64 = 64 << 20;

/// A receive buffer that holds the datagrams of a program's pause, or several times the size, and a sysctl that allows
/// it. None for a program that reads less than arrives on average: its socket would fill up again.
pub fn socket(case: &Case, stage: &Stage, reading: Option<&Reading>) -> Vec<Change> {
    // A socket without a known size cannot be enlarged by a factor.
    let (Some(asked), Some(capacity)) = (&case.datagrams, stage.capacity) else {
        return Vec::new();
    };
    if reading.is_some_and(Reading::is_too_slow) {
        return Vec::new();
    }
    // The kernel doubles a program's request.
    let larger = (capacity.saturating_mul(LARGER) / 2).next_power_of_two();

    // A measured pause gives the size; otherwise the socket grows by a factor.
    let pause = reading.and_then(|own| own.pause_rcvbuf).filter(|bytes| *bytes > capacity / 2);
    let option = pause.unwrap_or(larger);

    // A socket that large points to a reader that is too slow.
    if option > LARGEST {
        return Vec::new();
    }
    let today = asked.rcvbuf.map_or("not set".into(), bytes);
    let change = Change::new(
        "SO_RCVBUF",
        &asked.name,
        Scope::Application,
        How::SocketOption { name: "SO_RCVBUF".into(), value: Some(option) },
    )
    .rank(Rank::Size)
    .values(today, bytes(option))
    .why("the socket holds what comes while the program does not read")
    .edits([Edit::datagrams(&asked.name, "rcvbuf", Some(format!("{option}B").into()))]);
    [most(case, asked, option), Some(change)].into_iter().flatten().collect()
}

/// The bound of that option, where it is lower.
fn most(case: &Case, asked: &Asked, option: u64) -> Option<Change> {
    let name = "net.core.rmem_max";
    let hosts = case.hosts(1);
    let (host, own) = hosts.into_iter().find(|(name, _)| *name == asked.hosts[1])?;
    let today = own.config.sysctl.rmem_max;
    let at = At { host, scope: Scope::Receiver };
    let change = at.sysctl(name, &option.to_string(), Some(option.into()));
    (today < option).then(|| {
        change
            .rank(Rank::Size)
            .values(bytes(today), bytes(option))
            .why("it bounds what a program may ask for by SO_RCVBUF")
    })
}

/// A delay of the path that holds all packets in flight.
pub fn delay(case: &Case, place: &str) -> Vec<Change> {
    let elements = case.today.way(case.direction).iter();
    let own = elements.into_iter().find_map(|element| match element {
        Element::Delay(own) if element.name() == place => Some(own),
        _ => None,
    });
    let Some(own) = own else { return Vec::new() };
    let today = own.limit;

    // Packets in flight over this delay, with some to spare for bursts.
    let held = case.held_at(own.delay.as_secs_f64());
    let packets = u32::try_from((held * SPARE) as u64).unwrap_or(u32::MAX);
    if packets <= today {
        return Vec::new();
    }
    let value = format!("{packets} packets");
    let words = format!("a limit of {value} at {place} (netem limit {packets})");
    let change = Change::new("limit", place, Scope::Path, How::Path { words })
        .rank(Rank::Size)
        .values(format!("{today} packets"), &value)
        .why("the delay drops what it cannot hold")
        .edits([Edit::element(case.direction, place, &["limit"], Some(value.into()))]);
    vec![change]
}

impl Case {
    /// Packets that a delay of `seconds` holds when the path is full, or all datagrams pass.
    fn held_at(&self, seconds: f64) -> f64 {
        match &self.datagrams {
            Some(asked) => asked.mbit * 1e6 / 8.0 / f64::from(asked.size.max(1)) * seconds,
            None => self
                .allowed
                .as_ref()
                .map_or(0.0, |own| own.mbit() * 1e6 / 8.0 / f64::from(own.mss.max(1)) * seconds),
        }
    }
}
