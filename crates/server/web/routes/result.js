// `/check`: the result of the last check.

import { checkedPairHref, resultHref } from '../addresses.js';
import { lastChecks, titleOf } from '../checks.js';
import { announce, h, name } from '../dom.js';
import { count, counted } from '../format.js';
import { unitOf } from '../language.js';
import { matchesView } from '../matches.js';
import { problemNotice } from '../problem.js';

/** @typedef {import('../checks.js').Checked} Checked */
/** @typedef {import('../router.js').Visit} Visit */

/** @param {Visit} visit */
export function result({ url }) {
  const checks = lastChecks();
  const at = Number(url.searchParams.get('checked') ?? 0);
  const checked = checks[at];
  const again = h('p', { class: 'back' }, h('a', { href: '/' }, '← Back to the check'));
  if (!checked) {
    return {
      title: 'Check',
      body: [
        h('h1', {}, 'No result'),
        h(
          'p',
          { class: 'lead' },
          'The page keeps a submission and its result until it is closed or loaded again. Check the document once more.',
        ),
        again,
      ],
    };
  }
  const title = titleOf(checked);
  return {
    title,
    body: [
      again,
      checks.length > 1 && list(checks, at),
      h('p', { class: 'over' }, 'Submission'),
      h('h1', {}, name(title)),
      ...found(checked, at),
    ],
    shown: () => announce(outcome(checked)),
  };
}

/** @param {Checked} checked */
function outcome(checked) {
  if ('problem' in checked) return checked.problem.title;
  const { matches, further } = checked.answer;
  if (matches.length === 0) return 'No match';
  const all = counted(matches.length + further, 'match', 'matches');
  return further > 0 ? `${count(matches.length)} of ${all}` : all;
}

/**
 * @param {Checked} checked
 * @param {number} at
 */
function found(checked, at) {
  if ('problem' in checked) return [problemNotice(checked.problem)];
  const { answer, options } = checked;
  const { characters, tokens, text } = answer.query;
  const unit = unitOf(answer.spec, text);
  return [
    h(
      'p',
      { class: 'lead' },
      `${outcome(checked)} in the archive. `,
      h(
        'span',
        { class: 'soft' },
        `The submission has ${unit === 'word' ? `${counted(tokens, 'word')}, ` : ''}${counted(characters, 'character')}.`,
      ),
    ),
    ...matchesView(
      answer,
      { self: 'the submission', other: 'the document' },
      { threshold: options.threshold ?? 0, containment: options.containment ?? 0 },
      (match) => checkedPairHref(at, match.id),
    ),
  ];
}

/**
 * @param {Checked[]} checks
 * @param {number} current
 */
function list(checks, current) {
  return h(
    'nav',
    { class: 'checked', 'aria-label': 'Checked documents' },
    h(
      'ol',
      {},
      checks.map((checked, at) =>
        h(
          'li',
          {},
          h(
            'a',
            { href: resultHref(at), 'aria-current': at === current ? 'true' : null },
            name(titleOf(checked)),
            ' ',
            h('span', { class: 'soft' }, 'problem' in checked ? 'not checked' : outcome(checked)),
          ),
        ),
      ),
    ),
  );
}
