// The router shows the view of an address. The old view stays until the new view is ready, as when a browser loads a
// document.

import { Problem } from './api.js';
import { announce, h, shell } from './dom.js';
import { problemView } from './problem.js';

/** @typedef {import('./dom.js').Child} Child */
/**
 * @typedef {object} Visit
 * @property {URL} url
 * @property {string[]} parts the groups that the path matched, decoded
 * @property {AbortSignal} signal aborts when the visit ends
 */
/**
 * @typedef {object} View
 * @property {string} title of the tab and of history
 * @property {Child[]} body with one h1
 * @property {boolean} [wide] whether the view takes the whole width of the window
 * @property {() => void} [shown] called once the body is in the page
 */
/** @typedef {{ path: RegExp, nav?: string, view: (visit: Visit) => View | Promise<View> }} Route */

/** @type {Route[]} */
let routes = [];
let visit = new AbortController();
/** Address that is shown, without the part from `#` on. */
let shown = '';

/** @param {Route[]} list */
export function start(list) {
  routes = list;
  // The browser would restore the scroll position before the content is drawn, so `show` restores it.
  history.scrollRestoration = 'manual';
  window.addEventListener('popstate', () => {
    // A step of the history within a view, such as the link to its content, needs no new view.
    if (address() !== shown) show('back');
  });
  document.addEventListener('click', follow);
  show('first');
}

/**
 * Goes to an address of this page.
 *
 * @param {string} href
 */
export function go(href) {
  rememberScroll();
  history.pushState(null, '', href);
  return show('forward');
}

/**
 * Changes the address without a visit, for content that is shown already.
 *
 * @param {string} href
 */
export function rename(href) {
  history.replaceState(history.state, '', href);
  shown = address();
}

function address() {
  return location.pathname + location.search;
}

function rememberScroll() {
  history.replaceState({ scroll: window.scrollY }, '');
}

/** Goes to the address of a link of this page, unless the click asks for a new tab or a download. @param {MouseEvent} event */
function follow(event) {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || event.defaultPrevented || link.target || link.hasAttribute('download')) return;
  const url = new URL(link.href);
  const isAnchor = link.getAttribute('href')?.startsWith('#');
  if (url.origin !== location.origin || isAnchor || !routes.some((route) => route.path.test(url.pathname))) return;
  event.preventDefault();
  go(url.href);
}

/** @param {'first' | 'forward' | 'back'} way */
async function show(way) {
  shown = address();
  visit.abort();
  visit = new AbortController();
  const { signal } = visit;
  const main = shell('main');
  main.setAttribute('aria-busy', 'true');
  const view = await viewOfAddress(signal);
  if (signal.aborted) return;
  main.removeAttribute('aria-busy');
  main.classList.toggle('wide', view.wide ?? false);
  main.replaceChildren(h('div', { class: 'view' }, ...view.body));
  document.title = `${view.title} · Minwise`;
  window.scrollTo(0, way === 'back' ? (history.state?.scroll ?? 0) : 0);
  if (way !== 'first') focusHeading(main);
  view.shown?.();
}

/**
 * @param {AbortSignal} signal
 * @returns {Promise<View>}
 */
async function viewOfAddress(signal) {
  const url = new URL(location.href);
  const route = routes.find(({ path }) => path.test(url.pathname));
  for (const link of document.querySelectorAll('nav[aria-label=Main] a')) {
    const isCurrent = route?.nav === link.getAttribute('href');
    if (isCurrent) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  try {
    if (!route) throw new Problem({ code: 'no_such_address', title: 'There is no page at this address', status: 404 });
    const parts = (route.path.exec(url.pathname) ?? []).slice(1).map(decodeURIComponent);
    return await route.view({ url, parts, signal });
  } catch (error) {
    if (!signal.aborted) announce(`Error: ${error instanceof Error ? error.message : error}`);
    return problemView(error);
  }
}

/** Focuses the heading, so that screen readers read it next and Tab continues from it. @param {HTMLElement} main */
function focusHeading(main) {
  const heading = main.querySelector('h1');
  heading?.setAttribute('tabindex', '-1');
  heading?.focus({ preventScroll: true });
}
