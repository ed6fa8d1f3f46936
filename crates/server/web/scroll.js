// Scrolls to a passage. Chunks of a text have estimated heights until they come into view, so the target can move while
// the pane scrolls.

/** @typedef {import('./text-view.js').TextView} TextView */

/** Share of the pane that stays above the passage. */
const ABOVE = 0.2;
/** Number of frames after which the chunks in view and their neighbours have their real heights. */
const FRAMES = 4;
/** Maximum distance from the target in pixels. */
const NEAR = 2;

/** Current scroll of each pane, which a newer scroll replaces. @type {WeakMap<Element, symbol>} */
const underWay = new WeakMap();

/**
 * Scrolls the pane of a text to the beginning of a passage.
 *
 * @param {TextView} view
 * @param {number} passage
 * @param {number} [top] target height in the window, if it is within the pane
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
