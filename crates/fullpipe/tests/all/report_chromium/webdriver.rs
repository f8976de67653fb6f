//! The part of the W3C WebDriver protocol that the tests need: JSON over HTTP/1.1 to a chromedriver that this process
//! starts and ends.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Nothing on this machine takes longer, s.
const PATIENCE_S: u64 = 120;

/// A browser.
pub struct Session {
    driver: Child,
    port: u16,
    path: String,
    /// The browser's profile, removed with it.
    _profile: tempfile::TempDir,
}

impl Session {
    /// Starts a headless browser that can reach nothing but files. None where none is installed.
    pub fn start() -> Option<Self> {
        let driver = find(&["chromedriver"])?;
        let browser = find(&["chromium", "chromium-browser", "google-chrome"])?;
        let mut driver = Command::new(driver)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let port = port_of(&mut driver);
        let profile = tempfile::tempdir().expect("a temporary directory");
        let mut session = Self { driver, port, path: "/session".to_string(), _profile: profile };
        let wanted = wanted(&browser, session._profile.path());
        let answer = session.post("", &wanted);
        let id = answer["sessionId"].as_str().expect("a session");
        session.path = format!("/session/{id}");
        Some(session)
    }

    /// A command of the session; its value.
    ///
    /// # Panics
    /// When the browser reports an error.
    pub fn post(&self, command: &str, body: &Value) -> Value {
        self.request("POST", command, &body.to_string())
    }

    fn request(&self, method: &str, command: &str, body: &str) -> Value {
        let answer = self.exchange(method, command, body).expect("chromedriver answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("an HTTP response");
        let mut answer: Value = serde_json::from_str(body).expect("an answer in JSON");
        assert!(head.starts_with("HTTP/1.1 200"), "{command}: {}", answer["value"]["message"]);
        answer["value"].take()
    }

    fn exchange(&self, method: &str, command: &str, body: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(PATIENCE_S)))?;
        write!(
            stream,
            "{method} {}{command} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.path,
            self.port,
            body.len()
        )?;
        let mut head = String::new();
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let start = head.len();
            reader.read_line(&mut head)?;
            let line = head[start..].to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        Ok(head + &String::from_utf8_lossy(&body))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Ends the browser; the driver, which this process started, ends with the child below.
        let _ = self.exchange("DELETE", "", "");
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Capabilities of the browser: no window, and no host that it could resolve.
fn wanted(browser: &Path, profile: &Path) -> Value {
    let profile = format!("--user-data-dir={}", profile.display());
    let arguments = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--window-size=1280,1000",
        &profile,
    ];
    json!({"capabilities": {"alwaysMatch": {
        "goog:chromeOptions": {"binary": browser, "args": arguments},
        "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"},
    }}})
}

/// First of the programs that is in PATH.
fn find(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names
        .iter()
        .flat_map(|name| directories.iter().map(move |directory| directory.join(name)))
        .find(|candidate| candidate.is_file())
}

/// The port that the driver chose, from the line in which it says so.
fn port_of(driver: &mut Child) -> u16 {
    let mut lines = BufReader::new(driver.stdout.take().expect("piped")).lines();
    let port = lines
        .by_ref()
        .map_while(Result::ok)
        .find_map(|line| {
            let (_, rest) = line.split_once("started successfully on port ")?;
            rest.trim_end_matches('.').parse().ok()
        })
        .expect("chromedriver names its port");
    // The driver must not block on a full pipe.
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
    port
}
