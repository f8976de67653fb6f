//! Loops of connections, and what stands beside them: each has its own cause, and each is named.

use crate::advice_method::advised;
use crate::headline::{contains, headline};
use crate::made::loaded;
use crate::programs_named::{between, lacks, plain};
use crate::relieve::relieved;
use fullpipe::advice::{Case, candidates};

const SLOW: &str = "rate = \"1Gbit\"\ndelay = { forward = \"15ms\", back = \"15ms\" }";
/// A path of 2.5 MB, which default buffers hold.
const SHORT: &str = "rate = \"500Mbit\"\ndelay = { forward = \"5ms\", back = \"5ms\" }";
const HOOKS: &str =
    "[[flow]]\nname = \"hook\"\nbytes = \"40kB\"\nagain = { count = 60, until = \"6s\" }\n";
const BACKUP: &str = "[[flow]]\nname = \"backup\"\nduration = \"6s\"\n";

/// Small connections lack nearly all of their part of the path, and the flow beside them most of it.
#[test]
fn a_loop_and_a_flow_beside_it_have_causes_of_their_own() {
    let small = ", sysctl = { \"net.ipv4.tcp_rmem\" = \"4096 131072 524288\" }";
    for flows in [[HOOKS, BACKUP], [BACKUP, HOOKS]] {
        let own = headline(&between(SLOW, "", small, &flows.concat()));
        contains(
            &own,
            &[
                "stops hook-1 … hook-",
                "Beside it, the receive window of receiver stops backup 9",
                "tcp_rmem allows 512 KiB",
            ],
        );
    }

    // A flow that fills the path leaves nothing to say of its own.
    let own = headline(&between(SHORT, "", "", &[HOOKS, BACKUP].concat()));
    lacks(&own.text, "Beside it");
}

/// Reliefs and advice count the time between connections, and the verdict names that rate, too.
#[test]
fn a_loop_has_one_rate_in_all_three() {
    let text = plain("100Mbit", "45ms", HOOKS);
    let own = headline(&text).text;
    let (_, rate) = own.split_once(" while a connection is open, ").expect("two rates");
    let (rate, _) = rate.split_once(" with the time between them").expect("two rates");
    let rate: f64 = rate.parse().expect("a number");
    for (what, mbit) in
        [("reliefs", relieved(&text).mbit.expect("a rate")), ("advice", advised(&text).today.mbit)]
    {
        assert!((mbit / rate - 1.0).abs() < 0.05, "{what}: {mbit} {own}");
    }
}

/// A window of 2 MiB is filled late in 10 MB: each connection spends most of its time in slow start.
#[test]
fn the_start_of_each_connection_comes_before_a_window_that_holds_it_for_less() {
    let copy = |again: &str| {
        let flow = format!(
            "[[flow]]\nname = \"file\"\nbytes = \"10MB\"\napp = {{ program = \"openssh\" }}\n{again}"
        );
        plain("1Gbit", "60ms", &flow).replace("duration = \"9s\"", "duration = \"30s\"")
    };
    let text = copy("again = { count = 5, pause = \"300ms\" }\n");
    contains(
        &headline(&text),
        &["Slow start stops the flows", "each of 5 connections starts anew"],
    );

    // The last message of a file is shorter than the others, and has its answer all the same.
    let run = relieved(&text);
    assert_eq!(run.reliefs[0].name, "one-connection", "{}", run.answer);
    assert!(run.reliefs[0].gain.is_some_and(|gain| gain > 1.5), "{}", run.answer);
}

/// Sockets whose programs hardly read fill the memory of their host. The path beside them is the loop's.
#[test]
fn a_loop_beside_sockets_that_hoard_gets_their_memory() {
    let mem = ", sysctl = { \"net.ipv4.tcp_mem\" = \"341 512 683\" }";
    let flows = "[[flow]]\nname = \"stuck\"\ncount = 13\nduration = \"8s\"\nreader = { rate = \"100kbit\" }\n\
                 [[flow]]\nname = \"fetch\"\nstart = \"2s\"\nbytes = \"700kB\"\nagain = { count = 8, pause = \"100ms\" }\n";
    let path = "rate = \"330Mbit\"\ndelay = { forward = \"10ms\", back = \"10ms\" }";
    let text = between(path, "", mem, flows).replace("6.12", "6.1");
    let own = headline(&text);
    contains(
        &own,
        &["The memory of all TCP sockets of receiver", "or raise net.ipv4.tcp_mem of receiver to "],
    );

    let advice = advised(&text);
    let set: Vec<&str> = advice.changes.iter().map(|own| &own.change.setting[..]).collect();
    assert!(set.contains(&"net.ipv4.tcp_mem"), "{}", advice.answer);
    assert!(!set.contains(&"SO_MAX_PACING_RATE"), "{}", advice.answer);
    assert!(advice.advised.mbit > 5.0 * advice.today.mbit, "{}", advice.answer);
}

/// One connection in the place of many needs more of the memory that all sockets have: both changes are tried together.
#[test]
fn one_connection_is_tried_with_the_memory_that_it_lacks() {
    let mem = ", sysctl = { \"net.ipv4.tcp_mem\" = \"192 256 384\" }";
    let flows = "[[flow]]\nname = \"fetch\"\ncount = 4\nbytes = \"2MB\"\nagain = { count = 10, until = \"6s\" }\n";
    let path = "rate = \"500Mbit\"\ndelay = { forward = \"20ms\", back = \"20ms\" }";
    let advice = advised(&between(path, "", mem, flows));
    let rate = |what: &str| {
        let own = advice.steps.iter().find(|own| own.what.starts_with(what));
        own.unwrap_or_else(|| panic!("{what}: {:?}", advice.steps)).mbit
    };
    let alone = rate("also connections one that stays open");
    let pair = rate("also connections one that stays open, net.ipv4.tcp_mem ");
    assert!(alone < advice.today.mbit && pair > 1.2 * advice.today.mbit, "{:?}", advice.steps);
}

/// Twenty connections of four programs are four loops.
#[test]
fn connections_of_a_loop_are_counted_as_one_program() {
    let flow = |count: u32| {
        format!(
            "[[flow]]\nname = \"fetch\"\ncount = {count}\nbytes = \"2MB\"\nsndbuf = \"64KiB\"\nagain = {{ count = 5 }}\n"
        )
    };
    let whose = |flows: &str| {
        let scenario = loaded(&between(SLOW, "", "", flows));
        let case = Case::new(&scenario, &scenario.plans()[0]).expect("a case");
        let all = candidates::together(&case, candidates::cure(&case));
        let own = all.into_iter().find(|own| own.setting == "SO_SNDBUF");
        own.expect("a change of the program").whose
    };
    assert_eq!(whose(&flow(4)), "4 loops");
    assert_eq!(whose(&flow(1)), "the loop of fetch-1");
    let bulk = "[[flow]]\nname = \"bulk\"\nduration = \"5s\"\nsndbuf = \"64KiB\"\n";
    assert_eq!(whose(&[bulk, &bulk.replace("bulk", "other")].concat()), "2 flows");
}

/// The program that reads 40 Mb/s leaves the rest of the path to the flow beside it, whose buffers are too small for that.
#[test]
fn a_slow_reader_leaves_its_part_to_others() {
    let flows = "[[flow]]\nname = \"consumer\"\nduration = \"6s\"\nreader = { rate = \"40Mbit\" }\n\
                 [[flow]]\nname = \"backup\"\nduration = \"6s\"\n";
    let text = between(SLOW, "", "", flows);
    contains(&headline(&text), &["consumer has what its program reads, "]);

    // Half of the path would fit into the buffers of today, and a reader needs no pace.
    let advice = advised(&text);
    let settings: Vec<&str> = advice.changes.iter().map(|own| &own.change.setting[..]).collect();
    assert!(settings.iter().all(|own| own.ends_with("mem")), "{}", advice.answer);
    assert!(advice.advised.share.is_some_and(|share| share > 0.97), "{}", advice.answer);
}

/// Connections of a loop take turns, so that each one's pace is that of the whole path.
#[test]
fn a_loop_is_paced_as_one_flow() {
    let flows =
        "[[flow]]\nname = \"obj\"\nbytes = \"4MB\"\nagain = { count = 3, pause = \"200ms\" }\n";
    let path = "rate = \"100Mbit\"\ndelay = { forward = \"40ms\", back = \"40ms\" }\nqueue = { limit = \"30 packets\" }";
    let own = headline(&between(path, "", "", flows));
    contains(&own, &["pace each flow at 91.4 Mb/s of payload"]);
}
