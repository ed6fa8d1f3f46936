// What shares text with a document: a histogram with its threshold, and below it the matches that reach it.

import { documentHref } from './addresses.js';
import { announce, h, name } from './dom.js';
import { count, counted, share } from './format.js';
import { barsOf, histogram } from './histogram.js';
import { metadataLine } from './metadata.js';

/** @typedef {import('./types.js').Answer} Answer */
/** @typedef {import('./types.js').Match} Match */
/** @typedef {{ name: string, of: (match: Match) => number }} Measure */

/** Milliseconds without a change after which a threshold is announced: a slider that is dragged says nothing. */
const QUIET_MS = 600;

/**
 * @param {Answer} answer
 * @param {{ self: string, other: string }} called what the document and one of the others are called
 * @param {(match: Match) => string} pairHref
 */
export function matchesView(answer, { self, other }, pairHref) {
  const { matches } = answer;
  if (matches.length === 0) return [h('p', { class: 'empty' }, `Nothing in the archive shares enough text with ${self}.`), facts(answer)];
  /** @type {Measure[]} */
  const measures = [
    { name: 'Similarity', of: (match) => match.similarity },
    { name: `Share of ${self}`, of: (match) => match.containment_of_query },
    { name: `Share of ${other}`, of: (match) => match.containment_of_document },
  ];
  if (matches.some((match) => match.weighted !== null)) measures.push({ name: 'Weighted', of: (match) => match.weighted ?? 0 });

  const rows = matches.map((match) => row(match, measures, pairHref(match)));
  const chart = h('div', { class: 'chart' });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let quiet;
  const chartOf = (/** @type {Measure} */ measure) => {
    const values = matches.map(measure.of);
    let isFirst = true;
    return histogram(barsOf(values), `Matches by ${measure.name.toLowerCase()}`, {
      label: `Least ${measure.name.toLowerCase()}`,
      value: 0,
      step: 0.01,
      counts: (threshold) => {
        const reach = values.filter((value) => value >= threshold).length;
        return { reach, noun: reach === 1 ? 'match' : 'matches' };
      },
      changed: (threshold) => {
        rows.forEach((node, at) => node.toggleAttribute('hidden', values[at] < threshold));
        clearTimeout(quiet);
        if (!isFirst) quiet = setTimeout(() => announce(counted(values.filter((value) => value >= threshold).length, 'match', 'matches')), QUIET_MS);
        isFirst = false;
      },
    });
  };
  const select = h('select', { id: 'measure' }, ...measures.map((measure, at) => h('option', { value: at }, measure.name)));
  select.addEventListener('change', () => chart.replaceChildren(chartOf(measures[Number(select.value)])));
  chart.append(chartOf(measures[0]));

  return [
    h('section', { class: 'panel', 'aria-label': 'Threshold' }, h('div', { class: 'choice' }, h('label', { for: 'measure' }, 'Threshold on'), select), chart),
    h(
      'div',
      { class: 'table' },
      h(
        'table',
        { class: 'rows matches' },
        h('caption', { class: 'unseen' }, `Documents that share text with ${self}`),
        h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Document'), measures.map((measure) => h('th', { scope: 'col', class: 'number' }, measure.name)), h('th', { scope: 'col', class: 'number' }, 'Longest passage'))),
        h('tbody', {}, ...rows),
      ),
    ),
    facts(answer),
  ];
}

/**
 * @param {Match} match
 * @param {Measure[]} measures
 * @param {string} href of the pair
 */
function row(match, measures, href) {
  return h(
    'tr',
    {},
    h(
      'th',
      { scope: 'row' },
      h('a', { href, class: 'title' }, name(match.title || match.id)),
      h('div', { class: 'soft' }, h('a', { href: documentHref(match.id), class: 'id', 'aria-label': `Document ${match.id} in the archive` }, name(match.id))),
      metadataLine(match.metadata),
    ),
    measures.map((measure) => shareCell(measure.name, measure.of(match))),
    h(
      'td',
      { class: 'number', 'data-name': 'Longest passage' },
      counted(match.longest_passage, 'token'),
      h('div', { class: 'soft' }, `${counted(match.passages.length, 'passage')}, ${count(match.shared_tokens)} in all`),
    ),
  );
}

/**
 * A cell with a similarity or containment, and a bar of its length.
 *
 * @param {string} label
 * @param {number} value
 */
export function shareCell(label, value) {
  const cell = h('td', { class: 'number share', 'data-name': label }, share(value));
  cell.style.setProperty('--share', String(value));
  return cell;
}

/** How the answer was found. @param {Answer} answer */
function facts({ candidates, not_looked_at, elapsed_ms, spec }) {
  return h(
    'p',
    { class: 'soft facts' },
    `${counted(candidates, 'candidate')} compared exactly in ${count(Math.round(elapsed_ms))}\u00a0ms. `,
    not_looked_at > 0 && `${counted(not_looked_at, 'candidate')} beyond the limit not looked at. `,
    h('code', {}, spec),
  );
}
