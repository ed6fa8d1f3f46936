// Scrolling to a passage in a text whose chunks have estimated heights until they come into view.

/** @typedef {import('./text-view.js').TextView} TextView */

/** Where a passage comes to stand: this share of the pane above it. */
const ABOVE = 0.2;
/** Frames after which heights have settled: the chunks that came into view, and those next to them. */
const FRAMES = 4;
/** Places nearer than this to where they should be are right, in pixels. */
const NEAR = 2;

/** The scroll that is under way in each pane: a newer one takes its place. @type {WeakMap<Element, symbol>} */
const underWay = new WeakMap();

/**
 * Scrolls the pane of a text so that the beginning of a passage is seen.
 *
 * @param {TextView} view
 * @param {number} passage
 * @param {number} [top] where in the window it is to stand, if that is within the pane
 */
export function scrollTo(view, passage, top) {
  const pane = view.element.closest('.pane');
  const anchor = view.anchors.get(passage);
  if (!pane || !anchor) return;
  const mine = Symbol('scroll');
  underWay.set(pane, mine);
  const bounds = pane.getBoundingClientRect();
  const isInside = top !== undefined && top >= bounds.top && top < bounds.bottom - 40;
  const wanted = isInside ? top - bounds.top : bounds.height * ABOVE;
  const settle = (/** @type {number} */ frames) => {
    if (underWay.get(pane) !== mine) return;
    const off = anchor.getBoundingClientRect().top - pane.getBoundingClientRect().top - wanted;
    if (Math.abs(off) > NEAR) pane.scrollTop += off;
    if (frames > 0) requestAnimationFrame(() => settle(frames - 1));
  };
  settle(FRAMES);
}
