// All passages of a pair as a table: to read through, and to print.

import { h, name } from './dom.js';
import { count, placeName } from './format.js';
import { MOVED, passageStyle } from './passages.js';

/** @typedef {import('./passages.js').Passages} Passages */

/** Passages that are listed. More would be a third text. */
const LISTED = 100;
/** Characters of a passage that are shown. */
const EXCERPT = 140;

/** @param {Passages} passages */
export function passageTable(passages) {
  const all = Array.from({ length: passages.count }, (_, passage) => passage);
  const longest = all.toSorted((a, b) => passages.get(b).tokens - passages.get(a).tokens).slice(0, LISTED);
  const leftOut = all.length - longest.length;
  const hasPlaces = all.some((passage) => passages.views.left.place(passage) || passages.views.right.place(passage));
  return h(
    'section',
    { class: 'passage-list' },
    h('h2', {}, 'Shared passages'),
    leftOut > 0 && h('p', { class: 'soft' }, `The ${LISTED} longest of ${count(all.length)}, in the order of the left text.`),
    h(
      'div',
      { class: 'table' },
      h(
        'table',
        { class: 'rows' },
        h('caption', { class: 'unseen' }, 'Shared passages'),
        h(
          'thead',
          {},
          h('tr', {}, ['No.', 'Beginning', 'Tokens', ...(hasPlaces ? ['Left', 'Right'] : [])].map((title) => h('th', { scope: 'col', class: title === 'Tokens' ? 'number' : null }, title))),
        ),
        h('tbody', {}, ...longest.sort((a, b) => a - b).map((passage) => row(passages, passage, hasPlaces))),
      ),
    ),
  );
}

/**
 * @param {Passages} passages
 * @param {number} index
 * @param {boolean} hasPlaces
 */
function row(passages, index, hasPlaces) {
  const passage = passages.get(index);
  const { left, right } = passages.views;
  const go = () => {
    document.querySelector('.compare')?.scrollIntoView({ block: 'start' });
    passages.go(index);
  };
  const place = (/** @type {typeof left} */ view, /** @type {string} */ title) => {
    const at = view.place(index);
    return h('td', { 'data-name': title, class: 'where' }, at ? placeName(at) : '–');
  };
  return h(
    'tr',
    {},
    h(
      'td',
      { 'data-name': 'No.' },
      h('button', { type: 'button', class: `chip ${passageStyle(passage, index)}`, 'aria-label': `Go to passage ${index + 1}`, click: go }, count(index + 1)),
      passage.moved && h('span', { class: 'soft moved-note' }, ` ${MOVED} moved`),
    ),
    h('td', { class: 'excerpt', 'data-name': 'Beginning' }, name(left.excerpt(index, EXCERPT))),
    h('td', { class: 'number', 'data-name': 'Tokens' }, count(passage.tokens)),
    hasPlaces && [place(left, 'Left'), place(right, 'Right')],
  );
}
