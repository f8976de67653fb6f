//! First lines of runs whose path varies, or whose flows share it for a part of their lives.

use crate::field_advice::of_first_run;
use crate::headline::{contains, headline};
use crate::made::loaded;
use crate::programs_named::{between, lacks, plain};
use crate::relieve::relieved;
use fullpipe::advice::method::Allowance;
use fullpipe::analysis::document::Grade;

const OUT_FOR_8_S: &str = "{ at = \"2s\", rate = \"0bit\" }, { at = \"10s\", rate = \"50Mbit\" }";

/// A transfer of 40 MB over a link of 50 Mb/s that has these steps, with 25 ms each way.
fn over(steps: &str) -> String {
    let path = format!(
        "forward = [{{ kind = \"varying-link\", name = \"lte\", rate = \"50Mbit\", steps = [{steps}] }}, \
         {{ kind = \"delay\", name = \"air\", delay = \"25ms\" }}]\n\
         back = [{{ kind = \"delay\", name = \"back\", delay = \"25ms\" }}]"
    );
    let text = between(&path, "", "", "[[flow]]\nname = \"get\"\nbytes = \"40MB\"\n");
    text.replace("duration = \"9s\"", "duration = \"40s\"")
}

/// 40 MB and 3 s without a link take 9.8 s: 33 of 47 Mb/s are all that the path carries meanwhile.
#[test]
fn a_link_that_is_out_carries_less_in_the_mean() {
    let out = over("{ at = \"2s\", rate = \"0bit\" }, { at = \"5s\", rate = \"50Mbit\" }");
    let own = headline(&out);
    contains(&own, &["lte is full", "the path carries nothing for 3 s", "set nothing"]);
    assert_eq!(own.grade, Grade::Full, "{}", own.text);
    let allowed = own.allowed_mbit.expect("a rate");
    assert!((32.0..34.5).contains(&allowed), "{}", own.text);

    // An outage after the transfer costs it nothing, and a rate that falls is no other traffic.
    let later = over("{ at = \"30s\", rate = \"0bit\" }, { at = \"31s\", rate = \"50Mbit\" }");
    let allowed = headline(&later).allowed_mbit.expect("a rate");
    assert!((47.0..47.2).contains(&allowed), "{allowed}");
    let falls = headline(&over("{ at = \"2s\", rate = \"10Mbit\" }"));
    contains(&falls, &["the path's rate varies from 9.41 to 47.1 Mb/s"]);
    lacks(&falls.text, "take the rest");

    // Advice waits for what comes.
    let advice = of_first_run(&loaded(&out), &Allowance::default());
    assert!(advice.changes.is_empty(), "{}", advice.answer);
    let allowed = advice.allowed_mbit.expect("a rate");
    assert!(allowed < 40.0, "{}", advice.answer);
}

/// A queue that holds a window keeps it until the link is back. One that holds 15 kB loses it, and the timer has doubled
/// meanwhile.
#[test]
fn what_a_queue_loses_in_an_outage_is_the_queues() {
    let long = over(OUT_FOR_8_S);
    let own = headline(&long);
    contains(&own, &["lte is full", "the path carries nothing for 8 s"]);
    let short = long.replace("steps =", "queue = { limit = \"15kB\" }, steps =");
    let own = headline(&short);
    assert_eq!(own.grade, Grade::Below, "{}", own.text);
    contains(&own, &["Lengthen that queue"]);
}

/// Three copies that begin together after a login share the path; a loop has one connection at a time.
#[test]
fn flows_side_by_side_are_not_one_after_another() {
    let login = "[[flow]]\nname = \"login\"\nbytes = \"3kB\"\ncount = 3\n";
    let copies =
        "[[flow]]\nname = \"copy\"\nbytes = \"10MB\"\ncount = 3\nafter = { flow = \"login\" }\n";
    let text = plain("100Mbit", "15ms", &format!("{login}{copies}"));
    let own = headline(&text);
    contains(&own, &["3 flows, each"]);
    lacks(&own.text, "one after another");
    let of_loop = "[[flow]]\nname = \"copy\"\nbytes = \"1MB\"\nagain = { count = 5 }\n";
    contains(&headline(&plain("100Mbit", "15ms", of_loop)), &["5 connections, one after another"]);

    // The logins are a prelude: reliefs are those of the copies.
    let answer = relieved(&text).answer;
    lacks(&answer, "One connection in the place of all alone gives");
}

/// Messages are sent for 200 ms, and the last of them is on its way for longer.
#[test]
fn what_is_left_after_the_last_write_does_not_count() {
    let calls = "[[flow]]\nname = \"call\"\nduration = \"200ms\"\nwrite = \"64KiB\"\n\
                 app = { kind = \"messages\", in_flight = 4 }\n\
                 [[flow]]\nname = \"status\"\nreply_to = \"call\"\nwrite = \"48B\"\n";
    let text = plain("10Gbit", "100us", calls);
    let measured = headline(&text).rate_mbit.expect("a rate");
    let advice = of_first_run(&loaded(&text), &Allowance::default());
    assert!((advice.today.mbit / measured - 1.0).abs() < 0.05, "{} {measured}", advice.answer);
    lacks(&advice.answer, "set nothing");
}

/// A hole of 1450 bytes on a way of 1 Gb/s, with these flows.
fn hole(flows: &str) -> String {
    let path = "forward = [{ kind = \"link\", name = \"uplink\", rate = \"1Gbit\" }, { kind = \"mtu\", name = \"vxlan\", mtu = 1450 }, \
                { kind = \"delay\", name = \"there\", delay = \"2ms\" }]\n\
                back = [{ kind = \"delay\", name = \"back\", delay = \"2ms\" }]";
    between(path, "", "", flows)
}

/// A message that is all sent waits for the repair, not for its program, while nothing of it arrives.
#[test]
fn a_message_that_a_hole_swallows_does_not_wait_for_its_program() {
    let calls = |name: &str, write: &str, more: &str| {
        format!(
            "[[flow]]\nname = \"{name}\"\nduration = \"8s\"\nwrite = \"{write}\"\napp = {{ kind = \"messages\"{more} }}\n\
             [[flow]]\nname = \"{name}-answer\"\nreply_to = \"{name}\"\nwrite = \"120B\"\n"
        )
    };
    let health = calls("health", "300B", ", period = \"500ms\"");
    let own = headline(&hole(&format!("{health}{}", calls("post", "6kB", ""))));
    contains(&own, &["no data of post arrived", "packets of full size do not pass"]);
    // Small posts pass.
    let own = headline(&hole(&format!("{health}{}", calls("post", "1kB", ""))));
    lacks(&own.text, "FAILED");
}

/// ACKs wait for 3 s.
#[test]
fn a_way_back_that_is_out_is_named() {
    let path = "forward = [{ kind = \"link\", name = \"up\", rate = \"50Mbit\" }, { kind = \"delay\", name = \"there\", delay = \"20ms\" }]\n\
                back = [{ kind = \"varying-link\", name = \"down\", rate = \"50Mbit\", steps = [{ at = \"3s\", rate = \"0bit\" }, \
                { at = \"6s\", rate = \"50Mbit\" }] }, { kind = \"delay\", name = \"back\", delay = \"20ms\" }]";
    let copy = |bytes: &str| {
        between(path, "", "", &format!("[[flow]]\nname = \"copy\"\nbytes = \"{bytes}\"\n"))
    };
    contains(&headline(&copy("30MB")), &["down on the way back carries nothing for 3 s"]);
    lacks(&headline(&copy("5MB")).text, "way back");
}

/// SYNs wait in the queue of a link that comes up after 4 s. Nothing is lost.
#[test]
fn a_handshake_that_waits_for_a_link_has_lost_nothing() {
    let text = over("{ at = \"4s\", rate = \"50Mbit\" }")
        .replace("rate = \"50Mbit\", steps", "rate = \"0bit\", steps");
    let text = text.replace("40MB", "5MB");
    let own = headline(&text);
    contains(&own, &["Connecting stops the flow", "lte carries nothing for 4 s"]);
    lacks(&own.text, "lost");
}

/// No one pace fits a path that varies, and readers that lack nothing leave the rest to others.
#[test]
fn a_pace_is_that_of_the_path_that_is_left() {
    let dip = "{ at = \"3s\", rate = \"5Mbit\" }, { at = \"6s\", rate = \"50Mbit\" }";
    let own = headline(&over(dip).replace("steps =", "queue = { limit = \"100kB\" }, steps ="));
    contains(
        &own,
        &["pace the flow just below its part of the path", "varies from 4.71 to 47.1 Mb/s"],
    );
    let flows = "[[flow]]\nname = \"mirror\"\nduration = \"8s\"\n\
                 [[flow]]\nname = \"phone\"\ncount = 5\nduration = \"8s\"\nreader = { rate = \"8Mbit\" }\n";
    contains(&headline(&plain("100Mbit", "20ms", flows)), &["pace mirror at 51.8 Mb/s of payload"]);
}

/// The last connection of a loop has just begun when the run ends. Pauses are no part of the rate.
#[test]
fn a_loop_that_the_run_cuts_is_no_failure() {
    let images =
        "[[flow]]\nname = \"img\"\nbytes = \"400kB\"\nagain = { count = 20, pause = \"500ms\" }\n";
    let own = headline(&plain("40Mbit", "12ms", images));
    contains(&own, &["while a connection is open", "connections, one after another"]);
    lacks(&own.text, "FAILED");
    lacks(&own.text, "got nothing");
    let one = images.split("again").next().expect("the flow");
    lacks(&headline(&plain("40Mbit", "12ms", one)).text, "while a connection is open");
}
