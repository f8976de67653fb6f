//! Fairness of the flows of a run.

use super::Style;
use super::grid::wrap;
use fullpipe_analysis::document::Run;
use fullpipe_analysis::fairness::{Fairness, Part};
use fullpipe_analysis::numbers::{fixed, share};

/// The most flows with a share of their own in the text.
const MOST_FLOWS: usize = 5;

/// A paragraph; nothing where no two flows of one direction live at one time.
pub fn lines(run: &Run, style: Style) -> Vec<String> {
    let Some(all) = &run.fairness else { return Vec::new() };
    let head = format!("{}: how the flows share the path", run.variant);
    let mut lines = vec![String::new()];
    lines.extend(wrap(&head, "", style.columns()).iter().map(|line| style.bold(line)));
    lines.extend(wrap(&said(all), "  ", style.columns()));
    lines
}

/// The paragraph in one sentence; none where no two flows of one direction live at one time.
pub fn sentence(run: &Run) -> Option<String> {
    Some(format!("shares: {}", said(run.fairness.as_ref()?)))
}

fn said(all: &Fairness) -> String {
    let together = fixed(all.end_s - all.start_s, 1);
    let mut said = format!("all live for {together} s: Jain's index {}", fixed(all.jain, 3));
    if let Some(settled) = all.jain_settled {
        said += &format!(", {} over the second half", fixed(settled, 3));
    }

    // A short run cannot converge, so it is not blamed.
    said += &match all.converged_s {
        Some(time) => format!("; converged {} s after the last start", fixed(time, 1)),
        None if all.is_too_short() => "; too short to see whether they converge".into(),
        None => "; they did not converge".into(),
    };

    // An exponent needs flows of different round-trip times.
    if let Some(exponent) = all.rtt_exponent {
        said += &format!("; rate as RTT^{}", fixed(-exponent, 2));
    }
    said + "; " + &shares(all)
}

/// The shares of few flows, the least and the largest of many.
fn shares(all: &Fairness) -> String {
    let of = |own: &Part| format!("{} {}", own.name, share(own.share));
    if all.flows.len() <= MOST_FLOWS {
        return all.flows.iter().map(of).collect::<Vec<_>>().join(", ");
    }
    let by_share = |a: &&Part, b: &&Part| a.share.total_cmp(&b.share);
    let ends = [all.flows.iter().min_by(by_share), all.flows.iter().max_by(by_share)];
    let ends: Vec<String> = ends.into_iter().flatten().map(of).collect();
    format!("of {} flows {}", all.flows.len(), ends.join(" to "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(count: usize) -> Fairness {
        let flows = (0..count)
            .map(|n| {
                let share = (n + 1) as f64 / (count * (count + 1) / 2) as f64;
                Part { name: format!("flow-{n}"), share, ..Part::default() }
            })
            .collect();
        Fairness { start_s: 10.0, end_s: 70.0, jain: 0.9, flows, ..Fairness::default() }
    }

    #[test]
    fn what_is_known_is_said() {
        let mut own = all(2);
        let plain = "all live for 60.0 s: Jain's index 0.900; they did not converge; flow-0 33 %, flow-1 67 %";
        assert_eq!(said(&own), plain);
        own.end_s = 39.0;
        assert!(said(&own).contains("; too short to see whether they converge;"));
        (own.jain_settled, own.converged_s, own.rtt_exponent) =
            (Some(0.96), Some(12.25), Some(1.5));
        let whole = "all live for 29.0 s: Jain's index 0.900, 0.960 over the second half; \
                     converged 12.2 s after the last start; rate as RTT^−1.50; flow-0 33 %, flow-1 67 %";
        assert_eq!(said(&own), whole);
    }

    #[test]
    fn of_many_flows_the_ends_are_shown() {
        assert!(said(&all(6)).ends_with("; of 6 flows flow-0 4.8 % to flow-5 29 %"));
    }
}
