# shellcheck shell=bash
# Sourced by the scripts of this project: where tools and caches live, colours, and steps that show their progress.
# Expects `set -euo pipefail` of the script that sources it.

KAR_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
KAR_CACHE=${KAR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kar-controllers}
KAR_TOOLS=$KAR_CACHE/tools # a Python virtual environment: Go, kubectl and clang-format where the system has none that fits
KAR_GO_NEEDED=$(sed -n 's/^go //p' "$KAR_ROOT/test/cluster/go.mod")
KAR_KUBECTL_NEEDED=1.30
KAR_CLANG_FORMAT_NEEDED=14 # exactly: each major version formats in its own way
export KAR_ROOT KAR_CACHE
# ccache, where it is installed, knows a file again in another clone of the project. The -D that name its folder reach few files.
export CCACHE_BASEDIR=$KAR_ROOT CCACHE_NOHASHDIR=1

if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
	kar_red=$'\e[31m' kar_green=$'\e[32m' kar_yellow=$'\e[33m' kar_off=$'\e[0m'
else
	kar_red='' kar_green='' kar_yellow='' kar_off=''
fi

kar_say() { printf '%s\n' "$*"; }
kar_warn() { printf '%s\n' "${kar_yellow}$*${kar_off}" >&2; }
kar_die() {
	printf '%s\n' "${kar_red}$*${kar_off}" >&2
	exit 1
}

# kar_version_at_least HAVE WANT: dotted versions, a leading v or go is ignored.
kar_version_at_least() {
	local have=${1#v} want=${2#v}
	[[ $(printf '%s\n%s\n' "${want#go}" "${have#go}" | sort -V | head -n 1) == "${want#go}" ]]
}

# kar_setup DIR gcc|clang [MESON OPTION...]: a build directory, with ccache where there is one.
kar_setup() {
	local compiler=$2
	! command -v ccache >/dev/null || compiler="ccache $2"
	CC=$compiler meson setup "$1" "${@:3}"
}

# The variant that looks for errors while it runs: unit tests, fuzz targets and clang-tidy share it.
kar_setup_clang() { # DIR
	kar_setup "$1" clang -Dfuzz=true -Doptimization=1 -Db_sanitize=address,undefined -Db_lundef=false
}

kar_have_go() {
	local version
	version=$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null) && kar_version_at_least "$version" "$KAR_GO_NEEDED"
}

kar_have_kubectl() {
	local version
	version=$(kubectl version --client 2>/dev/null | sed -n 's/^Client Version: //p') &&
		[[ -n $version ]] && kar_version_at_least "$version" "$KAR_KUBECTL_NEEDED"
}

kar_have_clang-format() { clang-format --version 2>/dev/null | grep -q "version $KAR_CLANG_FORMAT_NEEDED\."; }

# kar_deps SET...: installs what is missing (hack/deps.sh); what it has installed privately is found from then on.
kar_deps() {
	"$KAR_ROOT/hack/deps.sh" "$@" && kar_use_tools
}

# The private tools exist only where the system's own were missing or too old, and come first then.
kar_use_tools() {
	if [[ -d $KAR_TOOLS/path && :$PATH: != *":$KAR_TOOLS/path:"* ]]; then
		PATH=$KAR_TOOLS/path:$PATH
	fi
}
kar_use_tools

# kar_seconds_since START_NS: one decimal, START_NS from `date +%s%N`.
kar_seconds_since() {
	local ms=$((($(date +%s%N) - $1) / 1000000))
	printf '%d.%d' $((ms / 1000)) $((ms % 1000 / 100))
}

# kar_step TEXT LOG COMMAND...: runs the command with its output in LOG; shows elapsed time while it lasts (live on a
# terminal, a line every 30 s elsewhere) and the last KAR_STEP_TAIL lines of LOG when it fails. Returns the status of the command.
kar_step() {
	local text=$1 log=$2 start pid status=0 next=30 live=''
	shift 2
	start=$(date +%s%N)
	[[ -t 1 ]] && live=1
	trap 'trap - INT; kill -s TERM 0' INT # a background command does not see Ctrl-C
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		[[ -n $live ]] && printf '\r  %s ... %s s' "$text" "$(kar_seconds_since "$start")"
		if [[ -z $live ]] && (($(date +%s) - start / 1000000000 >= next)); then
			printf '  %s ... %s s\n' "$text" "$next"
			next=$((next + 30))
		fi
		sleep 0.1
	done
	wait "$pid" || status=$?
	trap - INT
	[[ -n $live ]] && printf '\r\e[K'
	if ((status == 0)); then
		printf '  %s%s%s (%s s)\n' "$kar_green" "$text" "$kar_off" "$(kar_seconds_since "$start")"
	else
		printf '  %s%s failed%s (%s s), the end of %s:\n' "$kar_red" "$text" "$kar_off" "$(kar_seconds_since "$start")" "$log"
		tail -n "${KAR_STEP_TAIL:-40}" "$log" | sed 's/^/    /'
	fi
	return "$status"
}

# kar_files PATHSPEC...: files of the project, whether committed yet or not
kar_files() {
	local file
	git -C "$KAR_ROOT" ls-files --cached --others --exclude-standard -- "$@" | sort -u | while read -r file; do
		if [[ -f $KAR_ROOT/$file ]]; then printf '%s\n' "$file"; fi
	done
}

# kar_inputs PATHSPEC...: one hash of the names and the contents of these files; nothing if git knows none
kar_inputs() {
	local files
	files=$(kar_files "$@")
	[[ -z $files ]] || (cd "$KAR_ROOT" && xargs sha256sum <<<"$files" | sha256sum | cut -c 1-24)
}

# What has passed on this machine with exactly these inputs need not be proved again. KAR_ALL=1 does it all the same.
kar_passed() { # NAME HASH: says when
	[[ -z ${KAR_ALL:-} && -n $2 ]] && cat "$KAR_CACHE/passed/$1-$2" 2>/dev/null
}
kar_has_passed() { # NAME HASH
	mkdir -p "$KAR_CACHE/passed"
	find "$KAR_CACHE/passed" -name "$1-*" -mtime +60 -delete
	date '+%Y-%m-%d %H:%M' >"$KAR_CACHE/passed/$1-$2"
}
