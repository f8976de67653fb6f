//! Lists of losses and marks of a random scenario. Random loss is a list too, drawn here, so that both engines lose the
//! same packets.

use super::draw::{between, often, pick};
use super::flows::Flows;
use super::frame::{Frame, Marks};
use fullpipe_sim::rng::Rng;

/// Most numbers of a list.
const MOST: usize = 500;
/// Number of segments that early losses are among.
const EARLY: f64 = 20_000.0;

/// TOML of list elements, empty without any.
pub struct Lists {
    /// Elements of the data's direction.
    pub ahead: String,
    /// Elements of the ACKs' direction.
    pub back: String,
}

/// Lists of losses for one forward flow.
pub fn lists(rng: &mut Rng, frame: &Frame, flows: &Flows) -> Lists {
    let kind = rng.unit();

    // Nearly half of the runs lose nothing by list.
    let data = match kind {
        kind if kind < 0.45 => Vec::new(),
        kind if kind < 0.65 => few(rng),
        kind if kind < 0.70 => row(rng),
        _ => random(rng, frame.segments()),
    };
    let flow = &pick(rng, &flows.forward);

    // Lost ACKs are rare, and about half as many.
    let acks = match often(rng, 0.15) {
        true => random(rng, frame.segments() / 2.0),
        false => Vec::new(),
    };
    let marks = match frame.marks {
        Marks::List => random(rng, frame.segments()),
        Marks::Queue | Marks::Nothing => Vec::new(),
    };
    Lists {
        ahead: element("drop", "list", "segments", flow, &data)
            + &element("mark", "marks", "segments", flow, &marks),
        back: element("drop", "back-list", "acks", flow, &acks),
    }
}

fn element(kind: &str, name: &str, what: &str, flow: &str, numbers: &[u64]) -> String {
    if numbers.is_empty() {
        return String::new();
    }
    let of = format!("flow = \"{flow}\"");
    format!("    {{ kind = \"{kind}\", name = \"{name}\", {of}, {what} = {numbers:?} }},\n")
}

/// Up to eight, early ones more often.
fn few(rng: &mut Rng) -> Vec<u64> {
    let count = pick(rng, &[1, 2, 4, 8]);
    let mut numbers: Vec<u64> = (0..count).map(|_| between(rng, 1.0, EARLY) as u64).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Some in a row.
fn row(rng: &mut Rng) -> Vec<u64> {
    let first = between(rng, 1.0, EARLY) as u64;
    (first..first + between(rng, 2.0, 64.0) as u64).collect()
}

/// Random losses among `among` segments, independently, with a probability of 0.0001 to 0.01: the gaps are geometric.
fn random(rng: &mut Rng, among: f64) -> Vec<u64> {
    let probability = between(rng, 1e-4, 1e-2);
    let gap = |rng: &mut Rng| ((1.0 - rng.unit()).ln() / (1.0 - probability).ln()) as u64;
    let (mut numbers, mut next) = (Vec::new(), gap(rng));
    while (next as f64) < among && numbers.len() < MOST {
        numbers.push(next);
        next += 1 + gap(rng);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_lists_rise_and_have_as_many_as_their_probability_says() {
        let mut rng = Rng::new(1, "losses");
        let lists: Vec<Vec<u64>> = (0..300).map(|_| random(&mut rng, 20_000.0)).collect();
        assert!(lists.iter().all(|list| list.windows(2).all(|pair| pair[0] < pair[1])));
        assert!(lists.iter().all(|list| list.last().is_none_or(|last| *last < 20_000)));
        // The mean of a probability that is equally likely at each scale is (b - a) / ln(b / a) = 0.00215.
        let mean = lists.iter().map(Vec::len).sum::<usize>() as f64 / 300.0;
        assert!((35.0..=51.0).contains(&mean), "{mean}");
    }
}
