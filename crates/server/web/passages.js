// The passages of a pair in both texts, with colours and links, and the current passage.

import { announce, h } from './dom.js';
import { count, counted, placeName } from './format.js';
import { scrollTo } from './scroll.js';
import { TextView } from './text-view.js';

/** @typedef {import('./types.js').Passage} Passage */
/** @typedef {import('./types.js').Side} Side */
/** @typedef {'left' | 'right'} SideName */

/**
 * Number of colours, which passages take in turn, so that neighbours differ. style/colours.css defines these colours.
 */
const HUES = 5;

/** Symbol in the sign of a moved passage. */
export const MOVED = '⇅';

/**
 * Returns the classes that give a passage its colour.
 *
 * @param {Passage} passage
 * @param {number} index
 */
export function passageStyle(passage, index) {
  return `hue-${index % HUES}${passage.moved ? ' moved' : ''}`;
}

export class Passages extends EventTarget {
  /** Index of the current passage. */
  current = 0;
  /** @type {{ left: TextView, right: TextView }} */
  views;
  #passages;

  /**
   * @param {Side & { text: string }} left
   * @param {Side & { text: string }} right
   * @param {Passage[]} passages
   * @param {'word' | 'character' | 'term'} unit of the lengths of passages
   */
  constructor(left, right, passages, unit) {
    super();
    this.#passages = passages;
    this.unit = unit;
    const view = (/** @type {Side & { text: string }} */ side, /** @type {SideName} */ name) =>
      new TextView(
        side.text,
        side.marks,
        passages.map((passage) => passage[name]),
        {
          style: (passage) => passageStyle(passages[passage], passage) + (passage === this.current ? ' current' : ''),
          sign: (passage) => this.#sign(passage, name),
        },
      );
    this.views = { left: view(left, 'left'), right: view(right, 'right') };
    for (const [name, { element }] of Object.entries(this.views)) {
      element.addEventListener('click', (event) => this.#click(event, /** @type {SideName} */ (name)));
    }
  }

  get count() {
    return this.#passages.length;
  }

  /** @param {number} passage */
  get(passage) {
    return this.#passages[passage];
  }

  /**
   * Describes the number, the length and the places of a passage.
   *
   * @param {number} passage
   */
  describe(passage) {
    const { tokens, moved } = this.#passages[passage];
    const places = [this.views.left.place(passage), this.views.right.place(passage)];
    const where = places.map((place) => (place ? placeName(place) : null));
    return [
      `Passage ${count(passage + 1)} of ${count(this.count)}`,
      counted(tokens, this.unit),
      where[0] && where[1] ? `${where[0]} left, ${where[1]} right` : null,
      moved ? 'moved' : null,
    ]
      .filter((part) => part !== null)
      .join(', ');
  }

  /**
   * Goes to a passage in both texts.
   *
   * @param {number} passage
   */
  go(passage) {
    this.#select(passage);
    scrollTo(this.views.left, passage);
    scrollTo(this.views.right, passage);
    announce(this.describe(passage));
  }

  /** Scrolls the current passage to the same height in both panes, unless a person has already scrolled. */
  align() {
    const panes = Object.values(this.views).map((view) => view.element.closest('.pane'));
    if (this.count === 0 || panes.some((pane) => pane === null || pane.scrollTop > 0)) return;
    scrollTo(this.views.left, this.current);
    const { top } = this.views.left.anchors.get(this.current)?.getBoundingClientRect() ?? {};
    scrollTo(this.views.right, this.current, top);
  }

  /** @param {1 | -1} step */
  step(step) {
    const next = this.current + step;
    if (next >= 0 && next < this.count) this.go(next);
    else announce(step > 0 ? 'There is no later passage' : 'There is no earlier passage');
  }

  /** @param {number} passage */
  #select(passage) {
    for (const { marks, anchors } of Object.values(this.views)) {
      for (const mark of marks.get(this.current) ?? []) mark.classList.remove('current');
      for (const mark of marks.get(passage) ?? []) mark.classList.add('current');
      // Tab reaches only one sign per text, because the way past all signs of a long text would be too long.
      signOf(anchors.get(this.current), this.current)?.setAttribute('tabindex', '-1');
      signOf(anchors.get(passage), passage)?.setAttribute('tabindex', '0');
    }
    this.current = passage;
    this.dispatchEvent(new Event('change'));
  }

  /**
   * Handles a click on a passage: the clicked passage stays in place, and its partner scrolls to the same height.
   *
   * @param {MouseEvent} event
   * @param {SideName} from
   */
  #click(event, from) {
    const target = event.target instanceof Element ? event.target : null;
    const mark = target?.closest('mark');
    if (!mark || !(mark instanceof HTMLElement)) return;
    const sign = target?.closest('button');
    // A click that ends a selection is not a click on the passage.
    if (!sign && !getSelection()?.isCollapsed) return;
    const passage = Number(sign?.dataset.passage ?? mark.dataset.passage);
    const other = from === 'left' ? this.views.right : this.views.left;
    this.#select(passage);
    const { top } = mark.getBoundingClientRect();
    scrollTo(other, passage, top);
    announce(this.describe(passage));
    // A click by key, whose detail is 0, moves the focus to the partner, so that the next Enter leads back.
    if (sign && event.detail === 0) signOf(other.anchors.get(passage), passage)?.focus({ preventScroll: true });
  }

  /**
   * @param {number} passage
   * @param {SideName} side
   */
  #sign(passage, side) {
    const { tokens, moved } = this.#passages[passage];
    const shown = moved ? `${count(passage + 1)} ${MOVED} moved` : count(passage + 1);
    // The label begins with the visible text, because speech control calls a button by its visible text.
    const label = `Passage ${shown}, ${counted(tokens, this.unit)}: go to it on the ${side === 'left' ? 'right' : 'left'}`;
    return h(
      'button',
      {
        type: 'button',
        class: 'sign',
        tabindex: passage === this.current ? 0 : -1,
        'data-passage': passage,
        'aria-label': label,
      },
      shown,
    );
  }
}

/**
 * @param {HTMLElement | undefined} anchor
 * @param {number} passage
 * @returns {HTMLElement | null}
 */
function signOf(anchor, passage) {
  return anchor?.querySelector(`button[data-passage="${passage}"]`) ?? null;
}
