//! Finds the characters that the codes of a font stand for.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use hayro_cmap::{BfString, CMap, CMapName, CidFamily};
use hayro_font::kurbo::Vec2;
use hayro_font::{
    CMapResolverFn, Font, FontCache, FontGlyph, FontQuery, FontResolverFn, GlyphId, StandardFont,
    UNITS_PER_EM,
};
use hayro_syntax::object::{Array, Dict, Name, Object, String as PdfString};
use skrifa::MetadataProvider;

/// Maximum number of widths that the ranges of one font may state together. Each width becomes an entry in memory.
/// Fonts of ordinary files stay below the limit, because glyph numbers have two bytes.
const MOST_WIDTHS: u64 = 1 << 17;

/// Fonts of a document, each loaded once.
pub(super) struct Fonts<'p> {
    cache: FontCache<'p>,
    programs: FontResolverFn,
    tables: CMapResolverFn,
    /// Fonts by the bytes of their dictionaries, because a nested dictionary has no object number.
    loaded: HashMap<&'p [u8], Option<Rc<ShownFont<'p>>>>,
}

impl<'p> Fonts<'p> {
    /// Makes an empty list of fonts.
    pub(super) fn new() -> Self {
        Self {
            cache: FontCache::new(),
            // A font that is not in the file is replaced by a standard font, which has widths and names of letters.
            programs: Arc::new(|wanted| {
                Some(match wanted {
                    FontQuery::Standard(font) => font.get_font_data(),
                    FontQuery::Fallback(font) => font.pick_standard_font().get_font_data(),
                })
            }),
            tables: Arc::new(hayro_cmap::load_embedded),
            loaded: HashMap::new(),
        }
    }

    /// Returns the font of a dictionary. Helvetica replaces a font that is missing or cannot be loaded, as in other
    /// PDF readers.
    pub(super) fn get(&mut self, dictionary: &Dict<'p>) -> Option<Rc<ShownFont<'p>>> {
        if let Some(known) = self.loaded.get(dictionary.data()) {
            return known.clone();
        }
        let font = self.load(dictionary);
        self.loaded.insert(dictionary.data(), font.clone());
        font
    }

    fn load(&self, dictionary: &Dict<'p>) -> Option<Rc<ShownFont<'p>>> {
        let own = || self.cache.font(dictionary, &self.programs, &self.tables);
        let font = if has_overlong_widths(dictionary) { None } else { own() };
        let font = font.or_else(|| self.cache.standard_font(StandardFont::Helvetica, &self.programs));
        Some(Rc::new(ShownFont::new(font?, dictionary)))
    }
}

/// Reports whether a font states more widths than it could have glyphs.
fn has_overlong_widths(font: &Dict<'_>) -> bool {
    let parts = font.get::<Array<'_>>(b"DescendantFonts");
    parts.into_iter().flat_map(|parts| parts.iter::<Dict<'_>>()).any(|part| {
        [(&b"W"[..], 1), (b"W2", 3)].into_iter().any(|(name, numbers)| {
            part.get::<Array<'_>>(name).is_some_and(|widths| named_widths(&widths, numbers) > MOST_WIDTHS)
        })
    })
}

/// Counts the glyphs to which a list gives widths. An entry of the list is a glyph with a list of widths, or the
/// first and the last glyph of a range with `numbers` numbers.
fn named_widths(widths: &Array<'_>, numbers: usize) -> u64 {
    let mut items = widths.flex_iter();
    let mut total = 0_u64;
    loop {
        if let Some((_, list)) = items.next::<(u32, Array<'_>)>() {
            total = total.saturating_add(list.iter::<f32>().count() as u64);
        } else if let Some((first, last)) = items.next::<(u32, u32)>() {
            total = total.saturating_add(u64::from(last.saturating_sub(first)) + 1);
            for _ in 0..numbers {
                items.next::<f32>();
            }
        } else {
            return total;
        }
    }
}

/// A font in which a page shows text.
pub(super) struct ShownFont<'p> {
    font: Font<'p>,
    /// Size of the font in its own units.
    em: f64,
    /// Whether codes are single bytes.
    is_simple: bool,
    dictionary: Dict<'p>,
    known: RefCell<HashMap<u32, Option<Rc<str>>>>,
    /// Character collection, such as Adobe-CNS1, that numbers the glyphs; `None` if the font uses none.
    by_number: OnceCell<Option<GlyphCollection>>,
    /// Characters of the glyphs, by the table in the font's own file.
    by_glyph: OnceCell<HashMap<u32, char>>,
}

impl<'p> ShownFont<'p> {
    fn new(font: Font<'p>, dictionary: &Dict<'p>) -> Self {
        let kind = dictionary.get::<Name<'_>>(b"Subtype");
        let is = |name: &[u8]| kind.as_deref().is_some_and(|kind| kind == name);
        let em = if is(b"Type3") { drawn_em(&font) } else { f64::from(UNITS_PER_EM) };
        Self {
            font,
            em,
            is_simple: !is(b"Type0"),
            dictionary: dictionary.clone(),
            known: RefCell::default(),
            by_number: OnceCell::new(),
            by_glyph: OnceCell::new(),
        }
    }

    /// Reads the next code of a string. Returns the code and the number of bytes that it takes.
    pub(super) fn code(&self, bytes: &[u8], at: usize) -> (u32, usize) {
        let (code, length) = self.font.read_code(bytes, at);
        (code, length.max(1))
    }

    /// Reports whether lines of this font are horizontal.
    pub(super) fn is_horizontal(&self) -> bool {
        self.font.is_horizontal()
    }

    /// Returns the step after the glyph of a code, relative to the font size.
    pub(super) fn advance(&self, code: u32) -> Vec2 {
        self.font.code_advance(code) / f64::from(UNITS_PER_EM)
    }

    /// Returns the size of the letters, relative to the size that the page states.
    pub(super) fn em(&self) -> f64 {
        self.em / f64::from(UNITS_PER_EM)
    }

    /// Returns the characters that a code stands for, from the file or from a published table; `None` if both lack the
    /// code. In a simple font, an ASCII code that both lack stands for itself. `length` is the number of bytes of the
    /// code.
    pub(super) fn characters(&self, code: u32, length: usize) -> Option<Rc<str>> {
        if let Some(known) = self.known.borrow().get(&code) {
            return known.clone();
        }
        let characters = self.look_up(code, length);
        self.known.borrow_mut().insert(code, characters.clone());
        characters
    }

    fn look_up(&self, code: u32, length: usize) -> Option<Rc<str>> {
        // Any glyph suffices, because the character of a code does not depend on its glyph.
        let stated = match self.font.glyph(GlyphId::NOTDEF, code) {
            FontGlyph::Outline(glyph) => glyph.as_unicode(),
            FontGlyph::Type3(glyph) => glyph.as_unicode(),
        };
        let stated = stated.or_else(|| {
            let numbers = self.by_number.get_or_init(|| GlyphCollection::of(&self.dictionary));
            numbers.as_ref()?.characters(code, length)
        });
        match stated {
            Some(BfString::Char(character)) => Some(character.to_string().into()),
            Some(BfString::String(characters)) => Some(characters.into()),
            // Fonts without glyph names, such as the fonts of TeX, have letters at the codes of ASCII.
            None if self.is_simple => {
                let code = u8::try_from(code).ok().filter(|code| (b' '..=b'~').contains(code));
                code.map(|code| char::from(code).to_string().into())
            }
            None => {
                let glyph = self.font.map_code(code).to_u32();
                let table = self.by_glyph.get_or_init(|| self.characters_by_glyph(code));
                table.get(&glyph).map(|character| character.to_string().into())
            }
        }
    }

    /// Inverts the table of characters in the font's file. If several characters have the same glyph, the lowest
    /// character is taken.
    fn characters_by_glyph(&self, code: u32) -> HashMap<u32, char> {
        let FontGlyph::Outline(glyph) = self.font.glyph(GlyphId::NOTDEF, code) else { return HashMap::new() };
        let Some(file) = glyph.font_data() else { return HashMap::new() };
        let bytes: &[u8] = (*file.data).as_ref();
        let Ok(font) = skrifa::FontRef::from_index(bytes, 0) else { return HashMap::new() };
        let mut table: HashMap<u32, char> = HashMap::new();
        for (character, glyph) in font.charmap().mappings() {
            if let Some(character) = char::from_u32(character) {
                let lowest = table.entry(glyph.to_u32()).or_insert(character);
                *lowest = character.min(*lowest);
            }
        }
        table
    }
}

/// Published character collection, such as Adobe-CNS1 for traditional Chinese, with a table from its glyph numbers to
/// characters.
struct GlyphCollection {
    /// Table from codes to glyph numbers.
    numbers: CMap,
    /// Table from glyph numbers to characters.
    characters: CMap,
}

impl GlyphCollection {
    fn of(font: &Dict<'_>) -> Option<Self> {
        let part = font.get::<Array<'_>>(b"DescendantFonts")?.iter::<Dict<'_>>().next()?;
        let system = part.get::<Dict<'_>>(b"CIDSystemInfo")?;
        let registry = system.get::<PdfString<'_>>(b"Registry")?;
        let ordering = system.get::<PdfString<'_>>(b"Ordering")?;
        let family = CidFamily::from_registry_ordering(registry.as_bytes(), ordering.as_bytes());
        let characters =
            CMap::parse(hayro_cmap::load_embedded(family.ucs2_cmap()?)?, hayro_cmap::load_embedded)?;
        let numbers = match font.get::<Object<'_>>(b"Encoding")? {
            Object::Name(name) => match CMapName::from_bytes(&name) {
                CMapName::IdentityH | CMapName::IdentityV => CMap::identity_h(),
                name => CMap::parse(hayro_cmap::load_embedded(name)?, hayro_cmap::load_embedded)?,
            },
            Object::Stream(table) => CMap::parse(&table.decoded_data().ok()?, hayro_cmap::load_embedded)?,
            _ => return None,
        };
        Some(Self { numbers, characters })
    }

    fn characters(&self, code: u32, length: usize) -> Option<BfString> {
        self.characters.lookup_bf_string(self.numbers.lookup_cid_code(code, u8::try_from(length).ok()?)?)
    }
}

/// Estimates the size of a font whose glyphs are drawings, because such a font may have any units. The size is twice
/// the mean width, because letters are about half as wide as they are high.
fn drawn_em(font: &Font<'_>) -> f64 {
    let widths = (0..=255).map(|code| font.code_advance(code).x.abs()).filter(|width| *width > 0.0);
    let (count, sum) = widths.fold((0.0, 0.0), |(count, sum), width| (count + 1.0, sum + width));
    if count > 0.0 { 2.0 * sum / count } else { f64::from(UNITS_PER_EM) }
}
