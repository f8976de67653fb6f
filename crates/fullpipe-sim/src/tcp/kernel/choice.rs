//! Choices that have names in scenarios.

/// A type with named values: strategies of kernels, or a switch.
pub(super) trait Choice: Copy + PartialEq + 'static {
    /// Names and values, in the order in which kernels had them.
    const ALL: &'static [(&'static str, Self)];
}

impl Choice for bool {
    const ALL: &'static [(&'static str, bool)] = &[("false", false), ("true", true)];
}

/// Gives the strategies of an enum their names in scenarios, for `behaviour = { ... }`.
macro_rules! names {
    ($name:ident { $($variant:ident = $text:literal,)* }) => {
        impl $crate::tcp::kernel::choice::Choice for $name {
            const ALL: &'static [(&'static str, $name)] = &[$(($text, $name::$variant),)*];
        }
    };
}

/// Declares an enum of strategies with their names in scenarios, for `behaviour = { ... }`.
macro_rules! choice {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        names! { $name { $($variant = $text,)* } }
    };
}
