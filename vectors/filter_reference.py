"""A second implementation of the filter, with exact tails and with probabilities computed register by register.

`reference.py` writes and checks `filter.toml` with this module. Printed numbers are kept as text, as they are printed.
They are correct to half a unit of their last digit.
"""
from fractions import Fraction
from math import comb

OURS = "ours, frozen 2026-11-15"
TENTHS = range(100, 1000, 100)
FIFTIETHS = range(50, 1000, 50)
FIVE = (100, 200, 400, 600, 800)


def at_most(m, k, t):
    """Returns P(X <= m) exactly, where X is binomial with k trials of probability t."""
    a, b = t.numerator, t.denominator
    return Fraction(sum(comb(k, i) * a**i * (b - a) ** (k - i) for i in range(m + 1)), b**k)


def at_least(m, k, t):
    return at_most(k - m, k, 1 - t)


def lower(k, t, e):
    """Returns the greatest m with P(X <= m) <= e for a binomial X, or None."""
    a, b = t.numerator, t.denominator
    term, total, m = (b - a) ** k, 0, None
    limit = e * b**k
    for i in range(k + 1):
        total += term
        if total > limit:
            return m
        m, term = i, term * (k - i) * a // ((i + 1) * (b - a))
    return m


def upper(k, t, e):
    m = lower(k, 1 - t, e)
    return None if m is None else k - m


def run(chance, registers, looks):
    """Returns P(ever rejected), P(ever accepted) and the mean number of comparisons.

    `chance(x, k)` is the probability that the next register matches, after x matches in k registers."""
    mass, rejected, accepted, comparisons = [1.0], 0.0, 0.0, 0.0
    looks = {k: (low, high) for k, low, high in looks}
    for k in range(registers):
        c = [chance(x, k) for x in range(k + 1)]
        stays = [m * (1 - p) for m, p in zip(mass, c)] + [0.0]
        comes = [0.0] + [m * p for m, p in zip(mass, c)]
        mass = [a + b for a, b in zip(stays, comes)]
        low, high = looks.get(k + 1, (None, None))
        for stop in (range(0, -1 if low is None else low + 1), range(k + 2 if high is None else high, k + 2)):
            stopped = sum(mass[x] for x in stop)
            comparisons += (k + 1) * stopped
            rejected, accepted = rejected + stopped * (stop.start == 0), accepted + stopped * (stop.start != 0)
            for x in stop:
                mass[x] = 0.0
    return rejected, accepted, comparisons + registers * sum(mass)


def exact(looks, t, total):
    """Returns the lower thresholds for the greatest error per look at which P(ever rejected) is at most `total`."""
    tails = sorted(
        tail for k in looks for m in range(k + 1) if total / len(looks) < (tail := at_most(m, k, t)) <= total
    )
    best = total / len(looks)
    for error in tails:
        stops = [(k, lower(k, t, error), None) for k in looks]
        if run(lambda x, k: float(t), looks[-1], stops)[0] > total:
            break
        best = error
    return [lower(k, t, best) for k in looks]


def default_looks(registers):
    looks = [16]
    while looks[-1] < registers:
        looks.append(looks[-1] + max(16, -(-(looks[-1] // 8) // 16) * 16))
    return looks[:-1] + [registers]


def thresholds(looks, t, e):
    return [(k, lower(k, t, e), upper(k, t, e)) for k in looks]


def printed(text, computed):
    """Returns a printed number, after a check that it is correct in every digit."""
    mantissa, _, exponent = text.partition("e")
    unit = Fraction(10) ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    assert abs(Fraction(text) - Fraction(computed)) <= unit * Fraction(500001, 10**6), (text, float(computed))
    return text


TAILS = """
50 2.13925e-11 5.17989e-12 1.000000 1.000000
55 1.43266e-08 4.21518e-09 1.000000 1.000000
60 3.60842e-06 1.29218e-06 0.999996 0.999999
61 9.68379e-06 3.60842e-06 0.999990 0.999996
65 3.36087e-04 1.47140e-04 0.999664 0.999853
70 1.12490e-02 6.05934e-03 0.988751 0.993941
75 0.131353 0.0874754 0.868647 0.912525
80 0.539839 0.440538 0.460161 0.559462
85 0.919556 0.871494 0.0804437 0.128506
90 0.997666 0.994304 2.33356e-03 5.69638e-03
95 0.999996 0.999981 3.70317e-06 1.86801e-05
100 1 1 0 2.03704e-10
"""

THRESHOLDS = """
0.8 10 3 - 1 -
0.8 50 30 49 26 -
0.8 100 66 92 61 96
0.8 200 141 178 133 183
0.8 400 293 345 283 353
0.8 600 448 510 436 521
0.8 800 603 675 589 687
0.7 100 54 84 49 89
0.7 400 250 309 239 319
0.5 10 0 10 - -
0.5 100 34 66 28 72
0.5 200 77 123 69 131
0.5 800 355 445 339 461
0.3 10 - 9 - 10
0.3 100 16 46 11 51
0.3 400 91 150 81 161
0.3 800 200 282 185 297
"""

RATES = """
0.8 100 61 96 0.613861 0.049505
0.8 200 133 183 0.666667 0.089552
0.8 400 283 353 0.708229 0.119701
0.8 600 436 521 0.727121 0.133111
0.8 800 589 687 0.736579 0.142322
0.5 100 28 72 0.287129 0.287129
0.5 200 69 131 0.348259 0.348259
0.5 400 157 243 0.394015 0.394015
0.5 600 247 353 0.412646 0.412646
0.5 800 339 461 0.424469 0.424469
0.3 100 11 51 0.118812 0.495050
0.3 200 33 90 0.169154 0.552239
0.3 400 81 161 0.204489 0.598504
0.3 600 132 230 0.221298 0.617304
0.3 800 185 297 0.232210 0.629213
"""

SPENT = [
    ("1e-2", [100], "6.06e-3", "5.70e-3"),
    ("1e-2", TENTHS, "3.35e-2", "3.45e-2"),
    ("1e-2", range(10, 1000, 10), "7.70e-2", "6.80e-2"),
    ("1e-3", TENTHS, "4.21e-3", "4.28e-3"),
    ("1e-5", FIVE, "3.44e-5", "3.21e-5"),
    ("1e-5", TENTHS, "4.85e-5", "4.77e-5"),
    ("1e-5", FIFTIETHS, "8.13e-5", "6.57e-5"),
    ("1e-5", range(1, 1000), "2.20e-4", "1.78e-4"),
]

COMPARISONS = [
    ("0.4", "100.0"), ("0.5", "101.0"), ("0.6", "140.6"), ("0.7", "397.6"), ("0.75", "908.2"), ("0.8", "999.9"),
    ("0.85", "885.6"), ("0.9", "318.9"), ("0.95", "157.6"), ("0.99", "100.3"),
]  # fmt: skip


def rows(table):
    return [line.split() for line in table.split("\n")[1:-1]]


def some(**entry):
    """Returns an entry without the values that are None."""
    return {key: item for key, item in entry.items() if item is not None}


def shuffle(registers):
    state, order = 0x66696C7465722031, list(range(registers))
    for i in range(registers - 1, 0, -1):
        state = state + 0x9E3779B97F4A7C15 & (1 << 64) - 1
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & (1 << 64) - 1
        z = (z ^ z >> 27) * 0x94D049BB133111EB & (1 << 64) - 1
        other = (z ^ z >> 31) * (i + 1) >> 64
        order[i], order[other] = order[other], order[i]
    return order


def filter_file():
    t = Fraction("0.8")
    entries = []
    for m, below_or_at, below, above, at_or_above in rows(TAILS):
        x = int(m)
        values = [at_most(x, 100, t), at_most(x - 1, 100, t), at_least(x + 1, 100, t), at_least(x, 100, t)]
        texts = [printed(*pair) for pair in zip([below_or_at, below, above, at_or_above], values)]
        names = ["at_most", "below", "above", "at_least"]
        origin = "docs/sources/filter.md#thresholds (E-47)"
        entries.append(dict(origin=origin, threshold=0.8, look=100, matches=x, **dict(zip(names, texts))))
    checks = [
        ("0.8", 100, "at_most", 61, "9.683793e-06"), ("0.8", 100, "at_most", 62, "2.497e-05"),
        ("0.8", 100, "at_least", 96, "3.703173e-06"), ("0.8", 100, "at_least", 95, "1.868007e-05"),
        ("0.5", 100, "at_most", 28, "6.289575e-06"), ("0.3", 100, "at_most", 11, "5.659629e-06"),
        ("0.3", 100, "at_least", 51, "9.034686e-06"), ("0.8", 800, "at_most", 589, "7.855732e-06"),
        ("0.8", 800, "at_least", 687, "9.578478e-06"),
    ]  # fmt: skip
    for threshold, k, name, m, text in checks:
        text = printed(text, globals()[name](m, k, Fraction(threshold)))
        row = dict(origin="docs/sources/filter.md#thresholds", threshold=float(threshold), look=k, matches=m)
        entries.append(row | {name: text})
    yield "tail", entries

    entries = []
    for threshold, k, *texts in rows(THRESHOLDS):
        of_errors = [("1e-3", texts[:2]), ("1e-5", texts[2:])]
        for error, pair in of_errors:
            found = [side(int(k), Fraction(threshold), Fraction(error)) for side in (lower, upper)]
            assert found == [None if text == "-" else int(text) for text in pair], (threshold, k, found)
            row = dict(origin="docs/sources/filter.md#thresholds (E-48, E-58)", threshold=float(threshold), look=int(k))
            entries.append(some(**row, error=float(error), lower=found[0], upper=found[1]))
    bonferroni = {100: (58, 97), 200: (130, 185), 300: (204, 271), 500: (355, 441), 900: (660, 775)}
    for k, pair in bonferroni.items():
        error = Fraction("1e-5") / 9
        assert (lower(k, t, error), upper(k, t, error)) == pair
        row = dict(origin="docs/sources/filter.md#several-looks, a ninth of 1e-5", threshold=0.8, look=k, error=1e-5 / 9)
        entries.append(row | dict(lower=pair[0], upper=pair[1]))
    yield "threshold", entries

    entries = []
    for error, looks, rejected, accepted in SPENT:
        found = run(lambda x, k: 0.8, 1000, thresholds(looks, t, Fraction(error)))
        row = dict(origin="docs/sources/filter.md#several-looks (E-51)", threshold=0.8, registers=1000, error=float(error))
        texts = dict(rejected=printed(rejected, found[0]), accepted=printed(accepted, found[1]))
        entries.append(row | dict(looks=list(looks)) | texts)
    yield "spent", entries

    entries = []
    for total, looks, error, above in [
        ("1e-5", TENTHS, "2.23e-6", "2.24e-6"), ("1e-5", FIFTIETHS, "1.29e-6", "1.30e-6"),
        ("1e-3", TENTHS, "2.19e-4", "2.20e-4"), ("1e-3", FIFTIETHS, "1.47e-4", "1.48e-4"),
    ]:  # fmt: skip
        most = [max(run(lambda x, k: 0.8, 1000, thresholds(looks, t, Fraction(e)))[:2]) for e in (error, above)]
        assert most[0] <= float(total) < most[1]
        row = dict(origin="docs/sources/filter.md#several-looks", threshold=0.8, registers=1000, looks=list(looks))
        entries.append(row | dict(total=float(total), error=float(error), too_large=float(above)))
    yield "budget", entries

    entries = []
    for threshold, registers in [("0.8", 64), ("0.8", 128), ("0.5", 128), ("0.9", 128), ("0.8", 192)]:
        looks = default_looks(registers)
        found = zip(looks, exact(looks, Fraction(threshold), Fraction("1e-6")))
        found = [(k, m) for k, m in found if m is not None]
        row = dict(origin=OURS, threshold=float(threshold), registers=registers, total=1e-6)
        entries.append(row | dict(looks=[k for k, _ in found], lower=[m for _, m in found]))
    yield "default", entries

    of_tenths = thresholds(TENTHS, t, Fraction("1e-5"))
    yield "comparisons", [
        dict(
            origin="docs/sources/filter.md#expected-work",
            threshold=0.8,
            registers=1000,
            error=1e-5,
            looks=list(TENTHS),
            probability=float(r),
            mean=printed(mean, run(lambda x, k: float(r), 1000, of_tenths)[2]),
        )
        for r, mean in COMPARISONS
    ]
    yield "even_spread", [
        dict(
            origin="docs/sources/filter.md#expected-work",
            threshold=float(threshold),
            registers=1000,
            error=1e-5,
            looks=list(FIVE),
            mean=printed(
                mean,
                run(
                    lambda x, k: (x + 1) / (k + 2),
                    1000,
                    thresholds(FIVE, Fraction(threshold), Fraction("1e-5")),
                )[2],
            ),
        )
        for threshold, mean in [("0.8", "268.3"), ("0.5", "309.9"), ("0.3", "292.9")]
    ]
    entries = []
    for threshold, k, low, high, rate_low, rate_high in rows(RATES):
        pair = (lower(int(k), Fraction(threshold), Fraction("1e-5")), upper(int(k), Fraction(threshold), Fraction("1e-5")))
        assert pair == (int(low), int(high))
        rejection = printed(rate_low, Fraction(pair[0] + 1, int(k) + 1))
        acceptance = printed(rate_high, Fraction(int(k) - pair[1] + 1, int(k) + 1))
        row = dict(origin="docs/sources/experiments.md#filter", threshold=float(threshold), look=int(k), error=1e-5)
        entries.append(row | dict(lower=pair[0], upper=pair[1], rejection=rejection, acceptance=acceptance))
    yield "rate", entries
    yield "shuffle", [dict(origin=OURS, registers=k, order=shuffle(k)) for k in (1, 2, 16, 128)]
