//! Keys that an engine may do otherwise than the scenario says, named by patterns (`--without`).

/// Whether one of the patterns names the key.
pub fn allows(patterns: &[String], key: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, key))
}

/// Whether `key` matches `pattern`, in which each * stands for any text.
pub fn matches(pattern: &str, key: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == key,
        Some((before, behind)) => key.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len())
                .filter(|at| rest.is_char_boundary(*at))
                .any(|at| matches(behind, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, key) in [("a.b", "a.b"), ("a.*.c", "a.b.c"), ("*", "x"), ("*.c", "a.c.c")] {
            assert!(matches(pattern, key), "{pattern} {key}");
        }
        for (pattern, key) in [("a.b", "a.bc"), ("a.*.c", "a.c"), ("*.c", "a.cd"), ("", "x")] {
            assert!(!matches(pattern, key), "{pattern} {key}");
        }
    }
}
