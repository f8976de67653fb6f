//! `fullpipe plan`.

use crate::common::Desk;

const TEN_GIGABIT: [&str; 7] = ["plan", "--rate", "10Gbit", "--rtt", "80ms", "--mtu", "9000"];

#[test]
fn json_has_the_documented_names() {
    let mut arguments = TEN_GIGABIT.to_vec();
    arguments.extend(["--kernel", "2.6.20", "--json"]);
    let plan = Desk::new().call(&arguments).ends_with(0).json();
    assert_eq!(plan["format"], 1);
    assert_eq!(plan["path"]["bdp_bytes"], 100_000_000);
    assert_eq!(plan["path"]["mss_bytes"], 8948);
    // 100000000 / 9038 bytes on the wire
    assert_eq!(plan["window"]["packets"], 11_065);
    assert_eq!(plan["slow_start"]["initial_cwnd_packets"], 2);
    for (part, name) in [
        ("window", "scale"),
        ("buffers", "receive_request_bytes"),
        ("buffers", "send_request_bytes"),
        ("slow_start", "rounds"),
        ("recovery", "reno_seconds"),
    ] {
        assert!(plan[part][name].is_number(), "{part}.{name}");
    }
    assert!(plan["buffers"]["sysctl_request"]["net.core.rmem_max"].is_string());
    assert!(plan["loss"][0]["probability"].is_number());
}

#[test]
fn text_fits_80_columns_and_has_no_colour() {
    let call = Desk::new().call(&TEN_GIGABIT).ends_with(0);
    assert!(call.stdout.contains("100,000,000 bytes"));
    assert!(call.stdout.lines().all(|line| line.chars().count() <= 80));
    assert!(!call.stdout.contains('\u{1b}'));
}

#[test]
fn the_kernel_is_said_where_none_was_named() {
    let desk = Desk::new();
    let call = desk.call(&TEN_GIGABIT).ends_with(0).complains(&["Linux 6.12", "--kernel"]);
    assert!(call.stdout.contains("Linux 6.12"), "{}", call.stdout);
    let named = [&TEN_GIGABIT[..], &["--kernel", "6.12"]].concat();
    let named = desk.call(&named).ends_with(0);
    assert_eq!((named.stderr.as_str(), named.stdout), ("", call.stdout));
}

#[test]
fn a_kernel_that_nothing_judges_is_marked() {
    let desk = Desk::new();
    let newest = [&TEN_GIGABIT[..], &["--kernel", "6.18"]].concat();
    let text = desk.call(&newest).ends_with(0).stdout;
    assert!(text.contains("Linux 6.18 (unjudged)"), "{text}");
    let json = desk.call(&[&newest[..], &["--json"]].concat()).ends_with(0).json();
    assert_eq!(
        (&json["path"]["kernel"], &json["path"]["unjudged"]),
        (&"6.18".into(), &true.into())
    );
    let json = desk.call(&[&TEN_GIGABIT[..], &["--json"]].concat()).ends_with(0).json();
    assert!(json["path"]["unjudged"].is_null());
    let newer = [&TEN_GIGABIT[..], &["--kernel", "6.99"]].concat();
    desk.call(&newer).ends_with(2).complains(&["newer than 6.18"]);
}

#[test]
fn timestamps_cost_twelve_bytes() {
    let mut arguments = TEN_GIGABIT.to_vec();
    arguments.extend(["--no-timestamps", "--json"]);
    let plan = Desk::new().call(&arguments).ends_with(0).json();
    assert_eq!(plan["path"]["mss_bytes"], 8960);
}

#[test]
fn wrong_quantities_end_with_2_and_say_what_was_expected() {
    let desk = Desk::new();
    let table: [(&[&str], &str); 7] = [
        (&["--rate", "10", "--rtt", "80ms"], "needs a unit, for example 10Gbit"),
        (&["--rate", "10GB", "--rtt", "80ms"], "not a unit of a rate"),
        (&["--rate=-1Gbit", "--rtt", "80ms"], "not negative"),
        (&["--rate", "10Gbit", "--rtt", "0s"], "above 0"),
        (&["--rate", "10Gbit", "--rtt", "80ms", "--mtu", "10"], "88 to 65535"),
        (&["--rate", "10Gbit", "--rtt", "80ms", "--kernel", "2.4.1"], "older than 2.6.20"),
        (&["--rate", "10Gbit", "--rtt", "80ms", "--kernel", "new"], "not a Linux version"),
    ];
    for (rest, message) in table {
        let arguments: Vec<&str> = ["plan"].iter().chain(rest).copied().collect();
        let call = desk.call(&arguments).ends_with(2).complains(&[message]);
        assert_eq!(call.stdout, "");
    }
}

/// Files, undo and proof of a mount; a scenario that a run takes, written once.
#[test]
fn a_mount_is_planned_and_proven() {
    let desk = Desk::new();
    let asked = ["plan", "--nfs", "--rate", "50Mbit", "--rtt", "200ms", "--file", "16MiB"];
    let text = desk.call(&asked).ends_with(0).stdout;
    for part in ["planned  read", "held back by", "nfs4=", "echo 128 >", "mount -t nfs", "To undo"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let kept = [&asked[..], &["--no-proof", "--scenario", "plan.toml", "--json"]].concat();
    let plan = desk.call(&kept).ends_with(0).json();
    assert_eq!((&plan["settings"]["size"], &plan["proof"]), (&1_048_576.into(), &().into()));
    desk.call(&["run", "plan.toml", "--dry-run"]).ends_with(0);
    desk.call(&kept).ends_with(2).complains(&["plan.toml is there already", "name a new file"]);
    let near = [&asked[..], &["--near", "2", "--near-rtt", "1s"]].concat();
    desk.call(&near).ends_with(2).complains(&["near rtt", "the far clients' rtt, 200ms"]);
    desk.call(&[&asked[..], &["--near-rtt", "1ms"]].concat()).ends_with(2).complains(&["--near"]);
    let unproven = [&asked[..], &["--no-proof"]].concat();
    desk.call(&unproven).ends_with(2).complains(&["--file", "--scenario"]);
    let old = [&asked[..], &["--kernel", "3.14"]].concat();
    desk.call(&old).ends_with(2).complains(&["Linux 6.12 alone, not for 3.14"]);
    desk.call(&["plan", "--rate", "50Mbit", "--rtt", "200ms", "--clients", "3"])
        .ends_with(2)
        .complains(&["--nfs"]);
}
