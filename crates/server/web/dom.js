// Functions that build nodes. No string is parsed as HTML, so the content of a document can only become text.

/** @typedef {Node | string | number | null | undefined | false | Child[]} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Attributes */

// Control characters, line separators and characters that change the reading direction. These characters are escaped,
// because a text with them could look like another text. The command escapes the same set.
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/**
 * Returns the text of a document with unsafe characters escaped. Tabs and line ends stay. Form feeds are removed,
 * because the end of a page is drawn as the end of a line.
 *
 * @param {string} text
 */
export function visible(text) {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll('\f', '')
    .replace(UNSAFE, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`);
}

/**
 * @param {Element} node
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') node.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false)
      node.setAttribute(name, value === true ? '' : String(value));
  }
  append(node, children);
}

/**
 * Appends children to a node. The children null, undefined and false are ignored.
 *
 * @param {Element} node
 * @param {Child[]} children
 */
function append(node, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(node, child);
    else if (child instanceof Node) node.append(child);
    else if (child !== null && child !== undefined && child !== false) node.append(visible(String(child)));
  }
}

/**
 * Creates an element of HTML. A function among the attributes becomes a listener for the event of that name.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  fill(node, attributes, children);
  return node;
}

/**
 * Creates an element of SVG.
 *
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  fill(node, attributes, children);
  return node;
}

/**
 * Creates a term of a description list with its value.
 *
 * @param {Child} term
 * @param {Child} value
 */
export function description(term, value) {
  return h('div', {}, h('dt', {}, term), h('dd', {}, value));
}

/**
 * Creates a node for a name from a document, in its own reading direction, because the name must not change the order
 * of the words around it.
 *
 * @param {string} text
 */
export function name(text) {
  return h('bdi', {}, text);
}

/** Maximum number of characters of a title or an id in a list or a heading. */
const SHORT = 120;
/** Number of characters that are kept at the end of a shortened title. */
const END = 30;

/**
 * Creates a node for a title or an id. A long name is shortened in the middle, because names of files often differ only
 * at their ends. The tooltip has the whole name.
 *
 * @param {string} text
 */
export function shortName(text) {
  const characters = [...text];
  if (characters.length <= SHORT) return name(text);
  const [beginning, end] = [characters.slice(0, SHORT - END), characters.slice(-END)];
  return h('bdi', { title: text }, `${beginning.join('')} … ${end.join('')}`);
}

/**
 * Returns an element of index.html.
 *
 * @param {string} id
 * @returns {HTMLElement}
 */
export function shell(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`index.html has no #${id}`);
  return node;
}

/**
 * Announces a change of the page to screen readers.
 *
 * @param {string} message
 */
export function announce(message) {
  shell('status').textContent = visible(message);
}
