//! Every wrong scenario of tests/scenario_errors/ gives the message in the file of its name (`UPDATE_EXPECT=1` rewrites
//! the messages), and nothing makes the parser panic.
//!
//! Lines `#! --set KEY=VALUE` and `#! --variant NAME` at the start of a file are its options.

use crate::made::scenario_files;
use crate::scenario_check::check;
use expect_test::expect_file;
use fullpipe::scenario::{Beside, CODES, Diagnostics, SetOption, Source, load, recipes};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenario_errors")
}

/// Diagnostics of the file, loaded with the options that its head asks for.
fn problems(path: &Path) -> Diagnostics {
    let bytes = std::fs::read(path).expect("a case");
    let name = path.file_name().expect("a name").to_string_lossy();
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let options = |option: &str| -> Vec<String> {
        head.lines().filter_map(|line| line.strip_prefix(option)).map(str::to_string).collect()
    };
    let sets: Vec<SetOption> = options("#! --set ").into_iter().map(SetOption).collect();
    Source::from_bytes(&name, &bytes, Beside::Directory(folder()))
        .and_then(|source| load(&source, &sets, &options("#! --variant ")))
        .map(|_| panic!("{name} is not wrong"))
        .unwrap_or_else(|problems| problems)
}

fn cases() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).expect("the folder of cases");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut cases: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    cases.sort();
    assert!(cases.len() > 40);
    cases
}

#[test]
fn the_scenarios_of_the_repository_are_right() {
    for path in scenario_files() {
        let source = Source::read(&path).unwrap_or_else(|e| panic!("{e}"));
        load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
        check(source.text.as_bytes(), &[]);
    }
}

#[test]
fn wrong_scenarios_say_what_is_wrong() {
    for path in cases() {
        // No message contains the directory of this machine.
        let directory = format!("{}/", folder().display());
        let text = problems(&path).to_string().replace(&directory, "");
        expect_file![path.with_extension("txt")].assert_eq(&text);
    }
}

#[test]
fn every_code_is_declared_and_has_a_case() {
    let mut used: BTreeSet<&str> = BTreeSet::new();
    for path in cases() {
        for item in problems(&path).items {
            used.insert(item.code);
            assert!(item.line >= 1 && item.column >= 1 && item.width >= 1, "{item:?}");
            assert!(item.expected.is_some() || item.code == "syntax" || item.code == "too-large");
        }
    }
    let declared: BTreeSet<&str> = CODES.iter().map(|(code, _)| *code).collect();
    assert_eq!(used, declared);
}

#[test]
fn a_file_that_cannot_be_read_is_a_diagnostic() {
    let wrong = Source::read(Path::new("no/such/file.toml")).expect_err("there is none");
    assert_eq!(wrong.items[0].code, "cannot-read");
    assert!(Source::read(&folder()).is_err());
}

/// Found by the fuzzer or by mutations, and mended.
#[test]
fn what_was_found_stays_mended() {
    // The line that was shown ended with its carriage return.
    check(b"\x80\r", &[]);
}

/// A change of a text at a place (a share of its length).
#[derive(Clone, Debug)]
enum Mutation {
    Replace(f64, Vec<u8>),
    Delete(f64, usize),
    Copy(f64, f64, usize),
}

impl Mutation {
    fn apply(&self, text: &mut Vec<u8>) {
        let at = |share: f64, text: &[u8]| ((text.len() as f64 * share) as usize).min(text.len());
        match self {
            Mutation::Replace(share, with) => {
                let from = at(*share, text);
                let to = (from + with.len()).min(text.len());
                text.splice(from..to, with.iter().copied());
            }
            Mutation::Delete(share, count) => {
                let from = at(*share, text);
                text.drain(from..(from + count).min(text.len()));
            }
            Mutation::Copy(source, target, count) => {
                let from = at(*source, text);
                let piece = text[from..(from + count).min(text.len())].to_vec();
                let to = at(*target, text);
                text.splice(to..to, piece);
            }
        }
    }
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let bits: Vec<&[u8]> = vec![
        b"\"",
        b"=",
        b"[",
        b"]",
        b"{",
        b"}",
        b".",
        b"\n",
        b"-",
        b"0",
        b"1e99",
        b"9999999999999999999",
        b"\"0ns\"",
        b"\"\"",
        b"nan",
        b"true",
        b"[]",
        b"{}",
        b"\xff",
        b"\"1e-400%\"",
        b"[[",
        b"1979-05-27",
    ];
    prop_oneof![
        (0.0..1.0, prop::sample::select(bits))
            .prop_map(|(at, b)| Mutation::Replace(at, b.to_vec())),
        (0.0..1.0, prop::collection::vec(any::<u8>(), 0..8))
            .prop_map(|(at, bytes)| Mutation::Replace(at, bytes)),
        (0.0..1.0, 1_usize..60).prop_map(|(at, count)| Mutation::Delete(at, count)),
        (0.0..1.0, 0.0..1.0, 1_usize..200).prop_map(|(from, to, n)| Mutation::Copy(from, to, n)),
    ]
}

/// Cases of the property tests: equal inputs in each run; the fuzzer looks for others.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 1500,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        check(&bytes, &[]);
    }

    #[test]
    fn mutated_scenarios_never_panic(
        at in any::<prop::sample::Index>(),
        mutations in prop::collection::vec(mutation(), 1..6),
    ) {
        let texts = cases().into_iter().chain(scenario_files()).collect::<Vec<_>>();
        let mut text = std::fs::read(at.get(&texts)).expect("a scenario");
        mutations.iter().for_each(|mutation| mutation.apply(&mut text));
        check(&text, &[]);
    }

    #[test]
    fn random_options_never_panic(
        key in "(path|flow|hosts|report|seed)?(\\.(bulk|delay|sender|sysctl|forward|router|rate|app|congestion|\"|net)){0,5}",
        value in "(\\PC{0,12}|[0-9.e-]{1,12}(Gbit|ms|%|)|\\[.{0,5}\\]|\\{ ?(name|kind) ?= ?\"?x\"? ?\\})",
    ) {
        check(recipes()[0].text.as_bytes(), &[SetOption(format!("{key}={value}"))]);
    }
}
