"""The OpenAPI document is valid, and clients that others generate of it work with the real server.

    python tests/api/check.py path/to/minwise path/to/node

1. openapi-spec-validator reads the document, and every part of it has a description.
2. openapi-python-client makes a client of it, whose modules are all imported. The client adds documents, checks, pages through
   the list, waits for a job and removes documents.
3. openapi-typescript makes types of it, and tsc compiles a program that uses them.
"""

import datetime
import importlib
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from openapi_spec_validator import validate

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
DOCUMENT = ROOT / "docs" / "reference" / "openapi.json"
OPERATIONS = {"get", "put", "post", "delete", "patch", "head", "options", "trace"}


def operations(api):
    for path, item in api["paths"].items():
        for method, operation in item.items():
            if method in OPERATIONS:
                yield f"{method} {path}", operation


def check_document(api):
    """The document is valid, and has words for everything."""
    validate(api)
    ids = [operation["operationId"] for _, operation in operations(api)]
    assert len(ids) == len(set(ids)), f"an operation id is there twice: {sorted(ids)}"
    without = []

    def need(where, described):
        # A field that may be null describes the alternative that is not.
        alternatives = [described, *described.get("oneOf", [])[:1]]
        text = next((part[key] for part in alternatives for key in ["description", "summary"] if key in part), "")
        if len(text) < 4:
            without.append(where)

    for name, operation in operations(api):
        need(name, operation)
        for parameter in operation.get("parameters", []):
            need(f"{name} parameter {parameter['name']}", parameter)
        for status, response in operation["responses"].items():
            need(f"{name} response {status}", response)
        if "requestBody" in operation:
            need(f"{name} body", operation["requestBody"])
        assert "default" in operation["responses"], f"{name} does not say how it fails"

    def fields(where, schema):
        for name, field in schema.get("properties", {}).items():
            need(f"{where}.{name}", field)
            fields(f"{where}.{name}", field)
        for part in ["allOf", "oneOf", "anyOf"]:
            for number, inner in enumerate(schema.get(part, [])):
                fields(f"{where}[{number}]", inner)

    for name, schema in api["components"]["schemas"].items():
        need(f"schema {name}", schema)
        fields(f"schema {name}", schema)
    for tag in api["tags"]:
        need(f"tag {tag['name']}", tag)
    assert not without, "there is no description of " + ", ".join(without)


def check_bounds(api):
    """Numbers that the server bounds are bounded in the document."""
    schemas = api["components"]["schemas"]
    for schema in ["CheckText", "CheckOptions"]:
        options = schemas[schema]["properties"]
        for share in ["threshold", "containment"]:
            assert (options[share]["minimum"], options[share]["maximum"]) == (0, 1), options[share]
        assert (options["top"]["minimum"], options["top"]["maximum"]) == (1, 1000)
        assert (options["candidates"]["minimum"], options["candidates"]["maximum"]) == (1, 10_000)
    assert schemas["ClustersRequest"]["properties"]["threshold"]["exclusiveMinimum"] == 0
    listing = {parameter["name"]: parameter for parameter in api["paths"]["/documents"]["get"]["parameters"]}
    limit = listing["limit"]["schema"]
    assert (limit["minimum"], limit["maximum"], limit["default"]) == (1, 500, 50), limit
    assert "file" in schemas["CheckFile"]["required"] and "file" in schemas["NewFiles"]["required"]


def generate(folder):
    """A client of the document, with every module imported."""
    target = folder / "minwise_client"
    made = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", "generate", "--path", DOCUMENT, "--meta", "none",
         "--output-path", target, "--fail-on-warning"],
        # It finds the formatter that it brings along by the path.
        env={**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])},
        capture_output=True, text=True,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    sys.path.insert(0, str(folder))
    package = importlib.import_module("minwise_client")
    modules = [module.name for module in pkgutil.walk_packages(package.__path__, "minwise_client.")]
    for module in modules:
        importlib.import_module(module)
    assert len(modules) > 40, modules
    return package


class Server:
    """`minwise serve` with an empty archive."""

    def __init__(self, minwise, folder):
        archive = folder / "archive"
        subprocess.run([minwise, "index", "create", archive, "--quiet"], check=True)
        self.process = subprocess.Popen(
            [minwise, "serve", "--quiet", "--listen", "127.0.0.1:0", "--rate", "off", "--index", archive],
            stdout=subprocess.PIPE, text=True,
        )
        self.url = self.process.stdout.readline().strip()
        assert self.url.startswith("http"), "`minwise serve` ended before it printed its address"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def use(package, server):
    """Adds, checks, pages and removes by the generated client."""
    from minwise_client import models, types
    from minwise_client.api.archive import get_health, get_stats
    from minwise_client.api.check import check, compare_pair
    from minwise_client.api.clusters import find_clusters
    from minwise_client.api.documents import (
        add_documents, get_document, list_documents, put_document, remove_document, similar_documents,
    )
    from minwise_client.api.jobs import get_job

    client = package.Client(base_url=f"{server.url}/api/v1")
    assert get_health.sync(client=client).status == "ok"

    text = " ".join(f"word{number}" for number in range(80))
    documents = [
        models.NewDocument(id=f"d{number}", text=f"{text} of its own {number} {number * 7}", title=f"Title {number}",
                           metadata=models.NewDocumentMetadata.from_dict({"year": 2000 + number}))
        for number in range(7)
    ]
    added = add_documents.sync(client=client, body=models.NewDocuments(documents=documents + [
        models.NewDocument(id="..", text="no document can have this id"),
    ]))
    assert isinstance(added, models.Added), added
    assert added.counts.added == 7 and added.added[0] == "d0", added
    [reject] = added.rejected
    assert (reject.id, reject.reason, reject.file) == ("..", "bad_id", None), reject

    file = types.File(payload=open_bytes(f"<!doctype html><title>A page</title><p>{text}"), file_name="page.html",
                      mime_type="text/html")
    added = add_documents.sync(client=client, body=models.NewFiles(file=[file]))
    assert isinstance(added, models.Added) and added.added == ["page.html"], added
    assert get_document.sync("page.html", client=client).title == "A page"

    answer = check.sync(client=client, body=models.CheckText(
        text=text, threshold=0.6, top=3, until=datetime.date(2999, 12, 31), weight=models.Weighting.COUNT,
    ))
    assert isinstance(answer, models.CheckAnswer), answer
    assert len(answer.matches) == 3 and answer.further == 5 and answer.compared == 8, answer
    best = answer.matches[0]
    assert best.id == "page.html" and best.similarity == 1.0 and best.reasons.similarity, best
    assert best.weighted == 1.0 and best.passages[0].tokens == 80 and best.passages[0].query == [0, len(text)], best
    yesterday = datetime.date.today() - datetime.timedelta(days=2)
    earlier = check.sync(client=client, body=models.CheckText(text=text, until=yesterday))
    assert earlier.matches == [], earlier
    file = types.File(payload=open_bytes(text), file_name="mine.txt", mime_type="text/plain")
    answer = check.sync(client=client, body=models.CheckFile(file=file, options=models.CheckOptions(top=1)))
    assert answer.query.title == "mine.txt" and answer.matches[0].id == "page.html", answer

    wrong = check.sync(client=client, body=models.CheckText(text=text, threshold=7.0))
    assert isinstance(wrong, models.Problem) and (wrong.status, wrong.code) == (422, "bad_setting"), wrong

    seen, after = [], types.UNSET
    while True:
        page = list_documents.sync(client=client, limit=3, after=after)
        seen += [document.id for document in page.documents]
        assert len(page.documents) <= 3
        if page.next_ is None:
            break
        after = page.next_
    assert sorted(seen) == sorted([f"d{number}" for number in range(7)] + ["page.html"]), seen
    wrong = list_documents.sync(client=client, limit=0)
    assert isinstance(wrong, models.Problem) and wrong.code == "bad_parameter", wrong

    similar = similar_documents.sync("d1", client=client, top=2)
    assert len(similar.matches) == 2 and similar.query.id == "d1", similar
    pair = compare_pair.sync(client=client, body=models.PairRequest(
        left=models.PairSideRequest(id="d1"), right=models.PairSideRequest(text=text, title="Mine"),
    ))
    assert pair.containment_of_right == 1.0 and pair.left.id == "d1" and pair.right.id is None, pair
    changed = put_document.sync("d2", client=client, body=models.NewContent(text="Something else."))
    assert isinstance(changed, models.Document) and changed.text == "Something else.", changed

    job = find_clusters.sync(client=client, body=models.ClustersRequest(threshold=0.5)).job
    for _ in range(600):
        state = get_job.sync(job, client=client)
        if state.state in (models.JobState.DONE, models.JobState.FAILED):
            break
        time.sleep(0.05)
    assert state.state == models.JobState.DONE and state.stage == "clusters", state
    assert isinstance(state.result, models.Clusters) and state.result.documents == 7, state

    removed = remove_document.sync("d3", client=client)
    assert isinstance(removed, models.Document) and removed.title == "Title 3", removed
    missing = get_document.sync("d3", client=client)
    assert isinstance(missing, models.Problem) and (missing.status, missing.code) == (404, "no_such_document"), missing
    assert get_stats.sync(client=client).documents == 7


def open_bytes(text):
    import io

    return io.BytesIO(text.encode())


def check_types(node, folder):
    """The types of openapi-typescript compile, and a program uses them."""
    bin = HERE / "node_modules"
    generated = folder / "generated.ts"
    run = lambda *words: subprocess.run([node, *words], capture_output=True, text=True, cwd=folder)
    made = run(bin / "openapi-typescript" / "bin" / "cli.js", DOCUMENT, "--output", generated)
    assert made.returncode == 0, made.stdout + made.stderr
    (folder / "uses.ts").write_text((HERE / "uses.ts").read_text())
    compiled = run(bin / "typescript" / "bin" / "tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "es2022",
                   "--moduleResolution", "bundler", "--noUncheckedIndexedAccess", "uses.ts")
    assert compiled.returncode == 0, compiled.stdout + compiled.stderr


def main():
    minwise, node = sys.argv[1:]
    api = json.loads(DOCUMENT.read_text())
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)

        def client():
            package = generate(folder)
            with Server(minwise, folder) as server:
                use(package, server)

        for name, test in [
            ("the document is valid and has a description of everything", lambda: check_document(api)),
            ("bounds are those of the server", lambda: check_bounds(api)),
            ("a Python client is generated and used", client),
            ("TypeScript types are generated and used", lambda: check_types(node, folder)),
        ]:
            try:
                test()
                passed += 1
                print(f"ok      {name}", flush=True)
            except Exception as error:  # One test that fails does not hide the others.
                failed += 1
                print(f"FAILED  {name}: {type(error).__name__}: {error}", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
