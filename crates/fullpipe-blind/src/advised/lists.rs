//! Fixed lists of settings that people copy, compared with advice.

use super::paths;
use crate::judging::{UNSEEN, bench, case, median_gains, worst_of_three};
use fullpipe::advice::method::Allowance;
use fullpipe::advice::{Case, Edit, advise};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A list: its name, its largest send and receive buffer, its qdisc and its congestion control.
#[derive(Clone, Copy, Debug)]
pub struct List {
    /// Name.
    pub name: &'static str,
    /// tcp_wmem, three numbers.
    pub wmem: &'static str,
    /// tcp_rmem, three numbers.
    pub rmem: &'static str,
    /// Qdisc; none: as it is.
    pub qdisc: Option<&'static str>,
    /// Congestion control; none: as it is.
    pub congestion: Option<&'static str>,
}

/// The lists. Values of tuned 2.20 are read from its profile; fasterdata's and perfSONAR's are their usual ones.
pub const LISTS: [List; 3] = [
    List {
        name: "tuned network-throughput",
        wmem: "4096 16384 16777216",
        rmem: "4096 87380 16777216",
        qdisc: None,
        congestion: None,
    },
    List {
        name: "fasterdata",
        wmem: "4096 65536 33554432",
        rmem: "4096 87380 33554432",
        qdisc: Some("fq"),
        congestion: None,
    },
    List {
        name: "perfSONAR",
        wmem: "4096 65536 134217728",
        rmem: "4096 87380 134217728",
        qdisc: Some("fq"),
        congestion: Some("htcp"),
    },
];

/// Rate, delay and memory of settings on a path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Share of the path (0 to 1).
    pub share: f64,
    /// Queueing delay, ms.
    pub queue_ms: f64,
    /// Memory of all sockets if every buffer were full, MB (10^6).
    pub memory_mb: f64,
}

/// A path with advice and with each list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// Name of the path.
    pub name: String,
    /// Today.
    pub today: Figures,
    /// Advice.
    pub advised: Figures,
    /// The lists, in their order.
    pub lists: Vec<Figures>,
    /// Rate of advice over that of each list, in the median of nine other runs; of paths alone where the worst of three runs
    /// has less than [`KEEPS`] of a list's rate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub medians: Option<Vec<f64>>,
}

/// Part of a list's rate that advice has to have on each path.
pub const KEEPS: f64 = 0.97;

impl Listed {
    /// Whether advice has its part of a list's rate in the worst of three runs.
    pub fn keeps(&self, list: &Figures) -> bool {
        self.advised.share >= KEEPS * list.share
    }

    /// Whether it has that in the median of nine runs, where it does not in the worst of three.
    pub fn keeps_median(&self, number: usize) -> bool {
        let own = self.medians.as_ref().and_then(|own| own.get(number));
        self.keeps(&self.lists[number]) || own.is_some_and(|own| *own >= KEEPS)
    }
}

/// Advice and lists on the path of a number.
///
/// # Errors
/// A trial has no outcome.
pub fn listed(seed: u64, number: usize) -> Result<Listed, String> {
    let (name, text) = paths::drawn(seed, number);
    let case = case(&name, &text)?;
    let advice = advise(&case, &Allowance::default(), &bench());
    let advice = advice.map_err(|why| super::stopped(&name, &why))?;
    let edits: Vec<Edit> = advice.edits().into_iter().cloned().collect();

    // Today's settings and the advised ones precede the fixed lists.
    let mut all: Vec<Vec<Edit>> = vec![Vec::new(), edits];
    all.extend(LISTS.iter().map(|list| list.edits(&case)));

    let borrowed: Vec<Vec<&Edit>> = all.iter().map(|edits| edits.iter().collect()).collect();

    // Seeds that advice has not seen judge all of them alike.
    let outcomes = worst_of_three(&name, &case, UNSEEN, &borrowed)?;
    let mut figures = Vec::new();
    for (edits, outcome) in all.iter().zip(&outcomes) {
        figures.push(Figures {
            share: outcome.share().unwrap_or(0.0),
            queue_ms: outcome.queue_ms,
            memory_mb: memory(&case, edits)?,
        });
    }

    let lists = figures.split_off(2);
    let own = Listed { name, today: figures[0], advised: figures[1], lists, medians: None };
    if own.lists.iter().all(|list| own.keeps(list)) {
        return Ok(own);
    }
    let mut medians = Vec::new();
    for list in &borrowed[2..] {
        medians.push(median_gains(&own.name, &case, &borrowed[1], list)?[0]);
    }
    Ok(Listed { medians: Some(medians), ..own })
}

impl List {
    fn edits(&self, case: &Case) -> Vec<Edit> {
        let mut edits = Vec::new();
        for host in ["sender", "receiver"] {
            edits.push(Edit::host(host, &["sysctl", "net.ipv4.tcp_wmem"], Some(self.wmem.into())));
            edits.push(Edit::host(host, &["sysctl", "net.ipv4.tcp_rmem"], Some(self.rmem.into())));
        }
        // A list names the qdisc; a rate that is set on it stays.
        let set = case.today.hosts.sender.qdisc.maxrate.is_some();
        if let Some(kind) = self.qdisc.filter(|_| !set) {
            edits.push(Edit::host("sender", &["qdisc"], Some(json!({ "kind": kind }))));
        }
        if let Some(name) = self.congestion {
            for flow in case.names() {
                edits.push(Edit::flow(&flow, &["congestion"], Some(name.into())));
            }
        }
        edits
    }
}

/// Memory of all sockets with edits, MB.
fn memory(case: &Case, edits: &[Edit]) -> Result<f64, String> {
    let made = fullpipe::advice::edited(&case.today, edits)?;
    let plan = &made.plans()[0];
    let Some(after) = Case::new(&made, plan) else { return Ok(0.0) };
    let settings = after.flows.iter().map(|flow| &flow.settings);
    let bytes: u64 = settings.map(|own| own.send.allows() + own.receive.allows()).sum();
    Ok(bytes as f64 / 1e6)
}
