//! Foreign text inside HTML.

/// Text for an element's content or a quoted attribute.
pub fn text(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for character in raw.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // A parser would replace or normalise these; show that something is there.
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A sentence for an element's content: no line ends between a number and its unit.
pub fn sentence(raw: &str) -> String {
    text(&joined(raw))
}

/// A sentence with a space that does not break between a number and its unit.
pub fn joined(raw: &str) -> String {
    const UNITS: [&str; 6] = ["%", "Mb/s", "ms", "s", "packet", "packets"];
    let mut out = String::with_capacity(raw.len());
    for word in raw.split(' ') {
        let unit = word.trim_end_matches([';', ',', ':', '.']);
        let joined = out.ends_with(|c: char| c.is_ascii_digit()) && UNITS.contains(&unit);
        if !out.is_empty() {
            out.push(if joined { '\u{a0}' } else { ' ' });
        }
        out.push_str(word);
    }
    out
}

/// JSON for the content of a script element. `<` occurs in strings only; escaped, neither
/// `</script>` nor `<!--` can appear, and the JSON's meaning stays.
pub fn json(value: &impl serde::Serialize) -> String {
    // Neither a document nor a figure has a map with keys other than strings: this cannot fail.
    serde_json::to_string(value).unwrap_or_default().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_open_an_element_or_close_an_attribute() {
        assert_eq!(text(r#"<b a="x">'&"#), "&lt;b a=&quot;x&quot;&gt;&#39;&amp;");
        assert_eq!(text("a\u{0}b"), "a\u{fffd}b");
    }

    #[test]
    fn sentences_keep_numbers_and_units_together() {
        assert_eq!(
            sentence("reach 90 % of 5 Mb/s; in 2 s"),
            "reach 90\u{a0}% of 5\u{a0}Mb/s; in 2\u{a0}s"
        );
        assert_eq!(sentence("a % b < 3 of"), "a % b &lt; 3 of");
    }

    #[test]
    fn json_cannot_close_its_script_and_means_the_same() {
        let raw = "</script><!-- <script>";
        let escaped = json(&raw);
        assert!(!escaped.contains('<'));
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), raw);
    }
}
