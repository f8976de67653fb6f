//! Names that were probably meant.

/// Number of names that are offered.
const OFFERED: usize = 3;

/// The candidates close to `written`, nearest first, at most three.
pub fn names<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let lower = written.to_lowercase();
    let mut scored: Vec<(usize, &str)> =
        known.into_iter().filter_map(|name| Some((distance(&lower, name)?, name))).collect();
    scored.sort_by_key(|(distance, _)| *distance);
    scored.dedup();
    scored.into_iter().map(|(_, name)| name).take(OFFERED).collect()
}

/// Edits between the two, where they are few for the length, or one contains the other.
fn distance(lower: &str, name: &str) -> Option<usize> {
    let known = name.to_lowercase();
    let edits = strsim::osa_distance(lower, &known);
    let allowed = lower.chars().count().max(known.chars().count()).div_ceil(3);
    let contains = lower.len() >= 3 && known.len() >= 3;
    let contains = contains && (known.contains(lower) || lower.contains(&known));
    (edits <= allowed || contains).then_some(edits)
}
