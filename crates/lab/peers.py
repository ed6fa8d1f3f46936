"""Runs another engine on the shingle sets of a corpus, for `minwise-lab run ours/dedup --peers PYTHON`.

    peers.py versions                                  prints one line per installed engine
    peers.py ENGINE FILE THRESHOLD BANDS ROWS          prints one line per near-duplicate pair of ENGINE

A line of FILE is a document: its shingles as numbers. Every engine gets the same sets, and the same bands and rows
instead of its own choice. The engines therefore differ only in their sketches and in the treatment of candidates.
Documents without shingles are left out.
"""

import importlib.metadata
import sys

SEED = 1


def datasketch(documents, threshold, bands, rows):
    from datasketch import MinHash, MinHashLSH

    registers = bands * rows
    index = MinHashLSH(num_perm=registers, params=(bands, rows))
    sketches = {}
    shingles = ([shingle.encode() for shingle in document] for document in documents.values())
    for number, sketch in zip(documents, MinHash.generator(shingles, num_perm=registers, seed=SEED)):
        for other in index.query(sketch):
            if sketches[other].jaccard(sketch) >= threshold:
                yield other, number
        index.insert(number, sketch)
        sketches[number] = sketch


def rensa(documents, threshold, bands, rows):
    from rensa import RMinHash, RMinHashLSH

    numbers = list(documents)
    sketches = RMinHash.from_token_sets(list(documents.values()), num_perm=bands * rows, seed=SEED)
    index = RMinHashLSH(threshold=threshold, num_perm=bands * rows, num_bands=bands)
    index.insert_pairs(enumerate(sketches))
    for at, candidates in enumerate(index.query_all(sketches)):
        for other in candidates:
            if other < at and sketches[other].jaccard(sketches[at]) >= threshold:
                yield numbers[other], numbers[at]


def gaoya(documents, threshold, bands, rows):
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(
        hash_size=32, jaccard_threshold=threshold, num_bands=bands, band_size=rows, analyzer="word"
    )
    # gaoya takes texts, so the shingles are written as words: numbers separated by spaces.
    numbers, texts = list(documents), [" ".join(document) for document in documents.values()]
    index.par_bulk_insert_docs(numbers, texts)
    for number, others in zip(numbers, index.par_bulk_query(texts, return_similarity=False)):
        yield from ((other, number) for other in others if other < number)


ENGINES = {"datasketch": datasketch, "gaoya": gaoya, "rensa": rensa}


def versions():
    for name in ENGINES:
        try:
            print(name, importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            pass


def main():
    if sys.argv[1:] == ["versions"]:
        return versions()
    engine, path, threshold, bands, rows = sys.argv[1:]
    with open(path, encoding="ascii") as file:
        documents = {number: line.split() for number, line in enumerate(file) if line.strip()}
    for first, second in ENGINES[engine](documents, float(threshold), int(bands), int(rows)):
        print(first, second)


if __name__ == "__main__":
    main()
