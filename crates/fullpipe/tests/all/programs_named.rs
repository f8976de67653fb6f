//! First lines of runs in which a program, a server or another system is the limit, each beside a near run in which it is
//! not.

use crate::field_advice::of_first_run;
use crate::headline::{contains, headline};
use crate::made::{loaded, made};
use crate::relieve::relieved;
use fullpipe::advice::method::Allowance;

/// A path between two hosts of Linux 6.12, with more keys of each.
pub fn between(path: &str, sender: &str, receiver: &str, rest: &str) -> String {
    format!(
        "duration = \"9s\"\n[path]\n{path}\n[hosts]\nsender = {{ kernel = \"6.12\"{sender} }}\n\
         receiver = {{ kernel = \"6.12\"{receiver} }}\n{rest}"
    )
}

/// A path of that rate, with that delay each way.
pub fn plain(rate: &str, delay: &str, rest: &str) -> String {
    between(&path(rate, delay), "", "", rest)
}

fn path(rate: &str, delay: &str) -> String {
    format!("rate = \"{rate}\"\ndelay = {{ forward = \"{delay}\", back = \"{delay}\" }}")
}

/// A path with a link of 100 Mb/s and a tunnel in front of a delay.
fn through(tunnel: &str) -> String {
    format!(
        "forward = [{{ kind = \"link\", name = \"link\", rate = \"100Mbit\" }}, {{ kind = \"mtu\", name = \"tunnel\", {tunnel} }}, \
         {{ kind = \"delay\", name = \"there\", delay = \"10ms\" }}]\n\
         back = [{{ kind = \"delay\", name = \"back\", delay = \"10ms\" }}]"
    )
}

/// Datagrams of that size and rate for 3 s, with more keys, beside a flow that sends next to nothing.
fn datagrams(size: u32, rate: &str, more: &str) -> String {
    format!(
        "[[flow]]\nname = \"none\"\nbytes = \"1kB\"\n[[datagrams]]\nname = \"video\"\nkind = \"udp\"\nsize = \"{size}B\"\n\
         rate = \"{rate}\"\nduration = \"3s\"\n{more}"
    )
}

pub fn lacks(text: &str, part: &str) {
    assert!(!text.contains(part), "\"{part}\" in: {text}");
}

/// Eight threads that work 900 ms on a call of 1 MiB answer 75 Mb/s. With 2 ms they answer far more than 1 Gb/s, and 1 MiB
/// at a time is too little for a round trip of 40 ms.
#[test]
fn a_server_that_cannot_fill_the_path_comes_before_read_ahead() {
    let mount = |delay: &str, service: &str| {
        let nfs =
            "[[nfs]]\nname = \"tape\"\nversion = \"3\"\noperation = \"read\"\nfile = \"16MiB\"\n";
        headline(&plain("1Gbit", delay, &format!("{nfs}service = \"{service}\"\n")))
    };
    let slow = mount("1ms", "900ms");
    contains(&slow, &["The answers of receiver", "works 900 ms on a call"]);
    contains(
        &slow,
        &["faster storage, or raise read_ahead_kb of the mount on sender to 16,384 KiB"],
    );
    let fast = mount("20ms", "2ms");
    contains(&fast, &["The read-ahead of sender", "Raise read_ahead_kb"]);
    lacks(&fast.text, "storage");
}

/// Each of 30 questions has a connection of its own: a round trip to connect, one for the answer.
#[test]
fn questions_in_connections_of_their_own_want_one_connection() {
    let ask = |again: &str| {
        plain(
            "1Gbit",
            "12500us",
            &format!(
                "[[flow]]\nname = \"query\"\nbytes = \"12kB\"\nwrite = \"400B\"\n{again}\
                 [[flow]]\nname = \"rows\"\nreply_to = \"query\"\napp = {{ kind = \"messages\", size = \"2kB\" }}\n"
            ),
        )
    };
    let each = ask("again = { count = 30 }\n").replace("12kB", "400B");
    contains(&headline(&each), &["Connecting stops the flows", "Keep one connection open for all"]);
    contains(&headline(&ask("")), &["Waiting for sender stops the flow"]);

    // Two round trips of each question become one, and the answer's count stays.
    let run = relieved(&each);
    let first = &run.reliefs[0];
    assert_eq!(first.name, "one-connection", "{}", run.answer);
    assert!((1.8..=3.0).contains(&first.gain.expect("a gain")), "{}", run.answer);

    let advice = of_first_run(&loaded(&each), &Allowance::default());
    assert_eq!(advice.changes[0].change.setting, "connections", "{}", advice.answer);
}

/// 64 KiB take 5.2 ms of 100 Mb/s each way beside a round trip of 10 ms.
#[test]
fn turns_of_long_messages_are_turns() {
    let blocks = "[[flow]]\nname = \"block\"\nduration = \"2s\"\n[[flow]]\nname = \"diff\"\nreply_to = \"block\"\n";
    contains(&headline(&plain("100Mbit", "5ms", blocks)), &["Waiting for receiver stops the flow"]);
}

/// A poll each 20 ms, whose answers take more than 30 ms: two are without an answer at a time.
#[test]
fn a_clock_is_no_window() {
    let polls = |period: &str| {
        let app = format!("app = {{ kind = \"messages\", size = \"60B\", in_flight = 4{period} }}");
        let options = "sockopt = { TCP_NODELAY = 1 }";
        headline(&plain(
            "10Mbit",
            "15ms",
            &format!(
                "[[flow]]\nname = \"poll\"\nduration = \"5s\"\nwrite = \"60B\"\n{app}\n{options}\n\
                 [[flow]]\nname = \"value\"\nreply_to = \"poll\"\nwrite = \"2kB\"\n{options}\n"
            ),
        ))
    };
    let by_the_clock = polls(", period = \"20ms\"");
    contains(&by_the_clock, &["it writes no more than"]);
    contains(&polls(""), &["The program's own window"]);
}

/// 30 Mb/s for a program that reads 20: 3 s of it fit into 16 MiB.
#[test]
fn datagrams_that_wait_in_a_large_socket_name_their_reader() {
    let receiver = ", sysctl = { \"net.core.rmem_max\" = \"16MiB\" }";
    let read = |rate: &str| {
        let more = format!("rcvbuf = \"8MiB\"\nreader = {{ rate = \"{rate}\" }}\n");
        let rest = datagrams(500, "30Mbit", &more);
        let text = between(&path("1Gbit", "500us"), "", receiver, &rest);
        headline(&text.replace("\"9s\"", "\"3500ms\""))
    };
    let late = read("20Mbit");
    contains(&late, &["The program on receiver keeps", "reads 20 of the 30 Mb/s that come"]);
    contains(&read("40Mbit"), &["All", "arrive"]);
}

#[test]
fn a_socket_that_a_sysctl_cuts_names_the_sysctl() {
    let stops = |asked: &str| {
        let more = format!("{asked}reader = {{ on = \"1s\", off = \"300ms\" }}\n");
        headline(&plain("1Gbit", "1ms", &datagrams(1400, "80Mbit", &more)))
    };
    contains(&stops("rcvbuf = \"32MiB\"\n"), &["Raise net.core.rmem_max of receiver to 4 MiB"]);
    contains(&stops(""), &["Let the program ask for an SO_RCVBUF of 4 MiB"]);
}

#[test]
fn datagrams_that_do_not_pass_are_too_large() {
    let sent =
        |size| headline(&between(&through("mtu = 1420"), "", "", &datagrams(size, "20Mbit", "")));
    contains(&sent(1472), &["larger than it passes", "Send smaller datagrams"]);
    contains(&sent(1392), &["All", "arrive"]);
}

/// 9 us for each write of 1,200 bytes are 1,067 Mb/s.
#[test]
fn a_cpu_that_sends_no_more_datagrams_is_named() {
    let sent = |cpu: &str| {
        headline(&between(&path("10Gbit", "1ms"), cpu, "", &datagrams(1200, "2Gbit", "")))
    };
    contains(&sent(", cpu = { write = \"9us/call\" }"), &["The CPU of sender sends no more"]);
    lacks(&sent("").text, "CPU");
}

/// 400 kB each 2 s: cwnd begins at ten packets again after each pause.
#[test]
fn slow_starts_after_pauses_are_named_where_they_make_messages_late() {
    let screen = |sender: &str| {
        let rest = "[[flow]]\nname = \"screen\"\nduration = \"8s\"\napp = { kind = \"messages\", size = \"400kB\", period = \"2s\" }\n";
        headline(&between(&path("500Mbit", "40ms"), sender, "", rest))
    };
    let late = screen("");
    contains(
        &late,
        &["Slow start of sender delays the messages", "tcp_slow_start_after_idle of sender to 0"],
    );
    lacks(
        &screen(", sysctl = { \"net.ipv4.tcp_slow_start_after_idle\" = 0 }").text,
        "after each pause",
    );
}

/// The sender's own buffer fills 3 MB, and its receiver reads at once.
#[test]
fn memory_that_a_sender_fills_is_not_for_a_program_to_read() {
    let mem = ", sysctl = { \"net.ipv4.tcp_mem\" = \"380 510 760\" }";
    let get = "[[flow]]\nname = \"get\"\nduration = \"6s\"\n";
    let own = headline(&between(&path("200Mbit", "60ms"), mem, "", get));
    contains(
        &own,
        &["The memory of all TCP sockets of sender", "Raise net.ipv4.tcp_mem of sender"],
    );
    lacks(&own.text, "Let the program");
}

#[test]
fn windows_has_no_route_and_no_quick_ack() {
    let picture = "[[flow]]\nname = \"picture\"\nbytes = \"4MB\"\n";
    let text = between(&through("mtu = 1400"), "", "", picture);
    let windows =
        text.replace("sender = { kernel = \"6.12\" }", "sender = { system = \"windows\" }");
    contains(&headline(&windows), &["netsh interface ipv4 set subinterface"]);
    contains(&headline(&text), &["net.ipv4.tcp_mtu_probing of sender to 1"]);
    let advice = of_first_run(&loaded(&windows), &Allowance::default());
    assert_eq!(advice.changes[0].change.setting, "interface mtu", "{}", advice.answer);

    let calls = "[[flow]]\nname = \"call\"\nduration = \"3s\"\nwrite = \"204B\"\napp = { kind = \"messages\", size = \"408B\" }\n\
                 [[flow]]\nname = \"row\"\nreply_to = \"call\"\nwrite = \"2kB\"\n";
    let text = plain("1Gbit", "150us", calls);
    contains(&headline(&text), &["TCP_NODELAY", "TCP_QUICKACK"]);
    let windows =
        text.replace("receiver = { kernel = \"6.12\" }", "receiver = { system = \"windows\" }");
    let own = headline(&windows);
    contains(&own, &["TCP_NODELAY"]);
    lacks(&own.text, "TCP_QUICKACK");

    // More messages at a time carry more, and each is later: what makes them sooner is the answer.
    let run = relieved(&text);
    assert_eq!(run.reliefs[0].name, "nodelay", "{}", run.answer);

    // Messages are seldom in flight at a sample. Their rate is that of the run all the same.
    let advice = of_first_run(&loaded(&text), &Allowance::default());
    let measured = headline(&text).rate_mbit.expect("a rate");
    assert!((advice.today.mbit / measured - 1.0).abs() < 0.05, "{} {measured}", advice.answer);
}

/// A transfer of 90 ms ends between two samples of its trial.
#[test]
fn a_short_transfer_is_judged_by_its_own_end() {
    let copy = "[[flow]]\nname = \"copy\"\nbytes = \"100MB\"\nstart = \"1s\"\n";
    let text = plain("10Gbit", "100us", copy);
    let measured = headline(&text).rate_mbit.expect("a rate");
    let advice = of_first_run(&loaded(&text), &Allowance::default());
    assert!((advice.today.mbit / measured - 1.0).abs() < 0.02, "{} {measured}", advice.answer);
}

/// One connection in the place of forty carries no more than its slow reader reads.
#[test]
fn no_advice_is_faster_than_the_program_that_reads() {
    let bundle =
        "[[flow]]\nname = \"bundle\"\nbytes = \"200kB\"\nagain = { count = 40, pause = \"5ms\" }\n";
    let read = |reader: &str| {
        let text = plain("100Mbit", "15ms", &format!("{bundle}{reader}"));
        of_first_run(&loaded(&text), &Allowance::default())
    };
    let slow = read("reader = { rate = \"8Mbit\", read = \"16kB\" }\n");
    assert!(slow.changes.is_empty(), "{}", slow.answer);
    let fast = read("");
    assert!(fast.changes.iter().any(|own| own.change.setting == "connections"), "{}", fast.answer);
}

/// A reader that takes all that it asks for lacks nothing. A flow beside it that could have more decides.
#[test]
fn a_flow_that_lacks_something_comes_before_readers_that_lack_nothing() {
    let flows = "[[flow]]\nname = \"fast\"\nduration = \"6s\"\n\
                 [[flow]]\nname = \"phone\"\ncount = 10\nduration = \"6s\"\nreader = { rate = \"1Mbit\" }\n";
    let small = ", sysctl = { \"net.ipv4.tcp_mem\" = \"768 1024 1536\" }";
    let own = headline(&between(&path("1Gbit", "40ms"), small, "", flows));
    contains(
        &own,
        &["The memory of all TCP sockets of sender", "Raise net.ipv4.tcp_mem of sender"],
    );
    let phones = flows.split("[[flow]]").nth(2).expect("the phones");
    let alone = headline(&between(&path("1Gbit", "40ms"), small, "", &format!("[[flow]]{phones}")));
    contains(&alone, &["The program on receiver", "reads no faster than 1.05 Mb/s"]);
}

/// A reader of 20 Mb/s has not read all when the next connection of a loop begins.
#[test]
fn what_is_read_behind_the_next_connection_of_a_loop_counts() {
    let text = plain(
        "200Mbit",
        "20ms",
        "[[flow]]\nname = \"pkg\"\nbytes = \"6MB\"\nreader = { rate = \"20Mbit\" }\nagain = { count = 2 }\n",
    );
    let scenario = loaded(&text);
    let (run, _) = made(&scenario, &scenario.plans()[0]);
    assert_eq!(run.flows.iter().map(|own| own.bytes).collect::<Vec<_>>(), [6_000_000, 6_000_000]);
}

/// Data that a server sends again for calls of two connections is no progress.
#[test]
fn answers_that_are_sent_again_are_no_progress_of_several_connections() {
    let path = "forward = [{ kind = \"delay\", name = \"there\", delay = \"5ms\" }]\n\
                back = [{ kind = \"varying-link\", name = \"wan\", rate = \"100Mbit\", steps = [{ at = \"2s\", rate = \"0bit\" }, \
                { at = \"5s\", rate = \"100Mbit\" }] }, { kind = \"delay\", name = \"back\", delay = \"5ms\" }]";
    let nfs = "[[nfs]]\nname = \"docs\"\nversion = \"3\"\noperation = \"read\"\nfile = \"64MiB\"\nnconnect = 2\n\
               timeo = \"1s\"\nreadahead = \"8MiB\"\n";
    let text = between(path, "", "", nfs).replace("duration = \"9s\"", "duration = \"40s\"");
    let scenario = loaded(&text);
    let (run, _) = made(&scenario, &scenario.plans()[0]);
    let (first, file) = (run.headline.and_then(|own| own.rate_mbit), run.nfs[0].mean_mbit);
    let (first, file) = (first.expect("a rate"), file.expect("a rate"));
    assert!((first / file - 1.0).abs() < 0.05, "{first} and {file}");
}

/// A larger window of SFTP ends at the buffers of both hosts, and its line says so. A short way has no need of them.
#[test]
fn the_buffers_behind_a_window_of_programs_are_named() {
    let get = "[[flow]]\nname = \"get\"\nduration = \"8s\"\napp = { program = \"sftp\" }\n";
    let far = headline(&plain("1Gbit", "90ms", get));
    contains(
        &far,
        &[
            "The program's own window",
            "Then the buffers limit the flow",
            "tcp_rmem of receiver",
            "tcp_wmem of sender",
        ],
    );
    let near = headline(&plain("1Gbit", "10ms", get));
    contains(&near, &["The program's own window"]);
    lacks(&near.text, "Then the buffers");
}

/// One backup beside a loop is no connection of the loop.
#[test]
fn a_flow_beside_a_loop_is_not_one_of_it() {
    let pages = "[[flow]]\nname = \"backup\"\nduration = \"8s\"\napp = { window = \"24KiB\" }\n\
                 [[flow]]\nname = \"page\"\nbytes = \"200kB\"\nagain = { count = 10, pause = \"200ms\", until = \"8s\" }\n";
    let own = headline(&plain("100Mbit", "22500us", pages));
    contains(&own, &["each of 10 connections starts anew", "11 flows, each"]);
}

/// A tick of 120 B each millisecond, over a path that loses a packet in a thousand.
pub fn ticks(more: &str) -> String {
    let lossy = format!("{}\nloss = 1e-3", path("100Mbit", "25ms"));
    let app = "app = { kind = \"messages\", size = \"120B\", period = \"1ms\" }";
    let flow = format!("[[flow]]\nname = \"tick\"\nduration = \"5s\"\n{app}\n{more}");
    between(&lossy, "", "", &flow)
}

/// The time between two ticks is no pause of their program. Without TCP_NODELAY a tick waits for an ACK.
#[test]
fn messages_by_the_clock_are_no_pauses() {
    let own = headline(&ticks("sockopt = { TCP_NODELAY = 1 }\n"));
    let expected =
        "it writes a message of 120 bytes each 1 ms; half of the messages come within 25";
    contains(&own, &[expected]);
    lacks(&own.text, "pause");
    contains(&headline(&ticks("")), &["Nagle's rule on sender"]);
}

/// Losses hold the flow for more of its life than the program's own window does, so they come first.
#[test]
fn losses_come_before_a_window_that_holds_the_flow_for_less() {
    let path = "rate = \"1Gbit\"\ndelay = { forward = \"45ms\", back = \"45ms\" }\nloss = 1e-4";
    let flow = "[[flow]]\nname = \"rsync\"\nduration = \"8s\"\napp = { program = \"openssh\" }\n";
    let own = headline(&between(path, "", "", flow));
    contains(&own, &["Drops at loss", "lost by chance", "net.ipv4.tcp_congestion_control"]);
}
