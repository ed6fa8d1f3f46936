// `/document/{id}`: a document, with the documents that are similar to it.

import { pairHref } from '../addresses.js';
import { similar, wholeDocument } from '../api.js';
import { description, h, name } from '../dom.js';
import { count, day } from '../format.js';
import { matchesView } from '../matches.js';
import { metadataTerms } from '../metadata.js';
import { problemNotice, problemOf } from '../problem.js';
import { TextView } from '../text-view.js';

/** @typedef {import('../router.js').Visit} Visit */

/** Default thresholds of a check. */
const THRESHOLDS = { threshold: 0.5, containment: 0.3 };

/** @param {Visit} visit */
export async function documentPage({ parts: [id], signal }) {
  // The server rejects a check of a text over its limit. The other parts of the page are shown anyway.
  const matches = similar(id, THRESHOLDS, signal).catch(problemOf);
  const [document, answer] = await Promise.all([wholeDocument(id, signal), matches]);
  const text = document.text === null ? null : new TextView(document.text, document.marks);
  return {
    title: document.title || id,
    body: [
      h('p', { class: 'over' }, 'Document'),
      h('h1', {}, name(document.title || id)),
      h(
        'dl',
        { class: 'terms' },
        document.title && description('Id', name(id)),
        description('Added', h('time', { datetime: document.added }, day(document.added))),
        description('Characters', count(document.characters)),
        metadataTerms(document.metadata),
      ),
      h(
        'section',
        {},
        h('h2', {}, 'Similar documents'),
        ...('matches' in answer
          ? matchesView(answer, { self: 'this document', other: 'the other' }, THRESHOLDS, (match) =>
              pairHref(id, match.id),
            )
          : [problemNotice(answer)]),
      ),
      h(
        'section',
        {},
        h('h2', {}, 'Text'),
        text
          ? h('div', { class: 'sheet' }, text.element)
          : h('p', { class: 'notice' }, 'The archive keeps no text of its documents.'),
      ),
    ],
    shown: () => text?.draw(signal),
  };
}
