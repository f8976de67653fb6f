//! Names of variants and points that fit a column: it is the variant that is shortened, and two of them never to one text.

use crate::labels::distinct_labels;
use fullpipe_analysis::numbers::written;
use serde_json::{Map, Value};

/// A variant at a point of the axes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    variant: String,
    point: Vec<String>,
}

/// Least characters of a variant.
const LEAST: usize = 8;

impl Name {
    /// Name from a variant and the values of the axes. The only variant of a scenario has no name.
    pub fn new(variant: &str, at: &Map<String, Value>) -> Name {
        let named = variant != "base" || at.is_empty();
        let variant = if named { variant.to_string() } else { String::new() };
        Name { variant, point: at.values().map(written).collect() }
    }

    /// All of it.
    pub fn whole(&self) -> String {
        self.with(&self.variant)
    }

    fn with(&self, variant: &str) -> String {
        let variant = Some(variant.to_string()).filter(|name| !name.is_empty());
        variant.into_iter().chain(self.point.iter().cloned()).collect::<Vec<_>>().join(", ")
    }

    /// Characters of a name without its variant.
    fn beside(&self) -> usize {
        let point: usize = self.point.iter().map(|value| value.chars().count() + 2).sum();
        if self.variant.is_empty() { point.saturating_sub(2) } else { point }
    }
}

/// The names in at most `room` characters. Names are longer where a point leaves too little room to distinguish
/// variants.
pub fn fitted(names: &[Name], room: usize) -> Vec<String> {
    // Each variant is shortened once, and alike in all rows.
    let mut variants: Vec<String> = Vec::new();
    for name in names {
        if !variants.contains(&name.variant) {
            variants.push(name.variant.clone());
        }
    }

    // The point behind the name keeps its full length.
    let beside = names.iter().map(Name::beside).max().unwrap_or(0);
    let least = room.saturating_sub(beside).max(LEAST);
    let longest = variants.iter().map(|name| name.chars().count()).max().unwrap_or(0);

    // The shortest labels that still distinguish all variants.
    let labels = (least..longest).find_map(|room| labels(&variants, room));
    let labels = labels.unwrap_or_else(|| variants.clone());
    names
        .iter()
        .map(|name| {
            let index = variants.iter().position(|own| *own == name.variant);
            name.with(index.map_or("", |index| &labels[index]))
        })
        .collect()
}

/// The variants in at most `room` characters, from their first difference on, or without their middles; none where two
/// would be the same.
fn labels(variants: &[String], room: usize) -> Option<Vec<String>> {
    [variants.to_vec(), distinct_labels(variants)]
        .into_iter()
        .map(|all| all.iter().map(|name| without_middle(name, room)).collect::<Vec<String>>())
        .find(|all| all.iter().enumerate().all(|(n, own)| !all[..n].contains(own)))
}

/// A text in at most `room` characters: its beginning and its end.
fn without_middle(text: &str, room: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= room {
        return text.to_string();
    }
    let kept = room.saturating_sub(1);
    let (start, end) = (kept.div_ceil(2), kept / 2);
    chars[..start].iter().chain(['…'].iter()).chain(&chars[chars.len() - end..]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn names(variants: &[&str], point: &Value) -> Vec<Name> {
        let at = point.as_object().expect("a point");
        variants.iter().map(|variant| Name::new(variant, at)).collect()
    }

    #[test]
    fn variants_get_distinct_labels_and_points_stay() {
        let all = ["reno", "bic", "cubic", "htcp"].map(|other| format!("scalable before {other}"));
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let short = fitted(&names(&all, &json!({ "path.loss": 1e-4 })), 20);
        let distinct: std::collections::BTreeSet<&String> = short.iter().collect();
        assert_eq!(distinct.len(), 4, "{short:?}");
        assert!(short.iter().all(|name| name.ends_with(", 1e-4")), "{short:?}");
        assert!(short.iter().all(|name| name.chars().count() <= 20), "{short:?}");
        // Their ends are alike, too: they differ only in the middle.
        let all = ["reno", "cubic"].map(|own| format!("a flow of {own}, tuned buffers on both"));
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let short = fitted(&names(&all, &json!({ "x": "10ms", "y": 5 })), 18);
        assert_ne!(short[0], short[1]);
        assert!(short.iter().all(|name| name.ends_with(", 10ms, 5")), "{short:?}");
    }

    #[test]
    fn what_fits_is_whole() {
        let short = fitted(&names(&["reno", "base"], &json!({ "x": 1 })), 7);
        assert_eq!(short, ["reno, 1", "1"]);
    }
}
