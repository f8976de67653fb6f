//! Names that scenarios used to have: the message names the one that replaces them.

/// Former and present names of keys and metrics. A row may go once no scenario in use has the former name.
const RENAMED: &[(&str, &str)] =
    &[("answers", "reply_to"), ("slow_start_resent_segments", "slow_start_retransmitted_segments")];

/// The present name, where one of `known` replaces `written`. Both may have a prefix that ends with a dot.
pub fn present<'a>(written: &str, known: &[&'a str]) -> Option<&'a str> {
    let (prefix, last) = written
        .rsplit_once('.')
        .map_or(("", written), |(_, last)| (&written[..written.len() - last.len()], last));
    let (_, now) = RENAMED.iter().find(|(former, _)| *former == last)?;
    known.iter().copied().find(|name| name.strip_prefix(prefix) == Some(now))
}

#[cfg(test)]
mod tests {
    use super::present;

    #[test]
    fn a_former_name_is_known_where_its_successor_is() {
        assert_eq!(present("answers", &["name", "reply_to"]), Some("reply_to"));
        assert_eq!(present("flow.a.answers", &["flow.a.reply_to"]), Some("flow.a.reply_to"));
        assert_eq!(present("answers", &["name"]), None);
        assert_eq!(present("flow.a.answers", &["flow.b.reply_to"]), None);
    }
}
