//! A report in the browser: its drawings, its texts under the pointer, its requests.

use crate::report_chromium::webdriver::Session;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// An open report.
pub struct Page {
    session: Session,
    /// The file stays as long as the page.
    _directory: tempfile::TempDir,
}

/// The values under the pointer, as a reader sees them.
#[derive(Debug)]
pub struct Values {
    /// Column headings; the first is the time.
    pub head: Vec<String>,
    /// Rows of flows: the name, then the values.
    pub rows: Vec<Vec<String>>,
}

impl Page {
    /// Opens `html` as a file.
    pub fn open(session: Session, html: &str) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("report.html");
        std::fs::write(&file, html).expect("the page is written");
        session.post("/url", &json!({"url": format!("file://{}", file.display())}));
        Self { session, _directory: directory }
    }

    /// Runs a function body in the page, and returns its result.
    pub fn run(&self, script: &str, arguments: &[Value]) -> Value {
        let body = json!({"script": script, "args": arguments});
        self.session.post("/execute/sync", &body)
    }

    /// Result of a function of the page's `fullpipe`, once a large page has unpacked it.
    fn call(&self, function: &str, arguments: &[Value]) -> Value {
        self.wait_for("window.fullpipe");
        self.run(&format!("return fullpipe.{function}(...arguments)"), arguments)
    }

    /// Points drawn of a series: x, y and, for a band, the upper end.
    pub fn points(&self, figure: &str, series: &str) -> Vec<(f64, f64, Option<f64>)> {
        let points = self.call("points", &[json!(figure), json!(series)]);
        let number = |value: &Value| value.as_f64();
        let points = points.as_array().expect("points").iter();
        points
            .map(|point| {
                let (x, y) = (number(&point["x"]), number(&point["y"]));
                (x.expect("x"), y.expect("y"), number(&point["high"]))
            })
            .collect()
    }

    /// Size of a pixel in the units of the axes, at a value.
    pub fn resolution(&self, figure: &str, series: &str, value: f64) -> (f64, f64) {
        let arguments = [json!(figure), json!(series), json!(value)];
        let size = self.call("resolution", &arguments);
        (size["x"].as_f64().expect("x"), size["y"].as_f64().expect("y"))
    }

    /// Ids of the series drawn in a figure.
    pub fn series(&self, figure: &str) -> Vec<String> {
        let series = self.call("series", &[json!(figure)]);
        serde_json::from_value(series).expect("ids")
    }

    /// Moves the mouse to a time in a panel of a figure, and reads the tooltip.
    pub fn hover(&self, figure: &str, panel: usize, time: f64) -> Values {
        self.bring_to_view(&format!("#figure-{figure} .panel:nth-child({})", panel + 1));
        let (x, y) = self.locate(figure, panel, time);
        self.mouse(&[
            json!({"type": "pointerMove", "duration": 0, "origin": "viewport", "x": x, "y": y}),
        ]);
        self.wait_for("document.getElementById('values').classList.contains('shown')");
        let text = "row => [...row.cells].map(cell => cell.innerText.trim())";
        let script = format!(
            "const rows = [...document.querySelectorAll('#values tr')].map({text}); \
             return {{head: rows[0], rows: rows.slice(1)}}"
        );
        let values = self.run(&script, &[]);
        Values {
            head: serde_json::from_value(values["head"].clone()).expect("headings"),
            rows: serde_json::from_value(values["rows"].clone()).expect("rows"),
        }
    }

    /// Moves the mouse to a place of the window, in pixels.
    pub fn point(&self, x: i64, y: i64) {
        self.mouse(&[
            json!({"type": "pointerMove", "duration": 0, "origin": "viewport", "x": x, "y": y}),
        ]);
    }

    /// Drags the mouse from one time to another in a figure's first panel.
    pub fn drag(&self, figure: &str, from: f64, to: f64) {
        self.bring_to_view(&format!("#figure-{figure} .panel"));
        let ((start, y), (end, _)) = (self.locate(figure, 0, from), self.locate(figure, 0, to));
        let go = |x: i64| json!({"type": "pointerMove", "duration": 0, "origin": "viewport", "x": x, "y": y});
        let (down, up) = (
            json!({"type": "pointerDown", "button": 0}),
            json!({"type": "pointerUp", "button": 0}),
        );
        self.mouse(&[go(start), down, go((start + end) / 2), go(end), up]);
    }

    /// Clicks an element with the mouse, once or more.
    pub fn click(&self, selector: &str, times: usize) {
        self.bring_to_view(selector);
        let script = "const box = document.querySelector(arguments[0]).getBoundingClientRect(); \
                      return [box.left + box.width / 2, box.top + box.height / 2]";
        let centre = self.run(script, &[json!(selector)]);
        let at = |place: usize| centre[place].as_f64().expect("a place") as i64;
        let mut actions = vec![
            json!({"type": "pointerMove", "duration": 0, "origin": "viewport", "x": at(0), "y": at(1)}),
        ];
        for _ in 0..times {
            actions.push(json!({"type": "pointerDown", "button": 0}));
            actions.push(json!({"type": "pointerUp", "button": 0}));
        }
        self.mouse(&actions);
    }

    /// Double-clicks until an expression is true in the page. On a busy machine two clicks may be too far apart for a
    /// double click, and change nothing.
    ///
    /// # Panics
    /// When the expression never is true.
    pub fn double_click(&self, selector: &str, expression: &str) {
        for _ in 0..10 {
            self.click(selector, 2);
            if self.becomes(expression, Duration::from_secs(3)) {
                return;
            }
        }
        panic!("never true: {expression}");
    }

    /// Whether an expression becomes true in the page within that time.
    fn becomes(&self, expression: &str, within: Duration) -> bool {
        let start = Instant::now();
        while self.run(&format!("return Boolean({expression})"), &[]) != json!(true) {
            if start.elapsed() >= within {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        true
    }

    /// Presses a key (a character, or a WebDriver code such as U+E014 for the right arrow).
    pub fn key(&self, key: char) {
        let press =
            [json!({"type": "keyDown", "value": key}), json!({"type": "keyUp", "value": key})];
        let actions = json!({"actions": [{"type": "key", "id": "keyboard", "actions": press}]});
        self.session.post("/actions", &actions);
    }

    /// Shows the page as on paper, or as on a screen again.
    pub fn print(&self, on: bool) {
        let media = if on { "print" } else { "screen" };
        let body = json!({"cmd": "Emulation.setEmulatedMedia", "params": {"media": media}});
        self.session.post("/goog/cdp/execute", &body);
        let event = if on { "beforeprint" } else { "afterprint" };
        self.run("dispatchEvent(new Event(arguments[0]))", &[json!(event)]);
    }

    /// Waits until an expression is true in the page.
    ///
    /// # Panics
    /// When it is not within thirty seconds.
    pub fn wait_for(&self, expression: &str) {
        assert!(self.becomes(expression, Duration::from_secs(30)), "never true: {expression}");
    }

    /// Every address that was asked for, except by the browser's own pages.
    pub fn requests(&self) -> Vec<String> {
        let log = self.session.post("/se/log", &json!({"type": "performance"}));
        let messages = log.as_array().expect("a log").iter();
        messages.filter_map(|entry| requested(entry["message"].as_str()?)).collect()
    }

    /// Errors and warnings of scripts and of the content security policy.
    pub fn complaints(&self) -> Vec<String> {
        let entries = self.session.post("/se/log", &json!({"type": "browser"}));
        let entries = entries.as_array().expect("a log").iter();
        entries.map(|entry| entry["message"].to_string()).collect()
    }

    fn locate(&self, figure: &str, panel: usize, time: f64) -> (i64, i64) {
        let arguments = [json!(figure), json!(time), json!(panel)];
        let place = self.call("locate", &arguments);
        let pixel = |value: &Value| value.as_f64().expect("pixels").round() as i64;
        (pixel(&place["x"]), pixel(&place["y"]))
    }

    /// Scrolls, and waits until the scrolling was noticed: it hides the values.
    fn bring_to_view(&self, selector: &str) {
        let script = "document.querySelector(arguments[0]).scrollIntoView({block: 'center', behavior: 'instant'}); \
                      window.settled = false; \
                      requestAnimationFrame(() => requestAnimationFrame(() => { window.settled = true; }))";
        self.run(script, &[json!(selector)]);
        self.wait_for("window.settled");
    }

    fn mouse(&self, actions: &[Value]) {
        let source = json!({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions});
        self.session.post("/actions", &json!({"actions": [source]}));
    }
}

/// The address in a message of the browser's log, if it is about a request of a page.
fn requested(message: &str) -> Option<String> {
    let message: Value = serde_json::from_str(message).ok()?;
    let (method, about) = (&message["message"]["method"], &message["message"]["params"]);
    let by_browser = about["documentURL"].as_str()?.starts_with("chrome:");
    let url = about["request"]["url"].as_str()?.to_string();
    (method == "Network.requestWillBeSent" && !by_browser).then_some(url)
}
