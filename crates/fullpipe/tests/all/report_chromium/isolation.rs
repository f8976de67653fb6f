//! Nothing is loaded from outside, nothing moves, and names stay text.

use crate::report_chromium::browser;
use crate::report_chromium::drawing::check_drawn;
use crate::report_chromium::expected::gauge;
use crate::report_sample as sample;
use fullpipe::report::html::render;
use serde_json::json;

#[test]
fn nothing_is_fetched_and_nothing_moves() {
    let Some(page) = browser::open(&render(&sample::fink())) else {
        return;
    };
    page.wait_for("document.readyState === 'complete'");
    let requests = page.requests();
    assert!(!requests.is_empty(), "the log must at least hold the page itself");
    let outside: Vec<&String> = requests
        .iter()
        .filter(|url| {
            !(url.starts_with("file://") && url.ends_with("/report.html")
                || url.starts_with("data:"))
        })
        .collect();
    assert!(outside.is_empty(), "{outside:?}");
    assert_eq!(page.run("return performance.getEntriesByType('resource').length", &[]), json!(0));
    let attempt = "return new Promise(done => { \
                   document.addEventListener('securitypolicyviolation', event => done(event.effectiveDirective)); \
                   fetch('http://127.0.0.1:9/').catch(() => {}); setTimeout(() => done('allowed'), 2000); })";
    assert_eq!(page.run(attempt, &[]), json!("connect-src"));
    let script = "return new Promise(done => new PerformanceObserver(list => \
                  done(list.getEntries().reduce((sum, entry) => sum + entry.value, 0))) \
                  .observe({type: 'layout-shift', buffered: true}) || setTimeout(() => done(0), 500))";
    assert_eq!(page.run(script, &[]), json!(0));
}

#[test]
fn hostile_names_stay_text_and_edge_cases_are_drawn() {
    let document = sample::edges();
    let Some(page) = browser::open(&render(&document)) else {
        return;
    };
    let complaints = page.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    assert_eq!(
        page.run("return document.querySelector('h1').textContent", &[]),
        json!(document.scenario.title)
    );
    let first = "return document.querySelector('#legend [data-run=\"0\"]').textContent";
    assert_eq!(page.run(first, &[]), json!(document.runs[0].variant));
    assert_eq!(page.run("return document.querySelectorAll('img').length", &[]), json!(0));
    let embedded =
        page.run("return JSON.parse(document.getElementById('fullpipe-data').textContent)", &[]);
    assert_eq!(embedded["runs"][0]["variant"], json!(document.runs[0].variant));
    let flow = &document.runs[1].flows[0];
    check_drawn(&page, "cwnd", "r1.f0.cwnd", &gauge(flow, &flow.series.cwnd, 1.0));
    assert!(page.points("cwnd", "r2.f0.ssthresh").is_empty());
    assert!(page.points("cwnd", "r0.f0.cwnd").is_empty());
    let badge =
        page.run("return document.querySelector('.card[data-run=\"2\"] .badge').textContent", &[]);
    assert_eq!(badge, json!("partial"));
    assert_eq!(
        page.run("return document.querySelectorAll('.banner[role=alert]').length", &[]),
        json!(1)
    );
    let values = page.hover("throughput", 0, 3.5);
    let partial =
        values.rows.iter().find(|row| row[0].contains("cut short")).expect("the partial run");
    assert!(partial[0].contains("(partial)"), "{partial:?}");
}
