// Cuts a text into paragraphs, and each paragraph into pieces. A piece belongs to one passage or to none.

/** @typedef {import('./types.js').Place} Place */
/** @typedef {{ at: number, place: Place }} PlaceAt a place with its offset into the string */
/**
 * @typedef {object} Piece
 * @property {number} start
 * @property {number} end
 * @property {number | null} passage the passage whose colour the piece has
 * @property {number[]} begins the passages that begin with the piece
 * @property {Place | null} place the place that begins with the piece
 */
/**
 * @typedef {object} Paragraph
 * @property {number} start
 * @property {number} end
 * @property {boolean} isApart whether there is space before the paragraph
 * @property {Piece[]} pieces
 */

/**
 * Maximum width of a line that was wrapped by hand. After a wider line, another paragraph begins. Full-width characters
 * count twice.
 */
const HAND_WRAPPED = 120;
/**
 * Maximum length of a block. A longer line is drawn as several blocks, because the browser lays out a block as a whole.
 */
const BLOCK = 4000;
const LINE_END = /[\n\f]/g;

/**
 * Cuts a text into paragraphs with their pieces. The function is a generator, so that the first paragraph can be drawn
 * before the last is cut.
 *
 * @param {string} text
 * @param {[start: number, end: number][]} ranges of the passages, as offsets into the string; they may overlap
 * @param {PlaceAt[]} places ascending
 * @returns {Generator<Paragraph>}
 */
export function* paragraphs(text, ranges, places) {
  const cuts = withoutOverlaps(ranges);
  let cut = 0;
  let place = 0;
  let isFirst = true;
  let isApart = false;
  for (const { start, end, startsLine, endsLine } of blocks(text)) {
    /** @type {Piece[]} */
    const pieces = [];
    let at = start;
    const isBlank = text.slice(start, end).trim() === '';
    while (at < end && !isBlank) {
      while (cut < cuts.length && cuts[cut].end <= at) {
        // A passage that begins between blocks begins with the next piece.
        cuts[cut + 1]?.begins.push(...cuts[cut].begins.splice(0));
        cut += 1;
      }
      const next = cuts[cut];
      const inside = next !== undefined && next.start <= at;
      let stop = Math.min(end, next === undefined ? end : inside ? next.end : next.start);
      // If pages are empty, several places begin at this offset. The text belongs to the last of these places.
      let begun = null;
      for (; place < places.length && places[place].at <= at; place++) begun = places[place].place;
      if (place < places.length) stop = Math.min(stop, places[place].at);
      pieces.push({
        start: at,
        end: stop,
        passage: inside ? next.passage : null,
        begins: inside ? next.begins.splice(0) : [],
        place: begun,
      });
      at = stop;
    }
    if (!isBlank) {
      yield { start, end, isApart: !isFirst && (isApart || (startsLine && pieces[0].place !== null)), pieces };
      isFirst = false;
      isApart = endsLine && textWidth(text.slice(start, end)) > HAND_WRAPPED;
    } else isApart = true;
  }
}

/**
 * Returns the ranges without overlaps. If several ranges overlap, the longest of them is drawn.
 *
 * @param {[start: number, end: number][]} ranges
 * @returns {{ start: number, end: number, passage: number, begins: number[] }[]} ascending
 */
function withoutOverlaps(ranges) {
  const length = (/** @type {number} */ passage) => ranges[passage][1] - ranges[passage][0];
  const order = ranges.map((_, passage) => passage).filter((passage) => length(passage) > 0);
  order.sort((a, b) => ranges[a][0] - ranges[b][0]);
  const edges = [...new Set(order.flatMap((passage) => ranges[passage]))].sort((a, b) => a - b);
  const cuts = [];
  /** @type {number[]} */
  let open = [];
  let next = 0;
  for (let edge = 0; edge + 1 < edges.length; edge++) {
    const [start, end] = [edges[edge], edges[edge + 1]];
    const begins = [];
    for (; next < order.length && ranges[order[next]][0] === start; next++) begins.push(order[next]);
    open = [...open.filter((passage) => ranges[passage][1] > start), ...begins];
    if (open.length === 0) continue;
    const passage = open.reduce((best, other) => (length(other) > length(best) ? other : best));
    cuts.push({ start, end, passage, begins });
  }
  return cuts;
}

/**
 * Returns the width of a text in characters of half width.
 *
 * @param {string} text
 */
export function textWidth(text) {
  let width = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    // Han and its punctuation, kana, Hangul and full-width forms count twice. The two halves of a surrogate pair
    // already add up to the full width.
    if (unit >= 0x2e80 && (unit < 0xd800 || unit >= 0xf900)) width += 1;
  }
  return width;
}

/**
 * Yields the lines of a text without their ends, and long lines in several parts. A form feed ends a line, too.
 *
 * @param {string} text
 * @returns {Generator<{ start: number, end: number, startsLine: boolean, endsLine: boolean }>}
 */
function* blocks(text) {
  for (let line = 0; line < text.length;) {
    LINE_END.lastIndex = line;
    const lineEnd = LINE_END.exec(text)?.index ?? text.length;
    let start = line;
    do {
      const end = lineEnd - start <= BLOCK ? lineEnd : blockEnd(text, start);
      yield { start, end, startsLine: start === line, endsLine: end === lineEnd };
      start = end;
    } while (start < lineEnd);
    line = lineEnd + 1;
  }
}

/**
 * Returns the end of a block of a long line: after a sentence if possible, else after a word, else anywhere.
 *
 * @param {string} text
 * @param {number} start
 */
function blockEnd(text, start) {
  const least = start + BLOCK / 2;
  const part = text.slice(least, start + BLOCK);
  const ends = [/.*(?:[.!?]\s|[。！？])/su, /.*\s/su];
  for (const end of ends) {
    const match = end.exec(part);
    if (match) return least + match[0].length;
  }
  const splitsPair = (text.charCodeAt(start + BLOCK - 1) & 0xfc00) === 0xd800;
  return start + BLOCK - (splitsPair ? 1 : 0);
}
