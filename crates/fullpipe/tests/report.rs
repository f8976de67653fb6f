//! The HTML report and its neutral figures and tables, without a browser.

mod report_sample;

use fullpipe::report::html::render;
use report_sample as sample;

#[test]
fn the_file_is_small_and_asks_for_nothing_outside() {
    let html = render(&sample::fink());
    sample::keep("fink.html", &html);
    sample::keep("edges.html", &render(&sample::edges()));
    sample::keep("two-flows.html", &render(&sample::two_flows()));
    sample::keep("sweep.html", &render(&sample::sweep(50)));
    assert!(html.len() < 5_000_000, "{} bytes", html.len());
    for outside in ["src=", "href=\"http", "@import", "url(h", "//cdn", "fetch(", "XMLHttpRequest"]
    {
        assert!(!html.contains(outside), "{outside}");
    }
}
