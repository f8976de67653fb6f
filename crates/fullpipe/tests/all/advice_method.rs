//! The method of advice on small cases, each with a list of changes that a simpler method would not find.

use crate::field_advice::{bench, of_first_run};
use crate::made::loaded;
use fullpipe::advice::method::{Allowance, Goal};
use fullpipe::advice::newcomer::newcomer;
use fullpipe::advice::{Advice, Case, Edit, Scope, document};

pub fn advised(text: &str) -> Advice {
    let scenario = loaded(text);
    of_first_run(&scenario, &Allowance::default())
}

/// A path with one flow: rate in bit/s, queue in bytes, delay each way in us, keys of sender and receiver, duration.
pub fn one_flow(
    rate: u64,
    queue: u64,
    delay_us: u64,
    [sender, receiver]: [&str; 2],
    lasts: &str,
) -> String {
    format!(
        "[path]\nrate = \"{rate}bit\"\nqueue = {{ limit = \"{queue}B\" }}\n\
         delay = {{ forward = \"{delay_us}us\", back = \"{delay_us}us\" }}\n\
         [hosts]\nsender = {{ {sender} }}\nreceiver = {{ {receiver} }}\n\
         [[flow]]\nname = \"bulk\"\nduration = \"{lasts}\"\n"
    )
}

pub fn settings(advice: &Advice) -> Vec<&str> {
    advice.changes.iter().map(|own| own.change.setting.as_str()).collect()
}

/// All changes give 0.97 of the path. Without the pace it is full, but then the receive buffer matters.
#[test]
fn the_rest_is_judged_by_the_most_that_the_changes_give() {
    let hosts = ["kernel = \"6.12\""; 2];
    let advice = advised(&one_flow(195_000_000, 5_900_000, 89_708, hosts, "10s"));
    assert_eq!(settings(&advice), ["net.ipv4.tcp_wmem", "net.ipv4.tcp_rmem"]);
    assert!(advice.advised.share.expect("a path with a rate") >= 0.98, "{}", advice.answer);
    let lost = advice.sensitivity.iter().find(|own| own.what == "one packet lost");
    let lost = lost.expect("a path that loses a packet").mbit;
    let full = advice.advised.mbit;
    assert!((0.5 * full..0.99 * full).contains(&lost), "{lost} of {full} Mb/s with one loss");
}

/// The path is full in the end. Without SACK the repair after slow start takes seconds, which a smaller window would avoid.
#[test]
fn losses_without_sack_are_cured_by_sack() {
    let advice = advised(
        r#"
        [path]
        mtu = 1200
        forward = [
            { kind = "link", name = "link", rate = "56Mbit", queue = { limit = "100kB" } },
            { kind = "delay", name = "delay", delay = "3666us" },
        ]
        back = [{ kind = "delay", name = "back-delay", delay = "3044us" }]
        [hosts]
        sender = { kernel = "6.12", nic_rate = "183Mbit", timestamps = false }
        receiver = { kernel = "6.12", sysctl = { "net.ipv4.tcp_sack" = 0 } }
        [[flow]]
        name = "copy"
        duration = "5s"
        congestion = { name = "cubic", hystart = 0, initial_ssthresh = 0 }
        "#,
    );
    assert_eq!(settings(&advice), ["net.ipv4.tcp_sack"], "{}", advice.answer);
    assert!(advice.today.share.expect("a path with a rate") > 0.97, "{}", advice.answer);
    assert!(advice.answer.contains("in the mean"), "{}", advice.answer);
}

/// Each change names the outcome of the others without it, also where the search had more changes at first.
#[test]
fn a_change_says_what_the_others_do_without_it() {
    for text in [OLD_SENDER.to_string(), limit("rx_ring"), limit("send_buffer")] {
        let scenario = loaded(&text);
        let case = Case::new(&scenario, &scenario.plans()[0]).expect("a case");
        let advice = of_first_run(&scenario, &Allowance::default());
        assert!(!advice.changes.is_empty(), "{}", advice.answer);
        let case = Case { is_chancy: advice.seeds > 1, ..case };
        for own in &advice.changes {
            let others = advice.changes.iter().filter(|other| other.change != own.change);
            let edits: Vec<&Edit> = others.flat_map(|other| &other.change.edits).collect();
            let without = &bench().trials(&case, &[edits]).expect("a trial")[0];
            let said = own.without_mbit;
            assert_eq!(without.mbit, said, "{}", advice.answer);
        }
    }
}

/// Linux 2.6.20 ends the first slow start of cubic at 100 packets.
#[test]
fn a_first_ssthresh_of_an_old_kernel_is_taken_away() {
    let advice = advised(OLD_SENDER);
    assert!(settings(&advice).contains(&"cubic initial_ssthresh"), "{}", advice.answer);
    let own = advice.changes.iter().find(|own| own.change.setting.starts_with("cubic"));
    assert_eq!(own.expect("the change").change.whose, "sender");
    assert!(advice.files.program.iter().any(|line| line.contains("/sys/module/tcp_cubic")));
}

/// A transfer that is over before the middle of a trial loses its packet within it.
#[test]
fn a_short_transfer_loses_its_one_packet() {
    let advice = advised(
        r#"
        duration = "20s"
        [path]
        rate = "200Mbit"
        delay = { forward = "20ms", back = "20ms" }
        [hosts]
        sender = { kernel = "6.12" }
        receiver = { kernel = "6.12" }
        [[flow]]
        name = "file"
        bytes = "20MB"
        sndbuf = "64KiB"
        "#,
    );
    let all: Vec<&str> = advice.sensitivity.iter().map(|own| own.what.as_str()).collect();
    assert!(all.contains(&"one packet lost"), "{all:?}");
}

/// A shaper that is slower by 3 % has 3 % less.
#[test]
fn a_shaper_may_be_slower_than_today() {
    let advice = advised(
        r#"
        [path]
        forward = [
            { kind = "shaper", name = "shaper", rate = "50Mbit", burst = "20kB", queue = { limit = "500kB" } },
            { kind = "delay", name = "delay", delay = "20ms" },
        ]
        back = [{ kind = "delay", name = "back-delay", delay = "20ms" }]
        [hosts]
        sender = { kernel = "6.12" }
        receiver = { kernel = "6.12" }
        [[flow]]
        name = "bulk"
        duration = "10s"
        sndbuf = "32KiB"
        "#,
    );
    let slower = advice.sensitivity.iter().find(|own| own.what == "rate 3 % lower");
    let share = slower.and_then(|own| own.share).expect("a path with a rate");
    // The pace is 97 % of today's path, and all of the slower one.
    assert!(advice.advised.share.expect("a share") < 0.98 && share > 0.99, "{share}");
}

/// A pace for the time in which others share the path leaves a part of it empty at other times, which is said.
#[test]
fn a_pace_of_a_flow_that_is_often_alone_has_a_word() {
    let advice = advised(
        r#"
        [path]
        rate = "150Mbit"
        delay = { forward = "40ms", back = "40ms" }
        queue = { limit = "45 packets" }
        [hosts]
        sender = { kernel = "5.15" }
        receiver = { kernel = "5.15" }
        [[flow]]
        name = "first"
        duration = "9s"
        [[flow]]
        name = "late"
        start = "6s"
        duration = "3s"
        "#,
    );
    assert!(settings(&advice).contains(&"SO_MAX_PACING_RATE"), "{}", advice.answer);
    let alone = "Flow first is alone for 67 % of its life";
    assert!(advice.notes.iter().any(|note| note.starts_with(alone)), "{:?}", advice.notes);
}

/// A pace fills the path, too, but an operator of the network alone cannot set it.
#[test]
fn a_policer_gets_a_larger_bucket() {
    let scenario = loaded(
        r#"
        [path]
        [[path.forward]]
        kind = "delay"
        name = "wan"
        delay = "20ms"
        [[path.forward]]
        kind = "policer"
        name = "police"
        rate = "50Mbit"
        burst = "20kB"
        [[path.back]]
        kind = "delay"
        name = "back"
        delay = "20ms"
        [hosts]
        sender = { kernel = "6.12" }
        receiver = { kernel = "6.12" }
        [[flow]]
        name = "copy"
        duration = "15s"
        "#,
    );
    let allowance = Allowance { scopes: vec![Scope::Path], ..Allowance::default() };
    let advice = of_first_run(&scenario, &allowance);
    assert_eq!(settings(&advice), ["policer burst"], "{}", advice.answer);
    assert_eq!(advice.changes[0].change.advised, "250 kB");
    let gain = advice.advised.mbit / advice.today.mbit;
    assert!(gain > 1.1, "{}", advice.answer);
}

/// Flows of unequal rates need 1.4 times their part; a pace makes them equal.
#[test]
fn paced_flows_get_buffers_for_equal_rates() {
    let advice = advised(
        r#"
        [path]
        rate = "14467Mbit"
        mtu = 9000
        queue = { limit = "2421kB" }
        delay = { forward = "5298us", back = "5298us" }
        [hosts]
        sender = { kernel = "6.12" }
        receiver = { kernel = "6.12" }
        [[flow]]
        name = "bulk"
        duration = "5s"
        count = 4
        "#,
    );
    assert_eq!(settings(&advice), ["net.ipv4.tcp_wmem", "SO_MAX_PACING_RATE"]);
    // A quarter of the path is 4.8 MB in flight, which is 0.63 of 7.5 MB.
    let least = advice.changes[0].least.expect("a size") as f64;
    assert!((7.3e6..7.8e6).contains(&least), "{least}");
    assert_eq!(advice.changes[0].change.advised, "9 MiB");
}

/// TCP's window ends at 1 GiB, and the path needs 1.2 GB.
#[test]
#[ignore = "a study: make studies"]
fn study_a_path_beyond_the_largest_window_gets_streams() {
    let advice = advised(
        r#"
        [path]
        rate = "100Gbit"
        mtu = 9000
        delay = { forward = "50ms", back = "50ms" }
        [hosts]
        sender = { kernel = "6.12" }
        receiver = { kernel = "6.12" }
        [[flow]]
        name = "bulk"
        duration = "8s"
        "#,
    );
    let expected = ["net.ipv4.tcp_wmem", "net.ipv4.tcp_rmem", "parallel streams"];
    assert_eq!(settings(&advice), expected, "{}", advice.answer);
    assert!(advice.advised.share.expect("a path with a rate") >= 0.97, "{}", advice.answer);
    // Two streams with full buffers need more than a sixteenth of 4 GiB, where the kernel holds sockets back by default.
    let is_bound = |own: &String| own.contains("also needs net.ipv4.tcp_mem = ");
    assert!(advice.notes.iter().any(is_bound), "{:?}", advice.notes);
}

/// Four programs ask for the same small buffer: that is one change, and is taken away in one trial.
#[test]
fn alike_changes_of_several_flows_are_one() {
    let advice = advised(
        r#"
        [path]
        rate = "1Gbit"
        delay = { forward = "10ms", back = "10ms" }
        [hosts]
        sender = { kernel = "6.12" }
        receiver = { kernel = "6.12" }
        [[flow]]
        name = "bulk"
        duration = "5s"
        count = 4
        sndbuf = "64KiB"
        "#,
    );
    assert_eq!(settings(&advice)[0], "SO_SNDBUF", "{}", advice.answer);
    let change = &advice.changes[0].change;
    assert_eq!((change.whose.as_str(), change.edits.len()), ("4 flows", 4));
    assert!(!advice.notes.iter().any(|own| own.contains("tcp_mem =")), "{:?}", advice.notes);
}

/// The path is full. One of its two flows has a small buffer and another congestion control.
#[test]
fn a_starved_flow_gets_its_part() {
    let scenario = loaded(STARVED);
    let advice = of_first_run(&scenario, &Allowance::default());
    assert!(advice.changes.is_empty(), "{}", advice.answer);
    assert!(advice.answer.contains("Flow two has"), "{}", advice.answer);

    let fair = Allowance { goal: Goal::Fair, ..Allowance::default() };
    let advice = of_first_run(&scenario, &fair);
    let least = |own: &document::Result| own.slowest.as_ref().expect("a flow").share();
    let [today, then] = [least(&advice.today), least(&advice.advised)];
    assert!(today < 0.5 && then > 0.9, "{today} {then}");
    assert!(advice.advised.mbit >= 0.95 * advice.today.mbit, "{}", advice.answer);
}

/// A goal of delay is about the queue that the cure leaves; the answer also names its gain.
#[test]
fn a_goal_of_delay_says_the_gain_and_the_queue() {
    let deep = STARVED.replace("2MB", "4MB");
    let deep = deep.split("[[flow]]").take(1).collect::<String>()
        + "[[flow]]\nname = \"one\"\nduration = \"20s\"\nsndbuf = \"200KiB\"\n";
    let scenario = loaded(&deep);
    let delay = Allowance { goal: Goal::Delay, ..Allowance::default() };
    let advice = of_first_run(&scenario, &delay);
    assert!(advice.answer.contains("instead of"), "{}", advice.answer);
    assert!(advice.answer.contains("with a queue of"), "{}", advice.answer);
    assert!(advice.advised.queue_ms <= 0.25 * advice.base_rtt_ms, "{}", advice.answer);
}

/// A small receive buffer leaves a newcomer all it can take; large ones make it fight for its half.
#[test]
fn a_newcomer_has_its_part_after_a_minute() {
    let text = r#"
        [path]
        rate = "100Mbit"
        queue = { limit = "500kB" }
        delay = { forward = "10ms", back = "10ms" }
        [hosts]
        sender = { kernel = "6.12" }
        receiver = { kernel = "6.12" }
        [[flow]]
        name = "bulk"
        duration = "5s"
        rcvbuf = "32KiB"
    "#;
    let scenario = loaded(text);
    let case = Case::new(&scenario, &scenario.plans()[0]).expect("a case");
    let edit = Edit::flow("bulk", &["rcvbuf"], None);
    let own = newcomer(&case, &[&edit], &bench()).expect("runs").expect("a newcomer");
    let half = 100.0 * 1448.0 / 1538.0 / 2.0;
    assert!((own.part_mbit - half).abs() < 0.1, "{own:?}");
    assert!((0.5..1.5).contains(&(own.mbit / half)), "{own:?}");
    // 64 KiB of memory are 32 KiB to 64 KiB of window in 20 ms.
    assert!((13.0..26.5).contains(&own.today_mbit), "{own:?}");

    let sized = text.replace("duration = \"5s\"", "bytes = \"10MB\"");
    let sized = format!("duration = \"60s\"\n{sized}");
    let scenario = loaded(&sized);
    let case = Case::new(&scenario, &scenario.plans()[0]).expect("a case");
    assert_eq!(newcomer(&case, &[&edit], &bench()).expect("no run"), None);
}

const STARVED: &str = r#"
[path]
rate = "500Mbit"
queue = { limit = "2MB" }
delay = { forward = "20ms", back = "20ms" }
[hosts]
sender = { kernel = "6.12" }
receiver = { kernel = "6.12" }
[[flow]]
name = "one"
duration = "20s"
[[flow]]
name = "two"
congestion = "reno"
sndbuf = "256KiB"
duration = "20s"
"#;

const OLD_SENDER: &str = r#"
[path]
rate = "200Mbit"
delay = { forward = "30ms", back = "30ms" }
queue = { limit = "2MB" }
[hosts]
sender = { kernel = "2.6.20", sysctl = { "net.ipv4.tcp_wmem" = "4096 16384 4194304" } }
receiver = { kernel = "6.12" }
[[flow]]
name = "bulk"
duration = "15s"
"#;

/// Text of a scenario of one limit.
fn limit(name: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/limits");
    std::fs::read_to_string(folder.join(format!("{name}.toml"))).expect("the scenario")
}

/// A mount over 500 Mb/s x 50 ms.
fn mount(keys: &str) -> Advice {
    advised(&format!(
        "duration = \"10s\"\n[path]\nrate = \"500Mbit\"\ndelay = {{ forward = \"25ms\", back = \"25ms\" }}\n\
         [hosts]\nsender = {{ kernel = \"6.12\" }}\nreceiver = {{ kernel = \"6.12\" }}\n\
         [[nfs]]\nname = \"home\"\nfile = \"100MB\"\n{keys}"
    ))
}

/// Sixteen calls of 32 KiB in 50 ms are 84 Mb/s. Slots without a bound fill the path alone, so that calls need not be longer.
#[test]
fn a_mount_that_has_all_its_calls_under_way_gets_more() {
    let own = mount("operation = \"write\"\nversion = \"3\"\nwsize = \"32KiB\"\nslots = 16");
    assert!((80.0..84.2).contains(&own.today.mbit), "{}", own.answer);
    assert!(own.advised.mbit > 0.9 * 470.0, "{}", own.answer);
    let set = settings(&own);
    assert!(set.contains(&"sunrpc.tcp_max_slot_table_entries"), "{}", own.answer);
    assert!(!set.contains(&"wsize"), "{}", own.answer);
}

/// Two calls of 1 MiB in 50 ms are 336 Mb/s. Each takes 18 ms of the line besides: 196 Mb/s at least. No call is longer.
#[test]
fn a_mount_with_the_longest_calls_gets_more_of_them() {
    let own = mount("operation = \"write\"\nslots = 2");
    assert!((196.0..336.0).contains(&own.today.mbit), "{}", own.answer);
    assert!(own.advised.mbit > 0.9 * 470.0, "{}", own.answer);
    assert!(settings(&own).contains(&"nfs.max_session_slots"), "{}", own.answer);
}

/// The simulator's bbr is that of Linux 6.1 and later with RACK: on other senders it is refused, and advice tries the rest.
#[test]
fn a_change_that_the_engine_refuses_is_not_tried() {
    let lossy = |sender: &str| {
        format!(
            "[path]\nrate = \"100Mbit\"\nloss = 1e-3\ndelay = {{ forward = \"20ms\", back = \"20ms\" }}\n\
             [hosts]\nsender = {{ {sender} }}\nreceiver = {{ kernel = \"6.12\" }}\n\
             [[flow]]\nname = \"bulk\"\nduration = \"8s\"\n"
        )
    };
    let tries_bbr = |sender: &str| {
        let advice = advised(&lossy(sender));
        advice.changes.iter().any(|own| own.change.advised == "bbr")
    };
    assert!(tries_bbr("kernel = \"6.12\""));
    assert!(!tries_bbr("kernel = \"3.14\""));
    assert!(!tries_bbr("kernel = \"6.12\", behaviour = { departure_times = false }"));
}

/// Requests in two writes wait for a delayed ACK of 40 ms, and then a round trip of 2 ms for the answer: 44 ms each. Quick ACKs of the
/// receiver leave two round trips, TCP_NODELAY of the sender leaves one.
#[test]
fn nagle_against_delayed_acks_is_cured_at_either_end() {
    let text = r#"
        path = { rate = "50Mbit", delay = { forward = "1ms", back = "1ms" } }
        hosts = { sender = { kernel = "6.12" }, receiver = { kernel = "6.12" } }
        [[flow]]
        name = "calls"
        duration = "5s"
        write = "500B"
        app = { kind = "messages", size = "1000B" }
        [[flow]]
        name = "replies"
        reply_to = "calls"
        write = "100B"
        "#;
    let scenario = loaded(text);
    for (scopes, setting, least, most) in [
        (vec![Scope::Receiver], "TCP_QUICKACK", 9.0, 11.0),
        (Allowance::default().scopes, "TCP_NODELAY", 18.0, 22.0),
    ] {
        let advice = of_first_run(&scenario, &Allowance { scopes, ..Allowance::default() });
        assert_eq!(settings(&advice), [setting], "{}", advice.answer);
        let gain = advice.advised.mbit / advice.today.mbit;
        assert!((least..most).contains(&gain), "{setting}: {gain:.2} times the rate");
    }
}

/// A program sends a message each 100 ms, so its rate cannot grow: its messages come sooner. Only the answers have Nagle's
/// rule, and they are sent by the receiver.
#[test]
fn messages_by_the_clock_come_sooner() {
    let text = r#"
        path = { rate = "50Mbit", delay = { forward = "10ms", back = "10ms" } }
        hosts = { sender = { kernel = "6.12" }, receiver = { kernel = "6.12" } }
        [[flow]]
        name = "calls"
        duration = "5s"
        write = "500B"
        app = { kind = "messages", size = "500B", period = "100ms" }
        [[flow]]
        name = "answers"
        reply_to = "calls"
        write = "2kB"
        app = { kind = "messages", size = "4kB" }
        "#;
    let scenario = loaded(text);
    let advice = of_first_run(&scenario, &Allowance::default());
    assert_eq!(settings(&advice), ["TCP_NODELAY"], "{}", advice.answer);
    assert_eq!(advice.changes[0].change.whose, "answers");
    let times = [&advice.today, &advice.advised].map(|own| own.message_ms.expect("messages"));
    assert!(times[0] > 40.0 && times[1] < 21.0, "{times:?}");
    assert!(advice.answer.contains("half of the messages within 20."), "{}", advice.answer);

    // The administrator of the sender can only shorten what the sender holds: nothing.
    let scopes = vec![Scope::Sender];
    let none = of_first_run(&scenario, &Allowance { scopes, ..Allowance::default() });
    assert!(none.changes.is_empty(), "{}", none.answer);
}
