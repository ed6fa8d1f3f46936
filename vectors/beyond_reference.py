"""A second implementation of the sketches of the lab that the library does not have.

`reference.py` writes and checks `beyond.toml` with this module. The sketches are computed from their definitions: no
shingle stops early, and minima are taken over all values.
"""
from fractions import Fraction
from itertools import permutations
from math import floor, log

OURS = "ours, frozen 2026-11-20"
M64 = (1 << 64) - 1
#: First shingle and the shingle after the last, number of registers, seed.
CASES = ((1, 4, 4, 7), (0, 300, 16, 1))


def fmix64(h):
    h = (h ^ h >> 33) * 0xFF51AFD7ED558CCD & M64
    h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53 & M64
    return h ^ h >> 33


class Numbers:
    """The sequence of SplitMix64."""

    def __init__(self, seed):
        self.state = seed

    @classmethod
    def of_shingle(cls, seed, shingle):
        return cls(fmix64(shingle ^ fmix64(seed ^ 0x6265796F6E642121)))

    def next(self):
        self.state = self.state + 0x9E3779B97F4A7C15 & M64
        z = (self.state ^ self.state >> 30) * 0xBF58476D1CE4E5B9 & M64
        z = (z ^ z >> 27) * 0x94D049BB133111EB & M64
        return z ^ z >> 31

    def below(self, bound):
        return self.next() * bound >> 64

    def exponential(self):
        return -log(((self.next() >> 11) + 1) / 2**53)


def c_minhash(shingles, registers, seed):
    keys = Numbers(seed)
    sigma, pi = keys.next(), keys.next()

    def value(shingle, k):
        return fmix64((fmix64(shingle ^ sigma) - k & M64) ^ pi)

    return [min(value(shingle, k) for shingle in shingles) >> 32 for k in range(registers)]


def prob_minhash(shingles, registers, seed):
    points = []
    reach = float("inf")
    for shingle in shingles:
        numbers, at = Numbers.of_shingle(seed, shingle), 0.0
        for _ in range(50 * registers):
            at += numbers.exponential()
            points.append((at, numbers.below(registers), fmix64(shingle) >> 32))
        reach = min(reach, at)
    first = {}
    for at, register, word in sorted(points):
        first.setdefault(register, (at, word))
    assert len(first) == registers and all(at < reach for at, _ in first.values()), "more points are needed"
    return [first[register][1] for register in range(registers)]


def set_sketch(shingles, registers, seed, base, limit):
    words = [0] * registers
    for shingle in shingles:
        numbers, value, places = Numbers.of_shingle(seed, shingle), 0.0, list(range(registers))
        for step in range(registers):
            value += numbers.exponential() / (20.0 * (registers - step))
            level = min(max(floor(1.0 - log(value) / log(base)), 0), limit + 1)
            other = step + numbers.below(registers - step)
            places[step], places[other] = places[other], places[step]
            words[places[step]] = max(words[places[step]], level)
    return words


def hyper_minhash(shingles, buckets, seed, exponent_bits, mantissa_bits):
    least = [None] * buckets
    for shingle in shingles:
        numbers = Numbers.of_shingle(seed, shingle)
        bucket = numbers.next() * buckets >> 64
        value = numbers.next()
        least[bucket] = value if least[bucket] is None else min(least[bucket], value)
    most = 2**exponent_bits - 1

    def word(value):
        """Returns the exponent in descending order, and the bits after the first one bit."""
        zeros = min(64 - value.bit_length(), most)
        bits = format(value, "064b")[zeros + (zeros < most) :] + "0" * 64
        return most - zeros << mantissa_bits | int(bits[:mantissa_bits], 2)

    return [2**32 - 1 if value is None else word(value) for value in least]


SKETCHES = {
    "C-MinHash": c_minhash,
    "ProbMinHash": prob_minhash,
    "SetSketch, 6 bits": lambda *of: set_sketch(*of, 1.3, 62),
    "SetSketch, 8 bits": lambda *of: set_sketch(*of, 1.08, 254),
    "SetSketch, 16 bits": lambda *of: set_sketch(*of, 1.001, 65534),
    "HyperMinHash, 8 bits": lambda *of: hyper_minhash(*of, 4, 4),
    "HyperMinHash, 16 bits": lambda *of: hyper_minhash(*of, 6, 10),
}


def c_minhash_variance(registers, a, b, size=5):
    """Returns the similarity of two sets, and the variance of C-MinHash over all pairs of permutations of a range.

    A set matters only by its permuted members, so that each pair of permuted sets is counted once, with its weight."""
    placed = {}
    for sigma in permutations(range(size)):
        sets = tuple(frozenset(sigma[i] for i in members) for members in (a, b))
        placed[sets] = placed.get(sets, 0) + 1
    total = squares = Fraction(0)
    count = 0
    for pi in permutations(range(size)):
        for (of_a, of_b), weight in placed.items():
            agree = sum(
                min(pi[(i - k) % size] for i in of_a) == min(pi[(i - k) % size] for i in of_b) for k in range(registers)
            )
            share = Fraction(agree, registers)
            total, squares, count = total + weight * share, squares + weight * share**2, count + weight
    mean = total / count
    assert mean == Fraction(len(set(a) & set(b)), len(set(a) | set(b))), "the estimator is unbiased"
    return mean, squares / count - mean**2


def beyond_file():
    words = [
        {
            "origin": OURS,
            "sketch": name,
            "first": first,
            "until": until,
            "registers": registers,
            "seed": seed,
            "words": sketch(range(first, until), registers, seed),
        }
        for name, sketch in SKETCHES.items()
        for first, until, registers, seed in CASES
    ]
    variances = []
    for registers, a, b in ((3, [0, 1, 2], [1, 2, 3]), (4, [0, 1, 2], [1, 2, 3]), (4, [0, 1], [1, 4, 2])):
        mean, variance = c_minhash_variance(registers, a, b)
        variances.append({
            "origin": "all pairs of permutations of a range of five",
            "registers": registers,
            "a": a,
            "b": b,
            "similarity": float(mean),
            "variance": float(variance),
        })
    return [("words", words), ("c_minhash_variance", variances)]
