"""Tools from Go modules, built once for a state of their go.mod and go.sum, in the cache of this project."""

import hashlib
import os
import pathlib
import subprocess

CACHE = pathlib.Path(os.environ.get("KAR_CACHE") or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "kar-controllers")


def go_tool(folder, package):
    """The program of @package, as the module in @folder names it; its name is the last part of that of the package."""
    key = hashlib.sha256(b"".join((folder / name).read_bytes() for name in ("go.mod", "go.sum"))).hexdigest()[:8]
    program = CACHE / f"bin/{package.split('/')[-1]}-{key}"
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        new = program.with_suffix(f".{os.getpid()}")
        subprocess.run(["go", "build", "-buildvcs=false", "-ldflags", "-s -w", "-o", new, package], cwd=folder, check=True)
        new.rename(program)
    return program
