"""The libraries of another processor in a folder of their own, for hack/image --arch and hack/test-arm64. The packages of this machine stay as they are.

apt resolves and loads them with a configuration that knows that architecture alone; the archives are unpacked, no script of theirs
runs, and dpkg's list of files is written as dpkg would, so that hack/image can ask for the owner of a file."""

import os
import pathlib
import shutil
import subprocess
import sys

PACKAGES = ["libc6-dev", "libcurl4-openssl-dev", "libyajl-dev", "libev-dev", "libyaml-dev", "libbsd-dev", "libmicrohttpd-dev", "libgnutls28-dev", "ca-certificates", "base-files"]
FOR_TESTS = ["libcmocka-dev", "libpcre2-dev"]
COMPILERS = {"arm64": "aarch64-linux-gnu-gcc", "amd64": "x86_64-linux-gnu-gcc"}
CACHE = pathlib.Path(os.environ.get("KAR_CACHE") or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "kar-controllers")


def apt(folder, arch, *args):
    options = {"APT::Architecture": arch, "APT::Architectures": arch, "Dir::State": folder / "state", "Dir::State::status": folder / "status",
               "Dir::Cache": folder / "cache", "Debug::NoLocking": "1", "APT::Install-Recommends": "0", "APT::Sandbox::User": "root"}
    subprocess.run(["apt-get", "-q", *(f"-o{k}={v}" for k, v in options.items()), *args], check=True, stdout=sys.stderr)


def control(archive, field=None):
    return subprocess.check_output(["dpkg-deb", "-f", archive, *([field] if field else [])], text=True).strip()


def unpack(archive, root):
    """Files, the list of them, and the paragraph of the package."""
    subprocess.run(["dpkg-deb", "-x", archive, root], check=True)
    listing = subprocess.check_output(["dpkg-deb", "-c", archive], text=True)
    names = [line.split(None, 5)[5].split(" -> ")[0].lstrip(".").rstrip("/") or "/." for line in listing.splitlines()]
    name, arch = control(archive, "Package"), control(archive, "Architecture")
    same = control(archive, "Multi-Arch") == "same"
    (root / f"var/lib/dpkg/info/{name}{':' + arch if same else ''}.list").write_text("\n".join(names) + "\n")
    paragraph = control(archive).split("\n")
    return "\n".join([paragraph[0], "Status: install ok installed", *paragraph[1:]]) + "\n"


def make(arch, tests=False):
    """The folder; @tests: with what the tests link to, in another one."""
    if not shutil.which(COMPILERS[arch]):
        sys.exit(f"{COMPILERS[arch]} is missing: apt-get install gcc-{COMPILERS[arch].removesuffix('-gcc').replace('_', '-')} libc6-dev-{arch}-cross")
    folder = CACHE / f"sysroot-{arch}{'-tests' if tests else ''}"
    root = folder / "root"
    packages = [*PACKAGES, *(FOR_TESTS if tests else [])]
    complete = folder / "complete"
    if complete.exists() and complete.read_text().split() == packages:
        return root
    shutil.rmtree(folder, ignore_errors=True)
    for one in ("state/lists/partial", "cache/archives/partial", "root/var/lib/dpkg/info", "root/usr"):
        (folder / one).mkdir(parents=True)
    for one in ("bin", "sbin", "lib"):  # as in Debian since 12: these are links
        (root / "usr" / one).mkdir()
        (root / one).symlink_to(f"usr/{one}")
    (folder / "status").touch()
    apt(folder, arch, "update")
    apt(folder, arch, "install", "-y", "--download-only", *packages)
    (root / "var/lib/dpkg/info/format").write_text("1\n")
    archives = sorted((folder / "cache/archives").glob("*.deb"))
    (root / "var/lib/dpkg/status").write_text("\n".join(unpack(archive, root) for archive in archives))
    shutil.rmtree(folder / "cache")
    complete.write_text(" ".join(packages))
    return root
