//! Labels that are short and still differ.

/// Characters of a label for which there mostly is room.
pub const SHORT: usize = 16;

/// The labels, without the beginning that a long one shares with another: shortened at their ends, both would look the
/// same.
pub fn distinct_labels(shown: &[String]) -> Vec<String> {
    shown
        .iter()
        .enumerate()
        .map(|(n, own)| {
            let others = shown.iter().enumerate().filter(|(other, _)| *other != n);
            let shared = others.map(|(_, other)| shared(own, other)).max().unwrap_or(0);
            match own[..shared].chars().count() > SHORT / 2 && own.chars().count() > SHORT {
                true => format!("…{}", &own[shared..]),
                false => own.clone(),
            }
        })
        .collect()
}

/// Bytes of the beginning that two texts share, up to the word in which they part.
fn shared(a: &str, b: &str) -> usize {
    let same = a.char_indices().zip(b.chars()).take_while(|((_, one), other)| one == other);
    let end = same.last().map_or(0, |((at, last), _)| at + last.len_utf8());
    if end == a.len() {
        return 0;
    }
    a[..end].trim_end_matches(|c: char| c.is_alphanumeric() || c == '.' || c == '_').len()
}
