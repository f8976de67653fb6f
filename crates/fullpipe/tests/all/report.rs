//! The HTML report and its neutral figures and tables, without a browser.

use crate::report_sample as sample;
use fullpipe::analysis::document::{Aborted, Document, Headline, Round};
use fullpipe::report::figures::{self, Role};
use fullpipe::report::html::render;
use fullpipe::report::tables::{self, Cell};
use fullpipe::report::terminal;
use serde_json::Value;
use std::collections::HashSet;

fn samples() -> Vec<(&'static str, Document)> {
    vec![
        ("fink.html", sample::fink()),
        ("two-flows.html", sample::two_flows()),
        ("sweep.html", sample::sweep(50)),
        ("edges.html", sample::edges()),
        ("dense.html", sample::dense()),
        ("nothing.html", sample::nothing()),
    ]
}

/// Contents of a script element of the page.
fn embedded(html: &str, id: &str) -> Value {
    let packed = format!("<script type=\"text/plain\" data-packed=\"deflate-raw\" id=\"{id}\">");
    let plain = format!("<script type=\"application/json\" id=\"{id}\">");
    let content = |start: &str| html.split_once(start)?.1.split_once("</script>").map(|it| it.0);
    let json = match (content(&plain), content(&packed)) {
        (Some(json), None) => json.as_bytes().to_vec(),
        (None, Some(packed)) => inflated(packed),
        _ => panic!("one element {id}"),
    };
    serde_json::from_slice(&json).expect("JSON")
}

/// Bytes from base64 (RFC 4648), inflated (RFC 1951).
fn inflated(base64: &str) -> Vec<u8> {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for letter in base64.trim_end_matches('=').chars() {
        bits = bits << 6 | letters.find(letter).expect("a letter of base64") as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    miniz_oxide::inflate::decompress_to_vec(&bytes).expect("deflated")
}

#[test]
fn the_four_variants_stay_below_five_megabytes() {
    let html = render(&sample::fink());
    assert!(html.len() < 5_000_000, "{} bytes", html.len());
}

#[test]
fn equal_documents_give_equal_bytes() {
    for (name, document) in samples() {
        let html = render(&document);
        assert_eq!(html, render(&document.clone()));
        sample::keep(name, &html);
    }
}

#[test]
fn the_page_refers_to_nothing_outside() {
    let outside = [
        "src=",
        "href=\"http",
        "@import",
        "url(http",
        "url(//",
        "fetch(",
        "XMLHttpRequest",
        "import(",
    ];
    let html = render(&sample::fink());
    for reference in outside {
        assert!(!html.contains(reference), "{reference}");
    }
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn the_document_is_embedded_whole() {
    for (name, document) in samples() {
        let text = serde_json::to_string(&document).expect("JSON");
        let expected: Value = serde_json::from_str(&text).expect("JSON");
        // assert! and not assert_eq!: two whole documents are unreadable.
        assert!(embedded(&render(&document), "fullpipe-data") == expected, "{name}");
    }
}

#[test]
fn the_headline_is_the_first_sentence_and_stands_on_cards_of_several_runs() {
    let mut document = sample::fink();
    let html = render(&document);
    assert!(!html.contains("class=\"lead"), "nothing is said where the document says nothing");
    let text = "285 of 9,415 Mb/s <now>.";
    let headline = serde_json::json!({ "text": text, "grade": "failed" });
    let headline: Headline = serde_json::from_value(headline).expect("a headline");
    document.headline = Some(headline.clone());
    document.runs[1].headline = Some(headline);
    let html = render(&document);
    assert!(html.contains("<p class=\"lead bad\">285 of 9,415\u{a0}Mb/s &lt;now&gt;.</p>"));
    assert!(html.contains("<p class=\"bad\">285 of 9,415\u{a0}Mb/s &lt;now&gt;.</p>"));
    let sections = ["verdict", "evidence", "path", "tables"].map(|id| format!("<h2 id=\"{id}\">"));
    let places: Vec<usize> = sections.iter().map(|id| html.find(id).expect("a section")).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn idle_places_are_folded_and_the_culprit_is_large() {
    let mut document = sample::fink();
    let run = &mut document.runs[0];
    let mut place = run.picture.places[0].clone();
    let idle = ["sender.send_buffer", "sender.qdisc"].map(|stage| {
        (place.stage, place.full, place.mean_filled) = (stage.into(), Some(0.0), Some(0.01));
        place.limits.clear();
        place.clone()
    });
    run.picture.places.splice(0..0, idle);
    let html = render(&document);
    let path = "<details class=\"path\" data-run=\"0\"";
    let (_, path) = html.split_once(path).expect("the path");
    let (path, _) = path.split_once("class=\"path\"").expect("the next");
    assert!(path.contains("<summary title=\"send_buffer, qdisc\">2 idle</summary>"), "{path}");
    let large = path.matches("class=\"place limiting\"").count();
    assert_eq!((large, path.matches("class=\"place").count()), (2, 4));
}

#[test]
fn hostile_names_open_no_element() {
    let document = sample::edges();
    let html = render(&document);
    assert_eq!(html.matches("</script>").count(), 3, "two data elements and the program");
    assert!(!html.contains("<img"));
    assert!(!html.contains("<script>"));
    let data = embedded(&html, "fullpipe-data");
    assert_eq!(data["scenario"]["title"], Value::from(document.scenario.title));
}

#[test]
fn partial_runs_are_marked() {
    let html = render(&sample::edges());
    assert!(html.contains("<b>Interrupted.</b>"));
    assert_eq!(html.matches("class=\"badge\">partial<").count(), 1);
    assert!(html.contains("cut short (partial)"));
    assert!(!render(&sample::fink()).contains("partial<"));
}

#[test]
fn every_column_of_a_figure_exists_and_fits_the_others() {
    for (name, document) in samples() {
        let json = serde_json::to_value(&document).expect("JSON");
        for figure in figures::all(&document) {
            for series in &figure.series {
                let length = series.x.values(&json).len();
                let run = &document.runs[series.run];
                let empty = series.flow.is_some_and(|flow| run.flows[flow].series.end_s.is_empty());
                assert!(length > 0 || empty, "{name} {}", series.id);
                let others = [series.x_start.as_ref(), Some(&series.y), series.y_high.as_ref()];
                for column in others.into_iter().flatten() {
                    assert_eq!(
                        column.values(&json).len(),
                        length,
                        "{name} {} {}",
                        figure.name,
                        series.id
                    );
                }
            }
        }
    }
}

#[test]
fn names_of_figures_and_series_are_unique_and_titles_are_findings() {
    for (name, document) in samples() {
        let figures = figures::all(&document);
        let names: HashSet<&str> = figures.iter().map(|figure| figure.name).collect();
        assert_eq!(names.len(), figures.len());
        for figure in &figures {
            let ids: HashSet<&str> =
                figure.series.iter().map(|series| series.id.as_str()).collect();
            assert_eq!(ids.len(), figure.series.len(), "{name} {}", figure.name);
            assert!(!figure.y.unit.is_empty() && !figure.x.unit.is_empty());
            assert!(
                !figure.title.contains("NaN") && !figure.title.ends_with('.'),
                "{}",
                figure.title
            );
        }
    }
    for figure in figures::all(&sample::fink()) {
        assert!(figure.title.contains(|c: char| c.is_ascii_digit()), "{}", figure.title);
    }
}

#[test]
fn titles_say_who_is_slowest_and_why() {
    let figures = figures::all(&sample::fink());
    let title = |name: &str| &figures.iter().find(|figure| figure.name == name).expect(name).title;
    let slowest = "; cubic, initial_ssthresh 100 needs 24 s to 90 % of its highest rate, 7,260 Mb/s; reno needs 2 s";
    let first = title("throughput");
    assert!(first.starts_with("Mean rates of ") && first.ends_with(slowest), "{first}");
    assert!(
        title("limits")
            .starts_with("cwnd, avoidance held back cubic, initial_ssthresh 100 for 79 %")
    );
    let figures = figures::all(&sample::nothing());
    assert_eq!(figures[0].title, "No flow was measured");
}

/// Sums and places of the bins, by a run's panel; where nothing is dropped, words alone.
#[test]
fn figures_over_time_have_a_line_per_flow_and_place() {
    let document = sample::two_flows();
    let json = serde_json::to_value(&document).expect("JSON");
    let figures = figures::all(&document);
    let figure = |name: &str| figures.iter().find(|figure| figure.name == name).expect(name);
    let of_run = |name: &str, run: usize| {
        let series = figure(name).series.iter().filter(move |series| series.run == run);
        series.map(|series| (series, series.line.clone().expect("a line"))).collect::<Vec<_>>()
    };
    for run in 0..2 {
        let bandwidth = of_run("bandwidth", run);
        let of = |name: &str, role: Role| -> Vec<f64> {
            let found = bandwidth.iter().find(|(s, line)| line.name == name && s.role == role);
            let (series, _) = found.expect(name);
            series.y.values(&json).into_iter().map(|value| value.expect("a number")).collect()
        };
        assert_eq!(bandwidth.len(), 6);
        for role in [Role::Measure, Role::Bound] {
            let [one, other, all] = ["bulk", "background", "all flows"].map(|name| of(name, role));
            assert!(all.iter().any(|mbit| *mbit > 0.0));
            for bin in 0..all.len() {
                assert!((one[bin] + other[bin] - all[bin]).abs() < 1e-3, "bin {bin}");
            }
        }
        let queues: Vec<_> = of_run("queues", run).into_iter().map(|(_, line)| line.name).collect();
        assert_eq!(queues, ["sender.tx_ring", "link"]);
        assert_eq!(of_run("drops", run).len(), usize::from(run == 0));
    }
    assert!(figure("drops").title.ends_with("all of them by sender.tx_ring"));
    let mut without = document.clone();
    without.runs.remove(0);
    let drops = figures::all(&without).pop().expect("drops");
    assert_eq!((drops.name, drops.series.len()), ("drops", 0));
    assert_eq!(drops.title, "No packet was dropped anywhere");
    let page = render(&without);
    let (_, shown) = page.split_once("id=\"figure-drops\"").expect("the figure");
    assert!(!shown.split_once("</figure>").expect("its end").0.contains("class=\"panel\""));
}

#[test]
fn rounds_of_slow_start_are_ticks_on_the_line_of_cwnd() {
    let mut document = sample::fink();
    let flow = &mut document.runs[1].flows[0];
    flow.series.cwnd[2..5].copy_from_slice(&[40, 80, 80]);
    let (ends, cwnd) = (flow.series.end_s.clone(), flow.series.cwnd.clone());
    let (end, half) = (ends[3], f64::midpoint(ends[2], ends[3]));
    let round = |start_s| Round { start_s, end_s: None, segments: 4 };
    // In the third round cwnd does not grow, so that it has no stroke.
    flow.slow_start_rounds = Some(vec![round(half), round(end), round(ends[4])]);
    let figures = figures::all(&document);
    let ticks = &figures.iter().find(|figure| figure.name == "cwnd").expect("cwnd").ticks;
    let between = f64::from(cwnd[2] + cwnd[3]) / 2.0;
    let seen: Vec<_> = ticks.iter().map(|tick| (tick.run, &tick.label[..], tick.y)).collect();
    assert_eq!(seen.len(), 2);
    assert!((seen[0].2 - between).abs() < 1e-6 && (seen[1].2 - f64::from(cwnd[3])).abs() < 1e-6);
    assert_eq!(
        seen.iter().map(|(run, label, _)| (*run, *label)).collect::<Vec<_>>(),
        [(1, "1"), (1, "2")]
    );
}

#[test]
fn the_shares_drawn_add_up_to_the_whole() {
    let document = sample::fink();
    let json = serde_json::to_value(&document).expect("JSON");
    let figures = figures::all(&document);
    for (run, _) in document.runs.iter().enumerate() {
        let shares: Vec<Vec<Option<f64>>> = figures
            .iter()
            .flat_map(|figure| &figure.series)
            .filter(|series| series.run == run && series.role == Role::Share)
            .map(|series| series.y.values(&json))
            .collect();
        assert!(shares.len() > 1);
        for bucket in 0..shares[0].len() {
            let sum: f64 = shares.iter().filter_map(|share| share[bucket]).sum();
            assert!((sum - 100.0).abs() < 1e-3, "{sum}");
        }
    }
}

#[test]
fn the_published_table_shows_both_figures_and_the_difference() {
    let document = sample::fink();
    let tables = tables::all(&document);
    let published: Vec<_> = tables.iter().filter(|table| table.name == "published").collect();
    assert_eq!(published.len(), 4);
    for (table, run) in published.iter().zip(&document.runs) {
        let rows = &run.published.as_ref().expect("published").rows;
        assert_eq!(table.rows.len(), rows.len());
        for (cells, row) in table.rows.iter().zip(rows) {
            assert_eq!(cells.len(), table.columns.len());
            assert_eq!(cells[4], Cell::Difference(row.error));
        }
    }
    let html = render(&document);
    assert!(
        html.contains("<td class=\"n\">843.15</td>"),
        "the published second 2 of cubic, ssthresh 0"
    );
}

#[test]
fn drops_and_full_stages_are_named() {
    let mut document = sample::fink();
    document.runs[0].stages[3].dropped = 1234;
    let tables = tables::all(&document);
    let stages: Vec<_> = tables.iter().filter(|table| table.name == "stages").collect();
    assert_eq!(
        stages[0].finding,
        "1,234 dropped; full at times: sender.send_buffer, sender.tx_ring"
    );
    assert_eq!(
        stages[1].finding,
        "nothing dropped; full at times: sender.send_buffer, sender.tx_ring"
    );
}

/// The end of a given-up connection is on the card, above the table and in the text, with its flow.
#[test]
fn a_connection_that_was_given_up_is_shown() {
    let mut document = sample::two_flows();
    let sentence = "the connection timed out (ETIMEDOUT)";
    let card = format!("<p class=\"bad\">at 12.345 s {sentence}</p>");
    assert!(!render(&document).contains(sentence));
    document.runs[0].flows[1].aborted = Some(Aborted { at_s: 12.345, errno: 110 });
    assert_eq!(render(&document).matches(&card).count(), 1);
    let tables = tables::all(&document);
    let flows = tables.iter().find(|table| table.name == "flows").expect("a table");
    let (run, flow) = (&document.runs[0], &document.runs[0].flows[1]);
    assert_eq!(flows.finding, format!("{} / {}: at 12.345 s {sentence}", run.variant, flow.name));
    let text = terminal::render(&document, terminal::Style { width: 1000, color: false });
    assert_eq!(text.matches(sentence).count(), 1, "{text}");
}

#[test]
fn failed_expectations_are_counted_on_the_card_and_in_the_table() {
    let mut document = sample::fink();
    document.runs[1].expectations[0].passed = false;
    document.runs[1].expectations[0].detail = "off by 12 segments".to_string();
    let html = render(&document);
    assert!(html.contains("✗ 0 of 1 expectations hold"));
    assert!(html.contains("<td class=\"bad\">off by 12 segments</td>"));
    assert!(html.contains("3 of 4 hold"));
}

#[test]
fn compared_runs_have_their_parting_in_figures_and_tables() {
    let document = sample::compared();
    let pair = &document.comparisons[0];
    let diverged: Vec<_> =
        pair.flows.iter().map(|flow| flow.distance.diverged.as_ref().expect("they part")).collect();
    let figures = figures::all(&document);
    for figure in &figures {
        let shows = ["throughput", "cwnd"].contains(&figure.name);
        assert_eq!(figure.moments.len(), if shows { 2 } else { 0 }, "{}", figure.name);
        for (mark, diverged) in figure.moments.iter().zip(&diverged) {
            assert_eq!((mark.runs, mark.x), ([0, 1], diverged.at_s));
        }
    }
    let cwnd = figures.iter().find(|figure| figure.name == "cwnd").expect("cwnd");
    assert!(cwnd.title.contains("they part after"), "{}", cwnd.title);
    let tables = tables::all(&document);
    let table = |name: &str| tables.iter().find(|table| table.name == name).expect("a table");
    assert_eq!(table("distances").rows.len(), 2);
    let partings = table("partings");
    assert_eq!(partings.rows.len(), 4);
    assert_eq!(partings.rows[0][2], Cell::Count(diverged[0].a.cwnd.into()));
    let happened = |row: usize| match &partings.rows[row][7] {
        Cell::Text(text) => text.clone(),
        other => panic!("{other:?}"),
    };

    assert_eq!(happened(1), "at 0.100 s 3 segments retransmitted");
    assert_eq!(happened(0), "nothing");
    assert_eq!(table("distances").finding, "");
    assert!(tables::all(&sample::fink()).iter().all(|table| table.name != "distances"));
}

#[test]
fn what_is_not_known_of_compared_runs_is_said_in_the_report_and_the_text() {
    let mut document = sample::compared();
    let name = document.comparisons[0].flows[0].name.clone();
    let distance = &mut document.comparisons[0].flows[0].distance;
    let at_s = distance.diverged.as_ref().expect("they part").at_s;
    distance.known_until_s = Some(at_s);
    let only = format!("known before {at_s:.3} s only, as more happened than is kept");
    let tables = tables::all(&document);
    let table = |name: &str| tables.iter().find(|table| table.name == name).expect("a table");
    assert_eq!(table("distances").finding, format!("losses of {name}: {only}"));
    assert!(matches!(&table("partings").rows[0][7], Cell::Text(text) if *text == only));
    assert!(render(&document).contains(&only));
    let style = terminal::Style { width: 1000, color: false };
    let text = terminal::render_as(&document, terminal::Detail::Full, style);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!(" episodes of loss; {only}")), "{text}");
    assert!(words.contains(&format!("; {only} b: cwnd")), "{text}");
}
