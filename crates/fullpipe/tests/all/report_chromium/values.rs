//! Values under the pointer are the document's.

use crate::report_chromium::browser;
use crate::report_chromium::page::Page;
use crate::report_sample as sample;
use fullpipe::analysis::document::Document;
use fullpipe::report::html::render;

/// The number in front of a unit, as a reader reads it, and half of its last digit.
fn read(text: &str, unit: &str) -> (f64, f64) {
    let number = text.strip_suffix(unit).unwrap_or_else(|| panic!("{text}: no {unit}")).trim();
    let plain = number.replace(',', "").replace('−', "-");
    let decimals = plain.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    (plain.parse().expect("a number"), 0.5 * 0.1f64.powi(decimals as i32))
}

fn assert_reads(text: &str, unit: &str, value: f64) {
    let (shown, half) = read(text, unit);
    assert!((shown - value).abs() <= half * 1.0001, "shown {text}, in the document {value}");
}

#[test]
fn values_under_the_pointer_are_those_of_the_document() {
    let document = sample::fink();
    let Some(page) = browser::open(&render(&document)) else {
        return;
    };
    check_throughput_values(&page, &document);
    let values = page.hover("cwnd", 0, 5.0);
    let time = read(&values.head[0], "s").0;
    for (run, row) in values.rows.iter().enumerate() {
        let series = &document.runs[run].flows[0].series;
        let place =
            series.end_s.iter().position(|end| (end - time).abs() < 1e-6).expect("a sample's time");
        assert_eq!(row[0], document.runs[run].variant);
        assert_reads(&row[1], "packets", f64::from(series.cwnd[place]));
        match series.ssthresh[place] {
            Some(ssthresh) => assert_reads(&row[2], "packets", f64::from(ssthresh)),
            None => assert_eq!(row[2], "infinite"),
        }
    }
    check_other_values(&page, &document);
}

/// Also beyond the end of the shorter runs, where there is nothing to say.
fn check_throughput_values(page: &Page, document: &Document) {
    for second in [0, 3, 8, 20] {
        let values = page.hover("throughput", 0, second as f64 + 0.4);
        assert_eq!(values.head[0], format!("{second}.0 to {}.0 s", second + 1));
        assert_eq!(values.rows.len(), document.runs.len());
        for (run, row) in document.runs.iter().zip(&values.rows) {
            let column = |name: &str| {
                row[values.head.iter().position(|head| head == name).expect(name)].as_str()
            };
            let Some(interval) = run.flows[0].intervals.get(second) else {
                assert_eq!(column("simulated"), "–");
                continue;
            };
            assert_reads(column("simulated"), "Mb/s", interval.throughput_mbit);
            let published = &run.published.as_ref().expect("published figures").rows[second];
            assert_reads(column("published"), "Mb/s", published.throughput_mbit);
            let (low, high) = column("over all phases").split_once(" to ").expect("a band");
            assert_reads(low, "Mb/s", published.band_low as f64 * 8e-6);
            assert_reads(high, "Mb/s", published.band_high as f64 * 8e-6);
        }
    }
}

fn check_other_values(page: &Page, document: &Document) {
    let third = &document.runs[2].flows[0].series;
    let at = |head: &str| {
        let time = read(head, "s").0;
        third.end_s.iter().position(|end| (end - time).abs() < 1e-6).expect("a sample's time")
    };
    let values = page.hover("windows", 2, 12.0);
    let place = at(&values.head[0]);
    assert_eq!(values.head[1..], ["in flight", "cwnd", "advertised window"]);
    assert_reads(&values.rows[2][1], "packets", f64::from(third.in_flight[place]));
    assert_reads(&values.rows[2][3], "packets", f64::from(third.snd_wnd_packets[place]));
    let values = page.hover("rtt", 0, 21.0);
    let place = at(&values.head[0]);
    assert_reads(
        &values.rows[2][1],
        "ms",
        f64::from(third.srtt_us[place].expect("a sample")) / 1000.0,
    );
    let values = page.hover("queue", 0, 21.0);
    assert_reads(&values.rows[2][1], "packets", third.queue[at(&values.head[0])] as f64);
    let values = page.hover("limits", 2, 23.75);
    let bucket = third.end_s.iter().position(|end| *end >= 23.75).expect("a bucket");
    let column = values.head.iter().position(|head| head == "sender CPU").expect("a limit");
    assert_reads(
        &values.rows[2][column],
        "%",
        f64::from(third.limits["sender_cpu"][bucket]) * 100.0,
    );
}
