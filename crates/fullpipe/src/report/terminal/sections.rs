//! Parts of a text that together have at most so many lines.

use super::Style;
use super::grid::wrap;

/// Lines in a row about one thing.
#[derive(Default)]
pub struct Section {
    /// The lines.
    pub lines: Vec<String>,
    /// Lines at the beginning that stay, for instance headings.
    pub head: usize,
    /// Most lines that are shown while there is room; 0: all.
    pub most: usize,
    /// What a line is, for the sentence that says how many are left out: "runs".
    pub what: &'static str,
}

impl Section {
    /// Lines that all stay while there is room.
    pub fn whole(lines: Vec<String>) -> Section {
        Section { lines, ..Section::default() }
    }

    /// At most so many lines.
    pub fn cut(lines: Vec<String>, most: usize, what: &'static str) -> Section {
        Section { lines, most, what, head: 0 }
    }

    /// Lines under a heading of some lines.
    pub fn under(head: Vec<String>, lines: Vec<String>, most: usize, what: &'static str) -> Section {
        if lines.is_empty() {
            return Section::default();
        }
        let count = head.len();
        Section { lines: head.into_iter().chain(lines).collect(), head: count, most, what }
    }

    fn wanted(&self) -> usize {
        if self.most == 0 { self.lines.len() } else { self.lines.len().min(self.most) }
    }
}

/// Sections that are not empty, with an empty line between them, in at most `limit` lines. The longest sections lose lines
/// first; `more` says where the rest is.
pub fn fit(sections: Vec<Section>, limit: usize, more: &str, style: Style) -> Vec<String> {
    let sections: Vec<Section> = sections.into_iter().filter(|own| !own.lines.is_empty()).collect();
    let mut kept: Vec<usize> = sections.iter().map(Section::wanted).collect();
    let gaps = sections.len().saturating_sub(1);
    while kept.iter().sum::<usize>() + gaps > limit {
        let longest = (0..kept.len()).filter(|n| kept[*n] > sections[*n].head + 1);
        let Some(longest) = longest.max_by_key(|n| (kept[*n], *n)) else { break };
        kept[longest] -= 1;
    }

    let mut lines = Vec::new();
    for (section, kept) in sections.into_iter().zip(kept) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(shortened(section, kept, more, style));
    }
    lines
}

/// So many lines of a section; where some are left out, the last line says so.
fn shortened(section: Section, kept: usize, more: &str, style: Style) -> Vec<String> {
    let (all, what) = (section.lines.len(), section.what);
    if kept >= all {
        return section.lines;
    }
    let shown = kept.saturating_sub(1).max(section.head);
    let mut lines = section.lines;
    lines.truncate(shown);
    let left = all - shown;
    let what = if what.is_empty() { "lines" } else { what };
    let text = format!("{left} more {what}: {more}");
    lines.extend(wrap(&text, "  ", style.columns()).into_iter().take(1).map(|line| style.faint(&line)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: Style = Style { width: 80, color: false };

    fn lines(count: usize) -> Vec<String> {
        (0..count).map(|n| format!("line {n}")).collect()
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let section = Section::under(vec!["head".into()], lines(9), 4, "runs");
        let shown = fit(vec![section], 60, "--full", STYLE);
        assert_eq!(shown, ["head", "line 0", "line 1", "  7 more runs: --full"]);
    }

    #[test]
    fn the_longest_section_loses_lines_first() {
        let sections = vec![Section::whole(lines(3)), Section::cut(lines(90), 0, "")];
        let shown = fit(sections, 20, "--full", STYLE);
        assert_eq!(shown.len(), 20);
        assert_eq!(shown[..4], ["line 0", "line 1", "line 2", ""]);
        assert_eq!(shown[19], "  75 more lines: --full");
    }

    #[test]
    fn everything_stays_where_it_fits() {
        let sections = vec![Section::whole(lines(2)), Section::default(), Section::whole(lines(1))];
        assert_eq!(fit(sections, 60, "--full", STYLE), ["line 0", "line 1", "", "line 0"]);
    }
}
