//! Labels that are short and still differ.

/// Characters of a label for which there mostly is room.
pub const SHORT: usize = 16;

/// The labels, without the beginning that a long one shares with another: shortened at their ends, both would look the
/// same.
pub fn told_apart(shown: &[String]) -> Vec<String> {
    let label = |(n, own): (usize, &String)| {
        let others = shown.iter().enumerate().filter(|(other, _)| *other != n);
        let shared = others.map(|(_, other)| shared(own, other)).max().unwrap_or(0);
        match own[..shared].chars().count() > SHORT / 2 && own.chars().count() > SHORT {
            true => format!("…{}", &own[shared..]),
            false => own.clone(),
        }
    };
    shown.iter().enumerate().map(label).collect()
}

/// Bytes of the beginning that two texts share, up to the word in which they part.
fn shared(a: &str, b: &str) -> usize {
    let same = a.char_indices().zip(b.chars()).take_while(|((_, one), other)| one == other);
    let end = same.last().map_or(0, |((at, last), _)| at + last.len_utf8());
    let word = |c: char| c.is_alphanumeric() || c == '.' || c == '_';
    if end == a.len() { 0 } else { a[..end].trim_end_matches(word).len() }
}
