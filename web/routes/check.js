// `/`: a text or files to check against the archive.

import { check as ask, Problem } from '../api.js';
import { nameOf, rememberChecks } from '../checks.js';
import { resultHref } from '../addresses.js';
import { announce, h } from '../dom.js';
import { FileChoice } from '../file-choice.js';
import { count } from '../format.js';
import { checkOptions } from '../check-options.js';
import { problemNotice, problemOf } from '../problem.js';
import { go } from '../router.js';

/** @typedef {import('../checks.js').Checked} Checked */
/** @typedef {import('../router.js').Visit} Visit */

/** @param {Visit} visit */
export function check({ signal }) {
  const files = new FileChoice();
  const options = checkOptions();
  const text = h('textarea', { id: 'text', rows: 13, spellcheck: 'false', dir: 'auto', placeholder: 'Paste a text here' });
  const submit = h('button', { type: 'submit', class: 'primary' }, 'Check');
  const outcome = h('div');

  const form = h(
    'form',
    { class: 'check' },
    h(
      'div',
      { class: 'submission' },
      h('div', { class: 'pasted' }, h('label', { for: 'text' }, 'Text'), text),
      files.element,
    ),
    options.element,
    h('div', { class: 'buttons' }, submit),
    outcome,
  );
  files.takeDropsOn(document, signal);

  const run = async () => {
    outcome.replaceChildren();
    /** @type {(string | File)[]} */
    const submissions = [...files.list];
    if (text.value.trim() !== '') submissions.unshift(text.value);
    if (submissions.length === 0) {
      outcome.append(problemNotice({ code: 'nothing', title: 'There is nothing to check yet', hint: 'Paste a text above, or choose a file.', status: 0 }));
      text.focus();
      return;
    }
    submit.disabled = true;
    const progress = h('progress', { max: submissions.length, value: 0, 'aria-label': 'Checked' });
    outcome.append(progress);
    /** @type {Checked[]} */
    const checks = [];
    for (const submission of submissions) {
      const called = typeof submission === 'string' ? nameOf(submission) : submission.name;
      announce(`Checking ${called}, ${count(checks.length + 1)} of ${count(submissions.length)}`);
      try {
        checks.push({ name: called, answer: await ask(submission, options.read(), signal) });
      } catch (error) {
        if (signal.aborted) return;
        checks.push({ name: called, problem: problemOf(error) });
        // What stops one file need not stop the next; without a server or a token there is no next.
        if (!(error instanceof Problem) || [0, 401, 403].includes(error.body.status)) break;
      }
      progress.value = checks.length;
    }
    submit.disabled = false;
    progress.remove();
    const [first] = checks;
    if (checks.length === 1 && 'problem' in first) {
      outcome.append(problemNotice(first.problem));
      return;
    }
    rememberChecks(checks);
    go(resultHref(0));
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    run();
  });
  return {
    title: 'Check',
    body: [
      h('h1', {}, 'Check a document'),
      h('p', { class: 'lead' }, 'Whether something like it is in the archive already, and which passages they share.'),
      form,
    ],
  };
}
