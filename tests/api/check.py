"""Checks that the OpenAPI document is valid, and that clients generated from it work with the real server.

    python tests/api/check.py path/to/minwise path/to/node

1. openapi-spec-validator reads the document, and every part of it has a description.
2. At each bound and beside it, the server accepts the values that the document allows, and refuses all others.
3. openapi-python-client generates a client, whose modules are all imported. The client adds documents, checks, pages through
   the list, waits for a job and removes documents.
4. openapi-typescript generates types, and tsc compiles a program that uses them.
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
import urllib.error
import urllib.request
from pathlib import Path

from openapi_schema_validator import OAS31Validator
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
    """Checks that the document is valid, and that every part of it has a description."""
    validate(api)
    ids = [operation["operationId"] for _, operation in operations(api)]
    assert len(ids) == len(set(ids)), f"an operation id is there twice: {sorted(ids)}"
    without = []

    def need(where, described):
        # The first alternative counts, too, because a field that may be null has its description in it.
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


class Api:
    """Sends requests directly, because a generated client would not send values that the document forbids."""

    def __init__(self, server, api):
        self.url = f"{server.url}/api/v1"
        # The components are added to each schema, because references are resolved within the schema.
        self.components = {"components": api["components"]}

    def allows(self, schema, value):
        return OAS31Validator({**self.components, **schema}).is_valid(value)

    def status(self, method, path, body=None):
        data, headers = None, {}
        if isinstance(body, bytes):
            data, headers = body, {"Content-Type": "multipart/form-data; boundary=part"}
        elif body is not None:
            data, headers = json.dumps(body).encode(), {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code == 503:
                # Jobs of earlier requests still run and the server answers 503, so the request is repeated.
                time.sleep(0.1)
                return self.status(method, path, body)
            return error.code, json.load(error)


def parts(api, schema):
    """Yields the schema and its alternatives, with references followed."""
    if "$ref" in schema:
        schema = api["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    yield schema
    for kind in ["oneOf", "anyOf", "allOf"]:
        for part in schema.get(kind, []):
            yield from parts(api, part)


def probes(api, schema):
    """Returns values at and beside every bound of a schema, each value of an enumeration, and values of other types."""
    values = [None, True, "no such value", "none", "off", -1, 0.5, 1.5]
    for part in parts(api, schema):
        values += part.get("enum", [])
        for bound in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]:
            if bound in part:
                values += [part[bound] + step for step in (-1, -0.25, 0, 0.25, 1)]
        for bound in ["minLength", "maxLength"]:
            if bound in part:
                values += ["x" * max(part[bound] + step, 0) for step in (-1, 0, 1)]
    # Whole numbers are sent without a point, because 1 and 1.0 are the same number in JSON Schema, but not for every
    # parser.
    return [int(value) if isinstance(value, float) and value.is_integer() else value for value in values]


def check_bounds(api, server):
    """Checks that the real server accepts the values that the OpenAPI document allows, and refuses all others."""
    ask, schemas = Api(server, api), api["components"]["schemas"]
    text = " ".join(f"word{number}" for number in range(40))
    added, _ = ask.status("POST", "/documents", {"documents": [{"id": "d", "text": text}]})
    assert added == 201, added
    tried, wrong = 0, []

    def compare(name, schema, value, is_taken):
        nonlocal tried
        tried += 1
        if ask.allows(schema, value) != is_taken:
            said = "allows" if ask.allows(schema, value) else "forbids"
            wrong.append(f"the OpenAPI document {said} {name} = {value!r}, and the server {'takes' if is_taken else 'refuses'} it")

    def bounded(schema):
        keys = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "enum", "minLength", "maxLength"}
        return any(keys & part.keys() for part in parts(api, schema))

    def form(options):
        head = "--part\r\nContent-Disposition: form-data; name="
        file = f'{head}"file"; filename="f.txt"\r\nContent-Type: text/plain\r\n\r\n{text}\r\n'
        return f'{file}{head}"options"\r\n\r\n{json.dumps(options)}\r\n--part--\r\n'.encode()

    bodies = {
        "CheckText": lambda field: ("POST", "/check", {"text": text, **field}),
        "SubmissionOptions": lambda field: ("POST", "/check", form(field)),
        "ClustersRequest": lambda field: ("POST", "/clusters", field),
    }
    fields = 0
    for name, request in bodies.items():
        for field, schema in schemas[name]["properties"].items():
            if not bounded(schema):
                continue
            fields += 1
            for value in probes(api, schema):
                status, answer = ask.status(*request({field: value}))
                assert status in (200, 202, 400, 422), (name, field, value, status, answer)
                compare(f"{name}.{field}", schema, value, status < 300)
    pair = {"left": {"text": text}, "right": {"id": "d"}}
    for field, schema in schemas["SubmissionOptions"]["properties"].items():
        for value in probes(api, schema) if bounded(schema) else []:
            status, _ = ask.status("POST", "/pair", {**pair, "options": {field: value}})
            compare(f"pair.{field}", schema, value, status == 200)
    for path, address in [("/documents", "/documents"), ("/documents/{id}/similar", "/documents/d/similar")]:
        for parameter in api["paths"][path]["get"]["parameters"]:
            name, schema = parameter["name"], parameter["schema"]
            if parameter["in"] != "query" or not bounded(schema):
                continue
            fields += 1
            # Only numbers are tried, because every value in an address is text.
            for value in probes(api, schema):
                if type(value) in (int, float):
                    status, answer = ask.status("GET", f"{address}?{name}={value}")
                    assert status in (200, 400, 422), (path, name, value, status, answer)
                    compare(f"{path}?{name}", schema, value, status == 200)
    schema = schemas["NewDocument"]["properties"]["id"]
    for value in probes(api, schema):
        if isinstance(value, str):
            status, answer = ask.status("POST", "/documents", {"documents": [{"id": value, "text": text}]})
            assert status == 201, answer
            compare("NewDocument.id", schema, value, not answer["rejected"])
    # The forms of dates are listed, because the schema states no bounds for dates.
    for field in ["since", "until"]:
        schema = schemas["CheckText"]["properties"][field]
        for value in ["2026", "2026-02", "2026-03-01", "2026-03-01T12:00", "2026-03-01T12:00:00Z", None]:
            status, answer = ask.status("POST", "/check", {"text": text, field: value})
            assert status == 200, (value, answer)
            compare(f"CheckText.{field}", schema, value, True)
        assert ask.status("POST", "/check", {"text": text, field: "soon"})[0] == 422
    assert not wrong, "; ".join(wrong)
    assert fields >= 20 and tried > 300, f"only {tried} values of {fields} fields were tried"


def generate(folder):
    """Generates a client from the document, and imports every module of it."""
    target = folder / "minwise_client"
    made = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", "generate", "--path", DOCUMENT, "--meta", "none",
         "--output-path", target, "--fail-on-warning"],
        # The path is set, because the generator finds its own formatter through the path.
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
    """Runs `minwise serve` with an empty archive."""

    def __init__(self, minwise, archive):
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
    """Uses the generated client: adds, checks, pages and removes documents."""
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
        text=text, threshold=0.6, top=3, until="2999-12-31", weight=models.Weighting.COUNT,
    ))
    assert isinstance(answer, models.CheckAnswer), answer
    assert len(answer.matches) == 3 and answer.further == 5 and answer.compared == 8, answer
    best = answer.matches[0]
    assert best.id == "page.html" and best.similarity == 1.0 and best.reasons.similarity, best
    assert best.weighted == 1.0 and best.passages[0].tokens == 80 and best.passages[0].query == [0, len(text)], best
    yesterday = str(datetime.date.today() - datetime.timedelta(days=2))
    earlier = check.sync(client=client, body=models.CheckText(text=text, until=yesterday))
    assert earlier.matches == [], earlier
    file = types.File(payload=open_bytes(text), file_name="mine.txt", mime_type="text/plain")
    answer = check.sync(client=client, body=models.CheckFile(file=file, options=models.SubmissionOptions(top=1)))
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
    """Compiles the types of openapi-typescript, and a program that uses them."""
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
            with Server(minwise, folder / "archive") as server:
                use(package, server)

        def bounds():
            with Server(minwise, folder / "bounds") as server:
                check_bounds(api, server)

        for name, test in [
            ("the document is valid and has a description of everything", lambda: check_document(api)),
            ("the server takes what the document allows, and nothing else", bounds),
            ("a Python client is generated and used", client),
            ("TypeScript types are generated and used", lambda: check_types(node, folder)),
        ]:
            try:
                test()
                passed += 1
                print(f"ok      {name}", flush=True)
            except Exception as error:  # A failed test must not hide the others.
                failed += 1
                print(f"FAILED  {name}: {type(error).__name__}: {error}", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
