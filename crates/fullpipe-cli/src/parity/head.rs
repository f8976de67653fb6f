//! First lines of a result: the judging kernels, and the compared runs.

use super::cases::{Asked, Draw};
use super::work::Done;
use crate::args::ParityArguments;
use fullpipe::parity::against::Against;
use fullpipe::parity::both;
use serde::Serialize;
use std::collections::BTreeSet;

/// The head of a result.
#[derive(Debug, Serialize)]
pub struct Head {
    /// The kernels that judge.
    against: BTreeSet<Against>,
    /// Draw of the scenarios, where they are random.
    #[serde(skip_serializing_if = "Option::is_none")]
    drawn: Option<Draw>,
    /// Each scenario ran with the seeds from 1 to this number.
    #[serde(skip_serializing_if = "Option::is_none")]
    seeds: Option<u64>,
    /// Keys that those kernels do otherwise than scenarios say.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    substituted: BTreeSet<String>,
}

impl Head {
    pub fn of(arguments: &ParityArguments, asked: &Asked, done: &Done) -> Head {
        Head {
            against: done.against.clone(),
            drawn: arguments.random.map(|count| Draw::of(arguments, count)),
            seeds: arguments.seeds,
            substituted: asked.cases.iter().flat_map(both::substituted).collect(),
        }
    }

    /// The head in words, one item a line.
    pub fn lines(&self) -> Vec<String> {
        let against: Vec<String> = self.against.iter().map(Against::to_string).collect();
        let what = match (self.drawn, self.seeds) {
            (Some(Draw { count, seed, first }), _) => {
                format!("; drawn with seed {seed}, from number {first} on {count}")
            }
            (None, Some(seeds)) => format!("; each scenario with the seeds 1 to {seeds}"),
            (None, None) => String::new(),
        };
        let mut lines = vec![format!("Against {}{what}", against.join(" and "))];

        // Keys that an engine did otherwise belong to the result.
        if !self.substituted.is_empty() {
            let what: Vec<&str> = self.substituted.iter().map(String::as_str).collect();
            lines.push(format!("Linux otherwise than the scenarios say: {}", what.join("; ")));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_names_kernels_and_what_was_drawn() {
        let against = |hz| Against { kernel: "6.12.117".into(), hz };
        let mut head = Head {
            against: [against(1000), against(250)].into(),
            drawn: Some(Draw { count: 5, seed: 7, first: 3 }),
            seeds: None,
            substituted: BTreeSet::new(),
        };
        let kernels = "Against Linux 6.12.117, HZ 250 and Linux 6.12.117, HZ 1000";
        assert_eq!(head.lines(), [format!("{kernels}; drawn with seed 7, from number 3 on 5")]);
        (head.drawn, head.seeds) = (None, Some(20));
        head.substituted.insert("a.b: otherwise".into());
        let expected = [
            format!("{kernels}; each scenario with the seeds 1 to 20"),
            "Linux otherwise than the scenarios say: a.b: otherwise".to_string(),
        ];
        assert_eq!(head.lines(), expected);
    }
}
