//! Which rows a profile reads. Some belong to code that only one order of an ACK has, or to one choice of another
//! row; elsewhere they would say nothing, so they are not taken there.

use super::{BEHAVIOURS, Behaviour};
use crate::tcp::profile::{PROFILES, Profile, Reduction, RttClock, SackMarking};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// What a row's profile must have chosen elsewhere for the row to be read; with what is done where it has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// That an ACK changes cwnd first.
    CwndFirst(&'static str),
    /// That it does so last.
    CwndLast(&'static str),
    /// That cwnd comes down by rate halving.
    RateHalving,
    /// That SACKs above `high_seq` mark losses.
    MarksDataLost,
    /// That the RTT is measured in jiffies.
    InJiffies,
}

impl Need {
    fn is_met(self, profile: &Profile) -> bool {
        match self {
            Need::CwndFirst(_) => profile.cwnd_first(),
            Need::CwndLast(_) => !profile.cwnd_first(),
            Need::RateHalving => profile.reduction == Reduction::RateHalving,
            Need::MarksDataLost => profile.marks_data_lost,
            Need::InJiffies => profile.rtt_clock == RttClock::Jiffies,
        }
    }

    /// The row and choice that it asks for.
    pub fn asks(self) -> &'static str {
        match self {
            Need::CwndFirst(_) => "ack_order = \"cwnd-first\"",
            Need::CwndLast(_) => "ack_order = \"cwnd-last\"",
            Need::RateHalving => "reduction = \"rate-halving\"",
            Need::MarksDataLost => "marks_data_lost = true",
            Need::InJiffies => "rtt_clock = \"jiffies\"",
        }
    }

    /// What is done in its place where it is not met; empty: nothing.
    pub fn instead(self) -> &'static str {
        match self {
            Need::CwndFirst(instead) | Need::CwndLast(instead) => instead,
            Need::RateHalving | Need::MarksDataLost => "",
            Need::InJiffies => "a microsecond at least",
        }
    }
}

/// A row that a profile must not be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its name.
    pub row: &'static str,
    /// Why not.
    pub why: String,
    /// What would do.
    pub expected: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; expected {}", self.why, self.expected)
    }
}

impl Behaviour {
    /// What it needs and `profile` has not; none: the row is read.
    pub fn unmet(&self, profile: &Profile) -> Option<Need> {
        self.needs.iter().copied().find(|need| !need.is_met(profile))
    }

    fn refusal(&self, need: Need, profile: &Profile) -> Refusal {
        let (row, name) = (self.name, profile.name);
        let instead = match need.instead() {
            "" => String::new(),
            instead => format!("; {}: {instead}", self.doc),
        };
        let asks = need.asks();
        let why = format!("kernel {name} does not read `{row}`, which goes with `{asks}`{instead}");
        let readers = PROFILES.iter().filter(|known| self.unmet(known).is_none());
        let readers: Vec<&str> = readers.map(|known| known.name).collect();
        Refusal { row, why, expected: format!("a kernel that does: {}", readers.join(", ")) }
    }
}

/// What of the overridden rows `profile`, which has them already, must not be given.
pub fn refusals(profile: &Profile, overridden: &[&str]) -> Vec<Refusal> {
    let rows = BEHAVIOURS.iter().filter(|row| overridden.contains(&row.name));
    let unread = |row: &Behaviour| row.unmet(profile).map(|need| row.refusal(need, profile));
    rows.filter_map(unread).chain(without_clock(profile, overridden)).collect()
}

/// The code that finds losses by time belongs to one order.
fn without_clock(profile: &Profile, overridden: &[&str]) -> Option<Refusal> {
    let by_time = profile.sack_marking == SackMarking::Rack;
    if !by_time || !profile.cwnd_first() {
        return None;
    }
    let row = ["sack_marking", "ack_order"].into_iter().find(|row| overridden.contains(row))?;
    Some(Refusal {
        row,
        why: "losses are found by time only with `ack_order = \"cwnd-last\"`".to_string(),
        expected: "another `sack_marking` with `ack_order = \"cwnd-first\"`".to_string(),
    })
}
