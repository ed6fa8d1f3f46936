// The form of a check: a text, files and options. The form keeps its content while the page is open, so that a person
// can come back from a result and change something.

import { resultHref } from './addresses.js';
import { check, Problem } from './api.js';
import { checkOptions } from './check-options.js';
import { nameOf, rememberChecks } from './checks.js';
import { announce, h } from './dom.js';
import { FileChoice } from './file-choice.js';
import { bytes, count } from './format.js';
import { problemNotice, problemOf } from './problem.js';
import { go } from './router.js';

/** @typedef {import('./checks.js').Checked} Checked */
/** @typedef {import('./types.js').Options} Options */
/** @typedef {import('./types.js').ProblemBody} ProblemBody */

/** @type {ProblemBody} */
const NOTHING = {
  code: 'nothing',
  title: 'There is nothing to check yet',
  hint: 'Paste a text above, or choose a file.',
  status: 0,
};

export class CheckForm {
  #files = new FileChoice();
  #options = checkOptions();
  #text = h('textarea', { id: 'text', rows: 13, spellcheck: 'false', dir: 'auto', placeholder: 'Paste a text here' });
  #submit = h('button', { type: 'submit', class: 'primary' }, 'Check');
  #outcome = h('div');
  /** The signal of the current visit, which aborts when the visit ends. */
  #signal = new AbortController().signal;
  /** Maximum number of bytes of a request. */
  #mostBytes = Infinity;
  element = h(
    'form',
    { class: 'check' },
    h(
      'div',
      { class: 'submission' },
      h('div', {}, h('label', { for: 'text' }, 'Text'), this.#text),
      this.#files.element,
    ),
    this.#options.element,
    h('div', { class: 'buttons' }, this.#submit, h('button', { type: 'button', click: () => this.#clear() }, 'Clear')),
    this.#outcome,
  );

  constructor() {
    this.element.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#check();
    });
  }

  /**
   * Removes the last outcome, and takes files that are dropped on the page until `signal` aborts.
   *
   * @param {AbortSignal} signal
   * @param {number} mostBytes maximum number of bytes of a request
   */
  visit(signal, mostBytes) {
    this.#signal = signal;
    this.#mostBytes = mostBytes;
    this.#submit.disabled = false;
    this.#outcome.replaceChildren();
    this.#files.takeDropsOn(document, signal);
  }

  #clear() {
    this.element.reset();
    this.#files.clear();
    this.#outcome.replaceChildren();
    this.#text.focus();
  }

  async #check() {
    const signal = this.#signal;
    /** @type {(string | File)[]} */
    const submissions = [...this.#files.list];
    if (this.#text.value.trim() !== '') submissions.unshift(this.#text.value);
    if (submissions.length === 0) {
      this.#outcome.replaceChildren(problemNotice(NOTHING));
      this.#text.focus();
      return;
    }
    this.#submit.disabled = true;
    const progress = h('progress', { max: submissions.length, value: 0, 'aria-label': 'Checked' });
    this.#outcome.replaceChildren(progress);
    const limits = { signal, mostBytes: this.#mostBytes };
    const checks = await checkAll(submissions, this.#options.read(), limits, (done) => {
      progress.value = done;
    });
    if (signal.aborted) return;
    this.#submit.disabled = false;
    const [first] = checks;
    if (checks.length === 1 && 'problem' in first) {
      this.#outcome.replaceChildren(problemNotice(first.problem));
      return;
    }
    rememberChecks(checks);
    go(resultHref(0));
  }
}

/**
 * Checks the submissions one after the other. After a failure, the next submission is checked, unless the server does
 * not answer or rejects the token.
 *
 * @param {(string | File)[]} submissions
 * @param {Options} options
 * @param {{ signal: AbortSignal, mostBytes: number }} limits
 * @param {(done: number) => void} progress
 */
async function checkAll(submissions, options, { signal, mostBytes }, progress) {
  /** @type {Checked[]} */
  const checks = [];
  /** @type {ProblemBody | null} */
  let stopped = null;
  for (const submission of submissions) {
    const title = typeof submission === 'string' ? nameOf(submission) : submission.name;
    announce(`Checking ${title}, ${count(checks.length + 1)} of ${count(submissions.length)}`);
    try {
      if (stopped) throw new Problem(stopped);
      if (submission instanceof File && submission.size > mostBytes)
        throw new Problem(tooLarge(submission.size, mostBytes));
      checks.push({ name: title, answer: await check(submission, options, signal), options });
    } catch (error) {
      if (signal.aborted) break;
      const problem = problemOf(error);
      checks.push({ name: title, problem });
      // A server may close the connection in the middle of a file that it rejects, and the browser reports this as no
      // answer. So a file without an answer does not stop the checks of other submissions.
      const isGone = problem.status === 0 && typeof submission === 'string';
      if (isGone || [401, 403].includes(problem.status)) stopped = problem;
    }
    progress(checks.length);
  }
  return checks;
}

/**
 * @param {number} size
 * @param {number} limit
 * @returns {ProblemBody}
 */
function tooLarge(size, limit) {
  return {
    code: 'body_too_large',
    title: 'The file is too large',
    detail: `The file has ${bytes(size)}; the server accepts at most ${bytes(limit)}.`,
    hint: 'Save it without pictures, or as plain text.',
    status: 413,
  };
}
