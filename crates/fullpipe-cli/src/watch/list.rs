//! The list of connections on the screen.

use super::app::App;
use crate::connections::rows::{Row, Rows};
use crate::connections::table::Layout;
use fullpipe::base::units::Time;
use fullpipe::numbers::{count, rate};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout as Split, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

/// Blocks of the course of a rate, from nothing to the most.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Width of that course at least, and on a screen with room.
const NARROW: usize = 8;
const WIDE: usize = 20;
/// Width of a screen with room.
const ROOM: u16 = 110;

/// Draws the list.
pub fn draw(frame: &mut Frame, app: &mut App, rows: &Rows, now: Time) {
    let parts = [Constraint::Length(1), Constraint::Length(1), Constraint::Min(0)];
    let [title, heading, body, help] =
        Split::vertical([parts[0], parts[1], parts[2], parts[0]]).areas(frame.area());
    let bold = Style::new().add_modifier(Modifier::BOLD);
    frame.render_widget(Paragraph::new(summary(app, rows)).style(bold), title);
    frame.render_widget(Paragraph::new(helps(app)), help);
    if rows.rows.is_empty() {
        let text = match rows.count {
            0 => format!("There is no {} yet; waiting.", app.sought),
            count => format!("None of {count} fits the filter {:?}.", app.filter),
        };
        frame.render_widget(Paragraph::new(text), body);
        return;
    }
    let layout = Layout::new(body.width.into(), if body.width < ROOM { NARROW } else { WIDE });
    let marked = if app.color { Style::new().fg(Color::Cyan) } else { Style::new() };
    let text = format!("{} course", layout.heading());
    frame.render_widget(
        Paragraph::new(text).style(marked.add_modifier(Modifier::UNDERLINED)),
        heading,
    );

    app.scroll(body.height.into());
    let shown = rows.rows.iter().skip(app.first).take(body.height.into());
    for (y, row) in (body.y..).zip(shown) {
        let text = format!("{} {}", layout.row(row), course(row, app.every, now, layout.spark));
        let is_chosen = app.chosen == Some(row.entry.first.cookie);
        let style = match is_chosen {
            true => style(app, row).add_modifier(Modifier::REVERSED),
            false => style(app, row),
        };
        let line = Rect { y, height: 1, ..body };
        frame.render_widget(Paragraph::new(Line::raw(text)).style(style), line);
    }
}

/// Style of a row: quiet ones are faint, ones that have sent again just now are red.
fn style(app: &App, row: &Row) -> Style {
    let is_quiet = row.entry.closed.is_some() || row.rate() == 0.0;
    match (app.color, row.figures.retransmitted > 0, is_quiet) {
        (true, true, _) => Style::new().fg(Color::Red),
        (_, _, true) => Style::new().add_modifier(Modifier::DIM),
        _ => Style::new(),
    }
}

/// Line about all connections: their number, their rates, and how they are sorted.
fn summary(app: &App, rows: &Rows) -> String {
    let [sent, received] = rows.total.map(|bytes| rate(bytes * 8e-6));
    let plural = if rows.count == 1 { "connection" } else { "connections" };
    let mut text = format!(
        "{} {plural}; {sent} sent, {received} received; by {}",
        count(rows.count as u64),
        app.sort.name
    );
    if !app.filter.is_empty() {
        text += &format!("; {} with {:?}", rows.rows.len(), app.filter);
    }
    text
}

/// Meaning of the keys.
fn helps(app: &App) -> String {
    match app.is_typing {
        true => format!("filter: {}_   Enter keeps it, Esc drops it", app.filter),
        false => "up/down choose   Enter detail   s sort   / filter   q quit".into(),
    }
}

/// Course of the rate, of the most in it.
fn course(row: &Row, every: Time, now: Time, width: usize) -> String {
    let values = row.entry.course(every, width, now);
    let most = values.iter().copied().max().unwrap_or(0).max(1);
    let block = |own: &u64| BLOCKS[(own * 8).div_ceil(most).min(8) as usize];
    values.iter().map(block).collect()
}
