//! Counters of hosts, named as the tools of Linux name them.

use super::table::{Cell, Table, column};
use fullpipe_analysis::document::{Document, HostCounter, Run};

pub(super) fn tables(document: &Document) -> Vec<Table> {
    let counters =
        document.runs.iter().flat_map(|run| run.counters.iter().map(move |own| (run, own)));

    // Hosts have hundreds of counters: those at 0 would hide the others.
    let counted = counters.filter(|(_, own)| own.value > 0);
    vec![Table {
        name: "counters",
        run: None,
        title: "Counters of the hosts".to_string(),
        finding: "as `tc -s qdisc`, `ethtool -S`, `nstat` and softnet_stat name them; what is 0 stands in summary.json alone".into(),
        columns: vec![
            column("variant", ""),
            column("host", ""),
            column("counter", ""),
            column("value", ""),
        ],
        rows: counted.map(|(run, own)| row(run, own)).collect(),
    }]
}

fn row(run: &Run, own: &HostCounter) -> Vec<Cell> {
    let texts = [&run.variant, &own.host, &own.name].map(Cell::text);
    texts.into_iter().chain([Cell::Count(own.value)]).collect()
}
