//! Advice on a path that swallows full packets: a path MTU black hole.

use crate::advice_method::{advised, settings};
use crate::field_advice::of_first_run;
use crate::made::loaded;
use fullpipe::advice::Scope;
use fullpipe::advice::method::{Allowance, Goal};

/// A tunnel of 1400 bytes behind hosts that send 1500, with these keys.
fn tunnel(keys: &str) -> String {
    format!(
        r#"
        [path]
        mtu = 1500
        forward = [
            {{ kind = "link", name = "link", rate = "100Mbit", queue = {{ limit = "1000 packets" }} }},
            {{ kind = "mtu", name = "tunnel", mtu = 1400 {keys} }},
            {{ kind = "delay", name = "delay", delay = "10ms" }},
        ]
        back = [{{ kind = "delay", name = "back-delay", delay = "10ms" }}]
        [hosts]
        sender = {{ kernel = "6.12" }}
        receiver = {{ kernel = "6.12" }}
        [[flow]]
        name = "bulk"
        duration = "30s"
        "#
    )
}

/// Each of four cures opens the tunnel, and each is tried alone. The network's own is named, and advised only where it may be.
#[test]
fn a_black_hole_has_four_cures() {
    let advice = advised(&tunnel(""));
    assert_eq!(settings(&advice)[0], "ip route mtu");
    let full = advice.advised.mbit;
    let of = |what: &str| advice.steps.iter().rfind(|own| own.what.starts_with(what)).expect(what);
    let clamp = of("MSS clamp 1360 bytes in the place");
    assert!(clamp.mbit > 0.97 * full && clamp.then == "as good", "{clamp:?} of {full}");
    // The search begins after timeouts, which a trial counts.
    let probing = of("net.ipv4.tcp_mtu_probing 1 in the place");
    assert!((1.0..full).contains(&probing.mbit) && probing.then == "less", "{probing:?} of {full}");
    // A sender that always searches has no timeouts.
    let always = of("net.ipv4.tcp_mtu_probing 2 in the place");
    assert!((probing.mbit..=full).contains(&always.mbit), "{always:?} of {full}");
    assert_eq!(advice.today.mbit, 0.0);
    let said = |own: &&String| {
        own.contains("MSS clamp 1360 bytes gives") && own.contains("probing 1 gives")
    };
    assert!(advice.notes.iter().any(|own| said(&own)), "{:?}", advice.notes);

    let scenario = loaded(&tunnel(""));
    let network = Allowance { scopes: vec![Scope::Path], goal: Goal::Rate };
    let advice = of_first_run(&scenario, &network);
    assert_eq!(settings(&advice)[0], "MSS clamp");
    assert!(advice.notes.iter().any(|own| own.contains("helps TCP alone")), "{:?}", advice.notes);
}

/// A router that answers costs a connection its first window. Short transfers gain by a route that knows the MTU.
#[test]
fn a_short_flow_knows_the_mtu_before_it_begins() {
    let short = tunnel(", icmp = true").replace("duration = \"30s\"", "bytes = \"60kB\"");
    let advice = advised(&format!("duration = \"20s\"\n{short}"));
    let found = settings(&advice);
    assert!(found.contains(&"ip route mtu"), "{found:?}");
    assert!(!found.contains(&"net.ipv4.tcp_mtu_probing"), "{found:?}");
}

/// A router that answers, or that clamps the MSS already, leaves nothing to cure.
#[test]
fn a_tunnel_that_is_known_needs_no_cure() {
    for keys in [", icmp = true", ", mss_clamp = \"pmtu\""] {
        let advice = advised(&tunnel(keys));
        let cures = ["ip route mtu", "MSS clamp", "net.ipv4.tcp_mtu_probing"];
        let found = settings(&advice);
        assert!(found.iter().all(|own| !cures.contains(own)), "{keys}: {found:?}");
        let tried = advice.steps.iter().filter(|own| own.what.contains("in the place of"));
        assert_eq!(tried.count(), 0, "{keys}");
    }
}

/// A host beside the sender whose packets do not pass, while the sender's own fill the path.
fn two_hosts(of_sender: &str) -> String {
    let own = format!("sender = {{ kernel = \"6.12\", sysctl = {{ {of_sender} }} }}");
    let beside = r#"
        [[host]]
        name = "nas"
        beside = "sender"
        set = { "sysctl.net.ipv4.tcp_mtu_probing" = 0 }
        [[flow]]
        name = "sync"
        from = "nas"
        duration = "30s"
        "#;
    tunnel("").replace("sender = { kernel = \"6.12\" }", &own) + beside
}

/// A full path is no reason to leave a flow without data.
#[test]
fn a_flow_that_gets_nothing_beside_one_that_fills_the_path_is_saved() {
    let advice = advised(&two_hosts("\"net.ipv4.tcp_mtu_probing\" = 2"));
    assert_eq!(settings(&advice), ["net.ipv4.tcp_mtu_probing"], "{}", advice.answer);
    assert_eq!(advice.changes[0].change.whose, "nas");
    assert!(advice.answer.contains("a flow arrives that gets nothing today"), "{}", advice.answer);
}

/// Both senders have the change, for one alone leaves the other without data.
#[test]
fn each_host_behind_the_hole_has_the_change() {
    let advice = advised(&two_hosts(""));
    let probing = advice.changes.iter().map(|own| &own.change);
    let of: Vec<&str> = probing
        .filter(|own| own.setting == "net.ipv4.tcp_mtu_probing")
        .map(|own| &own.whose[..])
        .collect();
    assert_eq!(of, ["sender", "nas"], "{}", advice.answer);
}
