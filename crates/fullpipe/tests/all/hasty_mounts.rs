//! Mounts whose calls are sent again before they are answered: verdict, reliefs and advice count answered calls once.

use crate::advice_method::{advised, settings};
use crate::made::{loaded, made};
use crate::relieve::relieved;
use fullpipe::analysis::document::{Grade, Run};

/// A file of 20 MB behind 10 Mb/s and 100 ms, which carry a call of 1 MiB in 0.9 s.
fn mount(timeo: &str) -> String {
    format!(
        "duration = \"30s\"\n[path]\nrate = \"10Mbit\"\ndelay = {{ forward = \"50ms\", back = \"50ms\" }}\n\
         queue = {{ limit = \"64MB\" }}\n[hosts]\nsender = {{ kernel = \"6.12\" }}\nreceiver = {{ kernel = \"6.12\" }}\n\
         [[nfs]]\nname = \"m\"\nversion = \"3\"\noperation = \"read\"\nfile = \"20MB\"\nreadahead = \"15MiB\"\n\
         timeo = \"{timeo}\"\n"
    )
}

fn run_of(text: &str) -> Run {
    let scenario = loaded(text);
    made(&scenario, &scenario.plans()[0]).0
}

/// An answer takes longer than three waits of 0.1 s, and what the client has of it when it sends the call again is lost.
#[test]
fn a_mount_without_an_answered_call_has_failed() {
    let run = run_of(&mount("100ms"));
    let own = run.headline.expect("a headline");
    assert_eq!(
        (own.grade, own.rate_mbit, own.rule.as_deref()),
        (Grade::Failed, Some(0.0), Some("call-timeouts"))
    );
    assert!(
        own.text.contains("FAILED: no call was answered. 0 of 9.41 Mb/s (0 %)"),
        "{}",
        own.text
    );
    assert!(
        own.text.contains("calls are sent again before their answer comes (timeo is 100 ms)"),
        "{}",
        own.text
    );
    assert!(run.nfs[0].unanswered && run.nfs[0].useful() == 0.0);

    // The usual wait is longer than any answer takes.
    let patient = run_of(&mount("60s"));
    let own = patient.headline.expect("a headline");
    assert!(own.grade == Grade::Queue && !patient.nfs[0].unanswered, "{}", own.text);
}

/// The link is full with and without the repetitions; files gain by as much as they shrink.
#[test]
fn reliefs_count_answered_calls_once() {
    let run = relieved(&mount("1s"));
    let patient = relieved(&mount("60s"));
    let now = run.mbit.expect("a rate");
    assert!(now < 0.3 * patient.mbit.expect("a rate"), "{now}");
    assert_eq!(run.reliefs[0].name, "timeo", "{run:?}");
    assert_eq!(run.reliefs[0].mbit, patient.mbit);
    assert!(patient.gain("timeo").is_none(), "{patient:?}");
}

/// Of nothing no gain is a quotient: the relief that works is in the table all the same.
#[test]
fn a_run_of_nothing_has_its_relief_in_the_table() {
    let run = relieved(&mount("100ms"));
    assert_eq!((run.mbit, &run.reliefs[0].name[..]), (Some(0.0), "timeo"));
    assert!(
        run.answer.contains("A mount that waits 60 s for an answer alone gives "),
        "{}",
        run.answer
    );
    let relieved = fullpipe::relieve::Relieved {
        format: 1,
        title: "mount".into(),
        engine: "sim".into(),
        partial: false,
        runs: vec![run],
    };
    let text = fullpipe::relieve::answer::render(&relieved);
    let page = fullpipe::relieve::page(&relieved);
    let row =
        text.lines().find(|line| line.starts_with("  A mount that waits 60 s for an answer "));
    assert!(row.is_some_and(|row| row.contains(" – ") && row.ends_with('#')), "{text}");
    assert!(page.contains(">A mount that waits 60 s for an answer</td>"), "{page}");
}

#[test]
fn advice_sets_the_usual_wait() {
    let own = advised(&mount("100ms"));
    assert!(settings(&own).contains(&"timeo"), "{}", own.answer);
    assert_eq!(own.today.mbit, 0.0);
}
