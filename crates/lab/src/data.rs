//! Reads outside data: folders of texts.

use std::path::Path;

use anyhow::Result;

/// Text file of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextFile {
    /// Name of the file.
    pub name: String,
    /// Text of the file. Bytes that are not UTF-8 are replaced.
    pub text: String,
}

/// Returns the files of a folder, in the order of their names.
pub(crate) fn texts(folder: &Path) -> Result<Vec<TextFile>> {
    let mut files = vec![];
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            let bytes = fs_err::read(entry.path())?;
            let name = entry.file_name().to_string_lossy().into_owned();
            files.push(TextFile { name, text: String::from_utf8_lossy(&bytes).into_owned() });
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_by_name_and_folders_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join("b"), b"caf\xe9").unwrap();
        fs_err::write(folder.path().join("a"), "one").unwrap();
        fs_err::create_dir(folder.path().join("c")).unwrap();
        let file = |name: &str, text: &str| TextFile { name: name.to_owned(), text: text.to_owned() };
        assert_eq!(texts(folder.path()).unwrap(), [file("a", "one"), file("b", "caf\u{fffd}")]);
    }
}
