//! docs/kernels.md shows the table of kernel versions as it is.

use crate::marked;
use fullpipe::scenario::{profile_of, profile_starts, shown};
use fullpipe_sim::tcp::behaviour::{BEHAVIOURS, Behaviour};
use fullpipe_sim::tcp::profile::{CONSTANTS, PROFILES, Profile};
use std::fmt::Write;

fn table() -> String {
    let versions: Vec<_> = PROFILES.iter().map(|p| shown(p.name)).collect();
    let mut text = format!("| row | {} | read in |\n", versions.join(" | "));
    text += &format!("|---|{}---|\n", "---|".repeat(versions.len()));
    let mut line = |name, values: Vec<String>, read: &str| {
        let read: Vec<_> = read.split(", ").map(|place| format!("`{place}`")).collect();
        writeln!(text, "| `{name}` | {} | {} |", values.join(" | "), read.join(" ")).unwrap();
    };
    for constant in CONSTANTS {
        let values = PROFILES.iter().map(|p| (constant.of)(p).to_string()).collect();
        line(constant.name, values, constant.read);
    }
    for row in BEHAVIOURS {
        line(row.name, PROFILES.iter().map(|p| choice(row, p)).collect(), row.read);
    }
    text
}

/// Choice of a profile; a dash where it does not read the row.
fn choice(row: &Behaviour, profile: &Profile) -> String {
    match row.unmet(profile) {
        None => row.of(profile).to_string(),
        Some(_) => "–".to_string(),
    }
}

/// Table of what kernels do where a row has a dash.
fn unread() -> String {
    let mut text = "| row | is read with | elsewhere |\n|---|---|---|\n".to_string();
    for row in BEHAVIOURS {
        for need in row.needs {
            writeln!(text, "| `{}` | `{}` | {} |", row.name, need.asks(), need.instead()).unwrap();
        }
    }
    text
}

/// Distributions, and their output of `uname -r`.
const HOSTS: [(&str, &str); 13] = [
    ("RHEL 7, CentOS 7", "3.10.0-1160.el7.x86_64"),
    ("RHEL 8, Rocky 8, Alma 8", "4.18.0-553.el8_10.x86_64"),
    ("RHEL 9, Rocky 9, Alma 9", "5.14.0-503.el9.x86_64"),
    ("RHEL 10", "6.12.0-55.el10.x86_64"),
    ("Ubuntu 20.04", "5.4.0-150-generic"),
    ("Ubuntu 20.04 HWE, 22.04", "5.15.0-91-generic"),
    ("Ubuntu 22.04 HWE, 24.04", "6.8.0-31-generic"),
    ("Ubuntu 24.04 on AWS", "6.8.0-1010-aws"),
    ("Ubuntu 24.04 HWE", "6.14.0-24-generic"),
    ("Debian 11", "5.10.0-28-amd64"),
    ("Debian 12", "6.1.0-18-amd64"),
    ("Debian 13", "6.12.9-amd64"),
    ("a kernel of its own", "6.17.0"),
];

fn hosts() -> String {
    let mut text = "| host | `uname -r` | profile |\n|---|---|---|\n".to_string();
    for (host, kernel) in HOSTS {
        let (profile, own) = profile_of(kernel).expect("a profile");
        let own = if own { "" } else { ", the nearest" };
        writeln!(text, "| {host} | `{kernel}` | {}{own} |", shown(profile)).unwrap();
    }
    text
}

fn ranges() -> String {
    let starts: Vec<_> = profile_starts().collect();
    let mut text = "| from Linux | profile |\n|---|---|\n".to_string();
    for (first, profile) in starts {
        writeln!(text, "| {first} | {} |", shown(profile)).unwrap();
    }
    text
}

#[test]
fn the_page_says_which_profile_a_host_has() {
    marked::committed("docs/kernels.md", "hosts", &hosts());
    marked::committed("docs/kernels.md", "ranges", &ranges());
}

#[test]
fn the_rows_that_not_all_read_are_listed() {
    marked::committed("docs/kernels.md", "unread", &unread());
    let table = table();
    let line = |row: &str| table.lines().find(|l| l.starts_with(&format!("| `{row}`"))).unwrap();
    assert_eq!(line("dsack_undo").matches("| – ").count(), 4, "of 6.1, 6.12, 6.16 and 6.18");
    assert_eq!(line("prr_bound").matches("| – ").count(), 5, "of 2.6.20 to 3.14");
}

#[test]
fn the_table_of_kernels_is_the_profiles() {
    marked::committed("docs/kernels.md", "kernels", &table());
}

/// A change from one version to the next is a choice of its own: no two versions are alike.
#[test]
fn versions_differ() {
    for pair in PROFILES.windows(2) {
        let differs = BEHAVIOURS.iter().any(|row| row.of(&pair[0]) != row.of(&pair[1]));
        assert!(differs, "{} and {}", pair[0].name, pair[1].name);
    }
}
