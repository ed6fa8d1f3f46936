// Calls of the server's API. Each call returns the answer or throws a Problem.

import { askForToken, token } from './token.js';

/** @typedef {import('./types.js').Answer} Answer */
/** @typedef {import('./types.js').Clusters} Clusters */
/** @typedef {import('./types.js').Listing} Listing */
/** @typedef {import('./types.js').Options} Options */
/** @typedef {import('./types.js').Pair} Pair */
/** @typedef {import('./types.js').ProblemBody} ProblemBody */
/** @typedef {import('./types.js').Stats} Stats */
/** @typedef {import('./types.js').Whole} Whole */

/** The reason why a call failed, in words for people. */
export class Problem extends Error {
  /** @param {ProblemBody} body */
  constructor(body) {
    super(body.title);
    this.body = body;
  }
}

/**
 * @param {string} path below /api/v1/
 * @param {{ method?: string, body?: string | FormData, signal?: AbortSignal }} [request]
 * @returns {Promise<any>}
 */
async function call(path, { method = 'GET', body, signal } = {}) {
  /** @type {Record<string, string>} */
  const headers = { Accept: 'application/json' };
  if (typeof body === 'string') headers['Content-Type'] = 'application/json';
  for (;;) {
    const used = token();
    if (used) headers.Authorization = `Bearer ${used}`;
    const response = await fetch(`/api/v1/${path}`, { method, body, headers, signal }).catch((error) => {
      throw signal?.aborted ? error : new Problem(unreachable(error));
    });
    if (response.ok) return response.json();
    const problem = new Problem(await problemBody(response));
    if (response.status !== 401) throw problem;
    await askForToken(used, problem);
  }
}

/**
 * @param {Error} error
 * @returns {ProblemBody}
 */
function unreachable(error) {
  return {
    code: 'unreachable',
    title: 'The server does not answer',
    detail: error.message,
    hint: 'Check that `minwise serve` is still running, then try again.',
    status: 0,
  };
}

/**
 * @param {Response} response
 * @returns {Promise<ProblemBody>}
 */
async function problemBody(response) {
  if (response.headers.get('Content-Type')?.startsWith('application/problem+json')) return response.json();
  // A proxy between the page and the server may answer in another form.
  return {
    code: 'http',
    title: `The server answered ${response.status} ${response.statusText}`.trim(),
    status: response.status,
  };
}

/** @param {Record<string, string | number | null | undefined>} parameters */
function query(parameters) {
  const set = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const search = new URLSearchParams(set.map(([name, value]) => [name, String(value)]));
  return set.length > 0 ? `?${search}` : '';
}

/** @param {string} id */
const segment = (id) => encodeURIComponent(id);

/**
 * @param {AbortSignal} [signal]
 * @returns {Promise<{ status: string, documents: number, body_bytes: number, version: string }>}
 */
export function health(signal) {
  return call('health', { signal });
}

/**
 * @param {AbortSignal} [signal]
 * @returns {Promise<Stats>}
 */
export function stats(signal) {
  return call('stats', { signal });
}

/**
 * @param {{ search?: string | null, after?: string | null, limit?: number }} page
 * @param {AbortSignal} [signal]
 * @returns {Promise<Listing>}
 */
export function documents(page, signal) {
  return call(`documents${query(page)}`, { signal });
}

/**
 * @param {string} id
 * @param {AbortSignal} [signal]
 * @returns {Promise<Whole>}
 */
export function wholeDocument(id, signal) {
  return call(`documents/${segment(id)}`, { signal });
}

/**
 * @param {string} id
 * @param {{ threshold: number, containment: number }} thresholds
 * @param {AbortSignal} [signal]
 * @returns {Promise<Answer>}
 */
export function similar(id, thresholds, signal) {
  return call(`documents/${segment(id)}/similar${query(thresholds)}`, { signal });
}

/**
 * @param {string | File} submission
 * @param {Options} options
 * @param {AbortSignal} [signal]
 * @returns {Promise<Answer>}
 */
export function check(submission, options, signal) {
  if (typeof submission === 'string') {
    return call('check', {
      method: 'POST',
      body: JSON.stringify({ text: submission.toWellFormed(), ...options }),
      signal,
    });
  }
  const body = new FormData();
  body.append('file', submission);
  body.append('options', JSON.stringify(options));
  return call('check', { method: 'POST', body, signal });
}

/**
 * Compares two documents. The answer has all shared passages.
 *
 * @param {{ id: string } | { text: string }} left
 * @param {string} right an id
 * @param {Options} options of the check that found this match
 * @param {AbortSignal} [signal]
 * @returns {Promise<Pair>}
 */
export function pair(left, right, options, signal) {
  return call('pair', { method: 'POST', body: JSON.stringify({ left, right: { id: right }, options }), signal });
}

/**
 * Starts a job that finds clusters.
 *
 * @param {number} threshold
 * @returns {Promise<{ job: string }>}
 */
export function clusters(threshold) {
  return call('clusters', { method: 'POST', body: JSON.stringify({ threshold }) });
}

/**
 * @template Result
 * @param {string} id
 * @param {AbortSignal} [signal]
 * @returns {Promise<import('./types.js').Job<Result>>}
 */
export function job(id, signal) {
  return call(`jobs/${segment(id)}`, { signal });
}
