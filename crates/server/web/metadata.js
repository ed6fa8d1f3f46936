// Shows the metadata of a document, which may be any JSON, as lines for people.

import { description, h, name } from './dom.js';

/** @typedef {import('./types.js').Metadata} Metadata */

/** Maximum number of fields in a list. The page of a document shows all fields. */
const LISTED = 4;

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
 * Returns the first fields as one line.
 *
 * @param {Metadata} metadata
 */
export function metadataLine(metadata) {
  const few = entries(metadata).slice(0, LISTED);
  if (few.length === 0) return null;
  return h(
    'ul',
    { class: 'fields' },
    few.map(([field, value]) => h('li', {}, h('span', { class: 'key' }, name(field)), ' ', name(words(value)))),
  );
}

/**
 * Returns all fields as terms of a description list.
 *
 * @param {Metadata} metadata
 */
export function metadataTerms(metadata) {
  return entries(metadata).map(([field, value]) => description(name(field), name(words(value))));
}
