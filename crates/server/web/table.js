// Tables of documents, matches and passages. On a narrow screen, a row becomes a few lines, so each cell has the name of its column.

import { h } from './dom.js';

/** @typedef {import('./dom.js').Child} Child */
/** @typedef {{ title: string, isNumber?: boolean, isLeading?: boolean }} Column */

/**
 * @param {string} caption for screen readers
 * @param {Column[]} columns
 * @param {HTMLTableRowElement[]} rows
 */
export function table(caption, columns, rows) {
  const heads = columns.map(({ title, isNumber }) =>
    h('th', { scope: 'col', class: isNumber ? 'number' : null }, title),
  );
  return h(
    'div',
    { class: 'table' },
    h(
      'table',
      {},
      h('caption', { class: 'unseen' }, caption),
      h('thead', {}, h('tr', {}, ...heads)),
      h('tbody', {}, ...rows),
    ),
  );
}

/**
 * @param {Column} column
 * @param {...Child} content
 */
export function cell({ title, isNumber, isLeading }, ...content) {
  const style = isLeading ? 'number leading' : isNumber ? 'number' : null;
  return h('td', { class: style, 'data-name': title }, ...content);
}

/**
 * Creates a cell with a bar below its number.
 *
 * @param {Column} column
 * @param {string} number
 * @param {number} share the length of the bar, from 0 to 1
 */
export function barCell(column, number, share) {
  const bar = h('div', { class: 'share' }, number);
  bar.style.setProperty('--share', String(share));
  return cell(column, bar);
}
