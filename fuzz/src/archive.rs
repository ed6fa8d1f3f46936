//! Fuzz targets for the decoders of the archive.

use std::io::BufReader;
use std::sync::OnceLock;

use minwise_index::{Index, IndexSettings, Unobserved, fuzzing};
use tempfile::TempDir;

/// Checks that the rows of an index are decoded or refused.
pub fn index_rows(bytes: &[u8]) {
    fuzzing::decode(bytes);
}

/// Checks that the lines of an exported index are imported or refused, and that every imported document can be read.
pub fn index_export(bytes: &[u8]) {
    static INDEX: OnceLock<(TempDir, Index)> = OnceLock::new();
    let (_, index) = INDEX.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let index =
            Index::create(folder.path().join("index"), &IndexSettings::default()).expect("a new index");
        (folder, index)
    });
    let _ = index.import(&mut BufReader::new(bytes), 1, &Unobserved);
    for id in index.ids().expect("it can be read") {
        index.get(&id).expect("it can be read").expect("it is listed");
    }
}

pub(crate) fn export() -> Vec<u8> {
    let settings = IndexSettings::default();
    let mut lines = format!("{{\"minwise_index\":1,\"unicode\":\"{}\"", minwise::text::UNICODE);
    for (name, value) in settings.fields() {
        lines.push_str(&format!(",\"{name}\":\"{value}\""));
    }
    lines.push_str(
        "}\n{\"id\":\"a\",\"title\":\"T\",\"metadata\":{\"x\":[1]},\"added\":7,\"marks\":[{\"offset\":2,\"place\":{\"page\":1}}],\"text\":\"one two\"}\n",
    );
    lines.into_bytes()
}
