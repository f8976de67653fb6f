//! `fullpipe list`: everything that has a name.

mod entries;
mod text;

use crate::args::ListArguments;
use crate::failure::Failure;
use crate::output::Output;
use entries::{CongestionEntry, LimitEntry, MetricEntry, RecipeEntry};
use fullpipe::engine::engines;
use fullpipe::scenario::{self, congestion, metric, slow_start};
use fullpipe::sim::cc;
use fullpipe::sim::tcp::profile::PROFILES;
use serde::Serialize;

/// Version of the JSON document.
const FORMAT: u32 = 2;

/// Kinds of names, as arguments of `list`.
const TOPICS: [&str; 6] = ["recipes", "congestion", "slow-starts", "kernels", "limits", "metrics"];

/// All names, or those that a word chooses.
#[derive(Serialize)]
struct Listing {
    format: u32,
    recipes: Vec<RecipeEntry>,
    congestion: Vec<CongestionEntry>,
    real_congestion: Vec<CongestionEntry>,
    slow_starts: Vec<CongestionEntry>,
    kernels: Vec<&'static str>,
    unvalidated_kernels: Vec<&'static str>,
    real_kernels: Vec<&'static str>,
    limits: Vec<LimitEntry>,
    metrics: Vec<MetricEntry>,
}

/// Prints all names, or those of a kind or with a word.
pub fn list(arguments: &ListArguments, output: &Output) -> Result<(), Failure> {
    let all = Listing::new();
    let listing = match arguments.what.as_deref() {
        None => all,
        // A word that is no topic searches all names.
        Some(word) => match topic(word) {
            Some(topic) => all.topic(topic),
            None => all.with_word(word),
        },
    };
    if let Some(word) = arguments.what.as_deref().filter(|_| listing.is_empty()) {
        return Err(Failure::Input(nothing_found(word)));
    }

    // JSON has all that is known, text an overview unless a name is given.
    match (arguments.json, &arguments.what) {
        (true, _) => output.json(&listing),
        (false, None) => output.print(&listing.overview()),
        (false, Some(_)) => output.print(&listing.text()),
    }
}

/// The kind that a word names, in the singular too.
fn topic(word: &str) -> Option<&'static str> {
    TOPICS.into_iter().find(|topic| *topic == word || topic.strip_suffix('s') == Some(word))
}

fn nothing_found(word: &str) -> String {
    let near = scenario::near_names(word, TOPICS.iter().copied());
    let hint = match near.as_slice() {
        [] => format!("`fullpipe list` takes one of {}, or a part of a name", TOPICS.join(", ")),
        near => format!("did you mean: {}", near.join(", ")),
    };
    format!("nothing that `fullpipe list` knows has \"{word}\" in its name or title; {hint}")
}

impl Listing {
    fn new() -> Listing {
        let flow = metric::FLOW.iter().map(|m| MetricEntry::new("flow.NAME", m));
        let limits = std::iter::once(MetricEntry::limits());
        let fairness = metric::FAIRNESS.iter().map(|m| MetricEntry::new("fairness", m));
        let datagrams = metric::DATAGRAMS.iter();
        let datagrams = datagrams.map(|m| MetricEntry::new("datagrams.NAME", m));
        let nfs = metric::NFS.iter().map(|m| MetricEntry::new("nfs.NAME", m));
        let stage = metric::STAGE.iter().map(|m| MetricEntry::new("stage.NAME", m));

        // Engine linux brings names of its own: they have separate lists.
        Listing {
            format: FORMAT,
            recipes: scenario::recipes().iter().map(RecipeEntry::new).collect(),
            congestion: cc::algorithms().iter().map(CongestionEntry::new).collect(),
            real_congestion: congestion::of_real_kernels()
                .iter()
                .map(CongestionEntry::new)
                .collect(),
            slow_starts: slow_start::slow_starts().iter().map(CongestionEntry::new).collect(),
            kernels: PROFILES.iter().map(|profile| profile.name).collect(),
            unvalidated_kernels: PROFILES
                .iter()
                .filter(|p| p.unvalidated)
                .map(|p| p.name)
                .collect(),
            real_kernels: engines().iter().flat_map(|engine| engine.kernels()).collect(),
            limits: LimitEntry::all(),
            metrics: flow
                .chain(limits)
                .chain(fairness)
                .chain(datagrams)
                .chain(nfs)
                .chain(stage)
                .collect(),
        }
    }

    /// The names of one kind.
    fn topic(self, topic: &str) -> Listing {
        let none = Listing::none();
        match topic {
            "recipes" => Listing { recipes: self.recipes, ..none },
            "congestion" => Listing {
                congestion: self.congestion,
                real_congestion: self.real_congestion,
                ..none
            },
            "slow-starts" => Listing { slow_starts: self.slow_starts, ..none },
            "kernels" => Listing {
                kernels: self.kernels,
                unvalidated_kernels: self.unvalidated_kernels,
                real_kernels: self.real_kernels,
                ..none
            },
            "limits" => Listing { limits: self.limits, ..none },
            _ => Listing { metrics: self.metrics, ..none },
        }
    }

    /// Entries with a word in their names or titles.
    fn with_word(mut self, word: &str) -> Listing {
        let word = word.to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&word);
        self.recipes.retain(|one| {
            has(one.name) || has(one.title) || one.variants.iter().any(|variant| has(variant))
        });

        // Recipes also match by their variants; kernels have names alone.
        for kind in [&mut self.congestion, &mut self.real_congestion, &mut self.slow_starts] {
            kind.retain(|one| has(one.name) || has(one.title));
        }
        for kind in [&mut self.kernels, &mut self.unvalidated_kernels, &mut self.real_kernels] {
            kind.retain(|name| has(name));
        }
        self.limits.retain(|one| has(one.name) || has(one.label) || has(one.meaning));
        self.metrics.retain(|one| has(&one.name) || has(one.meaning));
        self
    }

    fn none() -> Listing {
        Listing {
            format: FORMAT,
            recipes: Vec::new(),
            congestion: Vec::new(),
            real_congestion: Vec::new(),
            slow_starts: Vec::new(),
            kernels: Vec::new(),
            unvalidated_kernels: Vec::new(),
            real_kernels: Vec::new(),
            limits: Vec::new(),
            metrics: Vec::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.text().is_empty()
    }
}
