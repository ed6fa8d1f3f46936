// What shares text with a document: a histogram with its threshold, and below it the matches that reach it.

import { documentHref } from './addresses.js';
import { h, name } from './dom.js';
import { count, counted, passagesIn, percent, share } from './format.js';
import { barsOf, histogram } from './histogram.js';
import { metadataLine } from './metadata.js';
import { barCell, cell, table } from './table.js';

/** @typedef {import('./types.js').Answer} Answer */
/** @typedef {import('./types.js').Match} Match */
/** @typedef {{ title: string, isNumber: true, of: (match: Match) => number }} Measure a column that has a threshold */

const LONGEST = { title: 'Longest passage', isNumber: true };

/**
 * @param {Answer} answer
 * @param {{ self: string, other: string }} called what the document and one of the others are called
 * @param {(match: Match) => string} pairHref
 */
export function matchesView(answer, { self, other }, pairHref) {
  const { matches } = answer;
  if (matches.length === 0) {
    return [h('p', { class: 'empty' }, `Nothing in the archive shares enough text with ${self}.`), facts(answer)];
  }
  const measures = measuresOf(matches, self, other);
  const rows = matches.map((match) => row(match, measures, pairHref(match)));
  return [
    thresholdPanel(matches, measures, rows),
    table(`Documents that share text with ${self}`, [{ title: 'Document' }, ...measures, LONGEST], rows),
    facts(answer),
  ];
}

/**
 * @param {Match[]} matches
 * @param {string} self
 * @param {string} other
 * @returns {Measure[]}
 */
function measuresOf(matches, self, other) {
  /** @type {Measure[]} */
  const measures = [
    { title: 'Similarity', isNumber: true, of: (match) => match.similarity },
    { title: `Share of ${self}`, isNumber: true, of: (match) => match.containment_of_query },
    { title: `Share of ${other}`, isNumber: true, of: (match) => match.containment_of_document },
  ];
  if (matches.some((match) => match.weighted !== null)) {
    measures.push({ title: 'Weighted similarity', isNumber: true, of: (match) => match.weighted ?? 0 });
  }
  return measures;
}

/**
 * A threshold on one of the measures, which hides the rows below it.
 *
 * @param {Match[]} matches
 * @param {Measure[]} measures
 * @param {HTMLElement[]} rows of the matches
 */
function thresholdPanel(matches, measures, rows) {
  const chartOf = (/** @type {Measure} */ { title, of }) => {
    const values = matches.map(of);
    return histogram(barsOf(values), `Matches by ${title.toLowerCase()}`, {
      label: `Least ${title.toLowerCase()}`,
      value: 0,
      step: 0.01,
      counts: (threshold) => {
        const reach = values.filter((value) => value >= threshold).length;
        return { reach, noun: reach === 1 ? 'match' : 'matches' };
      },
      changed: (threshold) => rows.forEach((node, at) => node.toggleAttribute('hidden', values[at] < threshold)),
    });
  };
  const options = measures.map(({ title }, at) => h('option', { value: at }, title));
  const select = h('select', { id: 'measure' }, ...options);
  const chart = h('div', { class: 'chart' }, chartOf(measures[0]));
  select.addEventListener('change', () => chart.replaceChildren(chartOf(measures[Number(select.value)])));
  return h(
    'section',
    { class: 'panel', 'aria-label': 'Threshold' },
    h('div', { class: 'choice' }, h('label', { for: 'measure' }, 'Threshold on'), select),
    chart,
  );
}

/**
 * @param {Match} match
 * @param {Measure[]} measures
 * @param {string} href of the pair
 */
function row(match, measures, href) {
  const document = { href: documentHref(match.id), class: 'id', 'aria-label': `Document ${match.id} in the archive` };
  return h(
    'tr',
    {},
    h(
      'th',
      { scope: 'row' },
      h('a', { href, class: 'title' }, name(match.title || match.id)),
      h('div', {}, h('a', document, name(match.id))),
      metadataLine(match.metadata),
    ),
    measures.map((measure) => barCell(measure, share(measure.of(match)), measure.of(match))),
    cell(
      LONGEST,
      counted(match.longest_passage, 'token'),
      h(
        'div',
        { class: 'soft' },
        `${passagesIn(match.passages.length, match.further_passages)}, ${count(match.shared_tokens)} in all`,
      ),
    ),
  );
}

/** How the answer was found. @param {Answer} answer */
function facts({ matches, further, compared, not_compared, passed_over, recall_at_threshold, elapsed_ms, spec }) {
  return h(
    'p',
    { class: 'soft facts' },
    further > 0 && `The best ${count(matches.length)} of ${counted(matches.length + further, 'match', 'matches')}. `,
    `${counted(compared, 'candidate')} compared exactly in ${count(Math.round(elapsed_ms))}\u00a0ms. `,
    not_compared > 0 && `${counted(not_compared, 'candidate')} beyond the limit not compared. `,
    passed_over > 0 && `${counted(passed_over, 'fingerprint')} of passages that very many documents have passed over. `,
    `A document exactly at the threshold of similarity is a candidate with a probability of ${percent(recall_at_threshold)} or more. `,
    h('code', {}, spec),
  );
}
