//! A listing as text, in at most 80 columns.

use super::entries::{CongestionEntry, ParameterEntry};
use super::{Listing, TOPICS};
use fullpipe::scenario;

/// Widest line.
const WIDTH: usize = 80;
/// Where the second column of the overview begins.
const COLUMN: usize = 23;

impl Listing {
    /// Each recipe with its title, and the names of everything else.
    pub(super) fn overview(&self) -> String {
        let mut out = String::from("Recipes (fullpipe run NAME)\n");
        for recipe in &self.recipes {
            out += &format!("  {:<20} {}\n", recipe.name, recipe.title);
        }
        out.push('\n');

        // The rest are names alone: details need a topic or a word.
        let names =
            |entries: &[CongestionEntry]| entries.iter().map(|e| e.name).collect::<Vec<_>>();
        let limits: Vec<&str> = self.limits.iter().map(|limit| limit.name).collect();
        let real = self.real_kernels.join(", ");
        let rows = [
            ("Congestion controls", names(&self.congestion).join(", ")),
            ("of engine linux", names(&self.real_congestion).join(", ")),
            ("Slow starts", names(&self.slow_starts).join(", ")),
            ("Kernels", self.shown_kernels()),
            ("of engine linux", real),
            ("Limits", limits.join(", ")),
            ("Metrics", format!("{} of expectations", self.metrics.len())),
        ];
        for (label, text) in rows {
            out += &row(label, &text);
        }
        out + &format!(
            "\n{}",
            row("Details", &format!("fullpipe list {}, or a word", TOPICS.join("|")))
        )
    }

    /// Everything that is known of each name, a section for each kind that has any.
    pub(super) fn text(&self) -> String {
        let sections = [
            self.recipes_in_full(),
            controls(
                "Congestion controls of the simulator, with their parameters",
                &self.congestion,
            ),
            controls("Congestion controls of real kernels (--engine linux)", &self.real_congestion),
            controls("Slow starts (of a flow), with their parameters", &self.slow_starts),
            self.kernels_in_full(),
            self.limits_in_full(),
            self.metrics_in_full(),
        ];

        // Sections without entries drop out, so that a word's listing is short.
        sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
    }

    fn recipes_in_full(&self) -> String {
        let of_one = self.recipes.iter().map(|recipe| {
            let variants = recipe.variants.iter().map(|name| format!("  {:<20}   {name}\n", ""));
            format!("  {:<20} {}\n", recipe.name, recipe.title) + &variants.collect::<String>()
        });
        section("Recipes (fullpipe run NAME), with their variants", of_one.collect())
    }

    fn shown_kernels(&self) -> String {
        let kernels = self.kernels.iter().map(|kernel| scenario::shown(kernel));
        kernels.collect::<Vec<_>>().join(", ")
    }

    fn kernels_in_full(&self) -> String {
        let list = |names: String| match names.is_empty() {
            true => names,
            false => wrapped(&names, 2),
        };
        let simulated = list(self.shown_kernels());
        let real_modules = list(self.real_kernels.join(", "));
        let simulated = section("Kernels of the simulator", simulated);
        let real = "Real kernels (--engine linux), against which the simulator is validated";

        // A blank line parts the two lists only if both have names.
        match (simulated.is_empty(), real_modules.is_empty()) {
            (_, true) => simulated,
            (true, false) => section(real, real_modules),
            (false, false) => format!("{simulated}\n{}", section(real, real_modules)),
        }
    }

    fn limits_in_full(&self) -> String {
        let of_one = self.limits.iter().map(|limit| {
            format!("  {} ({})\n{}", limit.name, limit.label, wrapped(limit.meaning, 4))
        });
        section("Limits (what held a flow back)", of_one.collect())
    }

    fn metrics_in_full(&self) -> String {
        let of_one = self.metrics.iter().map(|metric| {
            let unit = unit_in_words(metric.unit);
            format!("  {}{unit}\n{}", metric.name, wrapped(metric.meaning, 4))
        });
        section("Metrics (of expectations)", of_one.collect())
    }
}

/// A heading above its entries; nothing without entries.
fn section(heading: &str, entries: String) -> String {
    match entries.is_empty() {
        true => entries,
        false => format!("{heading}\n{entries}"),
    }
}

/// A label, and text in the second column.
fn row(label: &str, text: &str) -> String {
    let text = wrapped(text, COLUMN);
    format!("{label:<COLUMN$}{}", &text[COLUMN..])
}

/// Words in lines of at most [`WIDTH`] columns behind an indent.
fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());

        // A word that is too long stands in a line of its own.
        if line > 0 && indent + line + 1 + word.chars().count() > WIDTH {
            lines.push(String::new());
        }
        let Some(line) = lines.last_mut() else { continue };
        if !line.is_empty() {
            line.push(' ');
        }
        *line += word;
    }
    lines.iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
}

fn controls(heading: &str, entries: &[CongestionEntry]) -> String {
    let of_one = entries.iter().map(|entry| {
        let parameters = entry.parameters.iter().map(parameter).collect::<String>();
        format!("  {:<12} {}\n{parameters}", entry.name, entry.title)
    });
    section(heading, of_one.collect())
}

fn parameter(own: &ParameterEntry) -> String {
    let defaults: Vec<String> = match own.defaults.as_slice() {
        [one] => vec![one.value.to_string()],
        several => several.iter().map(|d| format!("{} from {}", d.value, d.since)).collect(),
    };
    let (name, min, max) = (own.name, own.min, own.max);
    let bounds = format!("{name} ({min} to {max}; default {})", defaults.join(", "));
    let meaning = format!("{}{}", own.meaning, unit_in_words(own.unit));
    format!("    {bounds}\n{}", wrapped(&meaning, 6))
}

fn unit_in_words(unit: &str) -> String {
    match unit {
        "" => String::new(),
        unit => format!(" [{unit}]"),
    }
}
