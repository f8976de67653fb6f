//! Verdict, advice and reliefs are about the same data.

use crate::advice_method::advised;
use crate::field_advice::of_first_run;
use crate::made::{loaded, made};
use crate::relieve::relieved;
use fullpipe::advice::Scope;
use fullpipe::advice::document::Result;
use fullpipe::advice::method::{Allowance, Goal};

const HOSTS: &str = "[hosts]\nsender = { kernel = \"6.12\" }\nreceiver = { kernel = \"6.12\" }\n";

/// 1 Gb/s x 80 ms: today's buffers hold a third of it.
const LONG: &str = "[path]\nrate = \"1Gbit\"\ndelay = { forward = \"40ms\", back = \"40ms\" }\nqueue = { limit = \"10MB\" }\n";

/// The download carries nearly all of the data, at any place among the flows.
#[test]
fn a_download_beside_a_small_upload_is_meant_by_all_three() {
    let down = "[[flow]]\nname = \"down\"\ndirection = \"backward\"\nduration = \"10s\"\n";
    let up = "[[flow]]\nname = \"up\"\nbytes = \"1kB\"\n";
    for flows in [format!("{down}{up}"), format!("{up}{down}")] {
        let text = format!("duration = \"20s\"\n{LONG}{HOSTS}{flows}");
        let scenario = loaded(&text);
        let (run, _) = made(&scenario, &scenario.plans()[0]);
        let headline = run.headline.expect("a verdict");
        assert!(headline.text.contains("The send buffer of receiver"), "{}", headline.text);

        let advice = advised(&text);
        let whose: Vec<&str> = advice.changes.iter().map(|own| &own.change.whose[..]).collect();
        assert_eq!(whose, ["receiver", "sender"], "{}", advice.answer);

        let gains = relieved(&text);
        assert_eq!(gains.flows, ["down"]);
        // Either buffer alone leaves the other one.
        assert_eq!(gains.reliefs[0].name, "buffers", "{}", gains.answer);
        assert!(
            gains.gain("buffers").expect("a gain")
                > 2.0 * gains.gain("send-buffer").expect("a gain")
        );
    }
}

/// Sockets whose programs hardly read fill the memory of their host: the download beside them is meant, at any place
/// among the flows, and the advised memory suffices for all of them.
#[test]
fn a_flow_beside_sockets_that_hoard_is_meant_by_all_three() {
    let bounded = HOSTS.replacen(
        "\"6.12\"",
        "\"6.12\", sysctl = { \"net.ipv4.tcp_mem\" = \"341 512 683\" }",
        1,
    );
    let path = "[path]\nrate = \"200Mbit\"\ndelay = { forward = \"20ms\", back = \"20ms\" }\n";
    let readers = "[[flow]]\nname = \"reader\"\ncount = 20\nduration = \"5s\"\nreader = { rate = \"50kbit\" }\n";
    let bulk = "[[flow]]\nname = \"bulk\"\nstart = \"2s\"\nduration = \"4s\"\n";
    for flows in [[readers, bulk], [bulk, readers]] {
        let text = format!("{path}{bounded}{}", flows.concat());
        let scenario = loaded(&text);
        let (run, _) = made(&scenario, &scenario.plans()[0]);
        assert_eq!(run.headline.expect("a verdict").code.as_deref(), Some("tcp_mem"));

        let advice = advised(&text);
        let settings: Vec<&str> =
            advice.changes.iter().map(|own| &own.change.setting[..]).collect();
        assert_eq!(settings, ["net.ipv4.tcp_mem"], "{}", advice.answer);
        let share = |own: &Result| own.share.expect("a path with a rate");
        assert!(share(&advice.today) < 0.2 && share(&advice.advised) > 0.95, "{}", advice.answer);

        let gains = relieved(&text);
        assert_eq!(gains.flows, ["bulk"]);
        assert!(gains.gain("tcp-mem").expect("a gain") > 5.0, "{}", gains.answer);
    }
}

/// From the first number of tcp_mem on send buffers do not grow, although the kernel counts no pressure.
#[test]
fn send_buffers_that_do_not_grow_for_lack_of_memory_are_told() {
    let verdict = |sysctl: &str| {
        let text = format!(
            "duration = \"6s\"\n[path]\nrate = \"1Gbit\"\ndelay = {{ forward = \"10ms\", back = \"10ms\" }}\n\
             [hosts]\nsender = {{ kernel = \"6.1\"{sysctl} }}\nreceiver = {{ kernel = \"6.1\" }}\n\
             [[flow]]\nname = \"fast\"\nduration = \"5s\"\n\
             [[flow]]\nname = \"slow\"\nduration = \"5s\"\ncount = 100\nreader = {{ rate = \"20kbit\" }}\n"
        );
        let scenario = loaded(&text);
        let (run, _) = made(&scenario, &scenario.plans()[0]);
        run.headline.expect("a verdict")
    };
    let full = verdict(", sysctl = { \"net.ipv4.tcp_mem\" = \"3072 4608 6144\" }");
    assert_eq!(full.code.as_deref(), Some("tcp_mem"), "{}", full.text);
    assert!(full.text.contains("slow-1 … slow-100 hold"), "{}", full.text);
    let free = verdict("");
    assert_ne!(free.code.as_deref(), Some("tcp_mem"), "{}", free.text);
    assert!(free.rate_mbit > full.rate_mbit.map(|mbit| 5.0 * mbit), "{}", free.text);
}

/// Datagrams take half of the path, so TCP's part is the other half, and buffers for half of it are enough.
#[test]
fn datagrams_leave_less_to_flows() {
    let udp = "[[datagrams]]\nname = \"video\"\nkind = \"udp\"\nsize = \"1200B\"\nrate = \"500Mbit\"\nduration = \"30s\"\n";
    let flow = "[[flow]]\nname = \"bulk\"\nduration = \"30s\"\n";
    let size = |text: &str| {
        let advice = advised(&format!("duration = \"31s\"\n{LONG}{HOSTS}{text}"));
        let is_send =
            |own: &&fullpipe::advice::method::Kept| own.change.setting == "net.ipv4.tcp_wmem";
        let own =
            advice.changes.iter().find(is_send).unwrap_or_else(|| panic!("{}", advice.answer));
        own.change.advised.trim_end_matches(" MiB").parse::<f64>().expect("MiB")
    };
    let (alone, beside) = (size(flow), size(&format!("{flow}{udp}")));
    assert!((0.4..0.8).contains(&(beside / alone)), "{beside} of {alone} MiB");
}

/// More datagrams than the path carries need a slower program, not a setting.
#[test]
fn too_many_datagrams_are_to_be_sent_more_slowly() {
    let udp = "[[datagrams]]\nname = \"video\"\nkind = \"udp\"\nsize = \"1200B\"\nrate = \"2Gbit\"\nduration = \"3s\"\n\
               [[flow]]\nname = \"small\"\nbytes = \"1kB\"\n";
    let advice = advised(&format!("duration = \"4s\"\n{LONG}{HOSTS}{udp}"));
    assert!(advice.changes.is_empty());
    // 1200 of 1266 bytes on the wire are payload.
    assert!(
        advice.answer.starts_with("Let video send 948 Mb/s or less: it sends 2,000 Mb/s"),
        "{}",
        advice.answer
    );
}

/// A short queue costs a cap and a pace together, and the answer says where even these do not reach it.
#[test]
fn a_goal_that_is_missed_is_said() {
    let lossy = "[path]\nforward = [{ kind = \"link\", name = \"link\", rate = \"20Mbit\", queue = { limit = \"500kB\" } }, \
                 { kind = \"delay\", name = \"there\", delay = \"5ms\" }]\nback = [{ kind = \"delay\", name = \"back\", delay = \"5ms\" }]\n";
    let udp = "[[datagrams]]\nname = \"video\"\nkind = \"udp\"\nsize = \"1200B\"\nrate = \"18Mbit\"\nduration = \"20s\"\n";
    let flow = "[[flow]]\nname = \"bulk\"\nduration = \"20s\"\n";
    let scenario = loaded(&format!("duration = \"21s\"\n{lossy}{HOSTS}{flow}{udp}"));
    let allowance = Allowance { goal: Goal::Delay, scopes: vec![Scope::Receiver] };
    let advice = of_first_run(&scenario, &allowance);
    let is_missed = advice.answer.contains("The round trip under load is still");
    let trip = 1.0 + advice.advised.queue_ms / advice.base_rtt_ms;
    assert_eq!(is_missed, trip > 1.25, "{trip:.2}: {}", advice.answer);
}

/// The page cache of a client asks for 128 KiB at a time, whatever the buffers hold.
#[test]
fn a_read_of_a_mount_needs_more_read_ahead() {
    let nfs = "[path]\nrate = \"1Gbit\"\ndelay = { forward = \"20ms\", back = \"20ms\" }\n[[nfs]]\nname = \"m\"\noperation = \"read\"\nfile = \"200MB\"\n";
    let text = format!("duration = \"30s\"\n{nfs}{HOSTS}");
    let advice = advised(&text);
    let set: Vec<&str> = advice.changes.iter().map(|own| &own.change.setting[..]).collect();
    assert!(set.contains(&"read_ahead_kb"), "{}", advice.answer);
    assert!(advice.advised.share.expect("a rate") >= 0.9, "{}", advice.answer);
    let gains = relieved(&text);
    assert_eq!(gains.reliefs[0].name, "read-ahead", "{}", gains.answer);
}

/// A read-ahead of one call of 1 MiB keeps one connection of several busy. Losses want all of them, where the hosts stay as they
/// are.
#[test]
fn a_mount_with_several_connections_needs_calls_for_each() {
    let lossy = "[path]\nrate = \"30Mbit\"\ndelay = { forward = \"20ms\", back = \"20ms\" }\nloss = { forward = 0.02, back = 0.02 }\n\
                 [[nfs]]\nname = \"m\"\nversion = \"3\"\noperation = \"read\"\nfile = \"16MiB\"\n";
    let allowance = Allowance { scopes: vec![Scope::Application], goal: Goal::Rate };
    let text = format!("duration = \"60s\"\n{lossy}{HOSTS}");
    let advice = of_first_run(&loaded(&text), &allowance);
    let value = |name: &str| {
        let own = advice.changes.iter().find(|own| own.change.setting == name);
        own.unwrap_or_else(|| panic!("no {name}: {}", advice.answer)).change.advised.parse::<u64>()
    };
    let connections = value("nconnect").expect("a number");
    let kib = value("read_ahead_kb").expect("a number");
    assert!(connections > 1 && kib >= (2 * connections * 1024).min(16 << 10), "{}", advice.answer);
}

/// A pace keeps the flow within the little memory that its receiver has, until a packet is lost. More memory is the cure.
#[test]
fn memory_is_raised_where_a_pace_would_hide_its_lack() {
    let sender =
        "sender = { kernel = \"6.12\", sysctl = { \"net.ipv4.tcp_wmem\" = \"4096 16384 64MiB\" } }";
    let memory =
        "\"net.ipv4.tcp_mem\" = \"384 512 768\", \"net.ipv4.tcp_rmem\" = \"4096 131072 64MiB\"";
    let hosts =
        format!("[hosts]\n{sender}\nreceiver = {{ kernel = \"6.12\", sysctl = {{ {memory} }} }}\n");
    let path = "[path]\nrate = \"1Gbit\"\ndelay = { forward = \"40ms\", back = \"40ms\" }\n";
    let advice =
        advised(&format!("{path}{hosts}[[flow]]\nname = \"replica\"\nduration = \"8s\"\n"));
    let settings: Vec<&str> = advice.changes.iter().map(|own| &own.change.setting[..]).collect();
    assert!(settings.contains(&"net.ipv4.tcp_mem"), "{}", advice.answer);
    assert!(advice.advised.mbit > 2.0 * advice.today.mbit, "{}", advice.answer);
}
