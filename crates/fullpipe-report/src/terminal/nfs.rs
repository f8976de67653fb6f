//! Fate of files on NFS mounts.

use super::Style;
use super::grid::wrap;
use fullpipe_analysis::document::{Nfs, Run};
use fullpipe_analysis::numbers::{count, fixed};

/// A paragraph for each; nothing where there are none.
pub fn lines(run: &Run, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for own in &run.nfs {
        lines.push(String::new());
        let head =
            format!("{}: {} ({}, NFS {})", run.variant, own.name, own.operation, own.version);
        lines.extend(wrap(&head, "", style.columns()).iter().map(|line| style.bold(line)));
        lines.extend(wrap(&said(own), "  ", style.columns()));
    }
    lines
}

fn said(own: &Nfs) -> String {
    let mut said = format!("{} bytes", count(own.bytes));
    match (own.took_s, own.mean_mbit) {
        (Some(took), Some(mbit)) => {
            // Tools for files show KiB/s, those for networks Mb/s.
            let kib = mbit * 1e6 / 8.0 / 1024.0;
            said += &format!(" in {} s: {} Mb/s", fixed(took, 3), fixed(mbit, 1));
            said += &format!(", {} KiB/s", fixed(kib, 0));
        }
        _ if own.unanswered => said += ", no call answered, and all sent again",
        _ => said += ", not done by the run's end",
    }
    if let Some(requests) = own.requests {
        let ms = |ms| fixed(ms, 1);
        said += &format!(
            "; {} requests: {} ms each until sent, {} ms until answered",
            count(requests.count),
            ms(requests.mean_queue_ms),
            ms(requests.mean_rtt_ms)
        );
        if requests.sent_again > 0 {
            said += &format!(", {} sent again", count(requests.sent_again));
        }
    }
    said
}
