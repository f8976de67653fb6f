//! Mounts that send calls again before they are answered: verdict, reliefs and advice count answered calls once.

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

/// A file of 20 MB over 100 Mb/s and 20 ms to a server that works on each call for `service`.
fn written(service: &str, timeo: &str) -> String {
    format!(
        "duration = \"60s\"\n[path]\nrate = \"100Mbit\"\ndelay = {{ forward = \"10ms\", back = \"10ms\" }}\n\
         [hosts]\nsender = {{ kernel = \"6.12\" }}\nreceiver = {{ kernel = \"6.12\" }}\n\
         [[nfs]]\nname = \"m\"\nversion = \"3\"\noperation = \"write\"\nfile = \"20MB\"\n\
         service = \"{service}\"\ntimeo = \"{timeo}\"\nretrans = 1\n"
    )
}

/// Time that a mount's program took, s.
fn took(run: &Run) -> f64 {
    run.nfs[0].took_s.expect("a finished program")
}

/// The link carries repetitions nearly all the time, and most of them fill time in which the last answers are awaited.
#[test]
fn the_share_of_calls_sent_again_is_what_a_longer_wait_gains() {
    let [hasty, patient] = ["100ms", "60s"].map(|timeo| run_of(&written("300ms", timeo)));
    let gains = (took(&hasty) - took(&patient)) / took(&hasty);
    let own = hasty.headline.as_ref().expect("a headline");
    let finding = &hasty.findings[0];
    assert_eq!(own.rule.as_deref(), Some("call-timeouts"), "{}", own.text);
    assert!(own.limit.as_deref() == Some("link") && own.limit_share > Some(0.9), "{own:?}");
    assert!((finding.share_of_time - gains).abs() < 0.02, "{finding:?} {gains}");
    assert!(own.text.contains("a thread of receiver works 300 ms on a call"), "{}", own.text);
}

/// Without repetitions the link has the largest share, and the last answers come second.
#[test]
fn last_answers_are_the_servers_and_not_the_programs() {
    let run = run_of(&written("300ms", "60s"));
    let own = run.headline.as_ref().expect("a headline");
    assert_eq!(own.rule.as_deref(), Some("link"), "{}", own.text);
    assert!(own.text.contains("(next: the server's answers 16 %)"), "{}", own.text);
    let second = &run.findings[1];
    assert_eq!((&second.rule[..], &second.code[..]), ("server-work", "nfs"), "{second:?}");
}

/// 20 calls of 3 s keep 8 threads busy for three turns, whatever TCP waits for meanwhile.
#[test]
fn work_of_the_threads_is_a_bound() {
    let run = run_of(&written("3s", "60s"));
    let own = run.headline.as_ref().expect("a headline");
    assert_eq!(own.rule.as_deref(), Some("server-threads"), "{}", own.text);
    assert!(run.findings[0].share_of_time > 0.9, "{:?}", run.findings[0]);
    assert!(
        own.text.contains("calls wait for one of 8, and a thread of receiver works 3,000 ms"),
        "{}",
        own.text
    );
    let advice = advised(&written("3s", "60s"));
    assert!(settings(&advice).contains(&"nfsd threads"), "{}", advice.answer);
}

/// 64 calls wait for two threads of 20 ms each, and longer than `timeo`: 4 % of the time passes with repetitions.
#[test]
fn few_threads_come_before_the_calls_that_time_out_for_them() {
    let few = |threads: &str| {
        written("20ms", "500ms")
            .replace("100Mbit", "1Gbit")
            .replace("file = \"20MB\"", "file = \"64MiB\"")
            + &format!("wsize = \"64KiB\"\nthreads = {threads}\n")
    };
    let run = run_of(&few("2"));
    let calls = run.nfs[0].requests.expect("calls");
    assert!(calls.sent_again as f64 >= 0.02 * calls.count as f64, "{calls:?}");
    let own = run.headline.as_ref().expect("a headline");
    assert_eq!(own.rule.as_deref(), Some("server-threads"), "{}", own.text);

    // Without repetitions the same threads work no less.
    let advice = advised(&few("2"));
    assert_eq!(settings(&advice)[0], "nfsd threads", "{}", advice.answer);
    assert!(advice.advised.mbit > 3.0 * advice.today.mbit, "{}", advice.answer);
}

/// The server has its first calls, and answers none of them in the run.
#[test]
fn a_mount_that_writes_fails_without_an_answer() {
    let run = run_of(&written("90s", "100ms"));
    let own = run.headline.expect("a headline");
    assert_eq!((own.grade, own.rate_mbit), (Grade::Failed, Some(0.0)), "{}", own.text);
    assert!(own.text.contains("FAILED: no call was answered."), "{}", own.text);
    assert!(run.nfs[0].unanswered);
    assert_eq!(relieved(&written("90s", "100ms")).mbit, Some(0.0));

    // A first call that is still on its way has nothing to be answered.
    let slow = written("0s", "100ms").replace("100Mbit", "10kbit");
    assert!(!run_of(&slow).nfs[0].unanswered);
}

#[test]
fn advice_gains_what_the_verdict_promises() {
    let own = advised(&written("300ms", "100ms"));
    assert_eq!(settings(&own), ["timeo"], "{}", own.answer);
    let gains = own.advised.mbit / own.today.mbit;
    assert!((1.04..1.09).contains(&gains), "{gains}");
    let run = relieved(&written("300ms", "100ms"));
    for name in ["timeo", "server-work"] {
        assert!(run.gain(name).is_some_and(|gain| gain > 1.04), "{name}: {run:?}");
    }
    assert!(!run.answer.contains("only more path"), "{}", run.answer);
}

/// One call of eight is sent again behind 8 Mb/s. A trial lasts until the file is there, and has the rate of the run.
#[test]
fn advice_waits_for_the_file() {
    let text = "duration = \"60s\"\n[path]\nrate = \"8Mbit\"\ndelay = { forward = \"20ms\", back = \"20ms\" }\n\
                queue = { limit = \"150kB\" }\n[hosts]\nsender = { kernel = \"6.12\" }\nreceiver = { kernel = \"6.12\" }\n\
                [[nfs]]\nname = \"docs\"\nversion = \"3\"\noperation = \"write\"\nfile = \"8MiB\"\ntimeo = \"500ms\"\n";
    let advice = advised(text);
    let measured = run_of(text).headline.and_then(|own| own.rate_mbit).expect("a rate");
    assert!((advice.today.mbit / measured - 1.0).abs() < 0.02, "{} {measured}", advice.answer);
    assert_eq!(settings(&advice), ["timeo"], "{}", advice.answer);
}
