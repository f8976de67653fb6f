//! The columns of a trace's tables as plain vectors, for programs that hand tables on in another form than a file.

use super::schema::{Access, Column, Kind, Names, Row};
use std::collections::HashMap;

/// The values of a column, one per row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// Values of [`Kind::U8`].
    U8(Vec<u8>),
    /// Values of [`Kind::U16`].
    U16(Vec<u16>),
    /// Values of [`Kind::U32`].
    U32(Vec<u32>),
    /// Values of [`Kind::U64`].
    U64(Vec<u64>),
    /// Values of [`Kind::Text`]: each text once, in the order of their first rows, and the text's index for each row.
    Text {
        /// The texts.
        texts: Vec<String>,
        /// The place among them, per row; below 2^31.
        rows: Vec<i32>,
    },
}

/// Takes a column out of rows.
pub fn values<R: Row>(column: &Column<R>, rows: &[R], names: &Names) -> Values {
    match &column.access {
        Access::Text { get, .. } => {
            // Each text is kept once, and rows have its place: texts repeat.
            let mut seen: HashMap<String, i32> = HashMap::new();
            let mut texts = Vec::new();
            let rows = rows
                .iter()
                .map(|row| {
                    let text = get(row, names);
                    if let Some(place) = seen.get(text.as_ref()) {
                        return *place;
                    }
                    let place = texts.len() as i32;
                    texts.push(text.clone().into_owned());
                    seen.insert(text.into_owned(), place);
                    place
                })
                .collect();
            Values::Text { texts, rows }
        }
        Access::Number { get, .. } => {
            let numbers = rows.iter().map(get);
            match column.kind {
                Kind::U8 => Values::U8(numbers.map(|number| number as u8).collect()),
                Kind::U16 => Values::U16(numbers.map(|number| number as u16).collect()),
                Kind::U32 => Values::U32(numbers.map(|number| number as u32).collect()),
                Kind::U64 | Kind::Text => Values::U64(numbers.collect()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Values, values};
    use crate::schema::{Names, Row};
    use fullpipe_base::trace::{Event, EventKind};
    use fullpipe_base::units::Time;

    #[test]
    fn numbers_keep_their_width_and_each_text_stands_once() {
        let event = |ns, flow, kind| Event { time: Time::ns(ns), flow, kind, value: u64::MAX };
        let rows = [
            event(1, 1, EventKind::Round),
            event(2, 0, EventKind::Timeout),
            event(3, 1, EventKind::Round),
        ];
        let names = ["a", "b"].map(String::from);
        let names = Names { flows: &names, stages: &[] };
        let columns = Event::columns();
        let taken: Vec<Values> =
            columns.iter().map(|column| values(column, &rows, &names)).collect();
        let text = |texts: &[&str], rows: [i32; 3]| Values::Text {
            texts: texts.iter().map(ToString::to_string).collect(),
            rows: rows.to_vec(),
        };
        let expected = [
            Values::U64(vec![1, 2, 3]),
            Values::U16(vec![1, 0, 1]),
            text(&["b", "a"], [0, 1, 0]),
            text(&[EventKind::Round.name(), EventKind::Timeout.name()], [0, 1, 0]),
            Values::U64(vec![u64::MAX; 3]),
        ];
        assert_eq!(taken, expected);
    }
}
