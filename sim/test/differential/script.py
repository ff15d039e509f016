"""What a script of operations is made of. Chapters (chapters/*.py) are tables of these.

Texts in paths, headers and bodies may refer to what happened before on the same server:
  ${ns}            the namespace of the chapter
  ${run}           letters that are new in each run, for names of cluster-scoped objects
  ${NAME:PATH}     a value of the answer to the operation NAME: ${made:metadata.uid}, ${page:items.0.metadata.name}
A text that consists of one reference takes its value with its type."""

import dataclasses
import re
import time

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
PARTIAL = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
SETTLE_SECONDS = 60
REFERENCE = re.compile(r"\$\{([^}:]+)(?::([^}]*))?\}")


@dataclasses.dataclass
class Operation:
    name: str
    method: str
    path: str
    body: object = None
    content: str = None  # Content-Type; JSON if there is a body
    accept: str = None
    until: object = None  # asked again until until(answer) holds: what happens in the background is compared when it is over
    managed: bool = False  # metadata.managedFields are compared too
    only: tuple = ()  # paths of the body that are compared; all
    without: tuple = ()  # paths of the body that are not compared, because they tell about the server, not about its rules
    unordered: bool = False  # items of the list may come in any order
    watch: str = None  # the name of the watch whose events this operation reads


@dataclasses.dataclass
class Chapter:
    name: str
    about: str
    operations: list
    forgets: bool = False  # has operations that only a server can do that was started for the run


def get(name, path, **more):
    return Operation(name, "GET", path, **more)


def post(name, path, body, **more):
    return Operation(name, "POST", path, body, **more)


def put(name, path, body, **more):
    return Operation(name, "PUT", path, body, **more)


def delete(name, path, body=None, **more):
    return Operation(name, "DELETE", path, body, **more)


def patch(name, path, content, body, **more):
    return Operation(name, "PATCH", path, body, content=content, **more)


def merge(name, path, body, **more):
    return patch(name, path, MERGE_PATCH, body, **more)


def strategic(name, path, body, **more):
    return patch(name, path, STRATEGIC_PATCH, body, **more)


def json_patch(name, path, body, **more):
    return patch(name, path, JSON_PATCH, body, **more)


def apply(name, path, body, manager="alpha", force=False, **more):
    query = "&".join([f"fieldManager={manager}"] * bool(manager) + ["force=true"] * force)
    return patch(name, path + ("&" if "?" in path else "?") + query if query else path, APPLY_PATCH, body, managed=True, **more)


def watch(name, path, **more):
    """Opens a watch; its answer is compared like any other, its events by events()."""
    return Operation(name, "WATCH", path, **more)


def events(name, of, until, **more):
    """The events of the watch from its beginning until one for which until(event) holds, or its end."""
    return Operation(name, "EVENTS", of, until=until, watch=of, **more)


def forget_history(name):
    """The server drops all versions of objects but the current ones, as etcd's compaction and a restart of the API server do."""
    return Operation(name, "FORGET", "")


# --- conditions of settling

def gone(answer):
    return answer.code == 404


def found(answer):
    return answer.code == 200


def has(path, *values):
    """The answer has the member at path; with values, one of them."""
    def check(answer):
        value = follow(answer.body, path) if answer.code == 200 else None
        return value in values if values else value is not None
    return check


def second_is_over(path):
    """The second that the time at the path tells is over: what is written now gets another time."""
    def check(answer):
        at = follow(answer.body, path)
        return at is not None and at < time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return check


# --- conditions of the end of events

def named(name, kind=None):
    return lambda event: follow(event, "object.metadata.name") == name and kind in (None, event["type"])


def bookmark(event):
    return event["type"] == "BOOKMARK"


def ended(_event):
    return False


STEP = re.compile(r"((?:[^.\[\\]|\\.)+)(?:\[([^=\]]+)=([^\]]*)\])?(?:\.|$)")


def follow(value, path):
    """The value at a path, or None. spec.containers.0.name; \\. is a dot inside a key; items[metadata.name=x] finds an item."""
    for key, attribute, wanted in STEP.findall(path):
        value = member(value, key.replace("\\.", "."))
        if attribute and isinstance(value, list):
            value = next((item for item in value if follow(item, attribute) == wanted), None)
    return value


def member(value, key):
    if isinstance(value, dict):
        return value.get(key)
    if isinstance(value, list) and key.isdigit() and int(key) < len(value):
        return value[int(key)]
    return None


class Unresolved(Exception):
    """A reference leads nowhere."""


def resolve(value, look_up):
    """value with its references replaced by look_up(name, path)."""
    if isinstance(value, dict):
        return {resolve(k, look_up): resolve(v, look_up) for k, v in value.items()}
    if isinstance(value, list):
        return [resolve(v, look_up) for v in value]
    if not isinstance(value, str):
        return value
    whole = REFERENCE.fullmatch(value)
    if whole:
        return look_up(*whole.groups())
    return REFERENCE.sub(lambda m: str(look_up(*m.groups())), value)
