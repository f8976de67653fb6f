//! What happened to a flow, in words.

use super::numbers;
use crate::analysis::document::{Happened, Moment};

/// Names of Linux's congestion states (TCP_CA_Open ...).
const STATES: [&str; 5] = ["Open", "Disorder", "CWR", "Recovery", "Loss"];

/// Moments in words, in order of time: "at 2.450 s Recovery, 3 segments retransmitted; at 2.470 s Open".
pub fn told(moments: &[Moment]) -> String {
    if moments.is_empty() {
        return "nothing".into();
    }
    let groups = moments.chunk_by(|one, next| one.at_s == next.at_s).map(|group| {
        let words: Vec<String> = group.iter().map(one).collect();
        format!("at {} s {}", numbers::fixed(group[0].at_s, 3), words.join(", "))
    });
    groups.collect::<Vec<_>>().join("; ")
}

fn one(moment: &Moment) -> String {
    let count = |one: &str, several: &str| match moment.value {
        1 => format!("1 {one}"),
        n => format!("{} {several}", numbers::count(n)),
    };
    match moment.what {
        Happened::Timeout => count("timeout", "timeouts"),
        Happened::Retransmitted => count("segment retransmitted", "segments retransmitted"),
        Happened::State => {
            let name = usize::try_from(moment.value).ok().and_then(|state| STATES.get(state));
            name.map_or_else(|| format!("state {}", moment.value), |name| (*name).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_sample_shows_stands_together() {
        let moment = |at_s, what, value| Moment { at_s, what, value };
        let moments = [
            moment(2.45, Happened::Timeout, 1),
            moment(2.45, Happened::State, 4),
            moment(2.47, Happened::Retransmitted, 1200),
        ];
        assert_eq!(
            told(&moments),
            "at 2.450 s 1 timeout, Loss; at 2.470 s 1,200 segments retransmitted"
        );
        assert_eq!(told(&[]), "nothing");
    }
}
