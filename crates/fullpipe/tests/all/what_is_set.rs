//! Cures are not advised where they are set.

use crate::made::{loaded, made};

/// Verdict of a run of ten seconds over 50 Mb/s and 40 ms, with an element in front of the link.
fn verdict([element, sender, flow]: [&str; 3]) -> String {
    let scenario = loaded(&format!(
        "duration = \"11s\"\n[path]\nforward = [{element} {{ kind = \"link\", name = \"link\", rate = \"50Mbit\" }}, \
         {{ kind = \"delay\", name = \"there\", delay = \"20ms\" }}]\n\
         back = [{{ kind = \"delay\", name = \"back\", delay = \"20ms\" }}]\n\
         [hosts]\nsender = {{ kernel = \"6.12\"{sender} }}\nreceiver = {{ kernel = \"6.12\" }}\n\
         [[flow]]\nname = \"bulk\"\nduration = \"10s\"\n{flow}\n"
    ));
    let (run, _) = made(&scenario, &scenario.plans()[0]);
    run.headline.expect("a headline").text
}

/// A path that loses much even for bbr, which takes no single loss for congestion.
#[test]
fn bbr_is_not_advised_to_bbr() {
    let loss = "{ kind = \"loss\", name = \"loss\", probability = 0.3 },";
    let advises = "net.ipv4.tcp_congestion_control = bbr";
    let cubic = verdict([loss, "", ""]);
    let bbr = verdict([loss, "", "congestion = \"bbr\""]);
    assert!(cubic.contains(advises), "{cubic}");
    assert!(bbr.contains("parallel flows: bbr runs already") && !bbr.contains(advises), "{bbr}");
}

#[test]
fn probing_is_not_advised_where_it_is_set() {
    let tunnel = "{ kind = \"mtu\", name = \"tunnel\", mtu = 1100 },";
    let advises = "set net.ipv4.tcp_mtu_probing of sender to 1";
    let silent = verdict([tunnel, "", ""]);
    let sysctl = ", sysctl = { \"net.ipv4.tcp_mtu_probing\" = 1 }";
    let probing = verdict([tunnel, sysctl, ""]);
    assert!(silent.contains(advises), "{silent}");
    assert!(!probing.contains(advises), "{probing}");
}
