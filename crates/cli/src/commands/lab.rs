//! Redirects people who type `minwise lab` to `minwise-lab`, which is a separate command.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::printer::{CommandError, Failure};

/// Returns the error for `minwise lab`, or `None` for any other error.
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
