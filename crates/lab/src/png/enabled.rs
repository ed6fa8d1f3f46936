//! Converts SVG to PNG with `resvg`.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Family, Query};
use resvg::usvg::{Options, Tree};

/// Number of pixels per pixel of the SVG. With 2, letters are sharp on current screens and on paper.
const SCALE: f32 = 2.0;

/// Converts SVG to PNG.
#[derive(Debug)]
pub struct Renderer {
    fonts: Arc<Database>,
    family: String,
}

impl Renderer {
    /// Returns a renderer with the fonts of the machine, or an error if there are none, because text would be lost.
    pub fn new() -> Result<Self> {
        let mut fonts = Database::new();
        fonts.load_system_fonts();
        Self::with_fonts(fonts)
    }

    fn with_fonts(fonts: Database) -> Result<Self> {
        let wanted = Query { families: &[Family::SansSerif], ..Query::default() };
        let chosen = fonts.query(&wanted).and_then(|id| fonts.face(id));
        // The default sans-serif font of the system may not be installed. Then any font is taken.
        let Some(face) = chosen.or_else(|| fonts.faces().next()) else {
            bail!("no font was found, and without one PNG pictures would have no text");
        };
        let family = face.families.first().context("a font has a name")?.0.clone();
        Ok(Self { fonts: Arc::new(fonts), family })
    }

    /// Returns the PNG file of an SVG chart.
    pub fn png(&self, svg: &str) -> Result<Vec<u8>> {
        let mut options = Options { fontdb: Arc::clone(&self.fonts), ..Options::default() };
        options.fontdb_mut().set_sans_serif_family(&self.family);
        let tree = Tree::from_str(svg, &options)?;
        let size = tree.size().to_int_size().scale_by(SCALE).context("a picture has a size")?;
        let mut pixels = Pixmap::new(size.width(), size.height()).context("a picture has pixels")?;
        resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
        Ok(pixels.encode_png()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the width and height in the header of a PNG file.
    fn size(png: &[u8]) -> (u32, u32) {
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
        let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        (number(16), number(20))
    }

    #[test]
    #[ignore = "needs a font"]
    fn pictures_have_two_pixels_for_one_and_text_is_drawn() {
        let renderer = Renderer::new().unwrap();
        let svg = |text: &str| {
            format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"60\" height=\"20\">\
                 <style>text{{font-family:sans-serif}}</style><text y=\"15\">{text}</text></svg>"
            )
        };
        let [empty, words] = ["", "Jaccard"].map(|text| renderer.png(&svg(text)).unwrap());
        assert_eq!(size(&words), (120, 40));
        assert_ne!(empty, words);
        assert_eq!(words, renderer.png(&svg("Jaccard")).unwrap());
        assert!(renderer.png("no picture").is_err());
    }

    #[test]
    fn no_font_is_an_error() {
        assert!(Renderer::with_fonts(Database::new()).unwrap_err().to_string().contains("no font"));
    }
}
