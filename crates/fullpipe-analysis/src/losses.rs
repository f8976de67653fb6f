//! Episodes of loss, and their pairs in two runs.
//!
//! An *episode* begins with the sample that shows a retransmission, a timeout, or the state Recovery or
//! Loss, and lasts until a sample shows another state. The n-th episode of one run belongs to the n-th
//! of the other one.

use super::document::{Flow, Happened, Moment};
pub use crate::document::distance::{Episode, EpisodePair, Losses};
use fullpipe_base::tcp::CaState;

/// Loss lies above it.
const RECOVERY: u64 = CaState::Recovery as u64;

/// The loss episodes of two runs, compared; only of moments before `until_s` where that is given.
pub fn losses(a: &Flow, b: &Flow, until_s: Option<f64>) -> Losses {
    let known = |flow: &Flow| {
        let known = flow.moments.iter().take_while(|m| until_s.is_none_or(|until| m.at_s < until));
        episodes(&known.copied().collect::<Vec<_>>())
    };
    let (a, b) = (known(a), known(b));

    // Episodes pair in order, as they happened.
    let pairs: Vec<EpisodePair> =
        a.iter().zip(&b).map(|(a, b)| EpisodePair { a: *a, b: *b }).collect();
    let mut apart: Vec<f64> = pairs.iter().map(|pair| (pair.a.at_s - pair.b.at_s).abs()).collect();
    apart.sort_by(f64::total_cmp);
    Losses {
        a: a.len(),
        b: b.len(),
        median_difference_s: apart.get(apart.len() / 2).copied(),
        worst_difference_s: apart.last().copied(),
        pairs,
    }
}

/// The episodes of a flow by its moments.
fn episodes(moments: &[Moment]) -> Vec<Episode> {
    let mut episodes: Vec<Episode> = Vec::new();
    let (mut state, mut open) = (0, false);
    // All moments of one sample count together.
    for seen in moments.chunk_by(|one, next| one.at_s == next.at_s) {
        let total = |what| seen.iter().filter(|m| m.what == what).map(|m| m.value).sum();
        let (retransmitted, timeouts): (u64, u64) =
            (total(Happened::Retransmitted), total(Happened::Timeout));

        // The last state of a sample holds until the next.
        let entered = seen.iter().rfind(|m| m.what == Happened::State);
        state = entered.map_or(state, |moment| moment.value);

        // An episode opens with the first sign of loss, and recovery keeps it open.
        if !open && (retransmitted > 0 || timeouts > 0 || state >= RECOVERY) {
            episodes.push(Episode { at_s: seen[0].at_s, retransmitted: 0, timeouts: 0 });
        }
        if let Some(last) = episodes.last_mut() {
            last.retransmitted += retransmitted;
            last.timeouts += timeouts;
        }
        open = state >= RECOVERY;
    }
    episodes
}

#[cfg(test)]
mod tests {
    use super::*;
    use Happened::{Retransmitted, State, Timeout};

    fn moments(list: &[(f64, Happened, u64)]) -> Vec<Moment> {
        list.iter().map(|&(at_s, what, value)| Moment { at_s, what, value }).collect()
    }

    fn found(list: &[(f64, Happened, u64)]) -> Vec<(f64, u64, u64)> {
        let all = episodes(&moments(list));
        all.into_iter().map(|e| (e.at_s, e.retransmitted, e.timeouts)).collect()
    }

    #[test]
    fn an_episode_lasts_until_the_state_is_left() {
        let list = [
            (1.0, State, 1),
            (1.1, State, 3),
            (1.1, Retransmitted, 2),
            (1.2, Retransmitted, 5),
            (1.3, Retransmitted, 1),
            (1.3, State, 0),
            (2.0, State, 3),
            (2.5, Timeout, 1),
            (2.5, State, 4),
            (2.5, Retransmitted, 1),
            (3.0, State, 0),
        ];
        assert_eq!(found(&list), [(1.1, 8, 0), (2.0, 1, 1)]);
    }

    #[test]
    fn a_probe_is_an_episode_of_its_own_and_disorder_alone_is_none() {
        let list =
            [(0.5, State, 1), (0.6, State, 0), (1.0, Retransmitted, 1), (2.0, Retransmitted, 1)];
        assert_eq!(found(&list), [(1.0, 1, 0), (2.0, 1, 0)]);
    }

    #[test]
    fn episodes_are_paired_by_order() {
        let flow =
            |list: &[(f64, Happened, u64)]| Flow { moments: moments(list), ..Flow::default() };
        let a = flow(&[(1.0, Retransmitted, 1), (2.0, Retransmitted, 1), (3.0, Retransmitted, 1)]);
        let b = flow(&[(1.5, Retransmitted, 1), (2.25, Retransmitted, 4)]);
        let all = losses(&a, &b, None);
        assert_eq!((all.a, all.b, all.pairs.len()), (3, 2, 2));
        assert_eq!((all.median_difference_s, all.worst_difference_s), (Some(0.5), Some(0.5)));
        assert_eq!(all.pairs[1].b.retransmitted, 4);
        let known = losses(&a, &b, Some(2.25));
        assert_eq!((known.a, known.b, known.pairs.len()), (2, 1, 1));
    }
}
