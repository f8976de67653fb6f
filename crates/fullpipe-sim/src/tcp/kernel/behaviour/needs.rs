//! Conditions under which a profile reads a row. Some rows belong to code for one order of an ACK, or to one choice of
//! another row. Elsewhere they would have no effect, so a scenario must not set them there.

use super::{BEHAVIOURS, Behaviour};
use crate::tcp::profile::{PROFILES, Profile, Reduction, RttClock, SackMarking};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// Choice of another row without which a row has no effect, with the rule that holds instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// An ACK changes cwnd first.
    CwndFirst(&'static str),
    /// An ACK changes cwnd last.
    CwndLast(&'static str),
    /// Rate halving reduces cwnd.
    RateHalving,
    /// SACKs above `high_seq` mark losses.
    MarksDataLost,
    /// The RTT is measured in jiffies.
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

    /// Row and choice that are needed.
    pub fn asks(self) -> &'static str {
        match self {
            Need::CwndFirst(_) => "ack_order = \"cwnd-first\"",
            Need::CwndLast(_) => "ack_order = \"cwnd-last\"",
            Need::RateHalving => "reduction = \"rate-halving\"",
            Need::MarksDataLost => "marks_data_lost = true",
            Need::InJiffies => "rtt_clock = \"jiffies\"",
        }
    }

    /// Rule that holds where the need is not met; empty: none.
    pub fn instead(self) -> &'static str {
        match self {
            Need::CwndFirst(instead) | Need::CwndLast(instead) => instead,
            Need::RateHalving | Need::MarksDataLost => "",
            Need::InJiffies => "a microsecond at least",
        }
    }
}

/// A row that a scenario must not set with a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Name of the row.
    pub row: &'static str,
    /// Reason.
    pub why: String,
    /// Alternative that is possible.
    pub expected: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; expected {}", self.why, self.expected)
    }
}

impl Behaviour {
    /// The first need that `profile` does not meet; none: the profile reads the row.
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

/// Overridden rows that `profile`, which has the overrides already, must not have.
pub fn refusals(profile: &Profile, overridden: &[&str]) -> Vec<Refusal> {
    let rows = BEHAVIOURS.iter().filter(|row| overridden.contains(&row.name));
    rows.filter_map(|row| row.unmet(profile).map(|need| row.refusal(need, profile)))
        .chain(without_clock(profile, overridden))
        .collect()
}

/// Refusal of losses by time without the order of ACKs that has them.
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
