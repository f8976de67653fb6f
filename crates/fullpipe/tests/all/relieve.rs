//! Reliefs on the simulator: the relief of the limit that holds a flow gives most.

use crate::made::{loaded, scenario_files};
use fullpipe::base::units::Time;
use fullpipe::engine;
use fullpipe::experiment::Allowed;
use fullpipe::relieve::{Outcome, Relieved, Run, Watch, make, trials};
use fullpipe::scenario::{Source, load};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A watch that lets trials continue.
struct ToTheEnd;

impl Watch for ToTheEnd {
    fn advance(&self, _span: Time) -> bool {
        true
    }
}

fn relieved_with(text: &str, watch: &dyn Watch) -> Run {
    let scenario = loaded(text);
    let trials = trials(&scenario);
    let engine = engine::find("sim").expect("the simulator");
    let outcomes = make(&trials, engine, Allowed::default(), 2, watch).expect("a machine");
    Relieved::new(&scenario, "sim", &trials, &outcomes).runs.swap_remove(0)
}

pub fn relieved(text: &str) -> Run {
    relieved_with(text, &ToTheEnd)
}

/// A path of 1 Gb/s and 20 ms: it holds 2.5 MB, and its queue as much again.
fn path(flow: &str) -> String {
    format!(
        "[path]\nrate = \"1Gbit\"\ndelay = {{ forward = \"10ms\", back = \"10ms\" }}\n\
         [hosts.sender]\nkernel = \"6.12\"\nsysctl = {{ \"net.core.wmem_max\" = \"64MB\" }}\n[hosts.receiver]\nkernel = \"6.12\"\n\
         sysctl = {{ \"net.ipv4.tcp_rmem\" = \"4096 131072 64MB\" }}\n[[flow]]\nname = \"bulk\"\n{flow}\n"
    )
}

/// The program requests too little: a request of 256 KiB gives 512 KiB, and skbs take half of it. 0.25 to 0.5 MB in 20
/// ms are 100 to 210 Mb/s.
#[test]
fn a_small_send_buffer_is_named_with_its_gain() {
    let run = relieved(&path("sndbuf = \"256KiB\"\nduration = \"4s\""));
    let (base, best) = (run.mbit.expect("a rate"), &run.reliefs[0]);
    assert!((100.0..211.0).contains(&base), "{base}");
    assert_eq!((&best.name[..], &best.cause[..]), ("send-buffer", "sndbuf"));
    let gain = best.gain.expect("a gain");
    assert!((gain - best.mbit.expect("a rate") / base).abs() < 1e-9 && gain > 3.0, "{gain}");
    assert!(run.answer.starts_with("A larger send buffer alone gives "), "{}", run.answer);
    assert!(run.reliefs[1..].iter().all(|own| own.gain.is_none_or(|gain| gain < 1.1)), "{run:?}");
}

/// 500 kB from ten packets on take a handshake and five to six round trips of 20 ms each time; a quarter of that time
/// fills 1 Gb/s. One connection for all of 60 MB starts once.
#[test]
fn one_connection_relieves_a_loop_of_short_ones() {
    let run = relieved(&format!(
        "duration = \"20s\"\n{}",
        path("bytes = \"500kB\"\nagain = { count = 120 }")
    ));
    let (base, best) = (run.mbit.expect("a rate"), &run.reliefs[0]);
    let most = 500e3 * 8.0 / 0.1 / 1e6;
    assert!((0.5 * most..most).contains(&base), "{base} of {most}");
    assert_eq!((&best.name[..], &best.cause[..]), ("one-connection", "too_short"));
    assert!(best.gain.expect("a gain") > 4.0, "{best:?}");
    let names: Vec<&str> = run.reliefs.iter().map(|own| &own.name[..]).collect();
    assert!(names.contains(&"initcwnd") && !names.contains(&"longer"), "{names:?}");
}

/// 2 ms are 163 packets of 1 Gb/s, and the ring holds 64: an interrupt for each packet needs no larger ring.
#[test]
fn a_card_that_waits_too_long_for_its_ring_is_relieved_by_either() {
    let text = path("duration = \"4s\"\nsndbuf = \"16MB\"").replace(
        "[hosts.receiver]\nkernel = \"6.12\"\n",
        "[hosts.receiver]\nkernel = \"6.12\"\nnic_rate = \"1Gbit\"\nrx_ring = \"64 descriptors\"\nrx_coalesce = \"2ms\"\n",
    );
    let run = relieved(&text);
    let gains = ["moderation", "rx-ring"].map(|name| run.gain(name).expect("a gain"));
    assert!(gains.iter().all(|gain| *gain > 3.0), "{run:?}");
}

/// Two calls of 64 KiB in 20 ms are 52 Mb/s.
#[test]
fn a_mount_with_two_slots_is_relieved_by_more_calls() {
    let run = relieved(
        "duration = \"10s\"\n[path]\nrate = \"1Gbit\"\ndelay = { forward = \"10ms\", back = \"10ms\" }\n\
         [hosts]\nsender = { kernel = \"6.12\" }\nreceiver = { kernel = \"6.12\" }\n\
         [[nfs]]\nname = \"m\"\noperation = \"write\"\nfile = \"50MB\"\nslots = 2\nwsize = \"64KiB\"\n",
    );
    assert!(run.mbit.is_some_and(|mbit| mbit < 52.5), "{run:?}");
    assert_eq!(run.reliefs[0].name, "calls", "{run:?}");
    assert!(run.gain("calls").is_some_and(|gain| gain > 5.0), "{run:?}");
}

/// Payload of a full packet is 1448 of 1538 bytes on the wire.
#[test]
fn a_full_path_needs_a_faster_path() {
    let run = relieved(&path("duration = \"4s\"\nsndbuf = \"16MB\""));
    assert_eq!(run.reliefs[0].name, "path", "{run:?}");
    assert!(run.mbit.is_some_and(|mbit| mbit > 800.0 && mbit < 941.6), "{run:?}");
    assert!(run.gain("path").is_some_and(|gain| gain > 1.5 && gain < 2.01), "{run:?}");
}

/// 10 MB at 8 Mb/s take 10 s. A program that writes them at once needs less: the gain is the inverse of the times.
#[test]
fn a_transfer_is_judged_by_its_time() {
    let run = relieved(&format!(
        "duration = \"20s\"\n{}",
        path("bytes = \"10MB\"\napp = { kind = \"rate\", rate = \"8Mbit\" }")
    ));
    let seconds = run.seconds.expect("a time");
    assert!((seconds - 10.0).abs() < 0.2, "{seconds}");
    assert_eq!(run.reliefs[0].cause, "app_write");
    assert!(run.reliefs[0].gain.is_some_and(|gain| gain > 20.0), "{run:?}");
}

/// The second flow is as greedy as the judged one, and leaves it half of the path.
#[test]
fn other_flows_compete() {
    let other = "duration = \"4s\"\nsndbuf = \"16MB\"\n[[flow]]\nname = \"other\"\nduration = \"4s\"\nsndbuf = \"16MB\"";
    let run = relieved(&path(other));
    assert_eq!(run.flows, ["bulk"]);
    assert!(run.gain("competitors").is_some_and(|gain| gain > 1.2), "{run:?}");
}

/// Trials that have not begun when they are stopped have no gain.
#[test]
fn what_is_stopped_is_not_known() {
    struct Few(AtomicUsize);
    impl Watch for Few {
        fn advance(&self, _span: Time) -> bool {
            self.0.load(Ordering::SeqCst) < 3
        }
        fn ended(&self, _trial: &fullpipe::relieve::Trial, _outcome: &Outcome) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let run = relieved_with(&path("duration = \"1s\""), &Few(AtomicUsize::new(0)));
    let known = run.reliefs.iter().filter(|own| own.gain.is_some()).count();
    assert!(run.mbit.is_some() && (1..=3).contains(&known), "{run:?}");
}

/// Every scenario of the repository stays one with each of its reliefs.
#[test]
fn reliefs_of_all_scenarios_are_scenarios() {
    let mut wrong = Vec::new();
    for file in scenario_files() {
        let source = Source::read(&file).expect("a file");
        let scenario = load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
        let made = trials(&scenario);
        assert!(made.len() > scenario.plans().len(), "{}", file.display());
        wrong.extend(made.into_iter().filter_map(|trial| {
            Some(format!("{}: {}: {}", file.display(), trial.relief?.name, trial.impossible?))
        }));
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Requests in two writes take two round trips of 2 ms and 40 ms. Without Nagle's rule they take one round trip, with quick ACKs two.
#[test]
fn nagle_and_delayed_acks_are_relieved_by_either_option() {
    let run = relieved(
        "[path]\nrate = \"50Mbit\"\ndelay = { forward = \"1ms\", back = \"1ms\" }\n\
         [hosts]\nsender = { kernel = \"6.12\" }\nreceiver = { kernel = \"6.12\" }\n\
         [[flow]]\nname = \"calls\"\nduration = \"5s\"\nwrite = \"500B\"\napp = { kind = \"messages\", size = \"1000B\" }\n\
         [[flow]]\nname = \"replies\"\nreply_to = \"calls\"\nwrite = \"100B\"\n",
    );
    let gain = |name| {
        let own = run.reliefs.iter().find(|own| own.name == name).expect("a relief");
        (own.cause.as_str(), own.gain.expect("a gain"))
    };
    let (nodelay, quickack) = (gain("nodelay"), gain("quickack"));
    assert_eq!((nodelay.0, quickack.0), ("nagle", "nagle"));
    assert!((18.0..22.0).contains(&nodelay.1) && (9.0..11.0).contains(&quickack.1), "{run:?}");
}

/// A program that leaves TCP_CORK set waits 200 ms for each message's last part; one that sends by the clock has its rate all
/// the same, so that its messages alone come sooner.
#[test]
fn corks_are_relieved_at_the_programs_own_rate() {
    let run = relieved(
        "[path]\nrate = \"50Mbit\"\ndelay = { forward = \"10ms\", back = \"10ms\" }\n\
         [hosts]\nsender = { kernel = \"6.12\" }\nreceiver = { kernel = \"6.12\" }\n\
         [[flow]]\nname = \"calls\"\nduration = \"5s\"\nwrite = \"500B\"\nsockopt = { TCP_CORK = 1 }\n\
         app = { kind = \"messages\", size = \"500B\", period = \"500ms\" }\n\
         [[flow]]\nname = \"replies\"\nreply_to = \"calls\"\nwrite = \"100B\"\n",
    );
    let best = &run.reliefs[0];
    let (before, after) = (run.message_ms.expect("messages"), best.message_ms.expect("messages"));
    assert_eq!((best.name.as_str(), best.cause.as_str()), ("no-cork", "nagle"), "{run:?}");
    assert!(before > 200.0 && after < 25.0, "{before} {after}");
    assert!(run.answer.contains("brings messages sooner"), "{}", run.answer);
}
