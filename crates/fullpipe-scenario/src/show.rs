//! Text of resolved values, which the scenario parser reads back as the same values.

use super::format::values::Choice;
use fullpipe_base::units::{Framing, Rate, Time};
use fullpipe_sim::config::{Direction, QueueLimit};
use serde::{Serialize, Serializer};
use std::fmt::Display;

type Written<S> = Result<<S as Serializer>::Ok, <S as Serializer>::Error>;

/// Bytes with the largest prefix that is exact: "60MiB", "64MB", "87380B".
pub fn bytes(n: u64) -> String {
    const UNITS: [(u64, &str); 6] = [
        (1 << 30, "GiB"),
        (1_000_000_000, "GB"),
        (1 << 20, "MiB"),
        (1_000_000, "MB"),
        (1 << 10, "KiB"),
        (1_000, "kB"),
    ];
    match UNITS.iter().find(|(size, _)| n >= *size && n.is_multiple_of(*size)) {
        Some((size, unit)) => format!("{}{unit}", n / size),
        None => format!("{n}B"),
    }
}

/// Anything that displays itself with its unit.
pub fn shown<T: Display, S: Serializer>(value: &T, s: S) -> Written<S> {
    s.collect_str(value)
}
/// A value that may be absent; absent ones are skipped before this is called.
pub fn some<T: Display, S: Serializer>(value: &Option<T>, s: S) -> Written<S> {
    value.as_ref().map(T::to_string).serialize(s)
}
/// A size that may be absent; absent ones are skipped before this is called.
pub fn some_size<S: Serializer>(value: &Option<u32>, s: S) -> Written<S> {
    value.map(|bytes| format!("{bytes}B")).serialize(s)
}
/// A time that may be absent; absent ones are skipped before this is called.
pub fn time<S: Serializer>(value: &Option<Time>, s: S) -> Written<S> {
    value.map(|t| t.to_string()).serialize(s)
}
/// A rate that may be absent; absent ones are skipped before this is called.
pub fn rate<S: Serializer>(value: &Option<Rate>, s: S) -> Written<S> {
    value.map(|rate| rate.to_string()).serialize(s)
}
/// A size that may be absent; absent ones are skipped before this is called.
pub fn size<S: Serializer>(value: &Option<u64>, s: S) -> Written<S> {
    value.map(bytes).serialize(s)
}
/// The size of a write or a read.
pub fn write_size<S: Serializer>(value: &u32, s: S) -> Written<S> {
    s.serialize_str(&bytes(u64::from(*value)))
}
/// Packets.
pub fn packets<S: Serializer>(value: &u32, s: S) -> Written<S> {
    s.collect_str(&format_args!("{value} packets"))
}
/// Packets that a delay holds.
pub fn delay_limit<S: Serializer>(value: &u32, s: S) -> Written<S> {
    match *value {
        u32::MAX => s.serialize_str("unlimited"),
        n => s.collect_str(&format_args!("{n} packets")),
    }
}
/// Packets that may be absent; absent ones are skipped before this is called.
pub fn some_packets<S: Serializer>(value: &Option<u32>, s: S) -> Written<S> {
    value.map(|n| format!("{n} packets")).serialize(s)
}
/// A size.
pub fn whole_size<S: Serializer>(value: &u64, s: S) -> Written<S> {
    s.serialize_str(&bytes(*value))
}
/// The name of a value that is chosen by its name.
pub fn name<C: Choice + PartialEq>(value: &C) -> Option<&'static str> {
    let named = C::VALUES.iter().zip(C::NAMES).find(|(known, _)| *known == value);
    named.map(|(_, name)| *name)
}
/// A value chosen by its name.
pub fn choice<C: Choice + PartialEq, S: Serializer>(value: &C, s: S) -> Written<S> {
    name(value).serialize(s)
}
/// A value chosen by its name, where there is one.
pub fn choice_if_any<C: Choice + PartialEq, S: Serializer>(value: &Option<C>, s: S) -> Written<S> {
    match value {
        Some(value) => choice(value, s),
        None => s.serialize_none(),
    }
}
/// Framing by name.
pub fn framing<S: Serializer>(value: &Framing, s: S) -> Written<S> {
    s.serialize_str(value.name())
}
/// A queue's capacity.
pub fn queue_limit<S: Serializer>(value: &QueueLimit, s: S) -> Written<S> {
    match value {
        QueueLimit::Bytes(n) => s.serialize_str(&bytes(*n)),
        QueueLimit::Packets(n) => s.collect_str(&format_args!("{n} packets")),
    }
}
/// Whether there is no time in it.
pub fn is_no_time(value: &Time) -> bool {
    *value == Time::ZERO
}
/// Direction of a flow's data.
pub fn direction<S: Serializer>(value: &Direction, s: S) -> Written<S> {
    s.serialize_str(match value {
        Direction::Forward => "forward",
        Direction::Backward => "backward",
    })
}
/// The host that sends data in that direction.
pub fn host_of<S: Serializer>(value: &Direction, s: S) -> Written<S> {
    s.serialize_str(match value {
        Direction::Forward => "sender",
        Direction::Backward => "receiver",
    })
}
