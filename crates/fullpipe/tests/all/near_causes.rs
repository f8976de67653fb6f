//! Causes that look alike to a glance at limits: each run has its code, and a run that differs a little has another one.

use crate::made::{loaded, made};

/// A run with its code, and a near run with its own.
struct Pair {
    fires: (&'static str, &'static str),
    near: (&'static str, &'static str),
}

const PAIRS: &[Pair] = &[
    // Datagrams have most of a path with a short queue, and a little of it.
    Pair {
        fires: (
            "compete",
            "[path]\nrate = \"100Mbit\"\ndelay = { forward = \"20ms\", back = \"20ms\" }\nqueue = { limit = \"60 packets\" }\n\
            [[flow]]\nname = \"bulk\"\nduration = \"8s\"\n\
            [[datagrams]]\nname = \"video\"\nkind = \"udp\"\nsize = \"1200B\"\nrate = \"70Mbit\"\nduration = \"8s\"\n",
        ),
        near: (
            "small_buffer",
            "[path]\nrate = \"100Mbit\"\ndelay = { forward = \"20ms\", back = \"20ms\" }\nqueue = { limit = \"60 packets\" }\n\
            [[flow]]\nname = \"bulk\"\nduration = \"8s\"\n\
            [[datagrams]]\nname = \"video\"\nkind = \"udp\"\nsize = \"1200B\"\nrate = \"5Mbit\"\nduration = \"8s\"\n",
        ),
    },
    // Many ACKs are lost, and a few.
    Pair {
        fires: (
            "ack_path",
            "[path]\nrate = \"50Mbit\"\ndelay = { forward = \"20ms\", back = \"20ms\" }\nloss = { forward = 0.0, back = 0.7 }\n\
            [[flow]]\nname = \"bulk\"\nduration = \"3s\"\n",
        ),
        near: (
            "none",
            "[path]\nrate = \"50Mbit\"\ndelay = { forward = \"20ms\", back = \"20ms\" }\nloss = { forward = 0.0, back = 0.05 }\n\
            [[flow]]\nname = \"bulk\"\nduration = \"3s\"\n",
        ),
    },
    // A program pauses, and one writes at a rate in gaps of 60 ms.
    Pair {
        fires: (
            "app_onoff",
            "[path]\nrate = \"50Mbit\"\ndelay = { forward = \"10ms\", back = \"10ms\" }\n\
            [[flow]]\nname = \"bulk\"\nduration = \"5s\"\napp = { kind = \"on-off\", on = \"400ms\", off = \"400ms\" }\n",
        ),
        near: (
            "app_write",
            "[path]\nrate = \"50Mbit\"\ndelay = { forward = \"10ms\", back = \"10ms\" }\n\
            [[flow]]\nname = \"bulk\"\nduration = \"5s\"\nwrite = \"75kB\"\napp = { kind = \"rate\", rate = \"10Mbit\" }\n",
        ),
    },
    // The driver learns late that packets have left, below TCP's own pace, and in time.
    Pair {
        fires: (
            "tx_ring",
            "[path]\nrate = \"1Gbit\"\nmtu = 9000\ndelay = { forward = \"15ms\", back = \"15ms\" }\n\
            [hosts.sender]\nkernel = \"6.1\"\nqdisc = { kind = \"fq\" }\ntx_coalesce = \"7ms\"\n[hosts.receiver]\nkernel = \"6.1\"\n\
            [[flow]]\nname = \"bulk\"\nduration = \"5s\"\n",
        ),
        near: (
            "rwnd_auto",
            "[path]\nrate = \"1Gbit\"\nmtu = 9000\ndelay = { forward = \"15ms\", back = \"15ms\" }\n\
            [hosts.sender]\nkernel = \"6.1\"\nqdisc = { kind = \"fq\" }\ntx_coalesce = \"10us\"\n[hosts.receiver]\nkernel = \"6.1\"\n\
            [[flow]]\nname = \"bulk\"\nduration = \"5s\"\n",
        ),
    },
    // A policer behind a place where packets overtake each other by little, and by much without the policer.
    Pair {
        fires: (
            "policer",
            "[path]\nforward = [\n{ kind = \"policer\", name = \"edge\", rate = \"50Mbit\", burst = \"30kB\" },\n\
            { kind = \"link\", name = \"link\", rate = \"500Mbit\" },\n\
            { kind = \"reorder\", name = \"lanes\", delay = \"0s\", chosen_delay = \"30us\", probability = 0.01 },\n\
            { kind = \"delay\", name = \"delay\", delay = \"10ms\" },\n]\nback = [{ kind = \"delay\", name = \"back-delay\", delay = \"10ms\" }]\n\
            [[flow]]\nname = \"bulk\"\nduration = \"5s\"\n",
        ),
        near: (
            "reorder",
            "[path]\nforward = [\n{ kind = \"link\", name = \"link\", rate = \"500Mbit\" },\n\
            { kind = \"reorder\", name = \"lanes\", delay = \"0s\", chosen_delay = \"15ms\", probability = 0.01 },\n\
            { kind = \"delay\", name = \"delay\", delay = \"10ms\" },\n]\nback = [{ kind = \"delay\", name = \"back-delay\", delay = \"10ms\" }]\n\
            [[flow]]\nname = \"bulk\"\nduration = \"5s\"\n",
        ),
    },
    // A CPU that small packets keep busy, and one that is too slow for full ones.
    Pair {
        fires: (
            "small_mss",
            "[path]\nrate = \"200Mbit\"\nmtu = 300\ndelay = { forward = \"5ms\", back = \"5ms\" }\n\
            [hosts.sender]\nkernel = \"6.12\"\n[hosts.receiver]\nkernel = \"6.12\"\ngro = false\ncpu = { receive = \"60us/packet\" }\n\
            [[flow]]\nname = \"bulk\"\nduration = \"5s\"\n",
        ),
        near: (
            "cpu_receiver",
            "[path]\nrate = \"200Mbit\"\nmtu = 1500\ndelay = { forward = \"5ms\", back = \"5ms\" }\n\
            [hosts.sender]\nkernel = \"6.12\"\n[hosts.receiver]\nkernel = \"6.12\"\ngro = false\ncpu = { receive = \"150us/packet\" }\n\
            [[flow]]\nname = \"bulk\"\nduration = \"5s\"\n",
        ),
    },
];

/// Code of a run; hosts are of Linux 6.12 unless it says otherwise.
fn code(text: &str) -> String {
    let hosts = match text.contains("[hosts") {
        true => "",
        false => "[hosts.sender]\nkernel = \"6.12\"\n[hosts.receiver]\nkernel = \"6.12\"\n",
    };
    let text = text.replacen("[[flow]]", &format!("{hosts}[[flow]]"), 1);
    let scenario = loaded(&text);
    let (run, _) = made(&scenario, &scenario.plans()[0]);
    let headline = run.headline.expect("a headline");
    format!("{} ({})", headline.code.unwrap_or_default(), headline.text)
}

#[test]
fn near_causes_are_parted() {
    have_their_codes(PAIRS.iter().flat_map(|pair| [pair.fires, pair.near]));
}

/// Fails where runs have other codes than these; all of them are named.
fn have_their_codes<'a>(runs: impl IntoIterator<Item = (&'a str, impl AsRef<str>)>) {
    let mut wrong = Vec::new();
    for (expected, text) in runs {
        let said = code(text.as_ref());
        if !said.starts_with(&format!("{expected} (")) {
            wrong.push(format!("not {expected}: {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Requests and answers on a path of that rate and delay each way, with keys of the flow that asks and of the one that answers.
fn exchange([rate, delay]: [&str; 2], [asks, answers]: [&str; 2]) -> String {
    format!(
        "[path]\nrate = \"{rate}\"\ndelay = {{ forward = \"{delay}\", back = \"{delay}\" }}\n\
         [[flow]]\nname = \"calls\"\nduration = \"5s\"\n{asks}\n\
         [[flow]]\nname = \"replies\"\nreply_to = \"calls\"\n{answers}\n"
    )
}

/// Nagle's rule together with a delayed ACK, on a short way, on a long one and at both ends. Without it the same
/// messages wait for answers alone.
#[test]
fn nagle_is_parted_from_turns() {
    let whole = "write = \"400B\"";
    let in_halves = "write = \"200B\"\napp = { kind = \"messages\", size = \"400B\" }";
    let thirds = "write = \"200B\"\napp = { kind = \"messages\", size = \"600B\" }";
    let at_once = |keys: &str| format!("{keys}\nsockopt = {{ TCP_NODELAY = 1 }}");
    for (path, fires, near) in [
        (["50Mbit", "1ms"], [in_halves, whole], [whole, whole]),
        (["50Mbit", "50ms"], [in_halves, whole], [&at_once(in_halves)[..], whole]),
        (["100Mbit", "20ms"], [thirds, thirds], [&at_once(thirds)[..], &at_once(thirds)[..]]),
    ] {
        have_their_codes([("nagle", exchange(path, fires)), ("turns", exchange(path, near))]);
    }
}

/// Messages of 400 bytes in two writes.
const IN_HALVES: &str = "write = \"200B\"\napp = { kind = \"messages\", size = \"400B\" }";

/// A part that waits in one program alone is named, however the other one writes.
#[test]
fn the_side_that_holds_a_part_back_is_named() {
    let path = ["50Mbit", "10ms"];
    let at_once = format!("{IN_HALVES}\nsockopt = {{ TCP_NODELAY = 1 }}");
    let corked = format!("{IN_HALVES}\nsockopt = {{ TCP_CORK = 1 }}");
    for (ends, said) in [
        ([IN_HALVES, &at_once], "Nagle's rule on sender stops"),
        ([&at_once, IN_HALVES], "Nagle's rule on receiver stops"),
        ([&corked, &at_once], "TCP_CORK on sender stops"),
        ([&at_once, &at_once], "turns ("),
    ] {
        let text = code(&exchange(path, ends));
        assert!(text.contains(said), "{text}");
    }
}

/// A cork holds parts also while data is in flight. A message of one write cannot be written at once.
#[test]
fn the_cure_fits_the_program_that_holds_parts_back() {
    let path = ["50Mbit", "10ms"];
    let ahead = "write = \"200B\"\napp = { kind = \"messages\", size = \"400B\", in_flight = 8 }";
    let corked = format!("{ahead}\nsockopt = {{ TCP_CORK = 1 }}");
    let at_once = format!("{IN_HALVES}\nsockopt = {{ TCP_NODELAY = 1 }}");
    let text = code(&exchange(path, [&corked, &at_once]));
    assert!(text.contains("TCP_CORK on sender") && text.contains("clear TCP_CORK"), "{text}");

    let whole = "write = \"400B\"\napp = { kind = \"messages\", size = \"400B\", in_flight = 8 }";
    let text = code(&exchange(path, [whole, &at_once]));
    assert!(text.contains("set TCP_NODELAY") && !text.contains("at once"), "{text}");
}

/// A program that sends by the clock has its rate; its messages are late all the same, and that is the finding.
#[test]
fn late_messages_at_the_programs_own_rate_are_named() {
    let clocked =
        "write = \"200B\"\napp = { kind = \"messages\", size = \"400B\", period = \"200ms\" }";
    let ahead = "write = \"200B\"\napp = { kind = \"messages\", size = \"400B\", in_flight = 8 }";
    let at_once = |keys: &str| format!("{keys}\nsockopt = {{ TCP_NODELAY = 1 }}");
    let path = ["50Mbit", "10ms"];
    for asks in [clocked, ahead] {
        let late = code(&exchange(path, [asks, &at_once(IN_HALVES)]));
        assert!(late.starts_with("nagle (") && late.contains("delays the messages of"), "{late}");
        let on_time = code(&exchange(path, [&at_once(asks), &at_once(IN_HALVES)]));
        assert!(on_time.starts_with("app_write ("), "{on_time}");
    }
}

/// Messages that nobody answers wait as well.
#[test]
fn messages_without_answers_wait_for_delayed_acks() {
    let flow = |keys: &str| {
        format!(
            "[path]\nrate = \"50Mbit\"\ndelay = {{ forward = \"10ms\", back = \"10ms\" }}\n\
             [[flow]]\nname = \"alarms\"\nduration = \"5s\"\nwrite = \"200B\"\n\
             app = {{ kind = \"messages\", size = \"400B\", period = \"200ms\" }}\n{keys}"
        )
    };
    let (late, on_time) = (code(&flow("")), code(&flow("sockopt = { TCP_NODELAY = 1 }\n")));
    assert!(late.starts_with("nagle (") && late.contains("of the messages come within"), "{late}");
    assert!(!on_time.starts_with("nagle"), "{on_time}");
}
