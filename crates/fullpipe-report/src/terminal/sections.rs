//! Parts of a text that together have a bounded number of lines.

use super::Style;
use super::grid::wrap;

/// A heading and items below it, each of one or more lines.
#[derive(Default)]
pub struct Section {
    /// Lines that stay.
    pub head: Vec<String>,
    /// Items; the last ones are left out where there is no room.
    pub items: Vec<Vec<String>>,
    /// Most lines, heading included, while there is room; 0: all.
    pub most: usize,
    /// Name of an item, in the plural, for the line that says how many are left out: "runs".
    pub what: &'static str,
}

impl Section {
    /// Lines that all stay.
    pub fn whole(head: Vec<String>) -> Section {
        Section { head, ..Section::default() }
    }

    /// Items in at most `most` lines.
    pub fn items(items: Vec<Vec<String>>, most: usize, what: &'static str) -> Section {
        Section { items, most, what, ..Section::default() }
    }

    /// Sentences, each an item, in at most `most` lines.
    pub fn sentences(texts: &[String], most: usize, what: &'static str, style: Style) -> Section {
        let wrapped = texts.iter().map(|text| wrap(text, "  ", style.columns()));
        Section::items(wrapped.collect(), most, what)
    }

    /// Lines, each an item.
    pub fn lines(lines: Vec<String>, most: usize) -> Section {
        Section::items(lines.into_iter().map(|line| vec![line]).collect(), most, "lines")
    }

    fn is_empty(&self) -> bool {
        self.head.is_empty() && self.items.is_empty()
    }

    fn all(&self) -> usize {
        self.head.len() + self.items.iter().map(Vec::len).sum::<usize>()
    }

    fn wanted(&self) -> usize {
        if self.most == 0 { self.all() } else { self.all().min(self.most) }
    }

    /// Lines of the section. At most `room` lines are head and items; the heading, and a line on items left out, come in
    /// addition. `more` says where the items left out are.
    fn shown(self, room: usize, more: &str, style: Style) -> Vec<String> {
        let everything = self.all() <= room;
        let (count, mut lines) = (self.items.len(), self.head);
        let mut shown = 0;

        // Items stay whole: half an item would mislead.
        for item in self.items {
            // One line stays for how many are left out.
            if !everything && lines.len() + item.len() + 1 > room {
                break;
            }
            lines.extend(item);
            shown += 1;
        }
        if shown < count {
            let what = match count - shown {
                1 => self.what.trim_end_matches('s'),
                _ => self.what,
            };
            let text = format!("{} more {what}: {more}", count - shown);
            lines.extend(wrap(&text, "  ", style.columns()).iter().map(|line| style.faint(line)));
        }
        lines
    }
}

/// Sections that are not empty, with an empty line between them, in at most `limit` lines. The longest sections lose items
/// first; `more` says where the rest is.
pub fn fit(sections: Vec<Section>, limit: usize, more: &str, style: Style) -> Vec<String> {
    let sections: Vec<Section> = sections.into_iter().filter(|own| !own.is_empty()).collect();
    let mut room: Vec<usize> = sections.iter().map(Section::wanted).collect();
    let gaps = sections.len().saturating_sub(1);

    // The longest section loses a line at a time, so short ones stay whole.
    while room.iter().sum::<usize>() + gaps > limit {
        // Heading and one line stay of each section.
        let can_lose = (0..room.len()).filter(|n| room[*n] > sections[*n].head.len() + 1);
        let Some(longest) = can_lose.max_by_key(|n| (room[*n], *n)) else { break };
        room[longest] -= 1;
    }

    let mut lines = Vec::new();
    for (section, room) in sections.into_iter().zip(room) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(section.shown(room, more, style));
    }
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
    fn what_is_left_out_is_counted_in_items() {
        let items = lines(9).into_iter().map(|line| vec![line, "more".into()]).collect();
        let section = Section { head: vec!["head".into()], ..Section::items(items, 7, "runs") };
        let shown = fit(vec![section], 60, "--full", STYLE);
        assert_eq!(shown, ["head", "line 0", "more", "line 1", "more", "  7 more runs: --full"]);
    }

    #[test]
    fn the_longest_section_loses_items_first() {
        let sections = vec![Section::whole(lines(3)), Section::lines(lines(90), 0)];
        let shown = fit(sections, 20, "--full", STYLE);
        assert_eq!(shown.len(), 20);
        assert_eq!(shown[..4], ["line 0", "line 1", "line 2", ""]);
        assert_eq!(shown[19], "  75 more lines: --full");
    }

    #[test]
    fn everything_stays_where_it_fits() {
        let sections =
            vec![Section::whole(lines(2)), Section::default(), Section::lines(lines(1), 1)];
        assert_eq!(fit(sections, 60, "--full", STYLE), ["line 0", "line 1", "", "line 0"]);
    }
}
