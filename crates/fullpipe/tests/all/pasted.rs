//! Pasted texts that are damaged: whatever comes, there is an answer or none, and no panic.

use fullpipe::observation::Selection;
use fullpipe::pasted::{self, Named};
use proptest::prelude::*;

/// Genuine texts.
const TEXTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fullpipe-cli/tests/all/pasted");
/// Words that stand where a number was.
const NUMBERS: [&str; 12] = [
    "0",
    "-1",
    "1",
    "4294967295",
    "18446744073709551615",
    "1e308",
    "nan",
    "inf",
    "0.0000001",
    "9e99999",
    "\"x\"",
    "",
];

fn texts() -> Vec<String> {
    let files = std::fs::read_dir(TEXTS).expect("a folder");
    let mut paths: Vec<_> = files.map(|own| own.expect("a file").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("a text")).collect()
}

/// The text with the number at that place among its numbers replaced.
fn with_number(text: &str, place: usize, number: &str) -> String {
    let is_part = |own: char| own.is_ascii_digit() || own == '.';
    let mut starts: Vec<usize> = Vec::new();
    let mut before = false;
    for (at, letter) in text.char_indices() {
        if letter.is_ascii_digit() && !before {
            starts.push(at);
        }
        before = is_part(letter);
    }
    let Some(start) = starts.get(place % starts.len().max(1)) else { return text.into() };
    let end = text[*start..].find(|own| !is_part(own)).map_or(text.len(), |length| start + length);
    format!("{}{number}{}", &text[..*start], &text[end..])
}

/// One change of a text.
#[derive(Clone, Debug)]
enum Change {
    Number(usize, usize),
    Remove(usize),
    Double(usize),
    Cut(usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        6 => (any::<usize>(), 0..NUMBERS.len()).prop_map(|(place, number)| Change::Number(place, number)),
        2 => any::<usize>().prop_map(Change::Remove),
        1 => any::<usize>().prop_map(Change::Double),
        1 => any::<usize>().prop_map(Change::Cut),
    ]
}

fn changed(text: &str, change: &Change) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let count = lines.len().max(1);
    match change {
        Change::Number(place, number) => return with_number(text, *place, NUMBERS[*number]),
        Change::Remove(place) if !lines.is_empty() => _ = lines.remove(place % count),
        Change::Double(place) if !lines.is_empty() => {
            lines.insert(place % count, lines[place % count]);
        }
        Change::Cut(place) => {
            let end = place % text.len().max(1);
            let end = (0..=end).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            return text[..end].into();
        }
        _ => {}
    }
    lines.join("\n")
}

fn judged(text: String) {
    let named = [Named::new("text", text)];
    for own in pasted::answers(&named, &Selection::default(), Vec::new()) {
        assert!(own.run.headline.is_some() && !own.about.is_empty());
        assert!(own.run.headline.is_some_and(|own| !own.text.is_empty()));
    }
    let _ = pasted::looks(&named, &Selection::default());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn damaged_texts_are_no_panic(
        which in any::<usize>(),
        changes in prop::collection::vec(change(), 1..12),
    ) {
        let all = texts();
        let text = changes.iter().fold(all[which % all.len()].clone(), |text, own| changed(&text, own));
        judged(text);
    }

    #[test]
    fn any_characters_are_no_panic(text in "(\\PC|[\n\t\r\\[\\]{}:>]|ESTAB|sec|qdisc|RX:|MB|MBytes){0,300}") {
        judged(text);
    }
}

#[test]
fn genuine_texts_have_answers() {
    for text in texts() {
        let named = [Named::new("text", text)];
        assert!(!pasted::answers(&named, &Selection::default(), Vec::new()).is_empty());
    }
}
