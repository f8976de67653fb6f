//! State of the screen, and what keys do to it.

use crate::connections::columns::{Column, shown_columns};
use crate::connections::rows::Rows;
use fullpipe::base::units::Time;
use fullpipe::observation::live::Cookie;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Rows by which a page moves.
const PAGE: isize = 10;

/// The screen.
#[derive(Debug)]
pub struct App {
    /// Column by which connections are sorted.
    pub sort: &'static Column,
    /// Part of what a row has to name.
    pub filter: String,
    /// Whether keys go to the filter.
    pub is_typing: bool,
    /// The chosen connection.
    pub chosen: Option<Cookie>,
    /// Whether the chosen connection has the whole screen.
    pub is_detail: bool,
    /// First row that is shown.
    pub first: usize,
    /// Connections in the order of the last picture.
    order: Vec<Cookie>,
    /// Interval of rates.
    pub every: Time,
    /// Whether colours are used.
    pub color: bool,
    /// The wanted connections in words.
    pub sought: String,
    /// Verdict on the chosen connection, in lines.
    pub verdict: String,
}

impl App {
    /// The list of the wanted connections.
    pub fn new(sort: &'static Column, every: Time, color: bool, sought: String) -> App {
        App {
            sort,
            filter: String::new(),
            is_typing: false,
            chosen: None,
            is_detail: false,
            first: 0,
            order: Vec::new(),
            every,
            color,
            sought,
            verdict: String::new(),
        }
    }

    /// Takes over the order of a picture. A chosen connection that is gone hands over to the one in its place.
    pub fn follow(&mut self, rows: &Rows) {
        let place = self.place().unwrap_or(0);
        self.order = rows.rows.iter().map(|row| row.entry.first.cookie).collect();
        if self.place().is_none() {
            self.choose(place);
        }
    }

    /// Place of the chosen connection in the list.
    pub fn place(&self) -> Option<usize> {
        let chosen = self.chosen?;
        self.order.iter().position(|own| *own == chosen)
    }

    /// Lets the chosen row be one of `height` rows.
    pub fn scroll(&mut self, height: usize) {
        let place = self.place().unwrap_or(0);
        let most = self.order.len().saturating_sub(height);
        let least = (place + 1).saturating_sub(height.max(1));
        self.first = self.first.clamp(least, place).min(most);
    }

    /// Does what a key asks for; false if that is to end.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return !matches!(key.code, KeyCode::Char('c' | 'd'));
        }
        match self.is_typing {
            true => self.typed(key.code),
            false => return self.command(key.code),
        }
        true
    }

    /// A key of the filter.
    fn typed(&mut self, code: KeyCode) {
        match code {
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => {
                self.is_typing = false;
                self.filter.clear();
            }
            KeyCode::Backspace => _ = self.filter.pop(),
            KeyCode::Char(own) => self.filter.push(own),
            _ => {}
        }
    }

    /// A key of the list or of the detail.
    fn command(&mut self, code: KeyCode) -> bool {
        match code {
            KeyCode::Char('q') => return false,
            KeyCode::Up | KeyCode::Char('k') => self.step(-1),
            KeyCode::Down | KeyCode::Char('j') => self.step(1),
            KeyCode::PageUp => self.step(-PAGE),
            KeyCode::PageDown => self.step(PAGE),
            KeyCode::Home => self.choose(0),
            KeyCode::End => self.choose(usize::MAX),
            KeyCode::Enter => self.is_detail = self.chosen.is_some(),
            KeyCode::Esc if self.is_detail => self.is_detail = false,
            KeyCode::Esc => self.filter.clear(),
            KeyCode::Char('/') if !self.is_detail => self.is_typing = true,
            KeyCode::Char('s') => self.sort = next(self.sort),
            _ => {}
        }
        true
    }

    fn step(&mut self, by: isize) {
        self.choose(self.place().unwrap_or(0).saturating_add_signed(by));
    }

    /// Chooses the row at that place, or the last one.
    fn choose(&mut self, place: usize) {
        let place = place.min(self.order.len().saturating_sub(1));
        let before = self.chosen;
        self.chosen = self.order.get(place).copied();
        if before != self.chosen {
            self.verdict.clear();
        }
        self.is_detail &= self.chosen.is_some();
    }
}

/// The column behind another one, and behind the last the first.
fn next(sort: &Column) -> &'static Column {
    let behind = shown_columns().skip_while(|own| own.name != sort.name).nth(1);
    behind.or_else(|| shown_columns().next()).unwrap_or(&crate::connections::columns::TABLE[0])
}
