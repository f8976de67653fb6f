//! The scenarios built into the program.

use super::source::{Beside, Source};
use std::path::Path;

/// A built-in scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The name that `fullpipe run` takes.
    pub name: &'static str,
    /// The scenario's text.
    pub text: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// The variants of the text that it is; none: all.
    variants: &'static [&'static str],
    /// Its own title, where the text has other recipes' variants, too.
    title: Option<&'static str>,
}

impl Recipe {
    /// The title: its own, or the text after `title =`.
    pub fn title(&self) -> &'static str {
        if let Some(title) = self.title {
            return title;
        }
        let line = self.text.lines().find_map(|line| line.strip_prefix("title = \""));
        line.and_then(|rest| rest.strip_suffix('"')).unwrap_or(self.name)
    }

    /// The recipe as a source for [`load`](super::load).
    pub fn source(&self) -> Source {
        Source {
            name: format!("{}.toml", self.name),
            text: self.text.into(),
            beside: Beside::BuiltIn(self.files),
            variants: self.variants.iter().map(ToString::to_string).collect(),
        }
    }
}

/// All of them, in the order in which they are listed.
pub fn recipes() -> &'static [Recipe] {
    RECIPES
}

/// The recipe of that name; otherwise the names close to it, nearest first.
///
/// # Errors
/// There is no such recipe.
pub fn recipe(name: &str) -> Result<&'static Recipe, Vec<&'static str>> {
    let found = RECIPES.iter().find(|recipe| recipe.name == name);
    found.ok_or_else(|| super::format::near::names(name, RECIPES.iter().map(|r| r.name)))
}

impl Source {
    /// A name without directory and ending is a recipe's. A file of that name counts where there is no such recipe.
    ///
    /// # Errors
    /// There is neither, or the file cannot be read.
    pub fn named(named: &Path) -> Result<Source, String> {
        let name = named.to_str().filter(|name| !name.contains(['/', '.']));
        match name.map(recipe) {
            Some(Ok(recipe)) => Ok(recipe.source()),
            Some(Err(near)) if !named.exists() => Err(unknown(&named.display().to_string(), &near)),
            _ => Source::read(named).map_err(|problems| problems.to_string()),
        }
    }
}

fn unknown(name: &str, near: &[&str]) -> String {
    let hint = match near {
        [] => "`fullpipe list` shows all recipes".to_string(),
        names => format!("did you mean: {}", names.join(", ")),
    };
    format!("there is no recipe and no file called {name}; {hint}")
}

/// A file below scenarios/.
macro_rules! text {
    ($path:literal) => {
        include_str!(concat!("../../../scenarios/", $path))
    };
}

/// Some variants of a scenario that several recipes share, each with a title of its own.
const fn of(
    text: &'static str,
    name: &'static str,
    title: &'static str,
    variants: &'static [&'static str],
) -> Recipe {
    Recipe { name, text, files: &[], variants, title: Some(title) }
}

/// The experiments with one flow on the Open Network Laboratory, and the ones with three.
const ONL: &str = text!("published/onl-1flow.toml");
const ONL_FLOWS: &str = text!("published/onl-3flows.toml");
/// CERN's runs with one flow.
const CERN: &str = text!("published/cern-buffers.toml");

/// A scenario of its own.
const fn plain(name: &'static str, text: &'static str) -> Recipe {
    Recipe { name, text, files: &[], variants: &[], title: None }
}

const RECIPES: &[Recipe] = &[
    Recipe {
        name: "fink-2007",
        text: text!("published/fink-2007.toml"),
        files: &[("data/fink-2007.toml", text!("published/data/fink-2007.toml"))],
        variants: &[],
        title: None,
    },
    plain("fink-2007-overflow", text!("published/fink-2007-overflow.toml")),
    plain("fink-2007-udp", text!("published/fink-2007-udp.toml")),
    of(
        ONL,
        "onl-reno-1flow",
        "Gigabit TCP, 2008: one flow of Reno, and its host's ring",
        &["reno"],
    ),
    of(
        ONL,
        "onl-reno-1flow-ring",
        "Gigabit TCP, 2008: one flow of Reno, a ring of 16,192",
        &["reno, ring", "reno, ring, 16 MB in flight"],
    ),
    of(
        ONL,
        "onl-reno-1flow-host",
        "Gigabit TCP, 2008: one flow of Reno, a larger host",
        &["reno, host"],
    ),
    of(ONL, "onl-bic-1flow", "Gigabit TCP, 2008: one flow of BIC, a larger host", &["bic, host"]),
    of(
        ONL_FLOWS,
        "onl-reno-3flows",
        "Gigabit TCP, 2008: three flows of Reno, two ports",
        &["reno", "reno, port of 1 Gb/s"],
    ),
    of(
        ONL_FLOWS,
        "onl-bic-3flows",
        "Gigabit TCP, 2008: three flows of BIC, two hosts",
        &["bic", "bic, host"],
    ),
    plain("onl-port-1gbit", text!("published/onl-port.toml")),
    of(
        CERN,
        "cern-default-buffers",
        "10 Gb/s x 25 ms, 2016: default buffers",
        &["default, window 3/4", "default, window 1/2"],
    ),
    of(
        CERN,
        "cern-tuned-buffers",
        "10 Gb/s x 25 ms, 2016: tuned buffers",
        &["tuned", "tuned, window 1/2"],
    ),
    plain("cern-fairness", text!("published/cern-fairness.toml")),
    plain("cern-friendliness", text!("published/cern-friendliness.toml")),
    plain("cern-pairs", text!("published/cern-pairs.toml")),
    plain("cern-rtt-fairness", text!("published/cern-rtt-fairness.toml")),
    plain("cern-today", text!("published/cern-today.toml")),
    plain("cern-loss-delay", text!("published/cern-loss-delay.toml")),
    plain("bloat-2014", text!("published/bloat-2014.toml")),
    plain("srtt-offset-2014", text!("published/srtt-offset-2014.toml")),
    plain("nfs-2008", text!("published/nfs-2008.toml")),
    plain("nfs-buffers", text!("nfs/buffers.toml")),
    plain("nfs-connections", text!("nfs/connections.toml")),
    plain("nfs-control", text!("nfs/control.toml")),
    plain("nfs-beyond", text!("nfs/beyond.toml")),
    plain("nfs-near-far", text!("nfs/near-far.toml")),
    plain("slow-start", text!("recipes/slow-start.toml")),
    plain("loss-delay", text!("sweeps/loss-delay.toml")),
    plain("datagrams", text!("workloads/datagrams.toml")),
    plain("on-off", text!("workloads/on-off.toml")),
    plain("rate", text!("workloads/rate.toml")),
    plain("reader", text!("workloads/reader.toml")),
    plain("requests", text!("workloads/requests.toml")),
    plain("nfs", text!("workloads/nfs.toml")),
    plain("nfs-threads", text!("workloads/nfs-threads.toml")),
];
