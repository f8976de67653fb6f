//! Moments of a flow, in words.

use fullpipe_analysis::distance::{Distance, Parting};
use fullpipe_analysis::document::{Aborted, Happened, Moment};
use fullpipe_analysis::numbers;

/// Names of Linux's congestion states (TCP_CA_Open ...).
const STATES: [&str; 5] = ["Open", "Disorder", "CWR", "Recovery", "Loss"];

/// Moments in words, in order of time: "at 2.450 s Recovery, 3 segments retransmitted; at 2.470 s Open".
pub fn describe(moments: &[Moment]) -> String {
    if moments.is_empty() {
        return "nothing".into();
    }
    let groups = moments.chunk_by(|one, next| one.at_s == next.at_s).map(|group| {
        let words: Vec<String> = group.iter().map(one).collect();
        format!("at {} s {}", numbers::fixed(group[0].at_s, 3), words.join(", "))
    });
    groups.collect::<Vec<_>>().join("; ")
}

/// Up to when the moments of both runs are known, where more happened than is kept.
pub fn known(distance: &Distance) -> Option<String> {
    let until = numbers::fixed(distance.known_until_s?, 3);
    Some(format!("known before {until} s only, as more happened than is kept"))
}

/// Moments on one side of a parting, as far as they are known.
pub fn at(parting: &Parting, moments: &[Moment], distance: &Distance) -> String {
    let unknown = distance.known_until_s.is_some_and(|until| parting.at_s >= until);
    match (known(distance).filter(|_| unknown), moments.is_empty()) {
        (None, _) => describe(moments),
        (Some(known), true) => known,
        (Some(known), false) => format!("{}; {known}", describe(moments)),
    }
}

fn one(moment: &Moment) -> String {
    let count = |one: &str, several: &str| match moment.value {
        1 => format!("1 {one}"),
        n => format!("{} {several}", numbers::count(n)),
    };
    match moment.what {
        Happened::Timeout => count("timeout", "timeouts"),
        Happened::Aborted => given_up(moment.value),
        Happened::Retransmitted => count("segment retransmitted", "segments retransmitted"),
        Happened::State => {
            // A state of a newer kernel has only its number.
            let name = usize::try_from(moment.value).ok().and_then(|state| STATES.get(state));
            name.map_or_else(|| format!("state {}", moment.value), |name| (*name).into())
        }
    }
}

/// The end of a connection in words: "at 12.345 s the connection timed out (ETIMEDOUT)".
pub fn aborted(aborted: &Aborted) -> String {
    format!("at {} s {}", numbers::fixed(aborted.at_s, 3), given_up(aborted.errno))
}

/// That the kernel gave the connection up, by the errno of Linux that says why.
fn given_up(errno: u64) -> String {
    match errno {
        110 => "the connection timed out (ETIMEDOUT)".into(),
        104 => "the connection was reset (ECONNRESET)".into(),
        113 => "no route to the host (EHOSTUNREACH)".into(),
        32 => "the connection was given up (EPIPE)".into(),
        other => format!("the connection was given up (errno {other})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_analysis::distance::State;

    #[test]
    fn what_one_sample_shows_stands_together() {
        let moment = |at_s, what, value| Moment { at_s, what, value };
        let moments = [
            moment(2.45, Happened::Timeout, 1),
            moment(2.45, Happened::State, 4),
            moment(2.47, Happened::Retransmitted, 1200),
        ];
        assert_eq!(
            describe(&moments),
            "at 2.450 s 1 timeout, Loss; at 2.470 s 1,200 segments retransmitted"
        );
        assert_eq!(describe(&[]), "nothing");
        let ended = moment(9.0, Happened::Aborted, 110);
        assert_eq!(describe(&[ended]), "at 9.000 s the connection timed out (ETIMEDOUT)");
    }

    #[test]
    fn nothing_is_said_only_where_it_is_known() {
        let state = State { cwnd: 1, ssthresh: None, in_flight: 0, srtt_us: None, queue: 0 };
        let parting = |at_s| {
            let (a, b, none) = (state.clone(), state.clone(), Vec::new());
            Parting { at_s, a, b, from_s: 1.0, events_a: none.clone(), events_b: none }
        };
        let distance = |known_until_s| Distance { known_until_s, ..Distance::default() };
        let only = "known before 2.000 s only, as more happened than is kept";
        assert_eq!(at(&parting(1.9), &[], &distance(Some(2.0))), "nothing");
        assert_eq!(at(&parting(2.0), &[], &distance(Some(2.0))), only);
        let moment = Moment { at_s: 1.9, what: Happened::State, value: 0 };
        let text = format!("at 1.900 s Open; {only}");
        assert_eq!(at(&parting(2.0), &[moment], &distance(Some(2.0))), text);
        assert_eq!(at(&parting(2.0), &[], &distance(None)), "nothing");
    }
}
