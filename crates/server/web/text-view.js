// Draws a text with its passages in chunks, so that a hundred pages appear and scroll quickly.
//
// Chunks are built for a few milliseconds at a time. With `content-visibility`, the browser lays out a chunk when it
// comes into view. Until then, the height of a chunk is estimated from its characters.

import { h, visible } from './dom.js';
import { excerpt, placeName, placeSign } from './format.js';
import { language } from './language.js';
import { paragraphs, textWidth } from './paragraphs.js';
import { stringOffsets } from './offsets.js';

/** @typedef {import('./paragraphs.js').Paragraph} Paragraph */
/** @typedef {import('./paragraphs.js').Piece} Piece */
/** @typedef {import('./types.js').Mark} Mark */
/** @typedef {import('./types.js').Place} Place */
/** @typedef {import('./types.js').Range} Range */
/**
 * @typedef {object} Drawing Functions that draw the passages of a text.
 * @property {(passage: number) => string} style the classes of a passage
 * @property {(passage: number) => Node} sign the node at the beginning of a passage
 */

/** Minimum number of characters per chunk. */
const CHUNK = 3000;
/** Number of characters at the beginning of a text whose width is measured. */
const PROBE = 200;
/**
 * Beginning of a passage that must not be wrapped away from the passage's sign: its first word, or one character of a
 * script without spaces.
 */
const FIRST_WORD = /^(?:[\u2e80-\uffff]|[^\s\u2e80-\uffff]{1,30})/;
/** Maximum time for which chunks are built without a pause, in milliseconds. The time is shorter than a frame. */
const SLICE_MS = 8;

export class TextView {
  /** First node of each passage. @type {Map<number, HTMLElement>} */
  anchors = new Map();
  /** All nodes of each passage. @type {Map<number, HTMLElement[]>} */
  marks = new Map();
  #text;
  #places;
  #ranges;
  #drawing;

  /**
   * @param {string} text
   * @param {Mark[]} marks
   * @param {Range[]} ranges of the passages, in bytes
   * @param {Drawing} [drawing]
   */
  constructor(text, marks, ranges = [], drawing = undefined) {
    const offsets = stringOffsets(text, [...ranges.flat(), ...marks.map((mark) => mark.offset)]);
    this.#text = text;
    this.#drawing = drawing;
    this.#ranges = ranges.map((_, passage) => /** @type {Range} */ ([offsets[2 * passage], offsets[2 * passage + 1]]));
    this.#places = marks.map(({ place }, at) => ({ at: offsets[2 * ranges.length + at], place }));
    this.element = h('div', { class: marks.length > 0 ? 'text placed' : 'text', lang: language(text) });
  }

  /** Length of the text, in the units of `range`. */
  get length() {
    return this.#text.length;
  }

  /**
   * Returns the range of a passage in the string.
   *
   * @param {number} passage
   */
  range(passage) {
    return this.#ranges[passage];
  }

  /**
   * Returns the beginning of a passage as an excerpt.
   *
   * @param {number} passage
   * @param {number} most characters
   */
  excerpt(passage, most) {
    return excerpt(this.#text.slice(...this.#ranges[passage]), most);
  }

  /**
   * Returns the place in which a passage begins.
   *
   * @param {number} passage
   * @returns {Place | null}
   */
  place(passage) {
    const [start] = this.#ranges[passage];
    return this.#places.findLast(({ at }) => at <= start)?.place ?? null;
  }

  /**
   * Draws the text. The first chunks are drawn immediately.
   *
   * @param {AbortSignal} signal
   * @returns {Promise<void>} resolves when the whole text is drawn
   */
  async draw(signal) {
    const columns = this.#columns();
    let since = performance.now();
    for (const chunk of chunks(paragraphs(this.#text, this.#ranges, this.#places))) {
      if (signal.aborted) return;
      this.element.append(this.#chunk(chunk, columns));
      if (performance.now() - since > SLICE_MS) {
        await new Promise((resolve) => setTimeout(resolve));
        since = performance.now();
      }
    }
  }

  /** Returns the number of half-width characters per line, by the measured width of the beginning of the text. */
  #columns() {
    const probe = h('span', { class: 'probe' }, this.#text.slice(0, PROBE).replace(/\s/gu, ' '));
    const chunk = h('div', { class: 'chunk' }, h('p', {}, probe));
    this.element.append(chunk);
    const width = probe.getBoundingClientRect().width / Math.max(1, textWidth(probe.textContent ?? ''));
    const line = chunk.firstElementChild?.getBoundingClientRect().width ?? 0;
    chunk.remove();
    return Math.max(10, line / (width || 8));
  }

  /**
   * @param {Paragraph[]} list
   * @param {number} columns
   */
  #chunk(list, columns) {
    let lines = 0;
    const chunk = h('div', { class: 'chunk' });
    for (const paragraph of list) {
      chunk.append(this.#paragraph(paragraph));
      const width = textWidth(this.#text.slice(paragraph.start, paragraph.end));
      lines += Math.ceil(width / columns) + (paragraph.isApart ? 0.5 : 0);
    }
    chunk.style.setProperty('--lines', lines.toFixed(1));
    return chunk;
  }

  /** @param {Paragraph} paragraph */
  #paragraph({ isApart, pieces }) {
    const node = h('p', { class: isApart ? 'apart' : null, dir: 'auto' });
    pieces.forEach((piece, at) => {
      if (piece.place) node.append(placeLabel(piece.place, at === 0));
      node.append(this.#piece(piece));
    });
    return node;
  }

  /** @param {Piece} piece */
  #piece({ start, end, passage, begins }) {
    const text = visible(this.#text.slice(start, end));
    if (passage === null || !this.#drawing) return text;
    const mark = h('mark', { class: this.#drawing.style(passage), 'data-passage': passage });
    const [word] = begins.length > 0 ? (FIRST_WORD.exec(text) ?? ['']) : [''];
    if (begins.length > 0) mark.append(h('span', { class: 'joined' }, begins.map(this.#drawing.sign), word));
    for (const begun of begins) this.anchors.set(begun, mark);
    mark.append(text.slice(word.length));
    const marks = this.marks.get(passage);
    if (marks) marks.push(mark);
    else this.marks.set(passage, [mark]);
    return mark;
  }
}

/**
 * Creates the label of a place, in the margin if the place begins a line.
 *
 * @param {Place} place
 * @param {boolean} inMargin
 */
function placeLabel(place, inMargin) {
  return h('span', { class: inMargin ? 'place margin' : 'place', title: placeName(place) }, placeSign(place));
}

/**
 * Groups paragraphs into chunks, which are drawn together.
 *
 * @param {Iterable<Paragraph>} list
 * @returns {Generator<Paragraph[]>}
 */
function* chunks(list) {
  /** @type {Paragraph[]} */
  let chunk = [];
  let size = 0;
  for (const paragraph of list) {
    chunk.push(paragraph);
    size += paragraph.end - paragraph.start;
    if (size >= CHUNK) {
      yield chunk;
      chunk = [];
      size = 0;
    }
  }
  if (chunk.length > 0) yield chunk;
}
