//! Each choice that the profiles of today's kernels make, and read, is shown by a conversation of such a kernel that makes it
//! on one side of its flip and another choice on the other side.

use super::case::Case;
use super::files;
use fullpipe_sim::tcp::behaviour::BEHAVIOURS;
use fullpipe_sim::tcp::profile::{PROFILES, Profile, find};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;

/// Kernels of which every choice is shown.
const KERNELS: [&str; 2] = ["6.1", "6.12"];

/// Choices about what is no conversation of two endpoints, and where they are flipped instead: a file of these tests and
/// its test.
const ELSEWHERE: &[(Choice, &str, &str)] = &[
    // What one poll of the card takes: a table of its own, golden/gro.
    (("gro", "true"), "gro.rs", "what_goes_up"),
    // A host's queue.
    (("fq_bands", "true"), "qdisc.rs", "fq_bands"),
    (("fq_bands", "false"), "qdisc.rs", "fq_bands"),
    (("fq_paces", "false"), "tcp_in_host.rs", "fq_paces"),
    // Echoes within a millisecond, the conversations' unit.
    (("same_tick_rtt", "true"), "tcp_buffers.rs", "same_tick_rtt"),
    (("same_tick_rtt", "false"), "tcp_buffers.rs", "same_tick_rtt"),
    // A process that holds the socket.
    (("woken_first", "true"), "woken.rs", "a_woken_writer_goes_before_the_ack_of_its_nanosecond"),
    (("woken_first", "false"), "woken.rs", "a_woken_writer_goes_before_the_ack_of_its_nanosecond"),
    // A CPU that packets and programs share.
    (("net_rx", "one-poll"), "softirq.rs", "who_has_the_cpu"),
    (("softirq_end", "passes-or-time"), "softirq.rs", "who_has_the_cpu"),
    (("ksoftirqd_alone", "true"), "softirq.rs", "who_has_the_cpu"),
    (("ksoftirqd_alone", "false"), "softirq.rs", "who_has_the_cpu"),
    (("datagram_read_locks", "true"), "softirq.rs", "who_has_the_cpu"),
    (("scheduler", "fair-6ms"), "softirq.rs", "who_has_the_cpu"),
    (("scheduler", "deadlines"), "softirq.rs", "who_has_the_cpu"),
    (("socket_backlog", "counted"), "socket_backlog.rs", "a_backlog_is_acknowledged"),
    (("socket_backlog", "one-ack"), "socket_backlog.rs", "a_backlog_is_acknowledged"),
    (("locked_timers", "released"), "locked_socket.rs", "a_timer_that_is_put_off_comes_again"),
    // The handshake.
    (("repeated_syn", "unless-late"), "syn.rs", "a_syn_that_was_lost_twice_cuts_cwnd"),
    // Data both ways.
    (("answers_bear_acks", "true"), "answers.rs", "ping_pong_mode"),
];

/// The same of choices that no kernel makes: what one without the mechanism would do.
const WITHOUT: &[(Choice, &str, &str)] =
    &[(("answers_bear_acks", "false"), "answers.rs", "ping_pong_mode")];

/// A row and what is chosen there.
type Choice = (&'static str, &'static str);

/// What the profiles choose in rows that they read.
fn chosen() -> BTreeSet<Choice> {
    let profiles = KERNELS.map(|name| find(name).expect("it is known"));
    let of = |profile: &'static Profile| {
        let read = BEHAVIOURS.iter().filter(|row| row.unmet(profile).is_none());
        read.map(|row| (row.name, row.of(profile)))
    };
    profiles.into_iter().flat_map(of).collect()
}

/// The profile of a conversation's kernel, with what its head sets.
fn profile_of(case: &Case) -> Profile {
    let seen = Cell::new(PROFILES[0]);
    case.run_changed(|profile| {
        seen.set(profile);
        profile
    });
    seen.get()
}

/// The choices of both sides of a conversation's flip; none if it flips no row, or changes nothing.
fn shown(case: &Case, base: &Profile) -> Vec<Choice> {
    let row = BEHAVIOURS.iter().find(|row| row.name == case.flip.0 && case.changes());
    let Some(row) = row else { return Vec::new() };
    let mut flipped = *base;
    assert!(row.apply(&mut flipped, &case.flip.1), "{:?}", case.flip);
    vec![(row.name, row.of(base)), (row.name, row.of(&flipped))]
}

/// All that conversations of these kernels show.
fn shown_by(kernels: &[&str]) -> BTreeSet<Choice> {
    let cases = files().into_iter().map(|file| {
        let text = fs::read_to_string(&file).expect("a readable file");
        Case::parse(&text)
    });
    let with_profile = cases.map(|case| (profile_of(&case), case));
    let of_kernels = with_profile.filter(|(profile, _)| kernels.contains(&profile.name));
    of_kernels.flat_map(|(profile, case)| shown(&case, &profile)).collect()
}

#[test]
fn every_choice_of_todays_kernels_is_shown() {
    let (chosen, shown) = (chosen(), shown_by(&KERNELS));
    let elsewhere: BTreeSet<Choice> = ELSEWHERE.iter().map(|(choice, ..)| *choice).collect();
    let missing: Vec<_> = chosen
        .iter()
        .filter(|choice| !shown.contains(*choice) && !elsewhere.contains(*choice))
        .collect();
    assert!(missing.is_empty(), "no conversation shows {missing:#?}");
    let needless: Vec<_> = elsewhere
        .iter()
        .filter(|choice| !chosen.contains(*choice) || shown.contains(*choice))
        .collect();
    assert!(needless.is_empty(), "not chosen, or shown by a conversation: {needless:?}");
}

/// A choice that no kernel version makes is there for a conversation.
#[test]
fn no_choice_is_idle() {
    let names = PROFILES.iter().map(|profile| profile.name).collect::<Vec<_>>();
    let shown = shown_by(&names);
    let all = BEHAVIOURS.iter().flat_map(|row| (row.choices)().into_iter().map(move |c| (row, c)));
    let idle: Vec<_> = all
        .filter(|(row, choice)| PROFILES.iter().all(|profile| row.of(profile) != *choice))
        .map(|(row, choice)| (row.name, choice))
        .filter(|choice| !shown.contains(choice))
        .filter(|choice| WITHOUT.iter().all(|(elsewhere, ..)| elsewhere != choice))
        .collect();
    assert!(idle.is_empty(), "no kernel makes these choices, and no conversation: {idle:?}");
}

/// The tests that stand for conversations are there.
#[test]
fn tests_elsewhere_exist() {
    for (choice, file, test) in ELSEWHERE.iter().chain(WITHOUT) {
        let path = format!("{}/tests/all/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(&path).unwrap_or_else(|why| panic!("{path}: {why}"));
        let test = format!("#[test]\nfn {test}()");
        assert!(text.contains(&test), "{choice:?}: {file} has no {test}");
    }
}
