//! Command lines behind the prompt of a shell.

use super::lines::{Line, bounded};
use super::transfer::{Asked, Tool};

/// Options of a command line that matters; none where the line is no such one.
pub fn asked(line: &Line, tool: Tool) -> Option<Asked> {
    let words = line.words();
    let is_tool = |word: &&str| word.rsplit('/').next() == Some(tool.name());
    let at = words.iter().position(is_tool)?;

    // A prompt ends with one of these, and "sudo" or "time" may stand before the command.
    let before = words[..at].last();
    let is_prompt = |word: &str| word.ends_with(['$', '#', '%', '>', '~']) || word.contains('@');
    if before.is_some_and(|word| !is_prompt(word) && !["sudo", "time", "exec"].contains(word)) {
        return None;
    }
    let options = &words[at + 1..];
    if !options.iter().any(|word| word.starts_with('-')) {
        return None;
    }

    let mut own = Asked { is_known: true, ..Asked::default() };
    let mut rest = options.iter().copied().peekable();
    while let Some(word) = rest.next() {
        let (name, glued) = parted(word);
        let takes = |rest: &mut dyn Iterator<Item = &str>| {
            glued.map(String::from).or_else(|| rest.next().map(String::from))
        };
        match name {
            "-R" | "--reverse" | "-F" => own.reverse = true,
            "-w" | "--window" => own.window = takes(&mut rest).and_then(|own| size(&own, 1024)),
            "-b" | "--bitrate" | "--bandwidth" => {
                own.rate = takes(&mut rest).and_then(|own| rate(&own));
            }
            "--fq-rate" => own.pace = takes(&mut rest).and_then(|own| rate(&own)),
            "-P" | "--parallel" => own.parallel = takes(&mut rest).and_then(|own| own.parse().ok()),
            "-C" | "--congestion" => own.congestion = takes(&mut rest),
            _ => {}
        }
    }
    Some(own)
}

/// An option and the value that is written without a blank, as in "-w4M" and "--window=4M".
fn parted(word: &str) -> (&str, Option<&str>) {
    if let Some((name, value)) = word.split_once('=').filter(|_| word.starts_with("--")) {
        return (name, Some(value));
    }
    let short = word.starts_with('-') && !word.starts_with("--") && word.is_char_boundary(2);
    match word.get(2..).filter(|value| short && !value.is_empty()) {
        Some(value) if value.starts_with(|own: char| own.is_ascii_digit()) => {
            (&word[..2], Some(value))
        }
        _ => (word, None),
    }
}

/// Bits per second, such as "10M" or "100M/10"; 0 is no limit.
fn rate(text: &str) -> Option<u64> {
    size(text.split('/').next()?, 1000).filter(|own| *own > 0)
}

/// A number with k, m or g behind it.
fn size(text: &str, base: u64) -> Option<u64> {
    let at = text.find(|own: char| !own.is_ascii_digit() && own != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let power = match unit.chars().next().map(|own| own.to_ascii_lowercase()) {
        None => 0,
        Some('k') => 1,
        Some('m') => 2,
        Some('g') => 3,
        Some(_) => return None,
    };
    let value = number.parse::<f64>().ok()? * (base.pow(power)) as f64;
    bounded(value).map(|own| own as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Asked> {
        asked(&Line { number: 1, text: text.into() }, Tool::Iperf3)
    }

    #[test]
    fn options_are_read_behind_a_prompt() {
        let own = of("user@a:~$ sudo iperf3 -c 10.0.0.2 -w 4M -b100M -R -P 4").expect("a command");
        assert_eq!((own.window, own.rate), (Some(4 << 20), Some(100_000_000)));
        assert_eq!((own.reverse, own.parallel), (true, Some(4)));
        assert_eq!(of("iperf3 --bandwidth=0 -c b").expect("a command").rate, None);
        assert!(of("# iperf3 -s").expect("a command").is_known);
        assert_eq!(of("I ran iperf3 -c b on both"), None);
        assert_eq!(of("iperf3: error - unable to connect"), None);
        assert_eq!(of("$ iperf3 -w").expect("a command").window, None);
    }
}
