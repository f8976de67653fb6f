//! One connection on the screen: its figures, their course, and its verdict.

use super::app::App;
use crate::connections::columns::{Column, named, shown_columns};
use crate::connections::rows::Row;
use fullpipe::base::tcp::INFINITE_SSTHRESH;
use fullpipe::base::units::Time;
use fullpipe::numbers::short;
use fullpipe::observation::live::Look;
use fullpipe::observation::tcp_info::TcpInfo;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::Marker;
use ratatui::widgets::{Axis, Block, Chart, Dataset, GraphType, Paragraph, Wrap};

/// Least height of a chart: its title, and two lines.
const CHART: u16 = 3;
/// Least height of the verdict.
const VERDICT: u16 = 4;
/// Charts in a line.
const ACROSS: usize = 2;

/// A chart: a value over time, and perhaps a second one.
struct Drawn {
    title: String,
    lines: Vec<Vec<(f64, f64)>>,
}

/// Draws a connection.
pub fn draw(frame: &mut Frame, app: &App, row: &Row, now: Time) {
    let area = frame.area();
    let figures = figures(row, area.width.into());
    let high = area.height.saturating_sub(2 + figures.lines().count() as u16);
    let charts = charts(row, app.every, now);
    let across = charts.len().div_ceil(ACROSS) as u16;

    // The verdict has the lines that it needs, up to a third; charts have the rest.
    let wanted = app.verdict.lines().count() as u16;
    let verdict = wanted.clamp(VERDICT, (high / 3).max(VERDICT)).min(high);
    let heights = [1, figures.lines().count() as u16, high - verdict, verdict, 1];
    let [title, top, middle, bottom, help] =
        Layout::vertical(heights.map(Constraint::Length)).areas(area);

    let bold = Style::new().add_modifier(Modifier::BOLD);
    let name =
        format!("{} {} {}", row.ends(area.width.into()), row.process(), row.entry.first.congestion);
    frame.render_widget(Paragraph::new(name).style(bold), title);
    frame.render_widget(Paragraph::new(figures), top);
    if middle.height >= CHART * across {
        grid(frame, app, middle, &charts);
    }
    let text = match app.verdict.is_empty() {
        true => "The verdict needs a moment of traffic.",
        false => &app.verdict,
    };
    frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: false }), bottom);
    frame.render_widget(Paragraph::new("Esc list   up/down other connection   q quit"), help);
}

/// All figures, as many to a line as fit.
fn figures(row: &Row, width: usize) -> String {
    let of = |own: &Column| {
        let shown = own.shown.as_ref()?;
        let value = shown.text((own.value)(row));
        Some(format!("{} {value}", shown.heading))
    };
    let mut parts: Vec<String> = shown_columns().filter_map(of).collect();
    parts.push(format!("limit: {}", row.limit()));
    let mut lines = vec![String::new()];
    for part in parts {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        match line.is_empty() || line.chars().count() + 3 + part.chars().count() <= width {
            true if line.is_empty() => *line = part,
            true => *line += &format!("   {part}"),
            false => lines.push(part),
        }
    }
    lines.join("\n")
}

/// The charts of a connection.
fn charts(row: &Row, every: Time, now: Time) -> Vec<Drawn> {
    let looks: Vec<&Look> = row.entry.looks().collect();
    let at = |time: Time| -now_less(now, time);
    let course = |of: fn(&TcpInfo) -> Option<f64>| -> Vec<(f64, f64)> {
        looks.iter().filter_map(|own| Some((at(own.time), of(&own.info)?))).collect()
    };
    let span = looks.first().map_or(0.0, |own| now_less(now, own.time));
    let bins = ((span / every.as_secs_f64()) as usize).clamp(1, 600);
    let bin = |at: usize| (at as f64 + 1.0 - bins as f64) * every.as_secs_f64();
    let moved = row.entry.course(every, bins, now);
    let by_bin = |(at, bytes): (usize, &u64)| (bin(at), *bytes as f64 * 8e-6 / every.as_secs_f64());
    let rates = moved.iter().enumerate().map(by_bin).collect();

    let again: Vec<(f64, f64)> = {
        let pairs = looks.windows(2);
        let of = |own: &Look| own.info.total_retrans;
        pairs.map(|own| (at(own[1].time), of(own[1]).saturating_sub(of(own[0])) as f64)).collect()
    };
    let threshold =
        course(|own| Some(own.ssthresh()).filter(|own| *own < INFINITE_SSTHRESH).map(f64::from));
    let windows = course(|own| Some(own.snd_cwnd.into()));
    let title = |name: &str| named(name).map_or("", |own| own.about).to_string();
    let one = |title: String, line| Drawn { title, lines: vec![line] };
    vec![
        one("Rate, Mb/s".into(), rates),
        Drawn { title: "cwnd, ssthresh".into(), lines: vec![windows, threshold] },
        one("RTT, ms".into(), course(|own| Some(f64::from(own.rtt) / 1000.0))),
        one("In flight, segments".into(), course(|own| Some(own.in_flight().into()))),
        one(title("retransmitted"), again),
        one("Its window, KiB".into(), course(|own| Some(f64::from(own.snd_wnd) / 1024.0))),
    ]
}

/// Seconds from one moment to another.
fn now_less(now: Time, time: Time) -> f64 {
    Time(now.0.saturating_sub(time.0)).as_secs_f64()
}

/// Draws charts in lines of equal height.
fn grid(frame: &mut Frame, app: &App, area: Rect, charts: &[Drawn]) {
    let rows = charts.len().div_ceil(ACROSS) as u32;
    let lines = Layout::vertical((0..rows).map(|_| Constraint::Ratio(1, rows))).split(area);
    for (line, own) in lines.iter().zip(charts.chunks(ACROSS)) {
        let parts = [Constraint::Ratio(1, ACROSS as u32); ACROSS];
        let cells = Layout::horizontal(parts).spacing(1).split(*line);
        for (cell, own) in cells.iter().zip(own) {
            chart(frame, app, *cell, own);
        }
    }
}

fn chart(frame: &mut Frame, app: &App, area: Rect, own: &Drawn) {
    let all = || own.lines.iter().flatten();
    let most = all().map(|point| point.1).fold(0.0, f64::max);
    let from = all().map(|point| point.0).fold(0.0, f64::min).min(-1.0);
    let top = if most > 0.0 { most * 1.05 } else { 1.0 };
    let colors = [Color::Cyan, Color::Yellow];
    let sets = own.lines.iter().zip(colors).map(|(line, color)| {
        let style = if app.color { Style::new().fg(color) } else { Style::new() };
        let kind = Dataset::default().marker(Marker::Braille).graph_type(GraphType::Line);
        kind.style(style).data(line)
    });
    let title = format!("{}, {:.0} s: most {}", own.title, -from, short(most));
    let chart = Chart::new(sets.collect())
        .block(Block::new().title(title))
        .x_axis(Axis::default().bounds([from, 0.0]))
        .y_axis(Axis::default().bounds([0.0, top]))
        .legend_position(None);
    frame.render_widget(chart, area);
}
