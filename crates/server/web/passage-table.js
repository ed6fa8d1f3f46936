// A table of the passages of a pair.

import { h, name } from './dom.js';
import { count, counted, placeName } from './format.js';
import { MOVED, passageStyle } from './passages.js';
import { cell, table } from './table.js';

/** @typedef {import('./passages.js').Passages} Passages */
/** @typedef {import('./passages.js').SideName} SideName */

/** Maximum number of passages that are listed at first, because a longer table would be a third text. */
const LISTED = 100;
/** Maximum number of characters of a passage in the table. */
const EXCERPT = 140;

const NUMBER = { title: 'No.' };
const BEGINNING = { title: 'Beginning' };
/** @type {Record<SideName, { title: string }>} */
const PLACES = { left: { title: 'Left text' }, right: { title: 'Right text' } };

/** @param {Passages} passages */
export function passageTable(passages) {
  const all = Array.from({ length: passages.count }, (_, passage) => passage);
  const longest = all.toSorted((a, b) => passages.get(b).tokens - passages.get(a).tokens).slice(0, LISTED);
  const { left, right } = passages.views;
  const hasPlaces = all.some((passage) => left.place(passage) !== null || right.place(passage) !== null);
  const length = { title: { word: 'Words', character: 'Characters', term: 'Terms' }[passages.unit], isNumber: true };
  const columns = [NUMBER, BEGINNING, length, ...(hasPlaces ? Object.values(PLACES) : [])];
  const listOf = (/** @type {number[]} */ some) =>
    table('Shared passages', columns, some.map((passage) => row(passages, passage, length, hasPlaces)));
  const section = h('section', { class: 'passage-list' }, h('h2', {}, 'Shared passages'));
  if (longest.length === all.length) {
    section.append(listOf(all));
    return section;
  }
  const note = h(
    'p',
    { class: 'soft' },
    `The ${LISTED} longest of ${counted(all.length, 'passage')}, in the order of the left text.`,
  );
  const list = listOf(longest.sort((a, b) => a - b));
  const button = h('button', { type: 'button' }, `List all ${counted(all.length, 'passage')}`);
  button.addEventListener('click', () => {
    const whole = listOf(all);
    list.replaceWith(whole);
    note.remove();
    button.remove();
    whole.querySelector('button')?.focus({ preventScroll: true });
  });
  section.append(note, list, h('p', {}, button));
  return section;
}

/**
 * @param {Passages} passages
 * @param {number} index
 * @param {import('./table.js').Column} length
 * @param {boolean} hasPlaces
 */
function row(passages, index, length, hasPlaces) {
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
    cell(length, count(passage.tokens)),
    hasPlaces && [place('left'), place('right')],
  );
}
