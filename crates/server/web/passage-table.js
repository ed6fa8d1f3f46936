// All passages of a pair as a table: to read through, and to print.

import { h, name } from './dom.js';
import { count, placeName } from './format.js';
import { MOVED, passageStyle } from './passages.js';
import { cell, table } from './table.js';

/** @typedef {import('./passages.js').Passages} Passages */
/** @typedef {import('./passages.js').SideName} SideName */

/** Passages that are listed. More would be a third text. */
const LISTED = 100;
/** Characters of a passage that are shown. */
const EXCERPT = 140;

const NUMBER = { title: 'No.' };
const BEGINNING = { title: 'Beginning' };
const TOKENS = { title: 'Tokens', isNumber: true };
/** @type {Record<SideName, { title: string }>} */
const PLACES = { left: { title: 'Left' }, right: { title: 'Right' } };

/** @param {Passages} passages */
export function passageTable(passages) {
  const all = Array.from({ length: passages.count }, (_, passage) => passage);
  const longest = all.toSorted((a, b) => passages.get(b).tokens - passages.get(a).tokens).slice(0, LISTED);
  const { left, right } = passages.views;
  const hasPlaces = all.some((passage) => left.place(passage) !== null || right.place(passage) !== null);
  const rows = longest.sort((a, b) => a - b).map((passage) => row(passages, passage, hasPlaces));
  return h(
    'section',
    { class: 'passage-list' },
    h('h2', {}, 'Shared passages'),
    longest.length < all.length &&
      h('p', { class: 'soft' }, `The ${LISTED} longest of ${count(all.length)}, in the order of the left text.`),
    table('Shared passages', [NUMBER, BEGINNING, TOKENS, ...(hasPlaces ? Object.values(PLACES) : [])], rows),
  );
}

/**
 * @param {Passages} passages
 * @param {number} index
 * @param {boolean} hasPlaces
 */
function row(passages, index, hasPlaces) {
  const passage = passages.get(index);
  const go = () => {
    document.querySelector('.compare')?.scrollIntoView({ block: 'start' });
    passages.go(index);
  };
  const place = (/** @type {SideName} */ side) => {
    const at = passages.views[side].place(index);
    return cell(PLACES[side], at === null ? '–' : placeName(at));
  };
  const style = `chip ${passageStyle(passage, index)}`;
  const button = { type: 'button', class: style, 'aria-label': `Go to passage ${count(index + 1)}`, click: go };
  return h(
    'tr',
    {},
    cell(
      NUMBER,
      h('button', button, count(index + 1)),
      passage.moved && h('span', { class: 'soft' }, ` ${MOVED} moved`),
    ),
    cell(BEGINNING, h('span', { class: 'excerpt' }, name(passages.views.left.excerpt(index, EXCERPT)))),
    cell(TOKENS, count(passage.tokens)),
    hasPlaces && [place('left'), place('right')],
  );
}
