//! The C sources keep to the dialect (cc/README.md), as far as reading them shows.

use fullpipe_sim::cc::{algorithms, slow_starts};
use std::path::PathBuf;

const ALGORITHMS: &str = "";
const SLOW_STARTS: &str = "slow_start";

/// Name and text of each C file of `cc/` or of a directory in it.
fn sources(of: &str) -> Vec<(String, String)> {
    let dir: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "..", "cc", of].iter().collect();
    let files = std::fs::read_dir(dir).expect("cc/").map(|entry| entry.expect("an entry").path());
    let files = files.filter(|path| path.extension().is_some_and(|e| e == "c"));
    files
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).expect("a readable source"))
        })
        .collect()
}

/// `text` without its comments.
fn code(text: &str) -> String {
    let mut parts = text.split("/*");
    let first = parts.next().unwrap_or_default().to_string();
    parts.filter_map(|part| part.split_once("*/")).fold(first, |all, (_, code)| all + code)
}

#[test]
fn each_source_is_registered_under_its_name() {
    for (of, known) in [(ALGORITHMS, algorithms()), (SLOW_STARTS, slow_starts())] {
        let mut files: Vec<_> = sources(of).into_iter().map(|(name, _)| name).collect();
        files.sort();
        let mut known: Vec<_> = known.into_iter().map(|a| a.name.replace('+', "p")).collect();
        known.sort();
        assert_eq!(files, known);
        assert!(known.iter().all(|name| name.len() <= 15), "a kernel's limit");
    }
}

#[test]
fn sources_use_the_dialect_only() {
    let forbidden = [
        "#if", "#elif", "float", "double", "__int128", "sim_", "asm", "goto", "while", "extern",
        "volatile", "printf", " % ",
    ];
    let own = sources(ALGORITHMS).into_iter().map(|source| ("#include \"cc.h\"", source));
    let slow = sources(SLOW_STARTS).into_iter().map(|source| ("#include \"../cc.h\"", source));
    for (include, (name, text)) in own.chain(slow) {
        assert!(text.starts_with("/* SPDX-License-Identifier: MIT OR GPL-2.0 */\n"), "{name}");
        for word in ["Source:", "Deviations:", "Parameters"] {
            assert!(text.contains(word), "{name}: its card lacks \"{word}\"");
        }
        let code = code(&text);
        let includes: Vec<_> = code.lines().filter(|l| l.starts_with("#include")).collect();
        assert_eq!(includes, [include], "{name}");
        for word in forbidden {
            assert!(!code.contains(word), "{name}: \"{word}\"");
        }
        for line in code.lines() {
            let divisor = line.split(" / ").nth(1).map(|d| d.trim_start_matches('('));
            let constant = divisor.is_none_or(|d| {
                d.starts_with(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase())
            });
            assert!(constant, "{name}: a division outside div_u32 and div_u64: {line}");
        }
    }
}
