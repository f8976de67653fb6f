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
    assert_eq!(list["format"], 2);
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

const TOPICS: [&str; 6] = ["recipes", "congestion", "slow-starts", "kernels", "limits", "metrics"];

#[test]
fn without_a_word_the_list_is_an_overview() {
    let desk = Desk::new();
    let list = desk.call(&["list", "--json"]).ends_with(0).json();
    let text = desk.call(&["list"]).ends_with(0).stdout;
    let recipes = list["recipes"].as_array().expect("recipes").len();
    assert!(text.lines().count() <= recipes + 25, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for part in ["recipes", "congestion", "real_congestion", "slow_starts", "kernels", "limits"] {
        for name in names(&list[part]) {
            assert!(text.contains(name), "{part}: {name}");
        }
    }
    assert!(TOPICS.iter().all(|topic| text.contains(topic)), "{text}");
}

#[test]
fn each_kind_has_the_same_names_as_text_and_as_json() {
    let desk = Desk::new();
    let list = desk.call(&["list", "--json"]).ends_with(0).json();
    assert_eq!(list["unvalidated_kernels"], serde_json::json!(["6.16", "6.18"]));
    for topic in TOPICS {
        let text = desk.call(&["list", topic]).ends_with(0).stdout;
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let key = topic.replace('-', "_");
        for name in names(&list[&key]) {
            assert!(text.contains(name), "{topic}: {name}");
        }
        let json = desk.call(&["list", topic, "--json"]).ends_with(0).json();
        assert_eq!(json[&key], list[&key]);
        let others = TOPICS.iter().filter(|other| **other != topic);
        for other in others.map(|other| other.replace('-', "_")) {
            assert_eq!(json[&other], serde_json::json!([]), "{topic}: {other}");
        }
    }
}

#[test]
fn limits_have_their_meaning() {
    let desk = Desk::new();
    let text = desk.call(&["list", "limits"]).ends_with(0).stdout;
    let wanted = "  send_buffer (send buffer)\n    no unsent data, because unacknowledged data fills the send buffer\n";
    assert!(text.contains(wanted), "{text}");
    assert_eq!(desk.call(&["list", "limit"]).ends_with(0).stdout, text);
    let json = desk.call(&["list", "limits", "--json"]).ends_with(0).json();
    let limits = json["limits"].as_array().expect("limits");
    assert!(limits.len() >= 21);
    for limit in limits {
        let [name, label, meaning] = ["name", "label", "meaning"].map(|key| limit[key].as_str());
        assert!(
            name.is_some() && label.is_some() && meaning.is_some_and(|m| m.len() > 10),
            "{limit}"
        );
    }
}

#[test]
fn a_word_chooses_among_all_names() {
    let desk = Desk::new();
    let text = desk.call(&["list", "Fink"]).ends_with(0).stdout;
    assert!(text.contains("\n  fink-2007-udp ") && !text.contains("onl-"), "{text}");
    assert!(!text.contains("Metrics") && !text.contains("Kernels"), "{text}");
    let text = desk.call(&["list", "hystart"]).ends_with(0).stdout;
    assert!(text.contains("Slow starts") && text.contains("  hystart++ "), "{text}");
    let none = desk.call(&["list", "xyzzy"]).ends_with(2);
    none.complains(&["\"xyzzy\"", "recipes, congestion, slow-starts, kernels, limits, metrics"]);
    desk.call(&["list", "congestoin"]).ends_with(2).complains(&["did you mean: congestion\n"]);
}
