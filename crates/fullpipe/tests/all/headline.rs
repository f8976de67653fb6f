//! The first line of small runs: each test is about one rule that words a cause.

use crate::made::{loaded, made};
use crate::without_scenario::has_the_same_findings;
use fullpipe::analysis::document::{Grade, Headline};

/// The headline of the first run of a scenario.
pub fn headline(text: &str) -> Headline {
    let scenario = loaded(text);
    let plan = &scenario.plans()[0];
    let (run, recording) = made(&scenario, plan);
    has_the_same_findings(&scenario, plan, &run, &recording);
    run.headline.expect("a run has a headline")
}

/// A path of `rate` and a round trip of `rtt_us` between two hosts of Linux 6.1; `rest`: further TOML.
fn path(rate: &str, rtt_us: u32, rest: &str) -> String {
    hosts(rate, rtt_us, "", rest)
}

/// The path with more keys of the receiver.
fn hosts(rate: &str, rtt_us: u32, receiver: &str, rest: &str) -> String {
    let half = rtt_us / 2;
    let own = "kernel = \"6.1\"";
    format!(
        "duration = \"60s\"\n[path]\nrate = \"{rate}\"\ndelay = {{ forward = \"{half}us\", back = \"{half}us\" }}\n{rest}\n\
         [hosts]\nsender = {{ {own} }}\nreceiver = {{ {own}{receiver} }}\n"
    )
}

pub fn contains(own: &Headline, parts: &[&str]) {
    for part in parts {
        assert!(own.text.contains(part), "no \"{part}\" in: {}", own.text);
    }
}

/// Small messages by the clock beside a backup: Nagle's rule holds each for some ms, the backup's queue for 160 ms.
#[test]
fn messages_that_wait_in_a_queue_are_not_held_by_nagles_rule() {
    let beside = |backup: &str| {
        let keys = "[[flow]]\nname = \"keys\"\nduration = \"8s\"\n\
                    app = { kind = \"messages\", size = \"500B\", period = \"10ms\" }\n";
        let backup =
            format!("[[flow]]\nname = \"backup\"\nstart = \"2s\"\nduration = \"6s\"\n{backup}");
        path("20Mbit", 20_000, "queue = { limit = \"1MB\" }") + keys + &backup
    };
    let own = headline(&beside(""));
    contains(&own, &["The link is full", "keys has what its program writes"]);
    assert_eq!(own.limit.as_deref(), Some("link"), "{}", own.text);

    // A backup that builds no queue leaves the rule as the cause.
    let own = headline(&beside("sndbuf = \"16KiB\"\n"));
    contains(&own, &["(next: nagle "]);
}

/// 30 us for each packet are 33,333 packets/s, 386 Mb/s of payload: the CPU is the bound, the ring overflows behind it.
#[test]
fn a_busy_cpu_comes_before_the_ring_that_it_empties_too_late() {
    let bulk = "[[flow]]\nname = \"bulk\"\nbytes = \"33MB\"\n";
    let slow = ", rx_ring = \"64 descriptors\", cpu = { receive = \"30us/packet\" }";
    let own = headline(&hosts("10Gbit", 200, slow, bulk));
    contains(&own, &["the CPU of receiver is busy", "and the receive ring of receiver has 64"]);
    contains(&own, &["Give receiver less work for each packet", "ethtool -G rx"]);
    assert_eq!(own.setting.expect("a setting").name, "CPU");

    // The same ring with a fast CPU: nothing but the ring is to blame.
    let fast = slow.replace("30us", "100ns");
    let own = headline(&hosts("10Gbit", 200, &fast, bulk));
    assert!(!own.text.contains("CPU"), "{}", own.text);
}

#[test]
fn without_sack_both_cures_are_named() {
    let ring = ", rx_ring = \"64 descriptors\", cpu = { receive = \"30us/packet\" }, \
                sysctl = { \"net.ipv4.tcp_sack\" = 0 }";
    let bulk = "[[flow]]\nname = \"bulk\"\nbytes = \"33MB\"\n";
    let own = headline(&hosts("10Gbit", 200, ring, bulk));
    contains(&own, &["receiver does not offer SACK", "Switch net.ipv4.tcp_sack on at receiver. "]);
    contains(&own, &["ethtool -G rx"]);
}

/// Two flows; the second one starts when the first one has ended: each needs the whole path.
#[test]
fn flows_that_never_meet_do_not_share() {
    let apart = "[[flow]]\nname = \"first\"\nduration = \"5s\"\n\
                 [[flow]]\nname = \"second\"\nstart = \"6s\"\nduration = \"5s\"\n";
    let one = "[[flow]]\nname = \"first\"\nduration = \"5s\"\n";
    let needed = |text: &str| {
        let own = headline(&path("1Gbit", 100_000, text));
        own.setting.expect("a setting").needed.expect("a value")
    };
    assert_eq!(needed(apart), needed(one));
    let beside = apart.replace("start = \"6s\"", "start = \"1s\"");
    assert_ne!(needed(&beside), needed(one));
}

/// A short flow, and a program that writes next to nothing, take no part of the path from a large one.
#[test]
fn small_flows_do_not_share() {
    let one = "[[flow]]\nname = \"large\"\nbytes = \"200MB\"\n";
    let needed = |text: &str| {
        let own = headline(&path("1Gbit", 100_000, text));
        own.setting.expect("a setting").needed.expect("a value")
    };
    let short = "[[flow]]\nname = \"short\"\nbytes = \"1MB\"\n";
    let chat = "[[flow]]\nname = \"chat\"\nduration = \"9s\"\napp = { kind = \"rate\", rate = \"8kbit\" }\n";
    for beside in [short, chat] {
        assert_eq!(needed(&format!("{one}{beside}")), needed(one));
    }
}

/// A round trip of 3 s: the SYN is sent again although nothing is lost.
#[test]
fn a_long_round_trip_is_no_lost_syn() {
    let flow = "[[flow]]\nname = \"one\"\nbytes = \"1kB\"\n";
    let own = headline(&path("100Mbit", 3_000_000, flow));
    contains(
        &own,
        &["Connecting", "the transfer is short against the round trip of the handshake"],
    );
    assert!(!own.text.contains("lost"), "{}", own.text);

    let cut = path("100Mbit", 3_000_000, flow).replace("60s", "2s");
    let own = headline(&cut);
    contains(&own, &["FAILED: no data arrived", "the run ends before the handshake does"]);
}

/// Six of ten packets of the handshake are lost: it takes more than the round trip and a second.
#[test]
fn a_lost_syn_is_said() {
    let lossy = "loss = 0.6\n[[flow]]\nname = \"one\"\nbytes = \"1kB\"\n";
    let own = headline(&path("100Mbit", 3_000_000, lossy));
    contains(&own, &["SYN or SYN-ACK between sender and receiver is lost", "loss drops packets"]);
}

/// A program with its requested rate is as asked; one that the path keeps below it is not.
#[test]
fn a_program_is_as_asked_only_at_its_rate() {
    let flow = "[[flow]]\nname = \"bulk\"\nduration = \"20s\"\n";
    let reader = format!("{flow}reader = {{ rate = \"100Mbit\" }}\n");
    let own = headline(&path("1Gbit", 20_000, &reader));
    contains(&own, &["The program on receiver", "it reads no faster than 100 Mb/s"]);
    assert_eq!(own.grade, Grade::AsAsked, "{}", own.text);
    let own = headline(&path("1Gbit", 20_000, &format!("loss = 1e-3\n{reader}")));
    assert_eq!(own.grade, Grade::Below, "{}", own.text);

    let writer = format!("{flow}app = {{ kind = \"rate\", rate = \"100Mbit\" }}\n");
    let own = headline(&path("1Gbit", 200_000, &writer));
    contains(&own, &["The program on sender", "it writes no more than 100 Mb/s"]);
    assert_eq!(own.grade, Grade::AsAsked, "{}", own.text);
}

/// 100 Gb/s x 100 ms need more than the largest window of TCP: two connections, and the sysctls for them.
#[test]
#[ignore = "a study: make studies"]
fn study_beyond_the_largest_window_both_sysctls_and_connections_are_named() {
    let own = headline(&path("100Gbit", 100_000, "[[flow]]\nname = \"bulk\"\nduration = \"4s\"\n"));
    let ends = "TCP's window ends at 1 GiB";
    contains(&own, &[&format!("{ends}: 2 connections fill this path"), "tcp_wmem of sender to"]);

    // Four flows, each of which would need more: the verdict is about the whole path.
    let four = "[[flow]]\nname = \"bulk\"\ncount = 4\nduration = \"4s\"\n";
    let own = headline(&path("400Gbit", 100_000, four));
    contains(&own, &[&format!("{ends}: 5 connections fill this path")]);

    // Buffers that suffice are not said to grow: the window is at its end.
    let flow = "[[flow]]\nname = \"bulk\"\nduration = \"6s\"\n";
    let tuned = |name: &str| {
        format!("kernel = \"6.1\", sysctl = {{ \"net.ipv4.{name}\" = \"4096 131072 2147483647\" }}")
    };
    let large = path("100Gbit", 100_000, flow)
        .replacen("kernel = \"6.1\"", &tuned("tcp_wmem"), 1)
        .replace("receiver = { kernel = \"6.1\"", &format!("receiver = {{ {}", tuned("tcp_rmem")));
    let own = headline(&large);
    contains(&own, &["TCP's window ends at 1 GiB. 2 connections fill this path"]);
}

/// The headline names a flow that carries next to nothing on the path of a large one, but not a small transfer that is
/// done.
#[test]
fn flows_that_carry_next_to_nothing_are_counted() {
    let beside = |small: &str| {
        let large = "[[flow]]\nname = \"large\"\nduration = \"5s\"\n";
        let flows = format!("{large}[[flow]]\nname = \"small\"\n{small}\n");
        headline(&path("100Mbit", 10_000, &flows).replace("60s", "5s"))
    };
    let chat = beside("app = { kind = \"rate\", rate = \"64kbit\" }\nduration = \"90s\"");
    contains(&chat, &["1 more carried less than 1 % of the largest"]);
    let done = beside("bytes = \"10kB\"");
    assert!(!done.text.contains("more carried"), "{}", done.text);
}

/// fq in front of a link shares it, but does not keep the queue short.
#[test]
fn a_queue_of_fq_can_stand() {
    let flow = "[[flow]]\nname = \"bulk\"\nduration = \"20s\"\n";
    let queue = |name: &str| format!("queue = {{ discipline = \"{name}\" }}\n{flow}");
    let fq = headline(&path("10Mbit", 20_000, &queue("fq")));
    contains(&fq, &["a standing queue of"]);
    let codel = headline(&path("10Mbit", 20_000, &queue("fq_codel")));
    assert!(!codel.text.contains("standing"), "{}", codel.text);
}

/// Both of two causes that share a flow's life are named.
#[test]
fn a_cause_of_less_than_half_a_life_is_not_alone() {
    let flow = "[[flow]]\nname = \"bulk\"\nbytes = \"40MB\"\n";
    let own = headline(&path("1Gbit", 100_000, flow));
    assert!(own.limit_share.expect("a share") < 0.5, "{}", own.text);
    contains(&own, &["% of its life: ", " (next: "]);
}

/// A flow that gets nothing while another one gets the path.
#[test]
fn a_starved_flow_is_said() {
    let flows = "[[flow]]\nname = \"large\"\nduration = \"5s\"\n\
                 [[flow]]\nname = \"late\"\nstart = \"4.9s\"\nduration = \"10s\"\n";
    let text = path("100Mbit", 200_000, flows).replace("60s", "5s");
    contains(&headline(&text), &["1 more got nothing"]);
}

/// 50 of 100 Mb/s are UDP's. The link is not always full, but datagrams take the missing rate.
#[test]
fn datagrams_beside_a_flow_are_named() {
    let rest = "[[datagrams]]\nname = \"u\"\nkind = \"udp\"\nsize = \"1400B\"\nrate = \"50Mbit\"\n\
                duration = \"20s\"\n[[flow]]\nname = \"bulk\"\nbytes = \"16MB\"\n";
    contains(&headline(&path("100Mbit", 50_000, rest)), &["datagrams take 50 Mb/s of it"]);
}

/// A run that saw one loss of 1e-5 says nothing about a longer one.
#[test]
fn a_rate_before_the_losses_is_none() {
    let flow = |lasts: &str| {
        let bulk = format!("loss = 1e-5\n[[flow]]\nname = \"bulk\"\nduration = \"{lasts}\"\n");
        path("10Gbit", 80_000, &bulk).replace("60s", "300s")
    };
    let short = headline(&flow("8s"));
    contains(&short, &["so far: a longer run shows what its losses do"]);
    assert!(!short.text.contains("more time does not help"), "{}", short.text);
    let long = headline(&flow("180s"));
    contains(&long, &["Drops at loss", "use parallel flows"]);
    assert!(!long.text.contains("so far"), "{}", long.text);
}

/// Buffers that are too small in front of a short queue: pacing is part of the cure.
#[test]
fn a_short_queue_behind_small_buffers_is_named() {
    let rest = "queue = { limit = \"2MB\" }\n[[flow]]\nname = \"bulk\"\nduration = \"8s\"\n";
    let own = headline(&path("10Gbit", 80_000, rest));
    contains(&own, &["The queue of link (2 MB) is short: also pace the flow at 9,142 Mb/s"]);
}

/// Scenario of `count` requests of `asks` bytes, each answered by `answers` bytes, over 100 Mb/s and 20 ms.
fn turns(count: u32, asks: u32, answers: u32) -> String {
    let bytes = count * asks;
    path(
        "100Mbit",
        20_000,
        &format!(
            "[[flow]]\nname = \"calls\"\nbytes = \"{bytes}B\"\nwrite = \"{asks}B\"\n\
             [[flow]]\nname = \"replies\"\nreply_to = \"calls\"\nwrite = \"{answers}B\"\n"
        ),
    )
}

/// The client is `sender`: it asks, and the flow with the most data is `receiver`'s.
#[test]
fn a_program_that_takes_turns_waits_for_round_trips() {
    let own = headline(&turns(30, 200, 100_000));
    contains(
        &own,
        &["Waiting for sender stops the flow", "receiver answers 30 requests one after"],
    );
    contains(
        &own,
        &["for the one before: a round trip of 20 ms at least", "Let the program on sender ask"],
    );
    assert_eq!(own.setting.expect("a setting").host, "sender");
    assert_eq!((own.grade, own.rule.as_deref()), (Grade::Below, Some("round-trips")));

    // The client sends most.
    let own = headline(&turns(30, 100_000, 200));
    contains(&own, &["Waiting for receiver stops the flow", "sender sends 30 requests one after"]);
    assert_eq!(own.setting.expect("a setting").host, "sender");
}

#[test]
fn a_program_that_waits_for_something_else_does_not_take_turns() {
    // Two turns are no habit.
    let own = headline(&turns(2, 200, 100_000));
    assert_ne!(own.rule.as_deref(), Some("round-trips"), "{}", own.text);

    // An answer takes 5 ms of the server's CPU for each of 70 packets: more than ten times a round trip.
    let slow = turns(5, 100_000, 200).replace(
        "receiver = { kernel = \"6.1\"",
        "receiver = { kernel = \"6.1\", cpu = { receive = \"5ms/packet\" }",
    );
    let own = headline(&slow);
    assert_ne!(own.rule.as_deref(), Some("round-trips"), "{}", own.text);

    // There are no answers.
    let seldom = "[[flow]]\nname = \"seldom\"\nduration = \"5s\"\napp = { kind = \"rate\", rate = \"1Mbit\" }\n";
    let own = headline(&path("100Mbit", 20_000, seldom));
    contains(&own, &["The program on sender stops the flow"]);
}

/// Each packet has an interrupt of its own, so that a number of them brings none earlier.
#[test]
fn a_number_of_packets_without_a_wait_is_noted() {
    let notes = |keys: &str| {
        let bulk = "[[flow]]\nname = \"bulk\"\nbytes = \"1MB\"\n";
        let scenario = loaded(&hosts("1Gbit", 200, keys, bulk));
        let (run, _) = made(&scenario, &scenario.plans()[0]);
        run.notes
    };
    let alone = notes(", rx_frames = \"8 packets\"");
    assert!(alone.iter().any(|note| note.contains("rx_frames does nothing")), "{alone:?}");
    assert!(notes(", rx_frames = \"8 packets\", rx_coalesce = \"50us\"").is_empty());
}

/// A router's message comes a round trip after the first data, which was lost. Without a message the MTU of the path stays.
#[test]
fn an_mtu_that_comes_by_icmp_comes_late() {
    let tunnel = |keys: &str| {
        format!(
            "duration = \"10s\"\n[path]\nmtu = 1500\nforward = [\n{{ kind = \"link\", name = \"link\", rate = \"50Mbit\" }},\n\
             {{ kind = \"mtu\", name = \"tunnel\", mtu = 1300{keys} }},\n{{ kind = \"delay\", name = \"there\", delay = \"40ms\" }} ]\n\
             back = [{{ kind = \"delay\", name = \"back\", delay = \"40ms\" }}]\n\
             [hosts]\nsender = {{ kernel = \"6.12\" }}\nreceiver = {{ kernel = \"6.12\" }}\n\
             [[flow]]\nname = \"short\"\nbytes = \"60kB\"\n"
        )
    };
    let own = headline(&tunnel(", icmp = true"));
    contains(&own, &["packets of 1,500 bytes do not pass", "learns the MTU of 1,300 from ICMP"]);
    contains(&own, &["Set mtu 1,300 on the route of sender, or clamp the MSS at tunnel"]);
    assert_eq!(own.code.as_deref(), Some("pmtu"));

    let own = headline(&tunnel(""));
    contains(&own, &["no ICMP message tells sender"]);
}

/// 60 Mb/s of datagrams over 50: a fifth of them is lost, whatever a flow beside them wants.
#[test]
fn datagrams_that_are_lost_beside_a_quiet_flow_are_in_the_first_line() {
    let beside = |rate: &str| {
        let keys = format!(
            "[[flow]]\nname = \"control\"\nduration = \"5s\"\napp = {{ kind = \"rate\", rate = \"1Mbit\" }}\n\
             [[datagrams]]\nname = \"video\"\nkind = \"udp\"\nsize = \"1200B\"\nrate = \"{rate}\"\nduration = \"5s\"\n"
        );
        headline(&(hosts("50Mbit", 20_000, "", "") + &keys))
    };
    contains(
        &beside("60Mbit"),
        &["of the datagrams of video (", "do not arrive: link drops, its queue"],
    );
    let own = beside("20Mbit");
    assert!(!own.text.contains("do not arrive"), "{}", own.text);
}

/// Two long transfers and a short one: the link has most of the time, and the short one's start is not the run's.
#[test]
fn transfers_in_turn_are_judged_by_the_most_of_their_time() {
    let flows = "[[flow]]\nname = \"first\"\nbytes = \"20MB\"\n\
                 [[flow]]\nname = \"second\"\nbytes = \"20MB\"\nafter = { flow = \"first\", pause = \"100ms\" }\n\
                 [[flow]]\nname = \"third\"\nbytes = \"5MB\"\nafter = { flow = \"second\" }\n";
    let own = headline(&path("100Mbit", 40_000, flows));
    contains(&own, &["The link is full and holds the flows", "(next: slow start"]);
    assert!(!own.text.contains("5 MB in"), "{}", own.text);

    // None of them competes: each has the path alone.
    assert_eq!(own.code.as_deref(), Some("none"));

    // Short transfers alone are short.
    let short = flows.replace("20MB", "1MB").replace("5MB", "1MB");
    contains(&headline(&path("100Mbit", 40_000, &short)), &["Slow start stops the flows"]);
}

/// Eight windows of 2 MiB are more than the path holds at 100 ms, and seven tenths of the time each flow waits for its own.
#[test]
fn a_full_path_does_not_contradict_the_windows_that_fill_it() {
    let flows =
        "[[flow]]\nname = \"copy\"\ncount = 8\nduration = \"10s\"\napp = { window = \"2MiB\" }\n";
    let own = headline(&path("1Gbit", 100_000, flows));
    assert_eq!(own.grade, Grade::Full, "{}", own.text);
    contains(&own, &["The program's own window", "The path is full all the same: set nothing"]);

    // Measured and set windows have one form.
    contains(&own, &[" MiB without an answer"]);
}

/// Packets of 1500 bytes are the largest that pass, so the path carries 941 Mb/s of payload and not 990.
#[test]
fn the_least_mtu_on_the_way_bounds_the_rate() {
    let allowed = |mtu: &str| {
        let flow = "[[flow]]\nname = \"bulk\"\nduration = \"5s\"\n";
        let text = format!(
            "duration = \"6s\"\n[path]\nmtu = 9000\nforward = [ {{ kind = \"link\", name = \"link\", rate = \"1Gbit\" }}, {mtu} \
             {{ kind = \"delay\", name = \"wire\", delay = \"5ms\" }} ]\nback = [ {{ kind = \"delay\", name = \"wireback\", delay = \"5ms\" }} ]\n\
             [hosts]\nsender = {{ kernel = \"6.12\" }}\nreceiver = {{ kernel = \"6.12\" }}\n{flow}"
        );
        headline(&text).allowed_mbit.expect("a bound")
    };
    assert!((allowed("") - 990.0).abs() < 1.0, "{}", allowed(""));
    let narrow = "{ kind = \"mtu\", name = \"tunnel\", mtu = 1500, icmp = true },";
    assert!((allowed(narrow) - 941.0).abs() < 1.0, "{}", allowed(narrow));

    // A clamp makes segments small although the tunnel would carry larger ones.
    let clamped = narrow.replace("mtu = 1500, icmp = true", "mtu = 9000, mss_clamp = 1460");
    assert!((allowed(&clamped) - 941.0).abs() < 1.0, "{}", allowed(&clamped));
}

/// Messages that wait for their answers leave their flows without data at times. Where a shallow queue drops their packets for
/// most of the time, the queue is the cause.
#[test]
fn drops_that_take_more_of_the_time_lead_before_waits_for_messages() {
    let with = |queue: &str| {
        let text = format!(
            "duration = \"4s\"\n[path]\n\
             forward = [ {{ kind = \"link\", name = \"link\", rate = \"200Mbit\", queue = {{ limit = \"{queue}\" }} }}, \
             {{ kind = \"delay\", name = \"delay\", delay = \"5ms\" }} ]\n\
             back = [ {{ kind = \"link\", name = \"back-link\", rate = \"50Mbit\", queue = {{ limit = \"{queue}\" }} }}, \
             {{ kind = \"delay\", name = \"back-delay\", delay = \"3ms\" }} ]\n\
             [hosts]\nsender = {{ kernel = \"6.12\" }}\nreceiver = {{ kernel = \"6.12\" }}\n\
             [[flow]]\nname = \"calls\"\nduration = \"3s\"\nwrite = \"40kB\"\n\
             app = {{ kind = \"messages\", size = \"120kB\", in_flight = 2 }}\n\
             [[flow]]\nname = \"answers\"\nreply_to = \"calls\"\nwrite = \"40kB\"\n\
             app = {{ kind = \"messages\", size = \"120kB\" }}\n"
        );
        headline(&text)
    };
    let shallow = with("20kB");
    contains(&shallow, &["Drops at", "keep cwnd small"]);
    assert!(!shallow.text.contains("TCP is not in the way"), "{}", shallow.text);

    // A queue that holds all of them leaves the programs' own turns.
    let deep = with("2MB");
    assert!(!deep.text.contains("Drops at"), "{}", deep.text);
}
