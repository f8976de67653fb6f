//! Drawn cases: the same bytes each time, and labels that follow from the scenario.

use fullpipe_blind::causes;
use fullpipe_blind::folder;
use fullpipe_blind::generate::{Case, Hosts, causes as order, draw};
use fullpipe_blind::label::{Asked, CLEAR, SECOND, label};

/// A seed that draws these cases quickly.
const SEED: u64 = 3;

fn drawn(number: usize, code: &str) -> Case {
    let code = causes::named(code).expect("a cause");
    let drawn = draw(SEED, number, code, Hosts::Full).unwrap_or_else(|why| panic!("{why}"));
    drawn.case.expect("a case")
}

#[test]
fn equal_seeds_give_equal_bytes() {
    assert_eq!(order(SEED, 60, Hosts::Full), order(SEED, 60, Hosts::Full));
    for (number, code) in ["wscale_off", "none", "too_short"].into_iter().enumerate() {
        let [one, two] = [drawn(number, code), drawn(number, code)];
        assert_eq!(one, two);
        assert_ne!(one.text, drawn(number + 10, code).text);
    }
}

/// Gains of reliefs follow from the text alone. The cause's own relief gives most, no other one 1.1 times as much.
#[test]
fn labels_follow_from_the_scenario() {
    for (number, code) in ["sndbuf", "app_write"].into_iter().enumerate() {
        let case = drawn(number, code);
        let own = case.label.clone();
        let asked = Asked {
            cause: causes::named(code).expect("a cause"),
            setting: own.setting,
            seed: own.seed,
            number: own.number,
            attempt: own.attempt,
            cured: None,
        };
        let (again, _) = label(&case.text, &asked).expect("a label");
        assert_eq!(again.base_mbit, own.base_mbit);
        assert!((own.gain - own.cured_mbit / own.base_mbit).abs() < 1e-6 && own.gain >= CLEAR);
        let relief = if code == "sndbuf" { "send-buffer" } else { "writer" };
        for (name, gain) in &own.reliefs {
            assert_eq!(*gain >= SECOND, name == relief, "{name} {gain}");
        }
    }
}

#[test]
fn folders_hold_pairs() {
    let folder = tempfile::tempdir().expect("a folder");
    let cases = vec![drawn(1, "wscale_off"), drawn(2, "sndbuf")];
    folder::write(folder.path(), &cases).expect("written");
    assert_eq!(folder::read(folder.path()).expect("read"), cases);

    let label = folder.path().join("case-0001.label.json");
    std::fs::write(&label, "{}").expect("written");
    let why = folder::read(folder.path()).expect_err("a wrong label");
    assert!(why.contains("case-0001.label.json"), "{why}");
    std::fs::remove_file(folder.path().join("case-0002.toml")).expect("removed");
    std::fs::remove_file(&label).expect("removed");
    let why = folder::read(folder.path()).expect_err("a missing scenario");
    assert!(why.contains("case-0002.toml"), "{why}");
    let empty = tempfile::tempdir().expect("a folder");
    assert!(folder::read(empty.path()).expect_err("no case").contains("has no case"));
}
