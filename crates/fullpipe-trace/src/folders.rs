//! Names of folders.

use std::collections::HashSet;

/// Folder names of runs, unique, in the runs' order.
pub fn folders(names: &[String]) -> Vec<String> {
    let mut used = HashSet::new();
    names
        .iter()
        .map(|name| {
            let base = folder(name);
            let numbered = (2_u32..).map(|number| format!("{base}-{number}"));
            let mut candidates = std::iter::once(base.clone()).chain(numbered);
            // Some file systems take names that differ in case alone for one.
            let free = candidates.find(|candidate| used.insert(candidate.to_lowercase()));
            free.unwrap_or(base)
        })
        .collect()
}

/// Name of the link to the newest experiment, which no folder of a run has.
pub const LATEST: &str = "latest";
/// Longest folder name made from a name; file systems allow 255 bytes.
const LONGEST: usize = 100;

/// A name for a folder: letters, digits, "." "_" "=" and single "-" within.
pub fn folder(name: &str) -> String {
    let mut folder = String::new();

    // Every row of other characters becomes one "-".
    for c in name.chars().take(LONGEST) {
        match c {
            c if c.is_ascii_alphanumeric() || "._=".contains(c) => folder.push(c),
            _ if folder.ends_with('-') => {}
            _ => folder.push('-'),
        }
    }
    let folder = folder.trim_matches(['-', '.']);

    // Names with a meaning of their own are replaced.
    match folder {
        "" => "run".into(),
        LATEST => "latest-run".into(),
        folder => folder.into(),
    }
}
