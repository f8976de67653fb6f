//! `fullpipe list`.

use crate::common::Desk;
use serde_json::Value;
use std::collections::BTreeSet;

fn names(list: &Value) -> Vec<&str> {
    let entries = list.as_array().expect("a list").iter();
    entries.map(|entry| entry["name"].as_str().or(entry.as_str()).expect("a name")).collect()
}

#[test]
fn json_lists_everything_that_has_a_name() {
    let list = Desk::new().call(&["list", "--json"]).ends_with(0).json();
    assert_eq!(list["format"], 1);
    assert!(names(&list["recipes"]).contains(&"fink-2007"));
    let recipe = &list["recipes"][0];
    assert!(recipe["variants"].as_array().expect("variants").len() >= 4, "{recipe}");
    for name in ["reno", "bic", "cubic"] {
        assert!(names(&list["congestion"]).contains(&name), "{name}");
    }
    assert!(names(&list["kernels"]).contains(&"2.6.20"));
    assert!(names(&list["limits"]).contains(&"receive_window"));
    assert!(names(&list["metrics"]).contains(&"flow.NAME.bytes"));
}

#[test]
fn no_two_recipes_have_one_title() {
    let list = Desk::new().call(&["list", "--json"]).ends_with(0).json();
    let recipes = list["recipes"].as_array().expect("a list");
    let titles: BTreeSet<&str> =
        recipes.iter().map(|recipe| recipe["title"].as_str().expect("a title")).collect();
    assert_eq!(titles.len(), recipes.len(), "{titles:?}");
}

#[test]
fn text_has_the_same_names() {
    let desk = Desk::new();
    let list = desk.call(&["list", "--json"]).ends_with(0).json();
    let text = desk.call(&["list"]).ends_with(0).stdout;
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert_eq!(list["unjudged_kernels"], serde_json::json!(["6.18"]));
    assert!(text.contains(", 6.12, 6.18 (unjudged)\n"), "{text}");
    for part in ["recipes", "congestion", "kernels", "limits", "metrics"] {
        for name in names(&list[part]) {
            assert!(text.contains(name), "{part}: {name}");
        }
    }
}
