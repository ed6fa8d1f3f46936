//! Recognises file names that promise a format which no output has.

use crate::compression::Compression;

/// Extensions of other programs, and the files that people expect under them. Minwise writes no such files.
const FOREIGN: [(&[&str], &str); 15] = [
    (&["xlsx", "xls", "xlsm"], "an Excel file"),
    (&["ods", "odt"], "an OpenDocument file"),
    (&["docx", "doc"], "a Word file"),
    (&["pdf"], "a PDF file"),
    (&["html", "htm"], "a web page"),
    (&["xml"], "an XML file"),
    (&["yaml", "yml"], "a YAML file"),
    (&["avro"], "an Avro file"),
    (&["orc"], "an ORC file"),
    (&["sqlite", "sqlite3", "db", "duckdb"], "a database"),
    (&["zip"], "a ZIP file"),
    (&["7z"], "a 7z file"),
    (&["tar", "tgz"], "a tar file"),
    (&["lz4"], "an LZ4 file"),
    (&["br"], "a Brotli file"),
];

/// Returns the kind of file that people expect under a name, if Minwise writes no such files.
///
/// ```
/// use minwise_corpus::foreign_file;
/// assert_eq!(foreign_file("kept.xlsx"), Some("an Excel file"));
/// assert_eq!(foreign_file("kept.jsonl.zip"), Some("a ZIP file"));
/// assert_eq!(foreign_file("kept.jsonl"), None);
/// assert_eq!(foreign_file("kept"), None);
/// ```
pub fn foreign_file(name: &str) -> Option<&'static str> {
    let (_, extension) = Compression::strip(name).rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    FOREIGN.iter().find(|(names, _)| names.contains(&extension.as_str())).map(|(_, file)| *file)
}
