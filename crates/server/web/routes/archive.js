// `/archive`: the list of documents, with a search.

import { archiveHref, documentHref } from '../addresses.js';
import { documents } from '../api.js';
import { announce, h, shortName } from '../dom.js';
import { count, counted, day } from '../format.js';
import { metadataLine } from '../metadata.js';
import { problemNotice, problemOf } from '../problem.js';
import { rename } from '../router.js';
import { cell, table } from '../table.js';

/** @typedef {import('../router.js').Visit} Visit */
/** @typedef {import('../types.js').Listed} Listed */
/** @typedef {import('../types.js').Listing} Listing */

/** Maximum number of documents per page. */
const LIMIT = 50;
/** Pause between the last key and the search, in milliseconds. */
const PAUSE_MS = 250;

const CHARACTERS = { title: 'Characters', isNumber: true };
const ADDED = { title: 'Added', isNumber: true };

/** @param {Visit} visit */
export async function archive({ url, signal }) {
  const input = h('input', {
    type: 'search',
    id: 'search',
    value: url.searchParams.get('search') ?? '',
    autocomplete: 'off',
    placeholder: 'Title, id or any field',
  });
  const after = url.searchParams.get('after');
  const list = h('div', {}, ...listing(await find(input.value, after, signal), input.value, after));

  let latest = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let pause;
  const search = async () => {
    clearTimeout(pause);
    // A newer search replaces this search. The server stops a search when its request is aborted.
    latest.abort();
    latest = new AbortController();
    const mine = AbortSignal.any([latest.signal, signal]);
    const wanted = input.value;
    try {
      const found = await find(wanted, null, mine);
      if (mine.aborted) return;
      list.replaceChildren(...listing(found, wanted, null));
      rename(archiveHref({ search: wanted }));
      announce(
        found.next === null
          ? counted(found.documents.length, 'document')
          : `More than ${counted(found.documents.length, 'document')}`,
      );
    } catch (error) {
      if (!mine.aborted) list.replaceChildren(problemNotice(problemOf(error)));
    }
  };
  input.addEventListener('input', () => {
    clearTimeout(pause);
    pause = setTimeout(search, PAUSE_MS);
  });
  const form = h('form', { role: 'search', class: 'search' }, h('label', { for: 'search' }, 'Search'), input);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    search();
  });
  return { title: 'Archive', body: [h('h1', {}, 'Archive'), form, list] };
}

/**
 * Finds a page of the documents that match a search. In a large archive, the server reads only a part of the archive
 * per request and may return an empty page, so `find` continues until a page has documents.
 *
 * @param {string} search
 * @param {string | null} after
 * @param {AbortSignal} signal
 */
async function find(search, after, signal) {
  let found = await documents({ search, after, limit: LIMIT }, signal);
  while (found.documents.length === 0 && found.next !== null)
    found = await documents({ search, after: found.next, limit: LIMIT }, signal);
  return found;
}

/**
 * @param {Listing} found
 * @param {string} search
 * @param {string | null} after
 */
function listing({ documents: list, next }, search, after) {
  if (list.length === 0) {
    const none =
      'The archive has no documents yet. To add some, stop the server and run `minwise index add`, or send them to `POST /api/v1/documents`.';
    const nothing = 'No document has this text in its title, its id or one of its fields.';
    return [h('p', { class: 'empty' }, search === '' ? none : nothing)];
  }
  const columns = [{ title: 'Document' }, CHARACTERS, ADDED];
  return [
    table('Documents of the archive', columns, list.map(row)),
    h(
      'nav',
      { class: 'paging', 'aria-label': 'Pages', hidden: after === null && next === null },
      after !== null && h('a', { href: archiveHref({ search }), class: 'button' }, 'First page'),
      next !== null && h('a', { href: archiveHref({ search, after: next }), class: 'button' }, 'Next page'),
    ),
  ];
}

/** @param {Listed} document */
function row({ id, title, metadata, characters, added }) {
  return h(
    'tr',
    {},
    h(
      'th',
      { scope: 'row' },
      h('a', { href: documentHref(id), class: 'title' }, shortName(title || id)),
      title && h('div', { class: 'id' }, shortName(id)),
      metadataLine(metadata),
    ),
    cell(CHARACTERS, count(characters)),
    cell(ADDED, h('time', { datetime: added }, day(added))),
  );
}
