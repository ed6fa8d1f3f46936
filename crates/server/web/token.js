// The access token, if the server needs one. A person types the token into a dialog, and the page keeps the token while
// the tab is open.

import { h, shell } from './dom.js';

const KEY = 'minwise-token';

/**
 * Promise of the open dialog, so that several calls at the same time open only one dialog. @type {Promise<void> | null}
 */
let asked = null;

/** Returns the token, or null if no token was typed yet. */
export function token() {
  return sessionStorage.getItem(KEY);
}

/**
 * Asks for a token, and resolves when there is another token than the rejected token.
 *
 * @param {string | null} refused the token that the server rejected, or null if none was sent
 * @param {Error} problem thrown if no token is given
 * @returns {Promise<void>}
 */
export function askForToken(refused, problem) {
  if (token() !== refused) return Promise.resolve();
  asked ??= ask(refused !== null, problem).finally(() => {
    asked = null;
  });
  return asked;
}

/**
 * @param {boolean} wasRefused
 * @param {Error} problem
 * @returns {Promise<void>}
 */
function ask(wasRefused, problem) {
  return new Promise((resolve, reject) => {
    const input = h('input', {
      type: 'password',
      id: 'token',
      required: true,
      // A header may contain only these characters.
      pattern: '[!-~]+',
      autocomplete: 'off',
      spellcheck: 'false',
      'aria-describedby': 'token-note',
    });
    const note = wasRefused
      ? 'The server does not know this token. Check that it is complete.'
      : 'Ask the person who runs the server for a token. The page keeps the token until this tab is closed, and sends it to this server only.';
    const dialog = h(
      'dialog',
      { class: 'token', 'aria-labelledby': 'token-title' },
      h(
        'form',
        { method: 'dialog' },
        h('h2', { id: 'token-title' }, 'This archive needs an access token'),
        h('label', { for: 'token' }, 'Access token'),
        input,
        h('p', { id: 'token-note', class: wasRefused ? 'bad' : 'soft' }, note),
        h(
          'div',
          { class: 'buttons' },
          h('button', { type: 'submit', value: 'given', class: 'primary' }, 'Continue'),
          h('button', { type: 'submit', formnovalidate: true, value: '' }, 'Cancel'),
        ),
      ),
    );
    dialog.addEventListener('close', () => {
      dialog.remove();
      if (dialog.returnValue !== 'given') return reject(problem);
      sessionStorage.setItem(KEY, input.value);
      return resolve();
    });
    shell('dialogs').append(dialog);
    dialog.showModal();
  });
}
