//! Recorded scores, and the tables of docs/blind.md that follow from them.

use crate::page::Page;
use fullpipe_blind::score::{recorded, sums};

/// Records, each with the name of its table.
const RECORDS: [(&str, &str); 2] = [
    ("model", include_str!("../../recorded/model.csv")),
    ("sender-sockets", include_str!("../../recorded/sender-sockets.csv")),
];

#[test]
fn records_make_the_page() {
    let mut page = Page::read("blind.md");
    for (name, record) in RECORDS {
        let scored = recorded::read(record).expect("a record");
        assert_eq!(recorded::written(&scored), record, "{name}");
        assert_eq!(scored.len(), 500, "{name}");
        // Headings of a table stand below that of its section.
        page.put(name, &sums(&scored).replace("\n## ", "\n### "));
    }
    page.check();
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
