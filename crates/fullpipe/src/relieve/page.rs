//! Page with a bar for the gain of each relief alone; it needs no network and draws without scripts.

use super::answer::{RATES, length, longest, rates_of};
use super::document::{Relieved, Run, Tried};
use crate::analysis::rules::by_code;
use crate::analysis::words::{lower, ms};
use crate::numbers;
use crate::report::page::assets::{PAGE_CSS, POLICY, THEME_JS, theme_css};
use crate::report::page::escape::text;
use std::fmt::Write;

const STYLE: &str = ".gains{width:100%;border-collapse:collapse}.gains td,.gains th{padding:.3rem .6rem;text-align:left}\
    .gains .n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}.gains .b{width:45%}\
    .bar{display:block;height:1rem;background:currentColor;opacity:.35;border-radius:2px}.now .bar{opacity:.15}";

/// The page of all runs.
pub fn page(relieved: &Relieved) -> String {
    let title = text(&relieved.title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><link rel=\"icon\" href=\"data:,\">\
         <title>{title} · fullpipe</title>\n<style>\n{}{PAGE_CSS}{STYLE}</style></head>\n<body>\
         <header><div><p class=\"quiet\">fullpipe · what each relief alone would give · engine {}</p><h1>{title}</h1></div>\
         <button type=\"button\" id=\"theme\">dark</button></header><main>",
        theme_css(),
        text(&relieved.engine)
    );
    relieved.runs.iter().for_each(|own| run(&mut out, own));
    let _ = write!(
        out,
        "</main><script type=\"module\">\n{THEME_JS}wireTheme();\n</script></body></html>\n"
    );
    out
}

fn run(out: &mut String, own: &Run) {
    // Writing to a string cannot fail, here and below.
    let _ = write!(
        out,
        "<section><h2>{}</h2><p class=\"lead\">{}</p>",
        text(&own.name),
        text(&own.answer)
    );
    if let Some(mbit) = own.mbit {
        bars(out, own, mbit);
    }
    out.push_str("</section>");
}

fn bars(out: &mut String, own: &Run, mbit: f64) {
    // The longest bar fills the width.
    let most = longest(own).max(1e-9);
    let width = |tried: Option<&Tried>| (length(own, tried) / most * 100.0).clamp(0.0, 100.0);
    let cell = |message: Option<f64>| {
        message.map_or_else(String::new, |own| format!("<td class=\"n\">{}</td>", ms(own)))
    };
    let heading = own.message_ms.map_or("", |_| "<th class=\"n\">median message</th>");
    let _ = write!(
        out,
        "<table class=\"gains\"><thead><tr><th>relief, alone</th><th>relieves</th><th class=\"n\">rate</th>{heading}\
         <th class=\"n\">gain</th><th class=\"b\"></th></tr></thead><tbody>",
    );
    let _ = write!(
        out,
        "<tr class=\"now\"><td>none, as it is</td><td></td><td class=\"n\">{}</td>{}<td class=\"n\">{}</td>\
         <td class=\"b\"><span class=\"bar\" style=\"width:{:.1}%\"></span></td></tr>",
        numbers::rate(mbit),
        cell(own.message_ms),
        if mbit > 0.0 { "1.00" } else { numbers::ABSENT },
        width(None)
    );

    // Refused reliefs have no rate, and no bar.
    let tried = own.reliefs.iter().filter_map(|tried| Some((tried, tried.mbit?)));
    let (gaining, others): (Vec<_>, Vec<_>) = tried.partition(|(tried, _)| tried.gains());
    for (tried, mbit) in gaining {
        let gain =
            tried.gain.map_or_else(|| numbers::ABSENT.into(), |gain| numbers::fixed(gain, 2));
        let title = by_code(&tried.cause).map_or(&tried.cause[..], |known| known.title);
        let _ = write!(
            out,
            "<tr><td title=\"{}\">{}</td><td>{}</td><td class=\"n\">{}</td>{}<td class=\"n\">{}</td>\
             <td class=\"b\"><span class=\"bar\" style=\"width:{:.1}%\"></span></td></tr>",
            text(&tried.set.join(", ")),
            text(&tried.label),
            text(title),
            numbers::rate(mbit),
            cell(tried.message_ms),
            gain,
            width(Some(tried))
        );
    }
    out.push_str("</tbody></table>");
    if let Some(whose) = rates_of(own) {
        let _ = write!(out, "<p class=\"quiet\">{RATES}: {}.</p>", text(&whose));
    }
    let others: Vec<String> = others.iter().map(|(tried, ..)| lower(&tried.label)).collect();
    if !others.is_empty() {
        let _ = write!(out, "<p class=\"quiet\">No gain: {}.</p>", text(&others.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_gains() {
        let tried = |name: &str, gain: f64| Tried {
            name: name.into(),
            label: format!("A <larger> {name}"),
            cause: "sndbuf".into(),
            set: vec!["a=1".into()],
            mbit: Some(100.0 * gain),
            message_ms: None,
            arrived: None,
            gain: Some(gain),
            refused: None,
        };
        let run = Run {
            name: "base".into(),
            answer: "An answer.".into(),
            flows: vec!["data".into()],
            mbit: Some(100.0),
            message_ms: None,
            arrived: None,
            seconds: Some(1.0),
            reliefs: vec![tried("buffer", 4.0), tried("ring", 2.0), tried("queue", 1.0)],
        };
        let relieved = Relieved {
            format: 1,
            title: "a & b".into(),
            engine: "sim".into(),
            partial: false,
            runs: vec![run],
        };
        let page = page(&relieved);
        for part in [
            "width:25.0%",
            "width:100.0%",
            "width:50.0%",
            "A &lt;larger&gt; buffer",
            "a &amp; b",
            "No gain: a &lt;larger&gt; queue.",
        ] {
            assert!(page.contains(part), "no {part}");
        }
        assert!(!page.contains("<td>A &lt;larger&gt; queue"));
    }
}
