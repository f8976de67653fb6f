//! Names of the copies of a flow.

/// The name itself, or `count` with numbers.
pub fn copy_names(name: &str, count: usize) -> Vec<String> {
    match count {
        1 => vec![name.into()],
        _ => (1..=count).map(|n| format!("{name}-{n}")).collect(),
    }
}

/// Whether a flow has this name, or is a copy of a flow that was written with it.
pub fn is_or_copies(flow: &str, name: &str) -> bool {
    match flow.strip_prefix(name) {
        Some("") => true,
        Some(rest) => {
            let number = rest.strip_prefix('-');
            number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        }
        None => false,
    }
}

/// Whether two flows are one, or copies of one entry of the scenario (NAME-1, NAME-2 ...).
pub fn are_copies(flow: &str, other: &str) -> bool {
    let entry = flow.rsplit_once('-').map(|(entry, _)| entry);
    let is_copy = |name: &str, entry: &str| name != entry && is_or_copies(name, entry);
    flow == other || entry.is_some_and(|entry| is_copy(flow, entry) && is_copy(other, entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_those_of_one_entry() {
        assert!(are_copies("data-1", "data-2") && are_copies("data", "data"));
        assert!(!are_copies("data", "beside0") && !are_copies("data-1", "beside-1"));
    }
}
