//! Makes the kept sweeps, or their missing runs, and keeps their records.

use super::kept::{KEPT, Kept};
use fullpipe::sweep::{Merged, Shard, manifest};
use serde_json::{Number, Value};
use std::fmt::Write;
use std::path::PathBuf;

/// Significant digits that are kept.
const DIGITS: usize = 7;

/// Records the sweeps that `FULLPIPE_SWEEP` names (with commas), or all. Runs are made in `FULLPIPE_SWEEPS/NAME`
/// (target/sweeps), where `fullpipe sweep` may have made them before.
#[test]
#[ignore = "makes sweeps, which takes minutes to hours, and a kernel for those on Linux"]
fn record() {
    let only = std::env::var("FULLPIPE_SWEEP").ok();
    let is_asked = |kept: &&Kept| {
        only.as_ref().is_none_or(|only| only.split(',').any(|name| name == kept.name))
    };
    let target = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/sweeps");
    let sweeps = std::env::var_os("FULLPIPE_SWEEPS").map_or(target, PathBuf::from);
    let asked: Vec<&Kept> = KEPT.iter().filter(is_asked).collect();
    assert!(!asked.is_empty(), "no such sweep: {only:?}");
    for kept in asked {
        let directory = sweeps.join(kept.name);
        std::fs::create_dir_all(&directory).expect("a directory");
        let merged = kept.asked(|asked| asked.made(&directory));
        keep(kept, &merged);
        println!("{}: {} runs", kept.name, merged.runs());
    }
}

/// Writes manifest and records into the folder of the sweep.
fn keep(kept: &Kept, merged: &Merged) {
    let mut text = String::new();
    let line = |record| {
        let mut value = serde_json::to_value(&record).expect("a record");
        cut(&mut value);
        writeln!(text, "{value}").expect("text");
        Ok(())
    };
    merged.each(line).expect("records");
    let manifest = serde_json::to_string_pretty(&merged.manifest).expect("a manifest") + "\n";
    let folder = kept.folder();
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join(manifest::FILE), manifest).expect("written");
    std::fs::write(folder.join(Shard::WHOLE.file()), text).expect("written");
}

/// Fields that no table asks for.
const CUT: [&str; 5] = ["stages", "loss_epochs", "steady", "limit", "limit_share"];

/// Removes fields that no table asks for from a record, and rounds its numbers.
fn cut(value: &mut Value) {
    match value {
        Value::Object(of) => {
            of.retain(|key, _| !CUT.contains(&key.as_str()));
            of.values_mut().for_each(cut);
        }
        Value::Array(of) => of.iter_mut().for_each(cut),
        Value::Number(number) if number.is_f64() => *number = rounded(number),
        _ => {}
    }
}

fn rounded(number: &Number) -> Number {
    let text = format!("{:.*e}", DIGITS - 1, number.as_f64().expect("a number"));
    Number::from_f64(text.parse().expect("a number")).expect("a finite number")
}

#[test]
fn what_is_kept_is_rounded() {
    let mut value = serde_json::json!({
        "stages": [{ "name": "link" }], "steady": true, "bytes": 123_456_789_012_u64, "rates": [1_234.567_891, 5e-9, 0.0],
    });
    cut(&mut value);
    let expected =
        serde_json::json!({ "bytes": 123_456_789_012_u64, "rates": [1234.568, 5e-9, 0.0] });
    assert_eq!(value, expected);
}
