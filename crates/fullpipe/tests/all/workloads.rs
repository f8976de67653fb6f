//! The examples of what applications send, scenarios/workloads/*.toml: what they expect holds.

use crate::made::made;
use fullpipe::engine::{self, Support};
use fullpipe::scenario::{self, Source};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/workloads")
}

fn load(name: &str) -> scenario::Scenario {
    let source = Source::read(&folder().join(name)).unwrap_or_else(|e| panic!("{e}"));
    scenario::load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn what_the_examples_expect_holds() {
    let files = std::fs::read_dir(folder()).expect("the folder");
    let names = files.map(|file| file.expect("a file").file_name().into_string().expect("a name"));
    let mut seen = 0;
    for name in names {
        let scenario = load(&name);
        // Those of genuine kernels alone are another test's.
        for plan in scenario.plans().iter().filter(|plan| plan.resolved.nfs.is_empty()) {
            let (run, _) = made(&scenario, plan);
            assert!(!run.expectations.is_empty(), "{name}");
            for expectation in &run.expectations {
                assert!(expectation.passed, "{name}: {expectation:?}");
            }
        }
        seen += 1;
    }
    assert!(seen >= 4);
}

/// What is resolved, written as a scenario again, means the same.
#[test]
fn datagrams_are_written_as_they_were_read() {
    let scenario = load("datagrams.toml");
    let resolved = &scenario.plans()[0].resolved;
    assert_eq!(resolved.datagrams.len(), 2);
    let source = Source {
        text: resolved.to_toml(),
        ..Source::read(&folder().join("datagrams.toml")).unwrap()
    };
    let again = scenario::load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.plans()[0].resolved, *resolved);
}

/// Connections of mounts follow from the mount: they are flows, and not written.
#[test]
fn mounts_are_written_as_they_were_read() {
    let scenario = load("nfs.toml");
    for plan in scenario.plans() {
        let resolved = &plan.resolved;
        let connections = usize::from(resolved.nfs[0].nconnect);
        assert_eq!((resolved.nfs.len(), resolved.flow.len()), (1, connections));
        let text = resolved.to_toml();
        assert!(!text.contains("[[flow]]"), "{text}");
        let source = Source { text, ..Source::read(&folder().join("nfs.toml")).unwrap() };
        let again = scenario::load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(again.plans()[0].resolved, *resolved);
    }
}

#[test]
fn the_simulator_refuses_mounts() {
    let simulator = engine::find("sim").expect("the simulator");
    let support = simulator.support(&load("nfs.toml").plans()[0].resolved);
    let why = support.iter().find(|(key, _)| key == "nfs").map(|(_, why)| why);
    assert!(matches!(why, Some(Support::Refused(why)) if why.contains("linux")), "{support:?}");
}

#[test]
fn genuine_linux_refuses_datagrams() {
    let linux = engine::find("linux").expect("the engine");
    let support = linux.support(&load("datagrams.toml").plans()[0].resolved);
    let why = support.iter().find(|(key, _)| key == "datagrams").map(|(_, why)| why);
    assert!(matches!(why, Some(Support::Refused(_))), "{support:?}");
}
