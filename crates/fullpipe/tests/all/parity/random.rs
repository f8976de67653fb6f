//! Random scenarios: their coverage, and possible results of the simulator.

use crate::parity::{runs, sane};
use fullpipe::parity::both;
use fullpipe::parity::random::{self, Hosts};
use fullpipe_sim::config::Element;

#[test]
fn scenarios_follow_from_the_seed() {
    let text = |seed, number| random::scenario(seed, number, &Hosts::default());
    assert_eq!(text(7, 5), text(7, 5));
    assert_ne!(text(7, 5), text(8, 5));
    assert_ne!(text(7, 5), text(7, 6));
    let old = Hosts { kernel: "6.1".into(), hz: 250 };
    assert!(random::scenario(7, 5, &old).contains("kernel = \"6.1\"\nhz = 250"));
}

#[test]
fn scenarios_cover_their_space() {
    let texts = (0..300).map(|number| random::scenario(7, number, &Hosts::default()));
    let texts: Vec<String> = texts.collect();
    let share = |part: &str| texts.iter().filter(|text| text.contains(part)).count();
    let parts = [
        ("\"reno\"", 120..240),
        ("\"cubic\"", 120..240),
        ("\"bic\"", 120..240),
        ("mtu = 1500", 190..260),
        ("mtu = 9000", 20..60),
        ("mtu = 576", 20..60),
        ("segments = [", 100..220),
        ("acks = [", 20..80),
        ("flow1", 110..190),
        ("flow7", 20..60),
        ("bytes = ", 90..200),
        ("kind = \"rate\"", 60..150),
        ("socket_buffer", 60..120),
        ("tcp_rmem", 40..110),
    ];
    for (part, expected) in parts {
        assert!(expected.contains(&share(part)), "{part} in {} of 300", share(part));
    }
    let rare = [
        "kind = \"reorder\"",
        "kind = \"mark\"",
        "discipline = ",
        "ecn = true",
        "back-link",
        "backward",
        "timestamps = false",
        "qdisc = ",
        "tcp_sack",
        "tcp_dsack",
        "tcp_frto",
        "tcp_reordering",
        "tcp_early_retrans",
        "tcp_notsent_lowat",
        "tcp_slow_start_after_idle",
        "\nsndbuf",
        "\nrcvbuf",
        "reader = ",
        "\nwrite = \"200B\"",
        "icmp = true",
        "mss_clamp",
        "tcp_mtu_probing",
        "cork = true",
        "\"illinois\"",
        "\"vegas\"",
        "\"veno\"",
        "\"yeah\"",
        "\"westwood\"",
        "\"hybla\"",
        "requests = ",
        "app = { window = ",
        "again = ",
        "reply_to = ",
        "in_flight = ",
        "TCP_NODELAY",
        "TCP_CORK",
        "quickack = ",
    ];
    for part in rare {
        assert!((4..100).contains(&share(part)), "{part} in {} of 300", share(part));
    }
}

#[test]
fn both_engines_do_random_scenarios_exactly() {
    for number in 0..300 {
        let case = random::case(7, number, &Hosts::default());
        assert_eq!(both::objections(&case, &[]), [""; 0], "{number}");
        assert_eq!(both::substituted(&case), [""; 0], "{number}");
        let run = &case.plan.resolved;
        let link = run.path.forward.iter().find_map(|element| element.rate()).expect("a link").0;
        let lasts = run.duration.as_secs_f64();
        assert!((1_000_000..=10_000_000_000).contains(&link.0), "{number}");
        assert!((0.6..=30.1).contains(&lasts), "{number}: {lasts} s");
        let around = run.surroundings();
        let path = run.path.forward.iter().chain(&run.path.back).map(|e| e.config(&around));
        for element in path {
            let Element::Drop(list) = element else { continue };
            assert!(list.segments.len() + list.acks.len() <= 500, "{number}");
        }
    }
}

#[test]
fn what_the_simulator_makes_of_random_scenarios_is_possible() {
    for number in 0..12 {
        let case = random::case(3, number, &Hosts::default());
        let table = runs::table(both::JUDGED, &case);
        sane::possible(&case.name, &case.plan.resolved, &table);
    }
}
