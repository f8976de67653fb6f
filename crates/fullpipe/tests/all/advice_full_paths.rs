//! Paths that are nearly full today: whether the last percent is worth a change, and the settings where no program may
//! set a pace.

use crate::advice_method::{advised, one_flow, settings};
use crate::field_advice::of_first_run;
use crate::made::loaded;
use fullpipe::advice::method::Allowance;
use fullpipe::advice::{Advice, Scope};

/// With the scenario's own seed the link is full; with others a cut of cwnd leaves it idle for a while, and the path has 0.93.
#[test]
fn a_path_that_other_seeds_leave_idle_is_filled() {
    let advice = advised(HEALTHY);
    let worst = advice.today.share.expect("a path with a rate");
    assert!(worst < 0.95, "the other seeds have {worst}: the case shows nothing");
    assert!(advice.advised.share.expect("a path with a rate") >= 0.97, "{}", advice.answer);
}

/// Path that has 0.96 with all seeds. Its card waits 2 ms with the interrupt, but without that wait other seeds have less.
#[test]
fn a_path_that_is_nearly_full_with_all_seeds_is_left_alone() {
    let hosts = ["kernel = \"6.1\"", "kernel = \"6.1\", rx_coalesce = \"2ms\""];
    let advice = advised(&one_flow(263_150_389, 124_791, 4232, hosts, "5.3s"));
    assert!(advice.changes.is_empty(), "{}", advice.answer);
    assert!(advice.answer.starts_with("Set nothing: the path is full"), "{}", advice.answer);
    let worst = advice.today.share.expect("a path with a rate");
    assert!((0.95..0.97).contains(&worst), "{worst}: the case shows nothing");
}

/// Path that has 0.96 with all seeds, for the card waits 2 ms with its interrupt.
#[test]
fn a_fault_of_a_nearly_full_path_is_cured_without_a_pace() {
    let hosts = ["kernel = \"6.12\"", "kernel = \"6.12\", rx_coalesce = \"2ms\""];
    let advice = advised(&one_flow(120_143_940, 45_000, 908, hosts, "5.1s"));
    assert_eq!(settings(&advice), ["ethtool -C rx-usecs"], "{}", advice.answer);
    let today = advice.today.share.expect("a path with a rate");
    assert!((0.95..0.97).contains(&today), "{today}: the case shows nothing");
    assert!(advice.advised.share.expect("a path with a rate") > 0.99, "{}", advice.answer);
}

/// Advice on a path of 1 Gb/s with a queue of a tenth of the bandwidth-delay product, where no program may change.
fn of_hosts(sender: &str) -> Advice {
    let hosts = [sender, "kernel = \"6.12\""];
    let scenario = loaded(&one_flow(1_000_000_000, 250_000, 10_000, hosts, "10s"));
    let scopes = vec![Scope::Sender, Scope::Receiver];
    of_first_run(&scenario, &Allowance { scopes, ..Allowance::default() })
}

#[test]
fn fq_stands_in_for_a_pace_that_no_program_sets() {
    let advice = of_hosts("kernel = \"6.12\"");
    let fq = advice.changes.iter().find(|own| own.change.setting == "qdisc");
    let fq = fq.unwrap_or_else(|| panic!("{}", advice.answer));
    assert!(fq.without_mbit < 0.7 * advice.advised.mbit, "{}", advice.answer);
}

#[test]
fn fq_is_not_advised_where_it_is_or_does_harm() {
    for sender in [
        "kernel = \"6.12\", qdisc = { kind = \"fq\" }",
        // Without netem the path would have no delay.
        "kernel = \"6.12\", qdisc = { kind = \"netem\", delay = \"20ms\", limit = \"1000 packets\" }",
        // That kernel has no fq.
        "kernel = \"2.6.35\"",
    ] {
        let advice = of_hosts(sender);
        assert!(!settings(&advice).contains(&"qdisc"), "{sender}: {}", advice.answer);
    }
}

/// With the seeds of the trials the path is full, though drops hold the flow in the scenario's own run. Others confirm it.
#[test]
fn a_path_that_is_full_by_the_end_is_confirmed_by_other_seeds() {
    let hosts = ["kernel = \"6.1\""; 2];
    let advice = advised(&one_flow(1_423_516_750, 264_631, 2677, hosts, "5.2s"));
    assert!(advice.changes.is_empty(), "{}", advice.answer);
    let last = advice.steps.last().expect("a trial");
    assert_eq!(last.what, "today with other seeds, starts and delays");
}

const HEALTHY: &str = r#"
seed = 933628310
duration = "3133ms"

[path]
mtu = 1500
forward = [
    { kind = "loss", name = "line", probability = 3.614200487158787e-6 },
    { kind = "link", name = "link", rate = "20230kbit", queue = { limit = "214279B" } },
    { kind = "reorder", name = "lanes", delay = "0s", chosen_delay = "115us", probability = 0.050019 },
    { kind = "delay", name = "delay", delay = "19336us" },
]
back = [
    { kind = "link", name = "back-link", rate = "14969kbit", queue = { limit = "1000 packets" } },
    { kind = "delay", name = "back-delay", delay = "41568us" },
]

[hosts.sender]
kernel = "6.1"
nic_rate = "23106kbit"
qdisc = { kind = "fq" }
tso = true
gro = true
timestamps = true
tx_ring = "4096 descriptors"
rx_ring = "512 descriptors"
tx_coalesce = "1000us"
rx_coalesce = "50us"
cpu = { copy = "33702ps/byte", transmit = "22927ns/packet", receive = "8538ns/packet", ack = "23643ns/packet" }
[hosts.sender.sysctl]
"net.core.wmem_max" = 1073741824
"net.core.rmem_max" = 1073741824
"net.ipv4.tcp_wmem" = "4096 16384 5978502"
"net.ipv4.tcp_rmem" = "4096 131072 4000000"
"net.ipv4.tcp_sack" = 1
"net.ipv4.tcp_window_scaling" = 1

[hosts.receiver]
kernel = "6.12"
nic_rate = "54683kbit"
qdisc = { kind = "pfifo_fast", limit = "30 packets" }
tso = true
gro = true
timestamps = true
tx_ring = "1024 descriptors"
rx_ring = "1024 descriptors"
tx_coalesce = "0us"
rx_coalesce = "50us"
cpu = { copy = "19037ps/byte", transmit = "36626ns/packet", receive = "7101ns/packet", ack = "11142ns/packet" }
[hosts.receiver.sysctl]
"net.core.wmem_max" = 1073741824
"net.core.rmem_max" = 1073741824
"net.ipv4.tcp_wmem" = "4096 16384 1000000000"
"net.ipv4.tcp_rmem" = "4096 131072 1000000000"
"net.ipv4.tcp_sack" = 1
"net.ipv4.tcp_window_scaling" = 1

[[flow]]
name = "data"
start = "100ms"
duration = "3033ms"
congestion = { name = "cubic", hystart = 1, initial_ssthresh = 0 }
app = { kind = "rate", rate = "72583kbit" }
write = "65536B"
"#;
