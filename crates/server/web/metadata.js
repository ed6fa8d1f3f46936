// The metadata of a document: any JSON, shown as lines that can be read.

import { h, name } from './dom.js';

/** @typedef {import('./types.js').Metadata} Metadata */

/** Fields that are shown in a list; a document's own page has all. */
const FEW = 4;

/** @param {unknown} value */
function words(value) {
  if (Array.isArray(value))
    return value.map((part) => (typeof part === 'object' ? JSON.stringify(part) : String(part))).join(', ');
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

/** @param {Metadata} metadata */
function entries(metadata) {
  return Object.entries(metadata).filter(([, value]) => value !== null && value !== '');
}

/**
 * The first fields, in one line.
 *
 * @param {Metadata} metadata
 */
export function metadataLine(metadata) {
  const few = entries(metadata).slice(0, FEW);
  if (few.length === 0) return null;
  return h(
    'ul',
    { class: 'fields' },
    few.map(([field, value]) => h('li', {}, h('span', { class: 'key' }, name(field)), ' ', name(words(value)))),
  );
}

/**
 * All fields.
 *
 * @param {Metadata} metadata
 */
export function metadataTerms(metadata) {
  return entries(metadata).map(([field, value]) =>
    h('div', {}, h('dt', {}, name(field)), h('dd', {}, name(words(value)))),
  );
}
