//! Advice as a section of the report's page, above the verdicts on the runs that prove it.

use super::document::{Advice, Result};
use super::files::File;
use crate::analysis::numbers;
use crate::report::page::escape::{sentence, text};
use std::fmt::Write;

/// Section of HTML: the answer, the changes with their proof, what they cost, and the files with their undo.
pub fn section(advice: &Advice) -> String {
    let mut out = format!(
        "<section class=\"advice\" aria-labelledby=\"advice\"><h2 id=\"advice\">Advice</h2><p class=\"lead\">{}</p>",
        sentence(&advice.answer)
    );
    rates(&mut out, advice);
    if !advice.changes.is_empty() {
        changes(&mut out, advice);
    }
    list(&mut out, "Costs and conditions", &advice.notes);
    list(&mut out, "In programs and the network", &advice.files.program);
    advice.files.enough.iter().for_each(|own| file(&mut out, own));
    out.push_str("</section>");
    out
}

fn rates(out: &mut String, advice: &Advice) {
    out.push_str(
        "<div class=\"scroll\"><table><thead><tr><th></th><th class=\"n\">rate <small>Mb/s</small></th>\
         <th class=\"n\">of path</th><th class=\"n\">queue <small>ms</small></th>\
         <th class=\"n\">sent again <small>segments</small></th></tr></thead><tbody>",
    );
    row(out, "today", &advice.today);
    if !advice.changes.is_empty() {
        row(out, "advised", &advice.advised);
    }
    let _ = write!(
        out,
        "</tbody></table></div><p class=\"quiet\">These are {}.</p>",
        text(&super::text::rates_are(advice))
    );
}

fn row(out: &mut String, name: &str, own: &Result) {
    let share = own.share.map_or_else(|| numbers::ABSENT.into(), numbers::share);
    // Writing to a string cannot fail, here and below.
    let _ = write!(
        out,
        "<tr><td>{name}</td><td class=\"n\">{}</td><td class=\"n\">{share}</td><td class=\"n\">{}</td>\
         <td class=\"n\">{}</td></tr>",
        numbers::short(own.mbit),
        numbers::short(own.queue_ms),
        numbers::count(own.retransmitted)
    );
}

fn changes(out: &mut String, advice: &Advice) {
    out.push_str(
        "<h3>Changes, and the rate with all others but without this one</h3><div class=\"scroll\"><table><thead><tr>\
         <th>setting</th><th>of</th><th>today</th><th>advised</th><th class=\"n\">without <small>Mb/s</small></th>\
         <th>why</th></tr></thead><tbody>",
    );
    for own in &advice.changes {
        let change = &own.change;
        let _ = write!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td><td>{}</td></tr>",
            text(&change.setting),
            text(&change.whose),
            text(&change.today),
            text(&change.advised),
            numbers::short(own.without_mbit),
            sentence(&super::text::reason(own, advice))
        );
    }
    out.push_str("</tbody></table></div>");
}

fn list(out: &mut String, heading: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = write!(out, "<h3>{heading}</h3><ul>");
    lines.iter().for_each(|line| _ = write!(out, "<li>{}</li>", sentence(line)));
    out.push_str("</ul>");
}

fn file(out: &mut String, own: &File) {
    let _ = write!(
        out,
        "<details class=\"table\"><summary><h3>On {}, as root: {}</h3></summary><div class=\"scroll\"><pre><code>{}</code>\
         </pre><table><tbody>",
        text(&own.host),
        text(&own.path),
        text(own.text.trim_end())
    );
    for (what, command) in super::text::commands(own) {
        let _ = write!(out, "<tr><td>{what}</td><td><code>{}</code></td></tr>", text(&command));
    }
    out.push_str("</tbody></table></div></details>");
}
