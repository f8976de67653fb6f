//! Rows of the profiles: differences of kernel versions, a file for each concern.
//!
//! A row is declared once, in `rows!` of its concern's file:
//!
//! - its name (the field of [`Profile`](super::profile::Profile)) and its type: a `choice!` of the same file, or `bool`,
//! - `means`: its meaning, as the reference pages show it,
//! - `read_in`: the kernel's functions that are the source of its values,
//! - `values`: the value of the oldest version, and of each version that changed it,
//! - `needs`, if any: choices of other rows without which no profile reads it ([`Need`](super::behaviour::Need)),
//! - `tests`, where no conversation of two endpoints can show the row: file and name of each test that flips it
//!   instead.
//!
//! A comment on the row states which version and commit introduced it. A choice states this for each of its strategies.
//! `constants` are numbers that no scenario overrides.
//!
//! Everything else follows: the profiles, the keys of `behaviour` in scenarios, the reference pages, the lists of the
//! tests.

/// Declares the rows of a concern, as a macro that forwards them ([`collect`]).
macro_rules! rows {
    (($d:tt) $name:ident rows { $($rows:tt)* } constants { $($constants:tt)* }) => {
        macro_rules! $name {
            ($d to:ident $d rest:tt { $d($d rows:tt)* } { $d($d constants:tt)* }) => {
                collect! {
                    $d to $d rest
                    { $d($d rows)* $($rows)* }
                    { $d($d constants)* $($constants)* }
                }
            };
        }
    };
}

/// Collects the rows and the constants of the listed concerns for a macro, each as one group.
macro_rules! collect {
    ($to:ident [] $rows:tt $constants:tt) => {
        $to! { $rows $constants }
    };
    ($to:ident [$first:ident $($rest:ident)*] $rows:tt $constants:tt) => {
        $first! { $to [$($rest)*] $rows $constants }
    };
}

#[macro_use]
mod ack;
#[macro_use]
mod answers;
#[macro_use]
mod cpu;
#[macro_use]
mod handshake;
#[macro_use]
mod host_queue;
#[macro_use]
mod marking;
#[macro_use]
mod receive_buffer;
#[macro_use]
mod reduction;
#[macro_use]
mod rtt;
#[macro_use]
mod sending;
#[macro_use]
mod timeout;
#[macro_use]
mod udp;

/// Collects the rows and the constants of all concerns for a macro, in the order of the reference pages.
macro_rules! all_rows {
    ($to:ident) => {
        collect! {
            $to
            [
                handshake_rows receive_buffer_rows answers_rows sending_rows host_queue_rows ack_rows rtt_rows
                marking_rows reduction_rows timeout_rows cpu_rows udp_rows
            ]
            {} {}
        }
    };
}

/// A value as a row writes it: a choice's value by its name.
macro_rules! value {
    (bool, $value:tt) => {
        $value
    };
    (u32, $value:tt) => {
        $value
    };
    (u64, $value:tt) => {
        $value
    };
    ($choice:ident, $value:ident) => {
        $choice::$value
    };
}

pub use ack::*;
pub use answers::*;
pub use cpu::*;
pub use handshake::*;
pub use host_queue::*;
pub use marking::*;
pub use receive_buffer::*;
pub use reduction::*;
pub use rtt::*;
pub use sending::*;
pub use timeout::*;
pub use udp::*;
