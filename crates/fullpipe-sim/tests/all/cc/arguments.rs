//! Names, kernel versions and parameters.

use super::flow;
use fullpipe_sim::cc::{Congestion, algorithms, slow_starts};

fn error(name: &str, parameters: &[(&str, i64)], kernel: &str, hz: u32) -> String {
    let parameters: Vec<_> = parameters.iter().map(|&(n, v)| (n.to_string(), v)).collect();
    match Congestion::new(name, &parameters, kernel, hz, 0) {
        Ok(_) => panic!("{name} {parameters:?} {kernel} {hz} is accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn errors_say_what_is_known() {
    let known: Vec<_> = algorithms().into_iter().map(|algorithm| algorithm.name).collect();
    let no_cdg = format!("no congestion control \"cdg\"; known: {}", known.join(", "));
    let table = [
        (error("cdg", &[], "2.6.20", 250), no_cdg.as_str()),
        (
            error("reno", &[("beta", 1)], "2.6.20", 250),
            "reno has no parameter \"beta\"; known: none",
        ),
        (
            error("bic", &[("beta", 1024)], "2.6.20", 250),
            "bic: beta = 1024 is beyond 1 to 1023 (1/1024)",
        ),
        (
            error("bic", &[("beta", -5)], "2.6.20", 250),
            "bic: beta = -5 is beyond 1 to 1023 (1/1024)",
        ),
        (
            error("cubic", &[], "4.0", 250),
            "cubic does not know kernel \"4.0\"; known: 2.6.20 to 3.19, 4.14 and later",
        ),
        (
            error("reno", &[], "2.4.20", 250),
            "reno does not know kernel \"2.4.20\"; known: 2.6.20 to 3.19, 4.14 and later",
        ),
        (error("reno", &[], "2.6.20", 0), "0 jiffies per second is beyond 1 to 1000"),
    ];
    for (message, expected) in table {
        assert_eq!(message, expected);
    }
    let message = error("cubic", &[("betta", 1)], "2.6.20", 250);
    assert!(
        message.starts_with("cubic has no parameter \"betta\"; known: beta, fast_"),
        "{message}"
    );
    for kernel in ["", "2", "2.6.x", "2.6.20.7.1", "2.6.256", "-2.6.20", "4.0", "4.13.9"] {
        error("reno", &[], kernel, 250);
    }
    for kernel in ["2.6.20", "2.6.20.7", "2.6.28.10", "3.14.79", "4.14", "6.12.1"] {
        assert!(Congestion::new("reno", &[], kernel, 250, 0).is_ok(), "{kernel}");
    }
}

#[test]
fn errors_of_slow_starts_say_what_is_known() {
    let error = |name: &str, parameters: &[(&str, i64)]| {
        let parameters: Vec<_> = parameters.iter().map(|&(n, v)| (n.to_string(), v)).collect();
        let cc = flow("reno", &[], "6.12").with_slow_start(name, &parameters);
        cc.err().expect("an error").to_string()
    };
    assert_eq!(error("fast", &[]), "no slow start \"fast\"; known: hystart++, limited, search");
    let message = error("limited", &[("max", 1)]);
    assert_eq!(message, "limited has no parameter \"max\"; known: max_ssthresh");
    let message = error("search", &[("thresh", 101)]);
    assert_eq!(message, "search: thresh = 101 is beyond 1 to 100 (1/100)");
}

#[test]
fn the_last_of_two_values_counts() {
    let mut flow = flow("cubic", &[("initial_ssthresh", 7), ("initial_ssthresh", 9)], "2.6.20");
    assert_eq!(flow.sock_mut().snd_ssthresh, 9);
    assert_eq!(flow.name(), "cubic");
}

#[test]
fn descriptions_are_complete_and_their_defaults_valid() {
    assert!(algorithms().iter().all(|algorithm| !algorithm.kernels.is_empty()));
    for algorithm in algorithms().into_iter().chain(slow_starts()) {
        assert!(!algorithm.title.is_empty());
        for p in algorithm.parameters {
            let what = format!("{}: {p:?}", algorithm.name);
            assert!(!p.unit.is_empty() && !p.meaning.is_empty(), "{what}");
            assert!(p.min < p.max, "{what}");
            assert_eq!(p.defaults[0].0.to_string(), "2.6.20", "{what}");
            assert!(p.defaults.is_sorted_by(|a, b| a.0 < b.0), "{what}");
            assert!(p.defaults.iter().all(|d| (p.min..=p.max).contains(&d.1)), "{what}");
        }
    }
}

#[test]
fn defaults_by_kernel_version() {
    // algorithm, parameter; what it was in 2.6.20 and where it changed
    let table = [
        ("bic", "initial_ssthresh", "2.6.20 100, 2.6.22 0"),
        ("bic", "max_increment", "2.6.20 16"),
        ("cubic", "beta", "2.6.20 819, 2.6.26 717"),
        ("cubic", "initial_ssthresh", "2.6.20 100, 2.6.22 0"),
        ("cubic", "max_increment", "2.6.20 16, 2.6.26 0"),
        ("cubic", "max_increment_after_k", "2.6.20 0, 2.6.22 1"),
        ("cubic", "no_loss_cnt", "2.6.20 50, 2.6.26 0"),
        ("cubic", "delay_by_sample", "2.6.20 0, 2.6.23 1"),
        ("scalable", "ai_cnt", "2.6.20 50, 5.7.0 100"),
        ("scalable", "count_packets", "2.6.20 0, 5.7.0 1"),
        ("htcp", "rtt_by_sample", "2.6.20 0, 2.6.23 1"),
        ("htcp", "disorder_counts", "2.6.20 1, 2.6.30 0"),
        ("compound", "gamma", "2.6.20 30"),
    ];
    let known = algorithms();
    for (name, parameter, expected) in table {
        let algorithm = known.iter().find(|a| a.name == name).expect("an algorithm");
        let found = algorithm.parameters.iter().find(|p| p.name == parameter).expect("a parameter");
        let defaults: Vec<_> = found.defaults.iter().map(|(v, d)| format!("{v} {d}")).collect();
        assert_eq!(defaults.join(", "), expected, "{name} {parameter}");
    }
}

#[test]
fn a_flow_can_move_to_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<Congestion>();
}
