// `/`: a text or files to check against the archive.

import { check as ask, health, Problem } from '../api.js';
import { nameOf, rememberChecks } from '../checks.js';
import { resultHref } from '../addresses.js';
import { announce, h } from '../dom.js';
import { FileChoice } from '../file-choice.js';
import { count, counted } from '../format.js';
import { checkOptions } from '../check-options.js';
import { problemNotice, problemOf } from '../problem.js';
import { go } from '../router.js';

/** @typedef {import('../checks.js').Checked} Checked */
/** @typedef {import('../router.js').Visit} Visit */

/** @param {Visit} visit */
export async function check({ signal }) {
  const { documents } = await health(signal);
  const files = new FileChoice();
  const options = checkOptions();
  const text = h('textarea', {
    id: 'text',
    rows: 13,
    spellcheck: 'false',
    dir: 'auto',
    placeholder: 'Paste a text here',
  });
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
      outcome.append(
        problemNotice({
          code: 'nothing',
          title: 'There is nothing to check yet',
          hint: 'Paste a text above, or choose a file.',
          status: 0,
        }),
      );
      text.focus();
      return;
    }
    submit.disabled = true;
    const progress = h('progress', { max: submissions.length, value: 0, 'aria-label': 'Checked' });
    outcome.append(progress);
    const checks = await checkAll(submissions, options.read(), signal, (done) => {
      progress.value = done;
    });
    if (signal.aborted) return;
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
      h(
        'p',
        { class: 'lead' },
        `Whether something like it is among the ${counted(documents, 'document')} of the archive, and which passages they share.`,
      ),
      form,
    ],
  };
}

/**
 * Checks one submission after the other. What stops one need not stop the next, but without a server or a token there
 * is no next.
 *
 * @param {(string | File)[]} submissions
 * @param {import('../types.js').Options} options
 * @param {AbortSignal} signal
 * @param {(done: number) => void} progress
 */
async function checkAll(submissions, options, signal, progress) {
  /** @type {Checked[]} */
  const checks = [];
  /** @type {import('../types.js').ProblemBody | null} */
  let stopped = null;
  for (const submission of submissions) {
    const called = typeof submission === 'string' ? nameOf(submission) : submission.name;
    announce(`Checking ${called}, ${count(checks.length + 1)} of ${count(submissions.length)}`);
    try {
      if (stopped) throw new Problem(stopped);
      checks.push({ name: called, answer: await ask(submission, options, signal) });
    } catch (error) {
      const problem = problemOf(error);
      checks.push({ name: called, problem });
      if ([0, 401, 403].includes(problem.status)) stopped = problem;
    }
    progress(checks.length);
  }
  return checks;
}
