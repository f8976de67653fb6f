//! Recorded scores, and the tables of docs/blind.md that follow from them.

use fullpipe_blind::score::{recorded, sums};
use std::fs;
use std::path::Path;

/// Records, each with the name of its table.
const RECORDS: [(&str, &str); 2] = [
    ("model", include_str!("../../recorded/model.csv")),
    ("sender-sockets", include_str!("../../recorded/sender-sockets.csv")),
];

#[test]
fn records_make_the_page() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/blind.md");
    let mut text = fs::read_to_string(&page).expect("the page");
    let before = text.clone();
    for (name, record) in RECORDS {
        let scored = recorded::read(record).expect("a record");
        assert_eq!(recorded::written(&scored), record, "{name}");
        assert_eq!(scored.len(), 500, "{name}");
        let (begin, end) = (format!("<!-- {name} -->\n"), format!("\n<!-- /{name} -->"));
        let from = text.find(&begin).expect("a mark") + begin.len();
        let until = text.find(&end).expect("a mark");
        // Headings of a table stand below that of its section.
        let table = sums(&scored).replace("\n## ", "\n### ");
        text.replace_range(from..until, &format!("\n{table}"));
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&page, &text).expect("the page");
        return;
    }
    assert!(text == before, "docs/blind.md: UPDATE_EXPECT=1 rewrites the tables");
}

#[test]
fn wrong_lines_are_named() {
    for (text, why) in [
        ("", "line 1"),
        ("case,cause\n", "line 1"),
        ("case,cause,setting,gain,says,confidence\nx,sndbuf,true,1.5,nonsense,sure\n", "line 2"),
        ("case,cause,setting,gain,says,confidence\nx,sndbuf,true,1.5,sndbuf\n", "line 2"),
    ] {
        let wrong = recorded::read(text).expect_err(text);
        assert!(wrong.starts_with(why), "{wrong}");
    }
}
