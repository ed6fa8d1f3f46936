// Converts byte offsets into UTF-8, which the server uses, to offsets into a string.

/**
 * Returns the offsets into a string for byte offsets into its UTF-8 form, in one pass over the text. An offset within a
 * character becomes the offset of the character, and an offset after the end becomes the end.
 *
 * @param {string} text
 * @param {number[]} byteOffsets in any order
 * @returns {number[]} in the same order
 */
export function stringOffsets(text, byteOffsets) {
  const order = byteOffsets.map((_, index) => index).sort((a, b) => byteOffsets[a] - byteOffsets[b]);
  const offsets = new Array(byteOffsets.length);
  let at = 0;
  let bytes = 0;
  for (const index of order) {
    const wanted = byteOffsets[index];
    while (at < text.length) {
      const unit = text.charCodeAt(at);
      const isPair = (unit & 0xfc00) === 0xd800;
      const size = unit < 0x80 ? 1 : unit < 0x800 ? 2 : isPair ? 4 : 3;
      if (bytes + size > wanted) break;
      bytes += size;
      at += isPair ? 2 : 1;
    }
    offsets[index] = at;
  }
  return offsets;
}
