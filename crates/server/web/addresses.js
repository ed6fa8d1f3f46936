// Addresses of the views of the page.

/** @param {string} id */
export const documentHref = (id) => `/document/${encodeURIComponent(id)}`;

/**
 * @param {string} left an id
 * @param {string} right an id
 */
export const pairHref = (left, right) => `/pair?${new URLSearchParams({ left, right })}`;

/**
 * Returns the address of the pair of a checked text and a document.
 *
 * @param {number} checked the number of the text in the last check
 * @param {string} right an id
 */
export const checkedPairHref = (checked, right) => `/pair?${new URLSearchParams({ checked: String(checked), right })}`;

/** @param {number} checked */
export const resultHref = (checked) =>
  checked === 0 ? '/check' : `/check?${new URLSearchParams({ checked: String(checked) })}`;

/** @param {{ search?: string, after?: string | null }} page */
export function archiveHref({ search = '', after = null }) {
  const parameters = new URLSearchParams();
  if (search !== '') parameters.set('search', search);
  if (after !== null) parameters.set('after', after);
  return parameters.size > 0 ? `/archive?${parameters}` : '/archive';
}
