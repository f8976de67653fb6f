//! Advice that a real kernel proves; without one the test is skipped, unless FULLPIPE_REQUIRE_KERNEL is set.

use crate::common::linux::desk;

/// 200 Mb/s x 40 ms that loses one packet of a thousand: cubic cannot fill it with one flow, and bbr can.
const LOSSY: &str = r#"
[path]
rate = "200Mbit"
loss = 1e-3
delay = { forward = "20ms", back = "20ms" }
[hosts]
sender = { kernel = "6.12" }
receiver = { kernel = "6.12" }
[[flow]]
name = "bulk"
duration = "8s"
"#;

#[test]
fn bbr_is_proved_on_the_kernel() {
    let Some(desk) = desk(LOSSY) else { return };
    let call = desk.call(&["advise", "my.toml", "--engine", "linux", "--no-report", "--json"]);
    let advice = call.ends_with(0).json();
    assert_eq!(advice["engine"], "linux");
    let changes = advice["changes"].as_array().expect("changes");
    let is_bbr = changes.iter().any(|own| own["advised"] == "bbr");
    assert!(is_bbr, "{}", advice["answer"]);
    let share = |when: &str| advice[when]["share"].as_f64().expect("a share");
    assert!(share("today") < 0.2 && share("advised") > 0.9, "{}", advice["answer"]);

    // The simulator's own bbr finds the same.
    let simulated = desk.call(&["advise", "my.toml", "--no-report", "--json"]).ends_with(0).json();
    let changes = simulated["changes"].as_array().expect("changes");
    assert!(changes.iter().any(|own| own["advised"] == "bbr"), "{}", simulated["answer"]);
    let both = [&advice, &simulated].map(|own| own["advised"]["mbit"].as_f64().expect("a rate"));
    assert!((both[0] / both[1] - 1.0).abs() < 0.05, "{both:?} Mb/s");
}
