//! Writes the generated files of `docs/concepts` into a folder. `cargo x docs` runs this program.

use std::path::PathBuf;

use anyhow::{Context, Result};

fn main() -> Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from).context("the folder to write to")?;
    for file in minwise_lab::concepts::files()? {
        let path = folder.join(&file.path);
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent)?;
        }
        fs_err::write(path, file.content)?;
    }
    Ok(())
}
