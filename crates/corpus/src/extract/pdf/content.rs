//! Reads the glyphs that a page shows, in the order of its operators.
//!
//! Only operators that place text are followed. Drawings are noted and skipped.

use std::rc::Rc;

use hayro_font::kurbo::{Affine, Point, Vec2};
use hayro_syntax::content::TypedIter;
use hayro_syntax::content::ops::TypedInstruction as Operator;
use hayro_syntax::object::{Array, Dict, Name, Number, Object, Stream, String as PdfString};
use hayro_syntax::page::{Page, Resources};

use super::super::{ExtractLimits, Refusal};
use super::fonts::{Fonts, ShownFont};
use super::layout::{GlyphPlace, PageText};
use super::strings;
use super::worker::Deadline;

/// Number of operators after which the deadline is checked.
const OPERATORS_PER_LOOK: usize = 1024;

/// Maximum number of graphics states that a page may save without restoring them. Each state takes less than 200
/// bytes.
const MOST_STATES: usize = 10_000;

/// Flags of an annotation that is not shown.
const HIDDEN: u32 = 1 << 1 | 1 << 5;

/// Text and drawings found on one page.
#[derive(Debug, Default)]
pub(super) struct PageContent {
    /// Text of the page.
    pub(super) text: String,
    /// Whether the page shows glyphs whose characters are unknown.
    pub(super) has_unknown_letters: bool,
    /// Whether pictures, lines or areas were drawn.
    pub(super) has_drawings: bool,
    /// Whether a part of the page could not be decoded.
    pub(super) is_damaged: bool,
}

/// Reads a page and the annotations on it.
pub(super) fn read<'p>(
    page: &Page<'p>,
    fonts: &mut Fonts<'p>,
    limits: &ExtractLimits,
    deadline: &Deadline,
) -> Result<PageContent, Refusal> {
    let mut walk = PageWalk {
        fonts,
        limits,
        deadline,
        text: PageText::new(limits.unfolded_bytes),
        found: PageContent::default(),
        state: GraphicsState::default(),
        saved: vec![],
        line: TextLine::default(),
        marked: vec![],
        depth: 0,
    };
    let content = walk.content(page)?;
    walk.follow(TypedIter::new(&content), page.resources())?;
    for annotation in
        page.raw().get::<Array<'p>>(b"Annots").into_iter().flat_map(|list| list.iter::<Dict<'p>>())
    {
        if let Some(appearance) = appearance(&annotation) {
            (walk.state, walk.line) = Default::default();
            walk.form(&appearance, page.resources())?;
        }
    }
    let PageWalk { text, found, .. } = walk;
    if text.is_full() {
        Err(limits.unfolds_too_far())
    } else {
        Ok(PageContent { text: text.finish(), ..found })
    }
}

/// Returns the drawing that stands for an annotation, such as a filled field of a form.
fn appearance<'p>(annotation: &Dict<'p>) -> Option<Stream<'p>> {
    if annotation.get::<u32>(b"F").unwrap_or(0) & HIDDEN != 0 {
        return None;
    }
    match annotation.get::<Dict<'p>>(b"AP")?.get::<Object<'p>>(b"N")? {
        Object::Stream(drawing) => Some(drawing),
        Object::Dict(states) => states.get::<Stream<'p>>(annotation.get::<Name<'_>>(b"AS")?),
        _ => None,
    }
}

/// Graphics state, which the operator `q` saves and `Q` restores.
#[derive(Clone)]
struct GraphicsState<'p> {
    to_page: Affine,
    font: Option<Rc<ShownFont<'p>>>,
    size: f64,
    letter_space: f64,
    word_space: f64,
    /// Factor of the horizontal scaling.
    stretch: f64,
    leading: f64,
    rise: f64,
}

impl Default for GraphicsState<'_> {
    fn default() -> Self {
        Self {
            to_page: Affine::IDENTITY,
            font: None,
            size: 1.0,
            letter_space: 0.0,
            word_space: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
        }
    }
}

/// Place of the next glyph, and start of its line.
#[derive(Clone, Copy, Default)]
struct TextLine {
    next: Affine,
    start: Affine,
}

impl TextLine {
    fn begin(&mut self, start: Affine) {
        *self = Self { next: start, start };
    }

    fn move_by(&mut self, x: f64, y: f64) {
        self.begin(self.start * Affine::translate((x, y)));
    }
}

/// Marked content, with the text that it may state instead of its glyphs. The stated text is taken at the first
/// glyph.
enum Marked {
    Plain,
    Stating(Option<String>),
}

struct PageWalk<'w, 'p> {
    fonts: &'w mut Fonts<'p>,
    limits: &'w ExtractLimits,
    deadline: &'w Deadline,
    text: PageText,
    found: PageContent,
    state: GraphicsState<'p>,
    saved: Vec<GraphicsState<'p>>,
    line: TextLine,
    marked: Vec<Marked>,
    depth: usize,
}

impl<'p> PageWalk<'_, 'p> {
    /// Joins the streams of operators of a page. The bytes are counted, because a page may name one stream many
    /// times.
    fn content(&mut self, page: &Page<'p>) -> Result<Vec<u8>, Refusal> {
        let mut content = vec![];
        let single = page.raw().get::<Stream<'p>>(b"Contents");
        let list = page.raw().get::<Array<'p>>(b"Contents").filter(|_| single.is_none());
        let streams = list.into_iter().flat_map(|list| list.iter::<Stream<'p>>());
        for stream in single.into_iter().chain(streams) {
            self.deadline.check()?;
            match stream.decoded_data() {
                Ok(data) => content.extend_from_slice(&data),
                Err(_) => self.found.is_damaged = true,
            }
            content.push(b'\n');
            if content.len() as u64 > self.limits.unfolded_bytes {
                return Err(self.limits.unfolds_too_far());
            }
        }
        Ok(content)
    }

    /// Follows a drawing that has its own operators, and often its own resources.
    fn form(&mut self, form: &Stream<'p>, resources: &Resources<'p>) -> Result<(), Refusal> {
        if self.depth == self.limits.nesting {
            return Err(Refusal::TooDeep { limit: self.limits.nesting });
        }
        self.deadline.check()?;
        let Ok(data) = form.decoded_data() else {
            self.found.is_damaged = true;
            return Ok(());
        };
        let own = form.dict().get::<Dict<'p>>(b"Resources").map(Resources::new);
        let (state, line) = (self.state.clone(), self.line);
        let (saved, marked) = (std::mem::take(&mut self.saved), self.marked.len());
        if let Some(matrix) = form.dict().get::<[f64; 6]>(b"Matrix") {
            self.state.to_page *= Affine::new(matrix);
        }
        self.depth += 1;
        self.follow(TypedIter::new(&data), own.as_ref().unwrap_or(resources))?;
        self.depth -= 1;
        self.marked.truncate(marked);
        (self.state, self.line, self.saved) = (state, line, saved);
        Ok(())
    }

    fn follow(&mut self, mut operators: TypedIter<'_>, resources: &Resources<'p>) -> Result<(), Refusal> {
        let mut count = 0_usize;
        while let Some(operator) = operators.next() {
            if count.is_multiple_of(OPERATORS_PER_LOOK) {
                self.deadline.check()?;
            }
            count += 1;
            if self.text.is_full() {
                return Err(self.limits.unfolds_too_far());
            }
            self.operator(operator, resources)?;
        }
        Ok(())
    }

    fn operator(&mut self, operator: Operator<'_, '_>, resources: &Resources<'p>) -> Result<(), Refusal> {
        match operator {
            Operator::SaveState(_) if self.saved.len() < MOST_STATES => self.saved.push(self.state.clone()),
            Operator::RestoreState(_) => {
                if let Some(saved) = self.saved.pop() {
                    self.state = saved;
                }
            }
            Operator::Transform(by) => self.state.to_page *= matrix([by.0, by.1, by.2, by.3, by.4, by.5]),
            Operator::SetGraphicsState(set) => {
                let font = resources.get_ext_g_state(set.0).and_then(|set| set.get::<Array<'p>>(b"Font"));
                let font = font.map(|font| font.flex_iter());
                if let Some((Some(font), Some(size))) =
                    font.map(|mut font| (font.next::<Dict<'p>>(), font.next::<f32>()))
                {
                    self.state.font = self.fonts.get(&font);
                    self.state.size = f64::from(size);
                }
            }
            Operator::XObject(drawn) => return self.draw(drawn.0, resources),
            Operator::InlineImage(_)
            | Operator::Shading(_)
            | Operator::StrokePath(_)
            | Operator::CloseAndStrokePath(_)
            | Operator::FillPathNonZero(_)
            | Operator::FillPathNonZeroCompatibility(_)
            | Operator::FillPathEvenOdd(_)
            | Operator::FillAndStrokeNonZero(_)
            | Operator::FillAndStrokeEvenOdd(_)
            | Operator::CloseFillAndStrokeNonZero(_)
            | Operator::CloseFillAndStrokeEvenOdd(_) => self.found.has_drawings = true,
            Operator::BeginMarkedContent(_) => self.marked.push(Marked::Plain),
            Operator::BeginMarkedContentWithProperties(mark) => {
                let stated = match mark.1 {
                    Object::Dict(properties) => stated_text(properties),
                    Object::Name(name) => {
                        resources.properties.get::<Dict<'p>>(name).as_ref().and_then(stated_text)
                    }
                    _ => None,
                };
                self.marked.push(stated.map_or(Marked::Plain, |text| Marked::Stating(Some(text))));
            }
            Operator::EndMarkedContent(_) => {
                self.marked.pop();
            }
            other => self.text_operator(other, resources),
        }
        Ok(())
    }

    fn text_operator(&mut self, operator: Operator<'_, '_>, resources: &Resources<'p>) {
        match operator {
            Operator::CharacterSpacing(space) => self.state.letter_space = space.0.as_f64(),
            Operator::WordSpacing(space) => self.state.word_space = space.0.as_f64(),
            Operator::HorizontalScaling(percent) => self.state.stretch = percent.0.as_f64() / 100.0,
            Operator::TextLeading(leading) => self.state.leading = leading.0.as_f64(),
            Operator::TextRise(rise) => self.state.rise = rise.0.as_f64(),
            Operator::TextFont(font) => {
                self.state.font = self.fonts.get(&resources.get_font(font.0).unwrap_or_default());
                self.state.size = font.1.as_f64();
            }
            Operator::BeginText(_) => self.line.begin(Affine::IDENTITY),
            Operator::SetTextMatrix(by) => self.line.begin(matrix([by.0, by.1, by.2, by.3, by.4, by.5])),
            Operator::NextLine(by) => self.line.move_by(by.0.as_f64(), by.1.as_f64()),
            Operator::NextLineAndSetLeading(by) => {
                self.state.leading = -by.1.as_f64();
                self.line.move_by(by.0.as_f64(), by.1.as_f64());
            }
            Operator::NextLineUsingLeading(_) => self.line.move_by(0.0, -self.state.leading),
            Operator::ShowText(shown) => self.show(shown.0.as_bytes()),
            Operator::NextLineAndShowText(shown) => {
                self.line.move_by(0.0, -self.state.leading);
                self.show(shown.0.as_bytes());
            }
            Operator::ShowTextWithParameters(shown) => {
                self.state.word_space = shown.0.as_f64();
                self.state.letter_space = shown.1.as_f64();
                self.line.move_by(0.0, -self.state.leading);
                self.show(shown.2.as_bytes());
            }
            Operator::ShowTexts(shown) => {
                for part in shown.0.iter::<Object<'_>>() {
                    match part {
                        Object::String(shown) => self.show(shown.as_bytes()),
                        Object::Number(back) => self.step_back(back.as_f64() / 1000.0),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn draw(&mut self, name: &Name<'_>, resources: &Resources<'p>) -> Result<(), Refusal> {
        let Some(drawn) = resources.get_x_object(name) else { return Ok(()) };
        match drawn.dict().get::<Name<'_>>(b"Subtype").as_deref() {
            Some(b"Form") => self.form(&drawn, resources),
            Some(b"Image") => {
                self.found.has_drawings = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Moves the next glyph back by a fraction of the font size.
    fn step_back(&mut self, part: f64) {
        let GraphicsState { font, size, stretch, .. } = &self.state;
        let step = -part * size;
        let is_horizontal = font.as_ref().is_none_or(|font| font.is_horizontal());
        let step = if is_horizontal { (step * stretch, 0.0) } else { (0.0, step) };
        self.line.next *= Affine::translate(step);
    }

    fn show(&mut self, bytes: &[u8]) {
        let font = self.state.font.clone().or_else(|| self.fonts.get(&Dict::default()));
        let Some(font) = font else { return };
        let GraphicsState { to_page, size, letter_space, word_space, stretch, rise, .. } = self.state;
        let mut at = 0;
        while at < bytes.len() && !self.text.is_full() {
            let (code, length) = font.code(bytes, at);
            at += length;
            let to_page = to_page * self.line.next;
            let on_page = |step: Vec2| to_page * step.to_point() - to_page * Point::ZERO;
            let advance = font.advance(code) * size;
            let space = letter_space + if code == 32 && length == 1 { word_space } else { 0.0 };
            let (advance, space) = if font.is_horizontal() {
                (Vec2::new(advance.x * stretch, 0.0), Vec2::new(space * stretch, 0.0))
            } else {
                (Vec2::new(0.0, advance.y), Vec2::new(0.0, space))
            };
            let place = GlyphPlace {
                at: to_page * Point::new(0.0, rise),
                advance: on_page(advance),
                em: on_page(Vec2::new(0.0, size * font.em())).hypot(),
            };
            self.glyph(place, &font, (code, length));
            self.line.next *= Affine::translate(advance + space);
        }
    }

    fn glyph(&mut self, place: GlyphPlace, font: &ShownFont<'p>, (code, length): (u32, usize)) {
        let stated = self.marked.iter_mut().rev().find_map(|marked| match marked {
            Marked::Plain => None,
            Marked::Stating(text) => Some(text.take().unwrap_or_default()),
        });
        if let Some(text) = stated {
            self.text.show(place, &text);
            return;
        }
        let characters = font.characters(code, length);
        self.found.has_unknown_letters |= characters.is_none();
        self.text.show(place, characters.as_deref().unwrap_or_default());
    }
}

/// Returns the text that marked content states for its glyphs, for example for a ligature, or for a word that is a
/// drawing.
fn stated_text(properties: &Dict<'_>) -> Option<String> {
    Some(strings::decode(properties.get::<PdfString<'_>>(b"ActualText")?.as_bytes()))
}

fn matrix(numbers: [Number; 6]) -> Affine {
    Affine::new(numbers.map(|number| number.as_f64()))
}
