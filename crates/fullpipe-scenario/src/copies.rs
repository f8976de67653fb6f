//! Names of the copies of a flow.

/// The name itself, or `count` with numbers.
pub fn copy_names(name: &str, count: usize) -> Vec<String> {
    match count {
        1 => vec![name.into()],
        _ => (1..=count).map(|n| format!("{name}-{n}")).collect(),
    }
}

/// Whether a flow has this name, or is one of the copies of a flow that was written with it.
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
