//! Fate of packets that are no TCP segments, in the words of the tools that send them.

use super::Style;
use super::flow::cpu;
use super::grid::wrap;
use fullpipe_analysis::document::{Datagrams, Run};
use fullpipe_analysis::numbers::{count, fixed};

/// A paragraph for each; nothing where there are none.
pub fn lines(run: &Run, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for own in &run.datagrams {
        lines.push(String::new());
        let head = format!("{}: {} ({} of {} bytes)", run.variant, own.name, own.kind, own.size);
        lines.extend(wrap(&head, "", style.columns()).iter().map(|line| style.bold(line)));
        lines.extend(wrap(&said(own), "  ", style.columns()));
        lines.extend(own.cpu.map(cpu));
    }
    lines
}

fn said(own: &Datagrams) -> String {
    let mut said =
        format!("{} sent, {} received", count(own.sent), count(own.received - own.duplicates));

    // Late datagrams arrive after all: receivers count them by their numbers.
    if own.undelivered != own.lost {
        let share = fixed(own.undelivered_share * 100.0, 2);
        said +=
            &format!(", {} not delivered ({share} %); by their numbers", count(own.undelivered));
    } else {
        said.push(',');
    }
    said += &format!(" {} lost ({} %)", count(own.lost), fixed(own.loss_share * 100.0, 2));

    // Counts of 0 are left out.
    for (number, what) in [
        (Some(own.refused), "refused by the own qdisc (ENOBUFS)"),
        (own.rcvbuf_errors, "dropped by the full socket (UdpRcvbufErrors)"),
        (own.reordered, "out of order"),
        (Some(own.duplicates), "twice"),
    ] {
        if let Some(number) = number.filter(|number| *number > 0) {
            said += &format!(", {} {what}", count(number));
        }
    }
    if let Some(mbit) = own.mean_mbit {
        said += &format!("; {} Mb/s", fixed(mbit, 1));
    }
    if let Some(jitter) = own.jitter_ms {
        said += &format!("; jitter {} ms", fixed(jitter, 3));
    }
    if let Some(trips) = own.rtt_ms {
        let ms = [trips.min, trips.avg, trips.max, trips.mdev].map(|ms| fixed(ms, 3));
        said += &format!("; rtt min/avg/max/mdev = {} ms", ms.join("/"));
    }
    said
}
