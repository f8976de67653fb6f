//! The judge of the simulator: a kernel's release, and its HZ.

use super::case::Case;
use super::table::Table;
use crate::engine::linux;
use serde::Serialize;
use std::fmt;

/// A real kernel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Against {
    /// Its release, for instance "6.12.117".
    pub kernel: String,
    /// Timer interrupts per second.
    pub hz: u32,
}

impl Against {
    /// Kernel that made the kept table of a case.
    pub fn of_table(table: &Table, case: &Case) -> Against {
        let origin = &table.origin.kernel;
        let kernel = origin.split(" (").next().unwrap_or(origin);
        Against { kernel: kernel.trim_start_matches("Linux ").into(), hz: hz(case) }
    }

    /// Kernel that runs a case on this machine; the series where the kernel's release is unknown.
    pub fn of_case(case: &Case) -> Against {
        let run = &case.plan.resolved;
        let kernel = linux::release(run).unwrap_or_else(|| run.hosts.sender.config.kernel.clone());
        Against { kernel, hz: hz(case) }
    }
}

/// Both hosts have the same.
fn hz(case: &Case) -> u32 {
    case.plan.resolved.hosts.sender.config.hz
}

impl fmt::Display for Against {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Linux {}, HZ {}", self.kernel, self.hz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parity::random::{self, Hosts};

    #[test]
    fn a_table_names_its_kernel() {
        let case = random::case(1, 0, &Hosts { kernel: "6.1".into(), hz: 250 });
        let mut table = Table::default();
        table.origin.kernel = "Linux 6.1.192 (6.1.192-1), HZ 250, configuration 0".into();
        let shown = Against::of_table(&table, &case).to_string();
        assert_eq!(shown, "Linux 6.1.192, HZ 250");
    }
}
