"""Regenerates and checks the vectors; needs only `regex`.

Without arguments, `reference.py` checks that the files beside it hold the values computed here. `reference.py --write`
writes the files.

This is a second, slow implementation of Minwise in plain integers, from the normalisation of a text to its band keys.
The reference shares no code with the library, so that the definition is right if both agree. Tests of Rust, Python and
Spark read the files. A changed value is a breaking change, because stored files and indexes contain such values.
"""
import math
import struct
import sys
import textwrap
import unicodedata
from fractions import Fraction
from itertools import cycle, islice
from pathlib import Path

import regex

from beyond_reference import beyond_file  # noqa: F401, `main` finds it by its name
from filter_reference import filter_file  # noqa: F401, `main` finds it by its name

OURS = "ours, frozen 2026-11-15"
OURS_LATER = "ours, frozen 2026-11-17"
RULE = "the rule of tokens and normal forms, by Python's unicodedata and regex"
UNICODE = "17.0"
VERSION = 1
M32, M64 = (1 << 32) - 1, (1 << 64) - 1

# --- text ------------------------------------------------------------------------------------------------------------

ALONE = "".join(rf"\p{{Script={s}}}" for s in "Han Hiragana Katakana Thai Lao Khmer Myanmar".split())
TOKEN = regex.compile(rf"(?V1)[{ALONE}]|[[\p{{Alphabetic}}\p{{M}}\p{{N}}_]--[{ALONE}]]+")


def normal(text, how="nfkc+casefold"):
    """Returns the normalised text. White space is folded unless `how` has another rule. Markup is not handled here."""
    form = how.removesuffix("+keep-space").removesuffix("+remove-space")
    if form.startswith("nfkc"):
        text = unicodedata.normalize("NFKC", text)
    if form.endswith("casefold"):
        text = text.casefold()
    if how.endswith("+keep-space"):
        return text
    return ("" if how.endswith("+remove-space") else " ").join(text.split())


def tokens(normal_text):
    """Returns the tokens: single characters of scripts without spaces; runs of other letters, marks, numbers and `_`."""
    return TOKEN.findall(normal_text)


# --- hashes ----------------------------------------------------------------------------------------------------------

K0, K1 = 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53
GOLDEN = 0x9E3779B97F4A7C15


def fmix32(h):
    h = (h ^ h >> 16) * 0x85EBCA6B & M32
    h = (h ^ h >> 13) * 0xC2B2AE35 & M32
    return h ^ h >> 16


def fmix64(h):
    h = (h ^ h >> 33) * 0xFF51AFD7ED558CCD & M64
    h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53 & M64
    return h ^ h >> 33


def splitmix64(seed):
    """Yields the endless sequence of 64-bit numbers for a seed."""
    while True:
        seed = seed + GOLDEN & M64
        z = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 & M64
        z = (z ^ z >> 27) * 0x94D049BB133111EB & M64
        yield z ^ z >> 31


def fold_multiply(a, b):
    product = a * b
    return product & M64 ^ product >> 64


def token_hash(token):
    """Returns the hash of a token, by windows of sixteen bytes of its UTF-8, little-endian, with zeros after the end.

    The state is mixed into the first eight bytes, and the length of the whole token into the last eight. If the length is
    a multiple of 16, there is no empty window at the end."""
    data, state = token.encode(), 0
    for at in range(0, max(len(data), 1), 16):
        window = data[at : at + 16].ljust(16, b"\0")
        low, high = (int.from_bytes(half, "little") for half in (window[:8], window[8:]))
        state = fold_multiply(low ^ K0 ^ state, high ^ K1 ^ len(data))
    return state


def char_hash(char):
    return fold_multiply(ord(char) ^ K0, K1)


def window_hash(units):
    """Returns the polynomial of the units at the golden ratio, with its bits mixed."""
    total = 0
    for unit in units:
        total = (total * GOLDEN + unit) & M64
    z = (total ^ total >> 32) * 0xD6E8FEB86659FD93 & M64
    return z ^ z >> 32


def shingles(text, shingling, how="nfkc+casefold"):
    """Returns the hash of every shingle in order. If a text is shorter than a shingle, all its units are one shingle."""
    kind, size = shingling.split(":")
    size = int(size)
    text = normal(text, how)
    units = [token_hash(t) for t in tokens(text)] if kind == "words" else [char_hash(c) for c in text]
    windows = [units[i : i + size] for i in range(len(units) - size + 1)] or ([units] if units else [])
    return [window_hash(window) for window in windows]


# --- sketches --------------------------------------------------------------------------------------------------------


def fold(shingle, seed):
    """Folds a shingle to 32 mixed bits. `seed` is the 32-bit seed of the sketch."""
    return fmix32(((shingle & M32) + (shingle >> 32) * 0x9E3779B1 & M32) ^ seed)


def family(seed, registers):
    """Returns the hash functions of a sketch: its 32-bit seed, the multipliers and the offsets.

    The seed is the upper half of the first number drawn. Of each further number, the upper half, made odd, is a
    multiplier, and the lower half is an offset."""
    numbers = splitmix64(seed)
    fold_seed = next(numbers) >> 32
    drawn = [next(numbers) for _ in range(registers)]
    return fold_seed, [d >> 32 | 1 for d in drawn], [d & M32 for d in drawn]


def sketch(shingle_set, seed, registers):
    fold_seed, multipliers, offsets = family(seed, registers)
    keys = [fold(x, fold_seed) for x in shingle_set]
    return [min(((a * key + b) & M32 for key in keys), default=M32) for a, b in zip(multipliers, offsets)]


def band_key(band, rows):
    """Returns the key of a band. Rows are mixed in as pairs, the first in the lower half. An odd last row is alone."""
    key = fmix64(band + 1)
    for at in range(0, len(rows), 2):
        key = fold_multiply(key ^ sum(row << 32 * i for i, row in enumerate(rows[at : at + 2])), K1)
    return fmix64(key)


def band_keys(registers, bands, rows):
    return [band_key(band, registers[band * rows : (band + 1) * rows]) for band in range(bands)]


# --- other sketches --------------------------------------------------------------------------------------------------

EMPTY = M32


def min_max(shingle_set, seed, registers):
    """Returns the minima of `registers // 2` functions, and then the complements of their maxima."""
    fold_seed, multipliers, offsets = family(seed, registers // 2)
    keys = [fold(x, fold_seed) for x in shingle_set]
    values = [[a * key + b & M32 for key in keys] for a, b in zip(multipliers, offsets)]
    return [min(v) for v in values] + [M32 - max(v) for v in values]


def one_permutation(shingle_set, seed, bins, form="optimal"):
    numbers = splitmix64(seed)
    own, choice = next(numbers), next(numbers) >> 32
    out = [EMPTY] * bins
    for x in shingle_set:
        product = fmix64(x ^ own) * bins
        out[product >> 64] = min(out[product >> 64], (product & M64) >> 32, EMPTY - 1)
    full = [j for j in range(bins) if out[j] != EMPTY]

    def rotated(j):
        distance = next(d for d in range(bins) if (j + d) % bins in full)
        return out[(j + distance) % bins] + 0x9E3779B1 * distance & M32

    def drawn(j):
        tries = [fmix32(choice + 32 * j + i & M32) * bins >> 32 for i in range(32)]
        ranked = sorted(full, key=lambda bin: fmix32(fmix32(choice ^ j) + bin & M32))
        return next(out[bin] for bin in tries + ranked if bin in full)

    fill = {"raw": lambda j: out[j], "rotation": rotated, "optimal": drawn}[form]
    return [out[j] if j in full else fill(j) for j in range(bins)]


def bits_for(count):
    """Returns the number of bits that a number below `count` needs."""
    return (count - 1).bit_length()


def super_minhash(shingle_set, seed, registers):
    """Returns the registers. Every shingle takes all its steps; the library stops early, with the same result."""
    own, width = next(splitmix64(seed)), 32 - bits_for(registers)
    out = [EMPTY] * registers
    for x in shingle_set:
        order = list(range(registers))
        for j, n in zip(range(registers), splitmix64(fmix64(x ^ own))):
            other = j + ((n & M32) * (registers - j) >> 32)
            order[j], order[other] = order[other], order[j]
            value = min((j << width) + (n >> 64 - width), EMPTY - 1)
            out[order[j]] = min(out[order[j]], value)
    return out


def fast_similarity(shingle_set, seed, registers):
    """Returns the registers after all rounds. The library stops early, because later rounds cannot beat earlier ones."""
    width = 32 - bits_for(2 * registers)
    out = [EMPTY] * registers
    for i, own in zip(range(2 * registers), splitmix64(seed)):
        for x in shingle_set:
            n = fmix64(x ^ own)
            at = (n & M32) * registers >> 32 if i < registers else i - registers
            out[at] = min(out[at], (i << width) + (n >> 64 - width), EMPTY - 1)
    return out


def bottom_k(shingle_set, seed, values):
    own = next(splitmix64(seed))
    least = sorted({min(fmix64(x ^ own), M64 - 1) for x in shingle_set})[:values]
    return [half for v in least + [M64] * (values - len(least)) for half in (v >> 32, v & M32)]


def modular(shingle_set, seed, registers):
    """Returns the upper 32 bits of the minima of a·x + b modulo 2^61 - 1."""
    prime, numbers = (1 << 61) - 1, splitmix64(seed)

    def below(bound):
        return next(n % bound for n in numbers if n < M64 - M64 % bound)

    out = []
    for _ in range(registers):
        a = 1 + below(prime - 1)
        b = below(prime)
        out.append(min((a * fmix64(x) + b) % prime for x in shingle_set) >> 29)
    return out


def multiplicative(shingle_set, seed, registers):
    """Returns the upper 32 bits of the minima of s·x + o, where s is odd."""
    numbers = splitmix64(seed)
    drawn = [(next(numbers) | 1, next(numbers)) for _ in range(registers)]
    return [min(fmix64(x) * s + o & M64 for x in shingle_set) >> 32 for s, o in drawn]


def murmur3_of_eight(x, h):
    """Returns the MurmurHash3 of the eight bytes of a number."""
    for block in (x & M32, x >> 32):
        k = block * 0xCC9E2D51 & M32
        k = (k << 15 | k >> 17) & M32
        h ^= k * 0x1B873593 & M32
        h = ((h << 13 | h >> 19) & M32) * 5 + 0xE6546B64 & M32
    return fmix32(h ^ 8)


def murmur3(shingle_set, seed, registers):
    """Returns the minima of MurmurHash3 with consecutive seeds."""
    own = next(splitmix64(seed)) >> 32
    return [min(murmur3_of_eight(x, own + i & M32) for x in shingle_set) for i in range(registers)]


BASES = {
    "minhash": sketch,
    "minhash,modular": modular,
    "minhash,multiplicative": multiplicative,
    "minhash,murmur3": murmur3,
    "min-max": min_max,
    "one-permutation": one_permutation,
    "one-permutation,rotation": lambda *of: one_permutation(*of, "rotation"),
    "super-minhash": super_minhash,
    "fast-similarity": fast_similarity,
}
WHOLE = BASES | {"one-permutation,raw": lambda *of: one_permutation(*of, "raw"), "bottom-k": bottom_k}


def register_bits(i, z):
    return fmix32(z ^ fmix32(i ^ 0x9E3779B9))


def laid_out(values, bits):
    """Returns the words that hold values of `bits` bits each.

    Values of 8, 16 and 32 bits are stored whole, the first value lowest. Values of other widths are stored in bit
    planes: a word has the same bit of 32 values."""
    out = []
    if bits in (8, 16, 32):
        for at in range(0, len(values), 32 // bits):
            block = values[at : at + 32 // bits]
            out.append(sum((v & (1 << bits) - 1) << i * bits for i, v in enumerate(block)))
        return out
    for plane in range(bits):
        for at in range(0, len(values), 32):
            out.append(sum((v >> plane & 1) << i for i, v in enumerate(values[at : at + 32])))
    return out


def groups(mixture, registers):
    """Returns the groups of a mixture: the number of bits, the first register, and the register after the last one."""
    out, total, begin = [], 0.0, 0
    for part in mixture.split("+"):
        bits, share = part.split("x")
        total += float(share)
        end = math.floor(total * registers + 0.5)
        out.append((int(bits), begin, end))
        begin = end
    return out


def stored(form, registers):
    """Returns the parts that a bit sketch compares: the values of each part, and the bits per value."""
    kind, _, setting = form.partition(":")
    mixed = [register_bits(i, z) for i, z in enumerate(registers)]
    low = [z & 1 for z in mixed]
    match kind:
        case "bit-hash":
            return [(low, 1)]
        case "b-bit":
            return [([z % (1 << int(setting)) for z in mixed], int(setting))]
        case "fractional" | "fractional,pooled":
            return [([z % (1 << b) for z in mixed[i:j]], b) for b, i, j in groups(setting, len(mixed))]
        case "xor":
            size = 1 << int(setting)
            return [([sum(low[i : i + size]) % 2 for i in range(0, len(low), size)], 1)]
        case "three-quarter" | "three-quarter,paper":
            pairs = len(low) // (3 if kind.endswith("paper") else 4)
            return [([low[2 * i] ^ low[2 * i + 1] for i in range(pairs)] + low[2 * pairs :], 1)]
        case "connected":
            n, bits = map(int, setting.split("x"))
            joined = [
                sum((z % (1 << bits)) << bits * i for i, z in enumerate(mixed[at : at + n]))
                for at in range(0, len(mixed), n)
            ]
            return [(joined, n * bits)]
        case "odd":
            array = [0] * int(setting)
            for z in mixed:
                array[z % len(array)] ^= 1
            return [(array, 1)]


def tags(shingle_list, sections, policy):
    """Returns the place of every distinct shingle: a section counted from 0, or a mask of sections."""
    out = {}
    for position, x in enumerate(shingle_list):
        section = position * sections // len(shingle_list)
        if policy == "mask":
            out[x] = out.get(x, 0) | 1 << section
        elif policy == "last" or x not in out:
            out[x] = section
    return out


def sectional(shingle_list, seed, registers, sections, policy):
    """Returns the minima, and for each minimum the place of the shingle that attains it."""
    places = tags(shingle_list, 64 if policy == "tolerant" else sections, policy)
    owners = {x: sketch([x], seed, registers) for x in places}
    minima = sketch(places, seed, registers)
    return minima, [next(places[x] for x in places if owners[x][i] == z) for i, z in enumerate(minima)]


def packed(values, bits):
    """Returns words with as many whole values as fit, lowest bits first. Values of 0 bits take no words."""
    if bits == 0:
        return []
    each = 32 // bits
    rows = (values[at : at + each] for at in range(0, len(values), each))
    return [sum(v << bits * i for i, v in enumerate(row)) for row in rows]


def parse(method):
    """Splits a text form: the packing, the sections and their policy, and the name and number of the registers."""
    packing, _, base = method.rpartition("/")
    name, _, count = base.rpartition(":")
    sections, policy = None, None
    if packing.startswith("sectional"):
        sections, _, policy = packing.removeprefix("sectional:s=").partition(",")
    return packing, sections and int(sections), policy, name, int(count)


def registers_of(method, shingle_list, seed):
    """Returns the words or registers of a method, before they are packed."""
    _, sections, policy, name, count = parse(method)
    if policy == "pre":
        first = tags(shingle_list, sections, "")
        shingle_list = [x ^ fmix64(section * GOLDEN & M64) for x, section in first.items()]
    return WHOLE[name](shingle_list, seed, count)


def words(method, shingle_list, seed):
    packing, sections, policy, _, count = parse(method)
    if sections and policy != "pre":
        minima, places = sectional(shingle_list, seed, count, sections, policy)
        return minima + packed(places, {"mask": sections, "tolerant": 6}.get(policy, bits_for(sections)))
    registers = registers_of(method, shingle_list, seed)
    if sections or not packing:
        return registers
    return [word for values, bits in stored(packing, registers) for word in laid_out(values, bits)]


def agreeing(a, b):
    return sum(x == y for x, y in zip(a, b))


def variance_of_bits(similarity, bits):
    """Returns the variance of the estimate from the bits of one register."""
    agree = 2.0**-bits + (1 - 2.0**-bits) * similarity
    return agree * (1 - agree) / (1 - 2.0**-bits) ** 2


def fractional_estimate(parts, is_pooled):
    counts = [(agreeing(a, b), len(a), bits) for (a, bits), (b, _) in parts]
    matches, total = sum(m for m, _, _ in counts), sum(k for _, k, _ in counts)
    accident = sum(k * 2.0**-bits for _, k, bits in counts) / total
    if is_pooled:
        return (matches / total - accident) / (1 - accident)
    at = max(((matches + 0.5) / (total + 1) - accident) / (1 - accident), 0)
    weights = [k / variance_of_bits(at, bits) for _, k, bits in counts]
    own = [(m / k - 2.0**-bits) / (1 - 2.0**-bits) for m, k, bits in counts]
    return sum(w * r for w, r in zip(weights, own)) / sum(weights)


def bit_estimate(packing, parts, registers):
    kind, _, setting = packing.partition(":")
    if kind.startswith("fractional"):
        return fractional_estimate(parts, kind.endswith("pooled"))
    ((a, bits), (b, _)) = parts[0]
    share = agreeing(a, b) / len(a)
    match kind:
        case "bit-hash":
            return 2 * share - 1
        case "b-bit":
            return (share - 2.0**-bits) / (1 - 2.0**-bits)
        case "xor":
            return max(2 * share - 1, 0) ** 2.0 ** -int(setting)
        case "three-quarter" | "three-quarter,paper":
            w = (registers - len(a)) / len(a)
            return 2 * (3 * w - 1 + math.sqrt(max((1 - 3 * w) ** 2 + 8 * w * (share - w), 0))) / (4 * w) - 1
        case "connected":
            n, bits = map(int, setting.split("x"))
            return (share ** (1 / n) - 2.0**-bits) / (1 - 2.0**-bits)
        case "odd":
            left = 2 * share - 1
            return 1 + len(a) / (4 * registers) * math.log(left) if left > 0 else 0


def sketch_estimate(method, a, b, seed):
    """Returns the estimate for two documents, from the parts of their sketches."""
    packing, sections, policy, name, count = parse(method)
    if sections and policy != "pre":
        (minima_a, places_a), (minima_b, places_b) = (sectional(x, seed, count, sections, policy) for x in (a, b))
        near = {"mask": lambda x, y: x & y != 0, "tolerant": lambda x, y: abs(x - y) <= 32 // sections}
        agree = near.get(policy, lambda x, y: x == y)
        same = zip(minima_a, minima_b, places_a, places_b)
        return sum(x == y and agree(at, on) for x, y, at, on in same) / count
    a, b = (registers_of(method, x, seed) for x in (a, b))
    if packing and not sections:
        parts = list(zip(stored(packing, a), stored(packing, b)))
        return min(max(bit_estimate(packing, parts, count), 0.0), 1.0)
    if name == "one-permutation,raw":
        empty = sum(x == y == EMPTY for x, y in zip(a, b))
        return (agreeing(a, b) - empty) / (count - empty)
    if name == "bottom-k":
        a, b = ({tuple(x[i : i + 2]) for i in range(0, len(x), 2)} - {(EMPTY, EMPTY)} for x in (a, b))
        least = sorted(a | b)[:count]
        return sum(v in a and v in b for v in least) / len(least)
    return agreeing(a, b) / count


# --- specs -----------------------------------------------------------------------------------------------------------

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248e"
    "e03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d"
    "8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc"
    "8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)


def xxh3_64(data):
    """Returns XXH3 with 64 bits and seed 0. It accepts only 17 to 240 bytes, because all specs are that long."""
    size = len(data)
    assert 17 <= size <= 240

    def word(source, at):
        return int.from_bytes(source[at : at + 8], "little")

    def mix(at, key):
        return fold_multiply(word(data, at) ^ word(SECRET, key), word(data, at + 8) ^ word(SECRET, key + 8))

    def avalanche(h):
        h = (h ^ h >> 37) * 0x165667919E3779F9 & M64
        return h ^ h >> 32

    total = size * 0x9E3779B185EBCA87
    if size <= 128:
        for i in range((size - 1) // 32 + 1):
            total += mix(16 * i, 32 * i) + mix(size - 16 * (i + 1), 32 * i + 16)
        return avalanche(total & M64)
    total = avalanche(total + sum(mix(16 * i, 16 * i) for i in range(8)) & M64)
    total += sum(mix(16 * i, 16 * (i - 8) + 3) for i in range(8, size // 16)) + mix(size - 16, 119)
    return avalanche(total & M64)


def xxh3_128(data, seed=0):
    """Returns XXH3 with 128 bits, for any number of bytes, as one integer whose upper half is the upper word."""
    size = len(data)
    p32_1, p32_2, p32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
    p1, p2, p3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
    p4, p5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5

    def word(source, at, bytes=8):
        return int.from_bytes(source[at : at + bytes], "little")

    def swapped(number, bytes):
        return int.from_bytes(number.to_bytes(bytes, "little"), "big")

    def avalanche(h):
        h &= M64
        h = (h ^ h >> 37) * 0x165667919E3779F9 & M64
        return h ^ h >> 32

    def avalanche_of_few(h):
        h &= M64
        h = (h ^ h >> 33) * p2 & M64
        h = (h ^ h >> 29) * p3 & M64
        return h ^ h >> 32

    def joined(high, low):
        return (high & M64) << 64 | low & M64

    if size == 0:
        low, high = (word(SECRET, at) ^ word(SECRET, at + 8) for at in (64, 80))
        return joined(avalanche_of_few(seed ^ high), avalanche_of_few(seed ^ low))
    if size <= 3:
        low = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        high = swapped(low, 4)
        high = (high << 13 | high >> 19) & M32
        low ^= (word(SECRET, 0, 4) ^ word(SECRET, 4, 4)) + seed & M64
        high ^= (word(SECRET, 8, 4) ^ word(SECRET, 12, 4)) - seed & M64
        return joined(avalanche_of_few(high), avalanche_of_few(low))
    if size <= 8:
        seed ^= swapped(seed & M32, 4) << 32
        both = word(data, 0, 4) + (word(data, size - 4, 4) << 32)
        product = (both ^ (word(SECRET, 16) ^ word(SECRET, 24)) + seed & M64) * (p1 + (size << 2) & M64)
        high, low = product >> 64, product & M64
        high = high + (low << 1) & M64
        low ^= high >> 3
        low = (low ^ low >> 35) * 0x9FB21C651E98DF25 & M64
        return joined(avalanche(high), low ^ low >> 28)
    if size <= 16:
        first, last = word(data, 0), word(data, size - 8)
        product = (first ^ last ^ (word(SECRET, 32) ^ word(SECRET, 40)) - seed & M64) * p1
        low = (product & M64) + (size - 1 << 54) & M64
        last ^= (word(SECRET, 48) ^ word(SECRET, 56)) + seed & M64
        high = (product >> 64) + last + (last & M32) * (p32_2 - 1) & M64
        product = (low ^ swapped(high, 8)) * p2
        return joined(avalanche((product >> 64) + high * p2), avalanche(product & M64))

    def mix(at, key, seed):
        return fold_multiply(
            word(data, at) ^ word(SECRET, key) + seed & M64, word(data, at + 8) ^ word(SECRET, key + 8) - seed & M64
        )

    if size <= 240:
        low, high = size * p1 & M64, 0

        def mix_two(one, other, key, seed=seed):
            nonlocal low, high
            low = (low + mix(one, key, seed) & M64) ^ (word(data, other) + word(data, other + 8) & M64)
            high = (high + mix(other, key + 16, seed) & M64) ^ (word(data, one) + word(data, one + 8) & M64)

        if size <= 128:
            for i in reversed(range((size - 1) // 32 + 1)):
                mix_two(16 * i, size - 16 * (i + 1), 32 * i)
        else:
            for at in range(32, 160, 32):
                mix_two(at - 32, at - 16, at - 32)
            low, high = avalanche(low), avalanche(high)
            for at in range(160, size + 1, 32):
                mix_two(at - 32, at - 16, at - 157)
            mix_two(size - 16, size - 32, 103, -seed & M64)
        return joined(-avalanche(low * p1 + high * p4 + (size - seed) * p2), avalanche(low + high))

    words = [word(SECRET, at) + (seed if at % 16 == 0 else -seed) & M64 for at in range(0, 192, 8)]
    secret = b"".join(w.to_bytes(8, "little") for w in words)
    state = [p32_3, p1, p2, p3, p4, p32_2, p5, p32_1]

    def accumulate(at, key):
        for i in range(8):
            given = word(data, at + 8 * i)
            keyed = given ^ word(secret, key + 8 * i)
            state[i ^ 1] = state[i ^ 1] + given & M64
            state[i] = state[i] + (keyed & M32) * (keyed >> 32) & M64

    for stripe in range((size - 1) // 64):
        accumulate(64 * stripe, stripe % 16 * 8)
        if stripe % 16 == 15:
            for i in range(8):
                state[i] = (state[i] ^ state[i] >> 47 ^ word(secret, 128 + 8 * i)) * p32_1 & M64
    accumulate(size - 64, 121)

    def merged(key, start):
        return avalanche(
            start
            + sum(
                fold_multiply(state[2 * i] ^ word(secret, key + 16 * i), state[2 * i + 1] ^ word(secret, key + 16 * i + 8))
                for i in range(4)
            )
        )

    return joined(merged(117, ~(size * p2) & M64), merged(11, size * p1))


def equality_key(text, shingling, how="nfkc+casefold"):
    """Returns the sixteen bytes that equal documents share.

    The key is the hash of the shingles in order, each shingle as eight little-endian bytes. If there are no shingles,
    the key is the hash of the normalised text."""
    hashes = shingles(text, shingling, how)
    if hashes:
        key = xxh3_128(b"".join(h.to_bytes(8, "little") for h in hashes), 0)
    else:
        key = xxh3_128(normal(text, how).encode(), 1)
    return key.to_bytes(16, "little").hex()


def fingerprint(spec):
    return xxh3_64(f"{spec} / version:{VERSION} / unicode:{UNICODE}".encode())


# --- tuning ----------------------------------------------------------------------------------------------------------


def curve(p, bands, rows):
    return 1.0 if p == 1 else -math.expm1(bands * math.log1p(-(p**rows)))


def half_point(bands, rows):
    return (1 - 2 ** (-1 / bands)) ** (1 / rows)


def steepest_point(bands, rows):
    return ((rows - 1) / (rows * bands - 1)) ** (1 / rows)


def false_candidates(threshold, bands, rows):
    """Returns the number of false candidates of a document with ten neighbours at similarities spread evenly in 0 to 1."""
    steps = 256
    weights = [1] + [4, 2] * (steps // 2 - 1) + [4, 1]
    area = sum(w * curve(i * threshold / steps, bands, rows) for i, w in enumerate(weights))
    return 10 * area * threshold / steps / 3


def choose(threshold, recall, registers):
    """Returns the bands and rows that reach the recall with least work: 0.02 per band key, 1 per false candidate."""
    best = None
    for rows in range(1, registers + 1):
        missed = -math.inf if threshold == 1 else math.log1p(-(threshold**rows))
        bands = max(1, math.ceil(math.log1p(-recall) / missed))
        if bands * rows <= registers:
            work = 0.02 * bands + false_candidates(threshold, bands, rows)
            if best is None or work < best[0]:
                best = work, bands, rows
    return best[1:]


# --- what the vectors are made of ------------------------------------------------------------------------------------

TEXTS = [  # name, source, and the normalisation if it is not the default
    ("empty", ""),
    ("only white space", " \t\r\n\u3000\u00a0 "),
    ("only punctuation", "... !? — «»"),
    ("ascii", "The Quick brown FOX, jumps over_the lazy-dog."),
    ("apostrophe and decimal point", "don't pay 3.14, or 1,000!"),
    ("letters, digits and underscore", "x86_64 a1 1a _ __init__ 007"),
    ("white space of many kinds", "  a\tb\n\nc\u00a0d\u2003e\u3000f\u2028g\u001ch\u0085i "),
    ("longer than a block", "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"),
    ("a token across a block boundary", "." * 60 + "boundaries" + "." * 50 + "straße" + "中"),
    ("a token of 80 bytes", "Donaudampfschiffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"),
    ("accents", "Ça coûte 25 €, Müller-Straße; El Niño à São Paulo. ÅNGSTRÖM Øre łódź"),
    ("decomposed accents compose", "Cafe\u0301 A\u030angstro\u0308m n\u0303"),
    ("marks in another order", "a\u0323\u0301 a\u0301\u0323 q\u0307\u0323"),
    ("case folding is full", "STRASSE Straße ẞ ŉ ǰ ΐ İ ı ſ"),
    ("ligatures and forms", "ﬁne eﬃcient ﬆ Ⅷ ½ ² ℌ ℃ № ™ ㎏ ①"),
    ("full width", "Ｆｕｌｌ　Ｗｉｄｔｈ，１２３！ＡＢＣ～"),
    ("half-width katakana", "ｶﾞｷﾞ ﾊﾟ ｱｲｳ"),
    ("greek", "Ὀδυσσεύς ΣΊΣΥΦΟΣ, Ἑλλάδα ᾳ ᾼ"),
    ("cyrillic", "Съешь ЕЩЁ этих мягких французских булок, да выпей же чаю. Її Ґанок"),
    ("armenian and georgian", "Բարեւ ԱՇԽԱՐՀ և, გამარჯობა ᲛᲡᲝᲤᲚᲘᲝ"),
    ("hebrew with points", "שָׁלוֹם עוֹלָם, בראשית"),
    ("arabic with marks and forms", "السَّلامُ عليكم ﷲ ﻻ ١٢٣ می\u200cروم"),
    ("devanagari", "हिन्दी में क़ानून, ज़रूर १२३।"),
    ("bengali and tamil", "বাংলা ভাষা ড়, தமிழ் கொடு"),
    ("korean syllables", "한국어 문장, 두 번째."),
    ("korean letters compose", "\u1112\u1161\u11ab\u1100\u116e\u11a8 한\u11a8"),
    ("chinese", "中文没有空格，ＡＩ模型2026年。"),
    ("chinese beyond the first plane", "𠮷野家𪚥 々〇〻"),
    ("compatibility ideographs", "\uf900 \uf901 \uf902 ⽔"),
    ("japanese", "カタカナとひらがな、漢字ー・ゝ ヴ か\u3099"),
    ("thai", "ภาษาไทย ไม่มีช่องว่าง กำ ๑๒๓"),
    ("lao", "ພາສາລາວ ຳ ໜ"),
    ("khmer", "ភាសាខ្មែរ ១២៣"),
    ("myanmar", "မြန်မာဘာသာ ၁၂၃"),
    ("vietnamese", "Tiếng Việt có Dấu, ĐƯỜNG PHỐ"),
    ("ethiopic and cherokee", "አማርኛ ᏣᎳᎩ ꮳꮃꭹ"),
    ("deseret, beyond the first plane", "𐐔𐐯𐑅𐐨𐑉𐐯𐐻 𐐜"),
    ("mathematical letters", "𝐁𝐨𝐥𝐝 𝒮𝒸𝓇𝒾𝓅𝓉 𝟘𝟙 𝛀"),
    ("emoji and symbols", "I ❤️ 🦀 and 👩‍🔬 at 5°C ± 2%"),
    ("scripts side by side", "GPT模型と한국어แบบabcไทย中x中"),
    ("invisible characters", "soft\u00adhyphen zero\u200bwidth join\u200der \ufeffbom \u2060wj"),
    ("mixed white space stays", " A\t\n Ｂ ", "nfkc+casefold+keep-space"),
    ("white space goes", " A\t\n Ｂ\u3000C中 文 ", "nfkc+casefold+remove-space"),
    ("case only", "Ｓtraße ﬁne ①Ⅷ É e\u0301", "casefold"),
    ("nothing but white space", " Ｓtraße  ﬁne É ", "none"),
    ("nothing at all", " Ｓtraße  ﬁne É ", "none+keep-space"),
]

MARKUP = [  # name, source, and the normal form, which was derived from the rule by hand
    ("tags go, blocks separate", "<p class='a>b'>One</p><p>t<b>w</b>o<br/>three", "one two three"),
    ("comments, scripts, styles", "a<!-- <p>x</p> -->b<script>if (1 < 2) x()</script>c<style>p{}</style>d", "ab c d"),
    ("references", "&lt;p&gt; Caf&eacute; &#169; &#x4E2D;&amp;amp; &unknown;", "<p> café © 中&amp; &unknown;"),
    ("what is not markup stays", "a < b && c > d, 1<2", "a < b && c > d, 1<2"),
]

SHINGLED = [
    ("empty", ""),
    ("no tokens", " ... !"),
    ("one token", "Word"),
    ("one character", "a"),
    ("two tokens", "two words"),
    ("exactly three", "one two three"),
    ("exactly five", "a b c d e"),
    ("nine characters", "123456789"),
    ("repeats", "to be or not to be or not to be"),
    ("docs/sources/shingles.md#k-shingles", "abcdabd"),
    ("case and punctuation", "Hello, ｗｏｒｌｄ! — hello (World)?"),
    ("white space is folded", " a  b\nc\td "),
    ("long tokens", "sixteen_bytes_ab seventeen_bytes_a " + "thirty_two_bytes" * 2 + " thirty_three_bytes_" + "ab" * 7),
    ("accents", "Müller-Straße, cafe\u0301 à São Paulo"),
    ("cyrillic", "Съешь ещё этих мягких булок"),
    ("devanagari", "हिन्दी में लिखा हुआ वाक्य"),
    ("korean", "한국어 문장을 자른다"),
    ("chinese", "我能吞下玻璃而不伤身体。"),
    ("japanese", "私はガラスを食べられます"),
    ("thai", "ฉันกินกระจกได้"),
    ("mixed", "GPT-4模型 และ 한국어 x中y"),
]
SHINGLINGS = ["words:1", "words:3", "words:5", "chars:3", "chars:5", "chars:9"]

SPECS = [  # the spec as given, and its text form if that differs
    ("nfkc+casefold / words:5 / minhash:128 / seed:1",),
    ("nfkc+casefold / words:5 / minhash:128 / seed:2",),
    ("nfkc+casefold / words:5 / minhash:256 / seed:1",),
    ("nfkc+casefold / words:3 / minhash:128 / seed:1",),
    ("casefold / chars:9 / minhash:64 / seed:42",),
    ("none / words:1 / minhash:1 / seed:0",),
    ("nfkc+casefold / words:5,short=reject / minhash:128 / seed:1",),
    ("none+strip-markup+keep-space / chars:9,short=reject / minhash:7 / seed:18446744073709551615",),
    ("nfkc+casefold+strip-markup+remove-space / words:256,short=reject / minhash:65536 / seed:18446744073709551615",),
    ("nfkc+casefold/words:5/minhash:128/seed:1", "nfkc+casefold / words:5 / minhash:128 / seed:1"),
    (" none+remove-space /chars:5,short=one/minhash:8  / seed:07", "none+remove-space / chars:5 / minhash:8 / seed:7"),
]
REFUSED = [
    "",
    "nfkc+casefold / words:5 / minhash:128",
    "nfkc+casefold / words:5 / minhash:128 / 1",
    "nfkc+casefold / words:5 / minhash:128 / seed:-1",
    "nfkc+casefold / words:5 / minhash:128 / seed:18446744073709551616",
    "nfkc+casefold / words:5 / minhash:128 / seed:1 / more",
    "nfkc / words:5 / minhash:128 / seed:1",
    "casefold+remove-space+strip-markup / words:5 / minhash:128 / seed:1",
    "none / words:0 / minhash:128 / seed:1",
    "none / words:1025 / minhash:128 / seed:1",
    "none / lines:5 / minhash:128 / seed:1",
    "none / words:5 / minhash:0 / seed:1",
    "none / words:5 / minhash:65537 / seed:1",
    "none / words:5 / simhash:64 / seed:1",
]
MISMATCHES = [
    ("casefold / chars:5 / minhash:64 / seed:2", "normalize"),
    ("nfkc+casefold+keep-space / words:5 / minhash:128 / seed:1", "normalize"),
    ("nfkc+casefold / words:5,short=reject / minhash:64 / seed:2", "shingle"),
    ("nfkc+casefold / words:5 / minhash:64 / seed:2", "sketch"),
    ("nfkc+casefold / words:5 / minhash:128 / seed:2", "seed"),
]

SOURCE_POINTS = """
20 5 0.549280 0.641514 0.508696 0.526363
20 10 0.741134 0.641514 0.713229 0.733735
20 50 0.941845 0.641514 0.934643 0.941483
25 8 0.668740 0.639603 0.637690 0.658083
50 4 0.376060 0.635830 0.342541 0.350402
100 12 0.681292 0.633968 0.660607 0.676417
15 80 0.966716 0.644736 0.962020 0.966574
30 40 0.918485 0.638338 0.909845 0.917923
60 20 0.814878 0.635208 0.799850 0.812824
120 10 0.619558 0.633659 0.597089 0.613116
"""
SOURCE_BANDINGS = [(20, 5), (20, 10), (25, 8), (50, 4), (100, 12), (20, 50)]
SOURCE_CURVES = """
0.2 0.006381 0.000002 0.000064 0.076943 0.000000 0.000000
0.3 0.047494 0.000118 0.001639 0.334122 0.000053 0.000000
0.4 0.186050 0.002095 0.016256 0.726559 0.001676 0.000000
0.5 0.470051 0.019351 0.093213 0.960321 0.024121 0.000000
0.6 0.801902 0.114231 0.345229 0.999032 0.195807 0.000000
0.7 0.974781 0.436216 0.773364 0.999999 0.751869 0.000000
0.8 0.999644 0.896869 0.989860 1.000000 0.999191 0.000285
0.9 1.000000 0.999811 0.999999 1.000000 1.000000 0.098182
0.95 1.000000 1.000000 1.000000 1.000000 1.000000 0.798372
"""
SOURCE_DEVIATIONS = [(400, 0.5, "0.025000"), (200, 0.6, "0.034641"), (10, 0.6, "0.154919"), (1000, 0.8, "0.012649")]

# --- weights ---------------------------------------------------------------------------------------------------------

# ln 2 is the sum of two parts, the first of which has 32 bits.
LN_2_UPPER, LN_2_LOWER = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")


def bits(number):
    return struct.unpack("<Q", struct.pack("<d", number))[0]


def ln(x):
    """Returns the natural logarithm by the same operations as the library. Floats of Python round in the same way."""
    m, k = math.frexp(x)
    if m < math.sqrt(0.5):
        m, k = m * 2.0, k - 1
    s = (m - 1.0) / (m + 1.0)
    c = [2.0 / (2 * i + 3) for i in range(10)]
    s2 = s * s
    s4 = s2 * s2
    s8 = s4 * s4
    s16 = s8 * s8
    first = (c[0] + c[1] * s2) + (c[2] + c[3] * s2) * s4
    second = (c[4] + c[5] * s2) + (c[6] + c[7] * s2) * s4
    tail = (first + second * s8) + (c[8] + c[9] * s2) * s16
    return k * LN_2_UPPER + (2.0 * s + (s * s2 * tail + k * LN_2_LOWER))


def weigh(document, documents, weighting):
    """Returns the shingles of a document that have a positive weight, with their weights."""
    weights = {}
    for shingle in sorted(set(document)):
        count = float(document.count(shingle))
        found = sum(shingle in other for other in documents)
        ratio = len(documents) / (found + 1.0)
        share = count / len(document)
        weight = {
            "none": 1.0,
            "count": count,
            "tf": share,
            "tf-idf": share * ln(ratio),
            "tf-idf,smooth": share * ln(1.0 + ratio),
        }[weighting]
        if weight > 0.0:
            weights[shingle] = weight
    return weights


def draw(key, salt):
    """Returns the draws of a shingle: the distance of the steps, the logarithm of the score, and the shift."""
    outline = ((key & M32) * (salt >> 32 | 1) + (salt & M32)) & M32
    outline ^= outline >> 15
    second = fmix64(key ^ salt)
    third = fmix64(second ^ GOLDEN)
    u1 = (((outline >> 16 & 0x7FF) << 32 | second >> 32) + 0.5) / 2.0**43
    u2 = (((outline & 0x7FF) << 32 | second & M32) + 0.5) / 2.0**43
    v1 = 1.0 - (((outline >> 27) << 16 | third >> 48) + 0.5) / 2.0**21
    v2 = 1.0 - (((outline >> 11 & 0x1F) << 16 | third >> 32 & 0xFFFF) + 0.5) / 2.0**21
    return -ln(u1 * u2), ln(-ln(v1 * v2)), ((third & M32) + 0.5) / 2.0**32


def register(key, sample):
    return min(fmix64((fmix64(key) + sample) & M64) >> 32, M32 - 1)


def samplers(weights, seed, registers):
    """Returns the keys of the shingles with their weights, and one salt per register."""
    numbers = splitmix64(seed)
    own = next(numbers)
    return [(fmix64(x ^ own), w) for x, w in sorted(weights.items())], list(islice(numbers, registers))


def icws(weights, seed, registers):
    """Returns a sample per register, as (key, step). It computes all draws; the library skips draws that cannot win."""
    elements, salts = samplers(weights, seed, registers)
    samples = []
    for salt in salts:
        places = []
        for key, weight in elements:
            distance, score, shift = draw(key, salt)
            step = math.floor(ln(weight) / distance + shift)
            places.append((score - distance * (step + (1.0 - shift)), key, step))
        samples.append(min(places, key=lambda place: place[0])[1:])
    return samples


def dart_cell(state, gap, limit):
    """Yields the darts of a cell below a limit, as 64 bits each."""
    reached = -ln(((gap ^ M32) + 0.5) / 2.0**32)
    while reached < limit:
        bits = fmix64(state)
        yield bits
        state = (state + GOLDEN) & M64
        reached -= ln(((bits >> 32 ^ M32) + 0.5) / 2.0**32)


def dart_row(key, seed, row, limit):
    """Yields the darts of a shingle in a row below a limit. The row is cut into cells that are four units wide."""
    salt = fmix64((seed + row * GOLDEN) & M64)
    state, gap = key ^ salt, ((key & M32) * (salt >> 32 | 1) + (salt & M32)) & M32
    while limit > 0.0:
        yield from dart_cell(state, gap, min(limit, 4.0))
        state, limit = (state + 0xA0761D6478BD642F) & M64, limit - 4.0
        gap = fmix64((state - GOLDEN) & M64) >> 32


def dart(weights, seed, registers):
    """Returns the name of the least dart per register. The search begins far below the first row with darts."""
    elements, (row_seed, *_) = samplers(weights, seed, 1)
    lowest = row = -math.frexp(max(weights.values()))[1] - 40
    least = [None] * registers
    while None in least:
        for key, weight in elements:
            for bits in dart_row(key, row_seed, row, math.ldexp(weight, row)):
                at = (bits >> 16 & 0xFFFF) * registers >> 16
                place = row - lowest, (bits & 0xFFFF) << 40 | bits >> 24
                least[at] = min(least[at] or place, place)
        row += 1
    return [min(fmix64(bits) >> 32, M32 - 1) for _, bits in least]


def unit(number):
    return ((number >> 12) + 0.5) / 2.0**52


def points(entropy, octave):
    numbers = splitmix64(fmix64((fmix64(entropy) + octave) & M64))
    part = unit(next(numbers))
    while part > 0.5:
        yield part
        part *= unit(next(numbers))


def cws(weights, seed, registers):
    """Returns a sample per register, as (key, octave, part of the octave)."""
    elements, salts = samplers(weights, seed, registers)
    samples = []
    for salt in salts:
        ranks = []
        for key, weight in elements:
            part, octave = math.frexp(weight)
            if part == 0.5:
                part, octave = 1.0, octave - 1
            entropy = key ^ salt
            here = list(points(entropy, octave))
            below = [(octave, p) for p in here if p <= part]
            above = [(octave, p) for p in here if p > part]
            lower = upper = octave
            while not below:
                lower -= 1
                below = [(lower, p) for p in points(entropy, lower)]
            while not above:
                upper += 1
                above = [(upper, p) for p in points(entropy, upper)]
            numbers = splitmix64(fmix64(entropy ^ GOLDEN))
            score = -ln(unit(next(numbers)) * unit(next(numbers)))
            z_octave, z = above[-1]
            ranks.append((Fraction(score / z) / Fraction(2) ** z_octave, key, *below[0]))
        samples.append(min(ranks, key=lambda rank: rank[0])[1:])
    return samples


# --- the files -------------------------------------------------------------------------------------------------------


def hex64(values):
    return [f"{value:016x}" for value in values]


def hex32(values):
    return [f"{value:08x}" for value in values]


def published(printed, computed):
    """Returns a printed number, after a check that it is correct in every digit."""
    assert abs(float(printed) - computed) <= 5.0001e-7, (printed, computed)
    return float(printed)


def hash_file():
    yield "fmix32", [
        dict(origin=origin, input=f"{x:08x}", output=f"{fmix32(x):08x}")
        for origin, values in [("docs/sources/hashing.md#murmurhash3 (murmur3 of the empty key)", [0, 1, M32]), (OURS, [2, 0x9E3779B9])]
        for x in values
    ]
    yield "fmix64", [
        dict(origin=origin, input=f"{x:016x}", output=f"{fmix64(x):016x}")
        for origin, values in [("docs/sources/hashing.md#finalisers", [0, 1, 2, 123456789]), (OURS, [M64, GOLDEN])]
        for x in values
    ]
    first = {seed: list(islice(splitmix64(seed), 4)) for seed in [0, 1, 2, 42, M64]}
    yield "splitmix64", [
        dict(
            origin="docs/sources/hashing.md#finalisers (first value); the others ours" if seed < 3 else OURS,
            seed=str(seed),
            output=hex64(values),
        )
        for seed, values in first.items()
    ]
    pairs = [(3, 5), (1 << 63, 2), (M64, M64), (K0, K1), (GOLDEN, 0x0123456789ABCDEF)]
    yield "fold_multiply", [
        dict(origin=OURS, a=f"{a:016x}", b=f"{b:016x}", output=f"{fold_multiply(a, b):016x}") for a, b in pairs
    ]
    assert (fmix64(1), fmix64(2), fmix64(123456789)) == (0xB456BCFC34C2CB2C, 0x3ABF2A20650683E7, 0x8F7C29206384F886)
    assert (fmix32(1), fmix32(M32)) == (0x514E28B7, 0x81F16F39)
    assert [first[s][0] for s in (0, 1, 2)] == [0xE220A8397B1DCDAF, 0x910A2DEC89025CC1, 0x975835DE1C9756CE]


def text_file():
    entries = []
    for name, source, *how in TEXTS:
        how = how[0] if how else "nfkc+casefold"
        text = normal(source, how)
        entries.append(dict(name=name, origin=RULE, how=how, source=source, normal=text, tokens=tokens(text)))
    for name, source, text in MARKUP:
        how, origin = "nfkc+casefold+strip-markup", OURS + ", by hand"
        entries.append(dict(name=name, origin=origin, how=how, source=source, normal=text, tokens=tokens(text)))
    yield "text", entries


def shingle_file():
    words = "a the Straße 中 ไ 𠮷 sixteen_bytes_ab seventeen_bytes_a".split()
    words += ["é" * 16, "é" * 17, "x" * 48, "x" * 49, "_" * 200, "\u0301"]
    yield "token_hash", [dict(origin=OURS, token=w, hash=f"{token_hash(w):016x}") for w in words]
    chars = ["\0", " ", "a", "b", "é", "ж", "中", "ไ", "한", "𠮷", "\U0010ffff"]
    yield "char_hash", [dict(origin=OURS, char=c, hash=f"{char_hash(c):016x}") for c in chars]
    units = list(islice(splitmix64(7), 6))
    entries = []
    for some, size in [(units, 1), (units, 2), (units, 5), (units, 6), (units, 7), ([0, 0, 1], 2), ([M64] * 3, 2)]:
        windows = [window_hash(some[i : i + size]) for i in range(len(some) - size + 1)]
        entries.append(dict(origin=OURS, size=size, units=hex64(some), windows=hex64(windows)))
    yield "window_hash", entries
    yield "text", [
        dict(name=name, origin=OURS, source=source, shingles={s: hex64(shingles(source, s)) for s in SHINGLINGS})
        for name, source in SHINGLED
    ]
    # The hash has separate code for some classes of lengths, so each class has a text with and one without shingles.
    longer = [("of %d tokens" % n, " ".join(f"w{i}" for i in range(n))) for n in (20, 34, 140, 300)]
    signs = [("%d signs" % n, "!?" * (n // 2) + "." * (n % 2)) for n in (1, 3, 7, 12, 60, 200, 300)]
    yield "equality", [
        dict(name=name, origin=OURS_LATER, source=source, keys={s: equality_key(source, s) for s in ("words:5", "chars:5")})
        for name, source in SHINGLED + longer + signs
    ]


SENTENCE = "The quick brown fox jumps over the lazy dog, and the quick brown fox runs on."
CHINESE = "敏捷的棕色狐狸跳过了懒狗，然后继续奔跑。"


def minhash_file():
    random = list(islice(splitmix64(42), 20))
    yield "fold", [
        dict(origin=OURS, shingle=f"{x:016x}", seed=f"{seed:08x}", key=f"{fold(x, seed):08x}")
        for x in [0, 1, 1 << 32, M64, random[0]]
        for seed in [0, 1, 0x910A2DEC]
    ]
    entries = []
    for seed in [0, 1, 2, 42, M64]:
        fold_seed, multipliers, offsets = family(seed, 8)
        entries.append(
            dict(
                origin=OURS,
                seed=str(seed),
                fold_seed=f"{fold_seed:08x}",
                multipliers=hex32(multipliers),
                offsets=hex32(offsets),
            )
        )
    yield "coefficients", entries

    sets = {
        "empty": [],
        "zero": [0],
        "one": [1],
        "ids 0 to 9": list(range(10)),
        "ids 5 to 14": list(range(5, 15)),
        "upper halves": [i << 32 for i in range(10)],
        "largest": [M64, M64 - 1],
        "random": random,
    }
    cases = [(name, seed, 8) for name in sets for seed in ([1] if name == "empty" else [1, 2, M64])]
    cases += [("ids 0 to 9", 1, 128), ("random", 1, 128), ("random", 42, 128)]
    yield "sketch", [
        dict(
            name=name,
            origin=OURS,
            registers=registers,
            seed=str(seed),
            shingles=hex64(sets[name]),
            sketch=hex32(sketch(sets[name], seed, registers)),
        )
        for name, seed, registers in cases
    ]

    entries = []
    some = [n & M32 for n in islice(splitmix64(9), 13)]
    for name, registers, bandings in [
        ("thirteen registers", some, [(1, 1), (13, 1), (6, 2), (4, 3), (3, 4), (1, 13)]),
        ("equal registers", [7] * 8, [(8, 1), (4, 2), (2, 3)]),
        ("empty registers", [M32] * 8, [(4, 2)]),
    ]:
        for bands, rows in bandings:
            keys = hex64(band_keys(registers, bands, rows))
            entries.append(dict(name=name, origin=OURS, bands=bands, rows=rows, sketch=hex32(registers), keys=keys))
    yield "band_keys", entries

    entries = []
    for spec, source, bands, rows in [
        ("nfkc+casefold / words:5 / minhash:128 / seed:1", SENTENCE, 16, 6),
        ("nfkc+casefold / words:5 / minhash:128 / seed:1", CHINESE, 9, 13),
        ("nfkc+casefold / chars:5 / minhash:16 / seed:7", SENTENCE, 5, 3),
        ("casefold / words:2 / minhash:16 / seed:7", "Ｓtraße  ﬁne", 8, 2),
        ("nfkc+casefold / words:5 / minhash:8 / seed:1", "three words only", 4, 2),
        ("nfkc+casefold / words:5 / minhash:8 / seed:1", "?!", 4, 2),
    ]:
        how, shingling, method, seed = spec.split(" / ")
        registers = sketch(shingles(source, shingling, how), int(seed.split(":")[1]), int(method.split(":")[1]))
        keys = hex64(band_keys(registers, bands, rows))
        entries.append(
            dict(origin=OURS, spec=spec, source=source, sketch=hex32(registers), bands=bands, rows=rows, keys=keys)
        )
    yield "document", entries


def sketch_methods():
    """Returns the methods of the vectors: one of each kind and variant, as the library lists them, and some more.

    Listed methods have about 16 registers or stored bits. The others fill several words, mix three widths or pack other
    registers."""
    listed = [f"{base}:16" for base in WHOLE]
    listed += [f"b-bit:{bits}/minhash:16" for bits in range(1, 17)]
    listed += ["bit-hash/minhash:16", "fractional:1x0.5+2x0.5/minhash:16", "fractional,pooled:1x0.5+2x0.5/minhash:16"]
    listed += [f"xor:{n}/minhash:{16 << n}" for n in (1, 2, 3)]
    listed += ["three-quarter/minhash:21", "three-quarter,paper/minhash:24"]
    listed += ["connected:2x1/minhash:16", "connected:4x1/minhash:16", "odd:16/minhash:16"]
    listed += [f"sectional:s=2{form}/minhash:16" for form in ("", ",last", ",mask", ",tolerant", ",pre")]
    return listed + [
        "one-permutation:40",
        "super-minhash:5",
        "fast-similarity:5",
        "b-bit:3/minhash:40",
        "b-bit:5/minhash:100",
        "bit-hash/one-permutation:70",
        "fractional:1x0.2+2x0.3+4x0.5/super-minhash:50",
        "connected:3x2/fast-similarity:96",
        "odd:50/min-max:96",
        "sectional:s=5,last/minhash:16",
        "sectional:s=3,mask/minhash:16",
        "sectional:s=5,pre/one-permutation,rotation:16",
    ]


def sketch_file():
    random = list(islice(splitmix64(11), 90))
    documents = {
        "one": [7],
        "few": [3, 1, 4, 1, 5, 9, 2, 6, 5, 3],
        "many": random[:60] + random[10:20],
        "overlapping": random[:15] + random[60:90] + random[15:45],
    }
    yield "document", [dict(name=name, origin=OURS, shingles=hex64(of)) for name, of in documents.items()]
    yield "sketch", [
        dict(
            method=method,
            origin=OURS,
            seed=str(seed),
            words={name: hex32(words(method, documents[name], seed)) for name in documents},
            estimate=round(sketch_estimate(method, documents["many"], documents["overlapping"], seed), 6),
        )
        for method, seed in zip(sketch_methods(), cycle([1, 42, M64]))
    ]


def spec_file():
    yield "spec", [
        dict(origin=OURS, given=given, text=text, fingerprint=f"{fingerprint(text):016x}")
        for given, text in ((forms[0], forms[-1]) for forms in SPECS)
    ]
    yield "refused", [dict(origin=OURS, given=given) for given in REFUSED]
    default = SPECS[0][0]
    yield "mismatch", [dict(origin=OURS, left=default, right=right, field=field) for right, field in MISMATCHES]


WEIGHED = [[1, 1, 2, 3], [1, 2, 4], [2, 3, 3, 5], [6, 1]]
WEIGHTS = {
    "example of docs/sources/weights.md": {1: 1.0, 2: 2.5, 3: 0.3},
    "example of docs/sources/weights.md, other": {1: 1.5, 2: 2.0, 4: 0.4},
    "one": {7: 5.0},
    "powers of two": {x: 2.0 ** (x % 5 - 2) for x in range(20)},
    "unit": {x: 1.0 for x in islice(splitmix64(3), 40)},
    "tiny and huge": {1: 1e-30, 2: 1e30, 3: 0.7e30, 4: 5e-324},
    "spread": {x: (i % 13 + 1) / (i % 7 + 1) for i, x in enumerate(islice(splitmix64(4), 60))},
}


def weighted_file():
    numbers = [1.0, 2.0, 0.5, 10.0, 4 / 3, 1.4142135623730951, 0.7071067811865475, 1e-30, 1e30, 5e-324, 1.8]
    yield "ln", [dict(origin=OURS, x=f"{bits(x):016x}", ln=f"{bits(ln(x)):016x}") for x in numbers]
    yield "weights", [
        dict(
            origin="docs/sources/weights.md#tf-idf" if weighting == "tf-idf" else OURS,
            weighting=weighting,
            documents=[hex64(document) for document in WEIGHED],
            document=at,
            shingles=hex64(weights),
            weights=hex64(map(bits, weights.values())),
        )
        for weighting in ["none", "count", "tf", "tf-idf", "tf-idf,smooth"]
        for at, weights in enumerate(weigh(document, WEIGHED, weighting) for document in WEIGHED)
    ]
    entries = []
    for key, salt in zip(islice(splitmix64(5), 6), islice(splitmix64(6), 6)):
        distance, score, shift = (f"{bits(part):016x}" for part in draw(key, salt))
        entries.append(
            dict(origin=OURS, key=f"{key:016x}", salt=f"{salt:016x}", distance=distance, log_score=score, shift=shift)
        )
    yield "draw", entries
    entries = []
    for name, weights in WEIGHTS.items():
        for seed, registers in [(1, 24), (M64, 5)]:
            samples = icws(weights, seed, registers)
            for method, sketch in [
                ("dart", dart(weights, seed, registers)),
                ("icws", [register(key, step & M64) for key, step in samples]),
                (
                    "cws",
                    [
                        register(key, fmix64(octave & M64) ^ bits(part))
                        for key, octave, part in cws(weights, seed, registers)
                    ],
                ),
                ("zero-bit", [register(key, 0) for key, _ in samples]),
            ]:
                entries.append(
                    dict(
                        name=name,
                        origin=OURS,
                        method=f"{method}:{registers}",
                        seed=str(seed),
                        shingles=hex64(sorted(weights)),
                        weights=hex64(bits(weights[x]) for x in sorted(weights)),
                        sketch=hex32(sketch),
                    )
                )
    yield "sketch", entries


def tune_file():
    entries = []
    for line in SOURCE_POINTS.split("\n")[1:-1]:
        bands, rows, star, at_star, half, steepest = line.split()
        b, r = int(bands), int(rows)
        assert published(star, (1 / b) ** (1 / r)) and published(at_star, curve((1 / b) ** (1 / r), b, r))
        entries.append(
            dict(
                origin="docs/sources/banding.md#threshold",
                bands=b,
                rows=r,
                root_point=float(star),
                root_probability=float(at_star),
                half_point=published(half, half_point(b, r)),
                steepest_point=published(steepest, steepest_point(b, r)),
            )
        )
    yield "points", entries
    table = [line.split() for line in SOURCE_CURVES.split("\n")[1:-1]]
    entries = [
        dict(
            origin="docs/sources/banding.md#threshold",
            bands=bands,
            rows=rows,
            similarities=[float(row[0]) for row in table],
            probabilities=[published(row[column], curve(float(row[0]), bands, rows)) for row in table],
        )
        for column, (bands, rows) in enumerate(SOURCE_BANDINGS, 1)
    ]
    example = [published("0.604580", curve(0.94, 20, 50))]
    entries.append(dict(origin="docs/sources/banding.md#worked-example (E-41)", bands=20, rows=50, similarities=[0.94], probabilities=example))
    for bands, rows in [(16, 6), (9, 13), (1, 1), (128, 1), (1, 128)]:
        at = [0.0, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0]
        found = [round(curve(s, bands, rows), 6) for s in at]
        entries.append(dict(origin=OURS, bands=bands, rows=rows, similarities=at, probabilities=found))
    yield "curve", entries
    entries = []
    for threshold, recall, registers in [(0.8, 0.99, 128)] + [
        (t, p, k) for k in (64, 128, 256) for t in (0.5, 0.7, 0.8, 0.9, 0.95, 1.0) for p in (0.9, 0.95, 0.99, 0.999)
    ]:
        bands, rows = choose(threshold, recall, registers)
        entries.append(
            dict(
                origin=OURS,
                threshold=threshold,
                recall=recall,
                registers=registers,
                bands=bands,
                rows=rows,
                false_candidates=round(false_candidates(threshold, bands, rows), 6),
            )
        )
    yield "choice", entries
    yield "standard_deviation", [
        dict(origin="docs/sources/minhash.md#test-vectors", registers=k, similarity=j, value=published(printed, math.sqrt(j * (1 - j) / k)))
        for k, j, printed in SOURCE_DEVIATIONS
    ]


def winnow(window, shingles):
    """Returns the places of the fingerprints. The fingerprints are the least shingles of the windows.

    If several shingles of a window are equally small, one that was chosen before stays; else the last is chosen."""
    chosen = []
    for start in range(max(len(shingles) - window + 1, min(len(shingles), 1))):
        places = range(start, min(start + window, len(shingles)))
        least = min(shingles[at] for at in places)
        if chosen and chosen[-1] in places and shingles[chosen[-1]] == least:
            continue
        chosen.append(max(at for at in places if shingles[at] == least))
    return chosen


def winnow_file():
    ours = "ours, frozen 2026-11-15"
    paper = [77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98]
    entries = [("the paper's figure 2", 4, paper)]
    entries += [(ours, window, [fmix64(n * 7919 % 31) for n in range(size)]) for window, size in [(1, 5), (4, 3), (5, 40), (21, 60), (21, 0)]]
    entries.append((ours, 5, [9] * 20))
    return [("choose", [
        {"origin": origin, "window": window, "shingles": [f"{x:016x}" for x in shingles], "at": winnow(window, shingles)}
        for origin, window, shingles in entries
    ])]


HEADERS = {
    "hash": "Mixing functions. Numbers are hexadecimal, because they do not fit the signed integers of TOML; seeds are "
    "decimal.",
    "text": "Normalised texts, with their white space treated by the rule in `how`, and the tokens of the normalised text.",
    "shingle": "Hashes of tokens, of characters and of windows, and the shingles of whole texts under nfkc+casefold, in "
    "order and with repeats. Numbers are hexadecimal. Equality keys are sixteen bytes, the first one first.",
    "minhash": "Coefficients, sketches and band keys. Numbers are hexadecimal, seeds decimal. A shingle is folded with the "
    "32-bit seed `fold_seed` to `key`.",
    "sketch": "Documents, the words of their sketches by every method, and the estimate for `many` and `overlapping` with "
    "six digits after the point. Numbers are hexadecimal, seeds decimal. A document is its shingles in order, with repeats.",
    "spec": "Text forms of specs with their fingerprints (hexadecimal), forms that are refused, and the field that a "
    "comparison of two specs names.",
    "filter": "Tails, thresholds of looks, the error of all looks together, and expected comparisons (docs/sources/filter.md). "
    "Printed numbers are text and right to half a unit of their last digit. A missing threshold does not exist.",
    "tune": "The S-curve, its points, and the bands and rows chosen for a recall at a threshold, with six digits after "
    "the point.",
    "beyond": "Words of the sketches of the lab that the library does not have, of the shingles from `first` to `until` - 1, "
    "and the variance of C-MinHash over all pairs of permutations of a range of five.",
    "weighted": "Logarithms, weights, draws and sketches of weighted sets. Numbers are hexadecimal, floating-point numbers "
    "by their bits; seeds are decimal.",
    "winnow": "Fingerprints: the shingles of a document, the shingles per window, and the places of the chosen shingles.",
}


def quoted(text):
    """Returns a TOML string in which marks, controls and unusual spaces are visible as escapes."""
    out = []
    for c in text:
        if c in '"\\':
            out.append("\\" + c)
        elif c != " " and unicodedata.category(c)[0] in "MCZ":
            out.append(f"\\u{ord(c):04x}" if ord(c) <= 0xFFFF else f"\\U{ord(c):08x}")
        else:
            out.append(c)
    return '"' + "".join(out) + '"'


def value(item):
    if isinstance(item, str):
        return quoted(item)
    if isinstance(item, dict):
        lines = [f"{quoted(k)} = {value(v)}" for k, v in item.items()]
        return "\n".join(lines)
    if isinstance(item, list):
        line = "[" + ", ".join(map(value, item)) + "]"
        if len(line) <= 110:
            return line
        per_line = max(1, 104 // max(len(value(x)) + 2 for x in item))
        rows = [", ".join(map(value, item[i : i + per_line])) for i in range(0, len(item), per_line)]
        return "[\n    " + ",\n    ".join(rows) + ",\n]"
    return str(item)


def render(stem, tables):
    header = "\n".join(textwrap.wrap(HEADERS[stem], 110, initial_indent="# ", subsequent_indent="# "))
    out = [f"{header}\n#\n# reference.py writes and checks this file. A changed value is a breaking change.\n"]
    for table, entries in tables:
        for entry in entries:
            nested = {k: v for k, v in entry.items() if isinstance(v, dict)}
            plain = [f"{k} = {value(v)}" for k, v in entry.items() if k not in nested]
            out.append(f"\n[[{table}]]\n" + "\n".join(plain) + "\n")
            out += [f"\n[{table}.{k}]\n{value(v)}\n" for k, v in nested.items()]
    return "".join(out)


def main():
    folder = Path(__file__).resolve().parent
    wrong = []
    for stem in HEADERS:
        path, text = folder / f"{stem}.toml", render(stem, globals()[f"{stem}_file"]())
        if sys.argv[1:] == ["--write"]:
            path.write_text(text, encoding="utf-8", newline="\n")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            wrong.append(path.name)
    if wrong:
        sys.exit(f"these differ from what is computed: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
