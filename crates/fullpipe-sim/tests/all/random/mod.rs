//! Runs a check on random values: the same ones each time, unless more are asked for.

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use std::fmt::Debug;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// A case that takes longer than this does not end. Generous, as a busy machine takes many times as long as an idle one.
const PATIENCE: Duration = Duration::from_secs(300);

/// Checks `cases` values, or as many as `FULLPIPE_CASES` says (then with a seed of their own, which
/// `FULLPIPE_SEED` repeats). Shows the smallest value that fails, and why.
pub fn check<S>(cases: u32, values: S, check: fn(&S::Value) -> Result<(), String>)
where
    S: Strategy,
    S::Value: Clone + Send + Debug + 'static,
{
    let number = |name| std::env::var(name).ok().map(|n| n.parse().expect("a number"));
    let asked: Option<u64> = number("FULLPIPE_CASES");
    let fresh = asked.map_or(0, |_| u64::from(std::process::id()));
    let seed: u64 = number("FULLPIPE_SEED").unwrap_or(fresh);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config {
        cases: asked.map_or(cases, |n| n as u32),
        max_shrink_iters: 4000,
        max_shrink_time: 120_000,
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let outcome =
        runner.run(&values, |value| within_patience(value, check).map_err(TestCaseError::fail));
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(why, value)) => {
            panic!("FULLPIPE_SEED={seed}\n{}\n{}", shown(&value), why.message())
        }
        Err(error) => panic!("{error}"),
    }
}

/// A value with what is short on one line.
fn shown(value: &impl Debug) -> String {
    let text = format!("{value:#?}");
    let mut shown = String::new();
    for part in text.split_inclusive(['(', ')']) {
        let short = part.ends_with(')') && part.len() < 60 && !part.contains('{');
        let words: Vec<_> = part.split_whitespace().collect();
        if short {
            shown += words.join(" ").trim_end_matches([',', ' ', ')'])
        } else {
            shown += part
        }
        if short {
            shown.push(')');
        }
    }
    shown
}

/// Runs the check on a thread of its own, so that one that does not end can be named.
fn within_patience<V: Clone + Send + Debug + 'static>(
    value: V,
    check: fn(&V) -> Result<(), String>,
) -> Result<(), String> {
    let (done, wait) = channel();
    let work = std::thread::spawn(move || {
        let result = check(&value);
        drop(done);
        result
    });
    match wait.recv_timeout(PATIENCE) {
        Ok(()) => unreachable!("nothing is sent"),
        Err(RecvTimeoutError::Timeout) => Err("does not end".into()),
        Err(RecvTimeoutError::Disconnected) => match work.join() {
            Ok(result) => result,
            Err(panic) => Err(message(&*panic)),
        },
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()));
    format!("panic: {}", text.unwrap_or_default())
}
