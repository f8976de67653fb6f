//! A page of the docs with tables that are made from records. A table stands between `<!-- NAME -->` and `<!-- /NAME
//! -->`.

use std::fs;
use std::path::PathBuf;

/// A page with its tables as the records make them.
pub struct Page {
    file: PathBuf,
    before: String,
    text: String,
}

impl Page {
    /// The page of this name in the docs.
    pub fn read(name: &str) -> Page {
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
        let before = fs::read_to_string(&file).expect("the page");
        Page { file, text: before.clone(), before }
    }

    /// Puts a table between its marks.
    pub fn put(&mut self, name: &str, table: &str) {
        let (begin, end) = (format!("<!-- {name} -->\n"), format!("\n<!-- /{name} -->"));
        let from = self.text.find(&begin).expect("a mark") + begin.len();
        let until = self.text.find(&end).expect("a mark");
        self.text.replace_range(from..until, &format!("\n{table}"));
    }

    /// Fails where the page differs; with UPDATE_EXPECT set, writes it instead.
    pub fn check(&self) {
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&self.file, &self.text).expect("the page");
            return;
        }
        let file = self.file.display();
        assert!(self.text == self.before, "{file}: UPDATE_EXPECT=1 rewrites the tables");
    }
}
