//! Datagrams that a socket drops beside a flow that has all it asks for: verdict, reliefs and advice name their cure.

use crate::advice_method::{advised, settings};
use crate::made::{loaded, made};
use crate::relieve::relieved;
use fullpipe::analysis::document::{Grade, Run};

/// 100 Mb/s to a reader that rests every other 100 ms, beside a program that writes 10 Mb/s.
const PAUSES: &str = r#"
duration = "6s"
[path]
rate = "1Gbit"
delay = { forward = "1ms", back = "1ms" }
[hosts]
sender = { kernel = "6.12" }
receiver = { kernel = "6.12" }
[[flow]]
name = "tcp"
duration = "5s"
app = { kind = "rate", rate = "10Mbit" }
[[datagrams]]
name = "video"
kind = "udp"
size = "1400B"
rate = "100Mbit"
duration = "5s"
reader = { on = "100ms", off = "100ms" }
"#;

fn run_of(text: &str) -> Run {
    let scenario = loaded(text);
    made(&scenario, &scenario.plans()[0]).0
}

/// 1.25 MB come in a pause, as 1.1 MiB of memory in the kernel's doubled socket.
#[test]
fn the_verdict_has_the_size_of_the_socket() {
    let run = run_of(PAUSES);
    let own = run.headline.as_ref().expect("a headline");
    assert_eq!(own.grade, Grade::AsAsked, "{}", own.text);
    assert!(own.text.contains("ask for an SO_RCVBUF of 1 MiB"), "{}", own.text);
    let drops = run.findings.iter().find(|own| own.code == "udp").expect("a finding");
    assert_eq!(drops.place.as_deref(), Some("receiver.udp_socket"));
    assert!((0.3..0.6).contains(&drops.share_of_time), "{drops:?}");

    // The size suffices, and nothing is left to say.
    let cured =
        PAUSES.replace("off = \"100ms\" }", "off = \"100ms\" }\nrcvbuf = \"1MiB\"").replace(
            "receiver = { kernel = \"6.12\" }",
            "receiver = { kernel = \"6.12\", sysctl = { \"net.core.rmem_max\" = \"1MiB\" } }",
        );
    let run = run_of(&cured);
    assert!(run.findings.iter().all(|own| own.code != "udp"), "{:?}", run.findings);
}

/// The path has no cure of its own for datagrams that share it with flows.
#[test]
fn a_queue_of_the_path_is_named_without_a_cure_for_datagrams_alone() {
    let full = PAUSES.replace("\"1Gbit\"", "\"60Mbit\"").replace("10Mbit", "20Mbit");
    let full = full.replace("reader = { on = \"100ms\", off = \"100ms\" }\n", "");
    let own = run_of(&full).headline.expect("a headline");
    assert!(own.text.contains("of the datagrams of video"), "{}", own.text);
    assert!(!own.text.contains("more datagrams come than that place sends"), "{}", own.text);
}

#[test]
fn advice_is_about_the_datagrams_where_the_flow_has_all() {
    let own = advised(PAUSES);
    assert_eq!(settings(&own), ["net.core.rmem_max", "SO_RCVBUF"], "{}", own.answer);
    assert!(own.today.mbit < 70.0 && own.advised.mbit > 99.0, "{}", own.answer);
    assert!(own.answer.contains("of the datagrams of video"), "{}", own.answer);

    // A reader that is too slow in the mean has no setting.
    let slow = PAUSES.replace("on = \"100ms\", off = \"100ms\"", "rate = \"50Mbit\"");
    assert!(advised(&slow).changes.is_empty());
}

#[test]
fn reliefs_say_how_many_datagrams_arrive() {
    let run = relieved(PAUSES);
    let own = run.reliefs.iter().find(|own| own.name == "udp-socket").expect("a relief");
    assert!(run.arrived < Some(0.7) && own.arrived > Some(0.99), "{own:?}");
    assert!(
        run.answer.ends_with(" arrive; a larger socket for datagrams alone brings 100 %."),
        "{}",
        run.answer
    );
}
