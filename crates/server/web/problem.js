// Shows problems as nodes of the page.

import { Problem } from './api.js';
import { h, name } from './dom.js';

/** @typedef {import('./types.js').ProblemBody} ProblemBody */

/**
 * @param {unknown} error
 * @returns {ProblemBody}
 */
export function problemOf(error) {
  if (error instanceof Problem) return error.body;
  return { code: 'page', title: error instanceof Error ? error.message : String(error), status: 0 };
}

/**
 * Shows a problem as a part of a page.
 *
 * @param {ProblemBody} problem
 */
export function problemNotice(problem) {
  return h(
    'div',
    { class: 'notice bad', role: 'alert' },
    h('p', {}, h('strong', {}, name(problem.title))),
    problem.detail && h('p', {}, name(problem.detail)),
    problem.hint && h('p', {}, name(problem.hint)),
  );
}

/**
 * Shows a problem as a whole page.
 *
 * @param {unknown} error
 */
export function problemView(error) {
  const problem = problemOf(error);
  const heading = problem.status === 404 ? 'Not found' : 'This page cannot be shown';
  return {
    title: heading,
    body: [
      h('h1', {}, heading),
      problemNotice(problem),
      h(
        'p',
        {},
        h('a', { href: '/' }, 'Check a document'),
        ' or ',
        h('a', { href: '/archive' }, 'look through the archive'),
        '.',
      ),
    ],
  };
}
