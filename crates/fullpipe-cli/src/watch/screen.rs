//! The terminal: pictures on the whole screen, and keys.

use super::app::App;
use super::judged::{Hosts, verdict};
use super::{Pictures, detail, list};
use crate::connections::rows::{Row, Rows};
use crate::failure::Failure;
use crate::interrupt;
use fullpipe::base::units::Time;
use fullpipe::observation::live::Board;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use std::time::Duration;

/// Least time between two verdicts.
const VERDICTS: Time = Time::secs(1);

/// Shows pictures until a key, a signal or the time ends them. The terminal is then as it was, also after a panic.
pub fn show(pictures: &mut Pictures, app: App) -> Result<(), Failure> {
    let terminal = ratatui::try_init();
    let terminal = terminal.map_err(|why| Failure::environment("cannot use the terminal", why))?;
    let mut screen = Screen { app, terminal, judged: None };
    let ended = pictures.each(&mut screen);
    ratatui::restore();
    ended
}

/// The screen and what it shows.
struct Screen {
    app: App,
    terminal: DefaultTerminal,
    /// Moment of the last verdict.
    judged: Option<Time>,
}

impl super::Shows for Screen {
    fn picture(&mut self, board: &Board, now: Time, hosts: &Hosts) -> Result<(), Failure> {
        let app = &mut self.app;
        let is_due = self.judged.is_none_or(|last| now >= last + VERDICTS);
        if app.is_detail
            && (is_due || app.verdict.is_empty())
            && let Some(chosen) = app.chosen
        {
            self.judged = Some(now);
            let width = self.terminal.size().map_or(80, |own| own.width);
            app.verdict = verdict(board, chosen, now, hosts, width.into());
        }
        let drawn = self.terminal.draw(|frame| draw(frame, app, board, now));
        drawn.map(|_| ()).map_err(failed)
    }

    fn goes_on(&mut self, board: &Board, now: Time, hosts: &Hosts) -> Result<bool, Failure> {
        let mut is_changed = false;
        while event::poll(Duration::ZERO).map_err(failed)? {
            is_changed = true;
            match event::read().map_err(failed)? {
                Event::Key(key) if key.kind != KeyEventKind::Release && !self.app.key(key) => {
                    return Ok(false);
                }
                _ => {}
            }
        }
        if is_changed {
            self.picture(board, now, hosts)?;
        }
        Ok(!interrupt::stopped())
    }
}

fn failed(why: std::io::Error) -> Failure {
    Failure::environment("the terminal", why)
}

/// Draws the connection that has the whole screen, or the list.
pub fn draw(frame: &mut ratatui::Frame, app: &mut App, board: &Board, now: Time) {
    let rows = Rows::of(board, app.every, app.sort, &app.filter);
    app.follow(&rows);
    let chosen = app.chosen.filter(|_| app.is_detail).and_then(|own| board.get(&own));
    match chosen {
        Some(own) => detail::draw(frame, app, &Row::of(own, app.every), now),
        None => list::draw(frame, app, &rows, now),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connections::columns::TABLE;
    use fullpipe::observation::live::{Connection, Room};
    use fullpipe::observation::tcp_info::TcpInfo;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::crossterm::event::{KeyCode, KeyEvent};
    use ratatui::style::Color;

    const ROOM: Room = Room { all: 100_000, each: 1_000, closed: Time::secs(5) };
    const NOW: Time = Time::secs(20);
    const SIZES: [(u16, u16); 4] = [(80, 24), (200, 60), (40, 8), (20, 3)];

    /// Looks of 20 s, two a second, at connections of which each third one is idle.
    fn board(count: u32) -> Board {
        let mut board = Board::new(ROOM);
        for at in 0..=40_u64 {
            for number in 0..count {
                let busy = number % 3 != 2;
                let bytes = if busy { 50_000 * u64::from(count - number) * at } else { 0 };
                board.look(Time::ms(500 * at), connection(number, bytes, at));
            }
        }
        board
    }

    fn connection(number: u32, bytes: u64, at: u64) -> Connection {
        let [a, b, c, d] = number.to_be_bytes();
        let info = TcpInfo {
            state: 1,
            snd_mss: 1448,
            snd_cwnd: 10 + at as u32,
            snd_ssthresh: 25,
            unacked: if bytes > 0 { 9 + at as u32 } else { 0 },
            notsent_bytes: if bytes > 0 { 100_000 } else { 0 },
            busy_time: if bytes > 0 { at * 500_000 } else { 0 },
            rtt: 20_300 + 100 * at as u32,
            min_rtt: 20_000,
            snd_wnd: 3_000_000,
            rcv_wnd: 65_536,
            bytes_acked: bytes,
            bytes_sent: bytes,
            total_retrans: if number == 1 { at / 8 } else { 0 },
            ..TcpInfo::default()
        };
        Connection {
            here: ([192, 0, 2, 7], 40_000 + (number % 20_000) as u16).into(),
            there: ([198, 51, 100, d], 443).into(),
            cookie: [0, 0, 0, 0, a, b, c, d],
            inode: 0,
            congestion: "cubic".into(),
            info,
        }
    }

    fn app(color: bool) -> App {
        App::new(&TABLE[0], Time::secs(1), color, "connection with port 443".into())
    }

    fn lines(terminal: &Terminal<TestBackend>) -> Vec<String> {
        let buffer = terminal.backend().buffer();
        let cells: Vec<&str> = buffer.content.iter().map(|own| own.symbol()).collect();
        cells.chunks(buffer.area.width.into()).map(|line| line.concat().trim_end().into()).collect()
    }

    /// The screen as text.
    fn screen(app: &mut App, board: &Board, width: u16, height: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
        terminal.draw(|frame| draw(frame, app, board, NOW)).expect("drawn");
        lines(&terminal)
    }

    fn press(app: &mut App, code: KeyCode) -> bool {
        app.key(KeyEvent::from(code))
    }

    #[test]
    fn a_list_of_three_connections() {
        let text = screen(&mut app(false), &board(3), 80, 10).join("\n");
        expect_test::expect![[r#"
            3 connections; 4 Mb/s sent, 0 Mb/s received; by rate
            connection                 Mb/s   cwnd RTT ms  again limit              course
            > 198.51.100.0:443          2.4     50   24.3      0 cwnd, avoidance    ████████
            > 198.51.100.1:443          1.6     50   24.3      5 cwnd, avoidance    ████████
            > 198.51.100.2:443            0     50   24.3      0 idle




            up/down choose   Enter detail   s sort   / filter   q quit"#]]
        .assert_eq(&text);
    }

    #[test]
    fn one_connection_in_detail() {
        let (mut app, board) = (app(false), board(3));
        screen(&mut app, &board, 80, 24);
        press(&mut app, KeyCode::Enter);
        app.verdict =
            "9.8 Mb/s. The congestion window holds the flow.\n\nbecause: it is full".into();
        let text = screen(&mut app, &board, 80, 24).join("\n");
        expect_test::expect![[r#"
            192.0.2.7:40000 > 198.51.100.0:443  cubic
            Mb/s 2.4   cwnd 50   ssthresh 25   RTT ms 24.3   least 20   flight 49
            its wnd 2,930   own wnd 64   unsent 97.7   again 0   limit: cwnd, avoidance
            Rate, Mb/s, 19 s: most 2.4               cwnd, ssthresh, 20 s: most 50
            ⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒                               ⣀⣀⡠⠤⠤⠤⠔⠒⠒
                                                                     ⢀⣀⣀⡠⠤⠤⠤⠒⠒⠒⠉⠉⠉⠉
                                                     ⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
                                                     ⠉⠉⠉
            RTT, ms, 20 s: most 24.3                 In flight, segments, 20 s: most 49
                  ⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠔⠒⠒⠒⠒⠒⠒⠒                                 ⣀⣀⡠⠤⠤⠔⠒
            ⠉⠉⠉⠉⠉⠉                                                         ⣀⣀⠤⠤⠤⠒⠒⠒⠉⠉
                                                                ⢀⣀⣀⡠⠤⠔⠒⠒⠊⠉⠉
                                                      ⣀⣀⣀⠤⠤⠒⠒⠊⠉⠉⠁
                                                     ⡰⠁
            Segments sent again, 20 s: most 0        Its window, KiB, 20 s: most 2,930
                                                     ⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒


            ⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀
            9.8 Mb/s. The congestion window holds the flow.

            because: it is full

            Esc list   up/down other connection   q quit"#]]
        .assert_eq(&text);
    }

    #[test]
    fn no_line_is_broken_at_any_size() {
        for (count, color) in [(0, true), (3, true), (3, false), (500, true), (500, false)] {
            let (board, mut app) = (board(count), app(color));
            for (width, height) in SIZES {
                let shown = screen(&mut app, &board, width, height);
                assert!(shown[0].starts_with(&format!("{count} connection")), "{shown:#?}");
                let rows = &shown[2..usize::from(height).saturating_sub(1).max(2)];
                if count == 0 || height < 8 {
                    continue;
                }

                // Each row is one connection, and has its columns below their headings.
                let filled = rows.iter().filter(|own| !own.is_empty()).count();
                assert_eq!(filled, rows.len().min(count as usize), "{shown:#?}");
                for (at, heading) in [("Mb/s", 4), ("cwnd", 4)] {
                    let Some(place) = shown[1].find(at).filter(|_| width >= 80) else { continue };
                    for row in rows.iter().filter(|own| !own.is_empty()) {
                        let cell: Vec<char> = row.chars().skip(place).take(heading + 1).collect();
                        assert!(
                            cell[heading - 1].is_ascii_digit() && cell[heading] == ' ',
                            "{row}"
                        );
                    }
                }
                assert!(shown[shown.len() - 1].starts_with("up/down"), "{shown:#?}");
            }
        }
    }

    #[test]
    fn details_fit_any_size() {
        let (mut app, board) = (app(true), board(3));
        screen(&mut app, &board, 80, 24);
        press(&mut app, KeyCode::Enter);
        app.verdict = "A long verdict. ".repeat(200);
        for (width, height) in SIZES {
            let shown = screen(&mut app, &board, width, height);
            assert!(shown[0].contains("198.51.100") || width < 30, "{shown:#?}");
            if height >= 24 {
                for title in
                    ["Rate, Mb/s", "cwnd, ssthresh", "RTT, ms", "In flight", "A long verdict"]
                {
                    assert!(shown.iter().any(|own| own.contains(title)), "{title}: {shown:#?}");
                }
            }
        }
    }

    #[test]
    fn a_resize_gives_the_screen_of_the_new_size() {
        let board = board(500);
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a terminal");
        let mut resized = app(true);
        for (width, height) in [(80, 24), (200, 60), (80, 24)] {
            terminal.backend_mut().resize(width, height);
            terminal.draw(|frame| draw(frame, &mut resized, &board, NOW)).expect("drawn");
            assert_eq!(lines(&terminal), screen(&mut app(true), &board, width, height));
        }
    }

    #[test]
    fn without_colours_no_cell_has_one() {
        let board = board(3);
        for color in [false, true] {
            let mut app = app(color);
            let mut found = false;
            for detail in [false, true] {
                app.is_detail = detail;
                let mut terminal = Terminal::new(TestBackend::new(120, 30)).expect("a terminal");
                terminal.draw(|frame| draw(frame, &mut app, &board, NOW)).expect("drawn");
                let cells = &terminal.backend().buffer().content;
                found |= cells.iter().any(|own| own.fg != Color::Reset || own.bg != Color::Reset);
            }
            assert_eq!(found, color);
        }
    }

    #[test]
    fn keys_choose_sort_and_filter() {
        let (mut app, board) = (app(false), board(30));
        let shown = screen(&mut app, &board, 120, 40);
        assert!(shown[2].contains("198.51.100.0:443"), "{shown:#?}");
        let first = app.chosen;
        press(&mut app, KeyCode::Down);
        assert_ne!(app.chosen, first);
        press(&mut app, KeyCode::End);
        screen(&mut app, &board, 120, 10);
        assert_eq!((app.place(), app.first), (Some(29), 23));
        press(&mut app, KeyCode::Char('s'));
        assert_eq!(app.sort.name, "cwnd");

        // Letters go to the filter until Enter.
        press(&mut app, KeyCode::Char('/'));
        ".100.1:q".chars().for_each(|own| assert!(press(&mut app, KeyCode::Char(own))));
        press(&mut app, KeyCode::Backspace);
        let shown = screen(&mut app, &board, 120, 10);
        assert!(shown[0].ends_with("1 with \".100.1:\""), "{shown:#?}");
        assert!(shown[9].starts_with("filter: .100.1:_"), "{shown:#?}");
        press(&mut app, KeyCode::Enter);
        press(&mut app, KeyCode::Enter);
        assert!(app.is_detail);
        press(&mut app, KeyCode::Esc);
        press(&mut app, KeyCode::Esc);
        assert_eq!((app.is_detail, app.filter.as_str()), (false, ""));
        assert!(!press(&mut app, KeyCode::Char('q')));
    }
}
