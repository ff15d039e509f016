"""Brings answers into a form that two servers must share, and tells where they differ.

What is a server's own is replaced by a symbol that says where it appeared first in the chapter: uids, resourceVersions, generated
names, continue tokens. Two servers agree if the same symbol stands in the same places; so a write that must not give a new
resourceVersion, or an object that must keep its uid, is compared as well. Times become <time>."""

import copy
import re

import script

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
OWN_TIME = re.compile(r"2026-01-01T|2001-01-01T")  # times that the script itself wrote
AGE = re.compile(r"(\d+[ydhms])+|<unknown>|<invalid>")
AGE_COLUMNS = ("Age", "Created At", "First Seen", "Last Seen")
GENERATED = "[bcdfghjklmnpqrstvwxz2456789]{5}"
LONGEST_GENERATED = 58  # what a server takes of generateName
TOKEN_VOLUME = re.compile("kube-api-access-" + GENERATED)
SERVER = re.compile(r"127\.0\.0\.1:\d+|localhost:\d+")
FUTURE_VERSION = re.compile(r"(Too large resource version: \d+, current: )\d+")
VERSION_IN_TEXT = re.compile(r'(?i)(resource ?version(?: in (?:the )?(?:precondition|record|object meta))?[ :("\\]+)\d+')
# What the server made of an object, in its own words, inside a message
DUMPED = re.compile(r'Invalid value: "(?:\{|map\[).*[}\]]": ', re.S)
OPENAPI_HASH = re.compile(r"\?hash=[0-9A-F]+")
SCHEME = re.compile(r' in scheme "[^"]*"')
OLD_VERSION = re.compile(r"too old resource version: (\d+) \(\d+\)")


class Symbols:
    """The symbols of one chapter on one server."""

    def __init__(self, run):
        self.run = run
        self.known = {}
        self.where = ""
        self.highest = 0  # resourceVersion of the writes so far

    def of(self, kind, value, path):
        return self.known.setdefault((kind, value), f"<{kind} of {self.where} {path}>")

    def find_generated(self, prefix, text):
        """Registers the names that were made from generateName prefix."""
        prefix = prefix[:LONGEST_GENERATED]
        for name in re.findall(re.escape(prefix) + GENERATED, text):
            self.known.setdefault(("name", name), f"{prefix}<5 characters of {self.where}>")

    def text(self, value, path):
        value = value.replace(self.run, "RUN")
        for (kind, own), symbol in self.known.items():
            if kind == "name" and own in value:
                value = value.replace(own, symbol)
        value = UUID.sub(lambda m: self.of("uid", m.group(), path), value)
        value = TIME.sub(lambda m: m.group() if OWN_TIME.match(m.group()) else "<microtime>" if m.group(1) else "<time>", value)
        value = OLD_VERSION.sub(r"too old resource version: \1 (<current>)", FUTURE_VERSION.sub(r"\1<current>", value))
        value = VERSION_IN_TEXT.sub(r"\1<version>", DUMPED.sub("Invalid value: <object>: ", value))
        value = OPENAPI_HASH.sub("?hash=<hash>", TOKEN_VOLUME.sub("kube-api-access-<5 characters>", value))
        return SCHEME.sub("", SERVER.sub("<server>", value))


def normalised(record, symbols):
    """The comparable form of a record: {"code", "headers", "body"}."""
    symbols.where = record.operation.name
    prefix = script.follow(record.body, "metadata.generateName")
    if prefix:
        symbols.find_generated(prefix, record.answer.text)
    body = record.answer.body if record.answer.body is not None else record.answer.text
    return {"code": record.answer.code, "headers": headers_of(record.answer), "body": chosen(record.operation, value_of(body, "", symbols, record.operation))}


def headers_of(answer):
    """Warnings may come in any order."""
    headers = dict(answer.headers)
    if "Content-Type" in headers:
        headers["Content-Type"] = headers["Content-Type"].replace(" ", "")
    if "Warning" in headers:
        headers["Warning"] = ", ".join(sorted(re.split(r", (?=299 - )", headers["Warning"])))
    return headers


def chosen(operation, body):
    """What the operation wants to have compared."""
    if operation.only and isinstance(body, (dict, list)):
        body = {path: script.follow(body, path) for path in operation.only}
    body = copy.deepcopy(body)
    for path in operation.without:
        parent, _, last = re.fullmatch(r"(?:(.*?)(\.))?((?:[^.\\]|\\.)+)", path).groups()
        holder = script.follow(body, parent) if parent else body
        if isinstance(holder, dict):
            holder.pop(last.replace("\\.", "."), None)
    if operation.unordered and isinstance(body, dict):
        body["items"] = sorted(body.get("items") or [], key=lambda item: item["metadata"]["name"])
    if operation.method == "EVENTS":
        drop_passing_bookmarks(body)
    if is_invalid_custom(body):
        sort_causes(body)
    if isinstance(body, dict) and body.get("reason") == "Conflict" and "causes" in (body.get("details") or {}):
        body["details"]["causes"].sort(key=lambda cause: cause["field"])  # the order of managers is seen in the message
    return body


def drop_passing_bookmarks(body):
    """Bookmarks come when it suits a server, but for those that end the initial events or the watch."""
    events = body["events"]
    body["events"] = [e for i, e in enumerate(events)
                      if e["type"] != "BOOKMARK" or i == len(events) - 1 or script.follow(e, "object.metadata.annotations")]


def is_invalid_custom(body):
    """Properties of custom resources are validated in no certain order."""
    return isinstance(body, dict) and body.get("reason") == "Invalid" and "." in (script.follow(body, "details.group") or "")


def sort_causes(status):
    """Each once; also in the message, which repeats them."""
    found = {(c.get("field", ""), c.get("message", "")): c for c in status["details"].get("causes") or []}
    status["details"]["causes"] = [found[key] for key in sorted(found)]
    for field, message in found:
        status["message"] = status["message"].replace(f"{field}: {message}", "<cause>")
    status["message"] = re.sub(r"\[?<cause>(, <cause>)*\]?", "<the causes>", status["message"])


def value_of(value, path, symbols, operation):
    if isinstance(value, dict):
        return object_of(value, path, symbols, operation)
    if isinstance(value, list):
        return [value_of(v, f"{path}.{i}" if path else str(i), symbols, operation) for i, v in enumerate(value)]
    return symbols.text(value, path) if isinstance(value, str) else value


def object_of(value, path, symbols, operation):
    if value.get("kind") == "Table":
        value = without_ages(value)
    if value.get("kind") == "APIResourceList":  # of custom resources in no certain order
        value = value | {"resources": sorted(value["resources"], key=lambda r: r["name"])}
    result = {}
    for key in sorted(value):
        at = f"{path}.{key}" if path else key
        if key == "metadata" and isinstance(value[key], dict):
            result[key] = metadata_of(value, value[key], at, symbols, operation)
        else:
            result[key.replace(symbols.run, "RUN")] = value_of(value[key], at, symbols, operation)
    return result


def metadata_of(owner, metadata, path, symbols, operation):
    """ObjectMeta or ListMeta: the latter has the version of the moment, which says nothing about an object."""
    metadata = dict(metadata)
    if not operation.managed:
        metadata.pop("managedFields", None)
    elif metadata.get("managedFields"):  # they come in the order of their times, to the second
        metadata["managedFields"] = sorted(metadata["managedFields"], key=lambda f: [str(f.get(k)) for k in ("manager", "operation", "subresource")])
    result = {}
    version, token = metadata.pop("resourceVersion", None), metadata.pop("continue", None)
    if version:
        is_object = "uid" in metadata
        result["resourceVersion"] = symbols.of("version", version, path) if is_object else "<version of the server>"
    elif version is not None:
        result["resourceVersion"] = version
    if token:
        result["continue"] = "<token>"
    return result | object_of(metadata, path, symbols, operation)


def without_ages(table):
    """In a watch only the first table says what its columns are."""
    table = copy.deepcopy(table)
    columns = table.get("columnDefinitions")
    ages = [i for i, c in enumerate(columns or []) if c.get("name") in AGE_COLUMNS or c.get("type") == "date"]
    for row in table.get("rows") or []:
        for i, cell in enumerate(row["cells"]):
            if (columns is None or i in ages) and isinstance(cell, str) and AGE.fullmatch(cell):
                row["cells"][i] = "<age>"
    return table


def order_problem(record, symbols):
    """What is wrong with the resourceVersion of this answer in the order of things, or None."""
    metadata = script.follow(record.answer.body, "metadata") if isinstance(record.answer.body, dict) else None
    version = (metadata or {}).get("resourceVersion") or ""
    if record.answer.code >= 300 or not version.isdigit() or "dryRun" in record.path:
        return None
    version, before = int(version), symbols.highest
    if record.operation.method in ("POST", "PUT", "PATCH"):
        symbols.highest = max(before, version)
        new = symbols.known.get(("version", str(version)), "").startswith(f"<version of {record.operation.name} ")
        return f"the new version {version} is not above {before}" if new and version <= before else None
    is_list = record.answer.body.get("kind", "").endswith("List") and record.operation.method == "GET" and "resourceVersion=" not in record.path
    return f"the list has version {version}, below {before}" if is_list and "continue=" not in record.path and version < before else None


def differences(a, b, path=""):
    """[(path, value of a, value of b)]; ABSENT where there is none."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(a.keys() | b.keys()):
            at = f"{path}.{key}" if path else key
            yield from differences(a.get(key, ABSENT), b.get(key, ABSENT), at)
    elif isinstance(a, list) and isinstance(b, list):
        for i in range(max(len(a), len(b))):
            yield from differences(a[i] if i < len(a) else ABSENT, b[i] if i < len(b) else ABSENT, f"{path}[{i}]")
    elif type(a) is not type(b) or a != b:
        yield path, a, b


class Absent:
    def __repr__(self):
        return "(absent)"


ABSENT = Absent()
