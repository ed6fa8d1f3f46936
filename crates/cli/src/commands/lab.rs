//! `minwise lab`, which is a command of its own now.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::printer::{CommandError, Failure};

/// The error for people who still type `minwise lab`; `None` for any other error.
pub fn moved(error: &clap::Error) -> Option<Failure> {
    let is_lab = error.kind() == ErrorKind::InvalidSubcommand
        && error.get(ContextKind::InvalidSubcommand) == Some(&ContextValue::String("lab".to_owned()));
    is_lab.then(|| {
        CommandError::NoSuchCommand.with(
            "the lab is a command of its own: `minwise-lab`",
            Some("type `minwise-lab` for `minwise lab`; `cargo install --path crates/lab` installs it"),
        )
    })
}
