#!/usr/bin/env bash
# Everything that CI runs. Passing tests are quiet, failing ones show their output; the last line counts single tests.
usage='usage: hack/test.sh [TIER...]   without arguments: all of them
  unit      gcc, optimised: build and unit tests
  asan      gcc with AddressSanitizer and UndefinedBehaviorSanitizer: build and unit tests
  clang     clang: build and unit tests
  lint      clang-format, clang-tidy, cppcheck, shellcheck, Python syntax, hack/check-house, hack/check-docs
  sim       the deterministic simulation: the regression list and 500 seeds of this tree
  sim-bugs  does the simulation find bugs? The product with each of test/sim/bugs.py
  fuzz      clang with sanitizers and libFuzzer: the corpus of every target, and 8 s of search each
  cluster   gofmt and build of the local Kubernetes, start and stop
  e2e       the stories of test/e2e against a real Kubernetes
  sim-e2e   those that it can tell, against the simulated one; the pictures of docs/scenarios
  differential  one script of requests to the real and to the simulated API server: the answers must agree'
set -uo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$KAR_ROOT" || exit

declare -A passed failed skipped seconds
tier='' # the one that runs
log_dir=$KAR_CACHE/log/test
mkdir -p "$log_dir"
export CMOCKA_MESSAGE_OUTPUT=TAP
PATH=$PATH:/usr/sbin # where Debian keeps nghttpd
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1

count() { # PASSED FAILED SKIPPED
	passed[$tier]=$((passed[$tier] + $1))
	failed[$tier]=$((failed[$tier] + $2))
	skipped[$tier]=$((skipped[$tier] + $3))
}

skip() {
	kar_warn "SKIPPED $tier: $*"
	count 0 0 1
}

# check NAME COMMAND...: one test, shown by kar_step
check() {
	if kar_step "$1" "$log_dir/$tier-${1//[^a-z0-9]/-}.log" "${@:2}"; then
		count 1 0 0
	else
		count 0 1 0
		return 1
	fi
}

# attempt TEXT LOG COMMAND...: kar_step whose failure counts as one failed test, and whose success is none
attempt() {
	kar_step "$1" "$log_dir/$tier-$2.log" "${@:3}" || {
		count 0 1 0
		return 1
	}
}

configure() { # DIR COMPILER [MESON OPTION...]
	if [[ ! -f $1/build.ninja ]]; then
		CC=$2 attempt "configure $1" configure meson setup "$1" "${@:3}"
	elif ! grep -q -e -Werror "$1/build.ninja"; then # by hack/quickstart.sh, for which warnings are no errors
		attempt "configure $1" configure meson configure "$1" -Dwerror=true
	fi
}

build() { configure "$@" && attempt "compile $1" compile meson compile -C "$1"; }

unit_tests() { # DIR
	local results status=0
	KAR_STEP_TAIL=0 kar_step "unit tests of $1" "$log_dir/$tier-unit.log" meson test -C "$1" --suite unit --no-rebuild || status=1
	if ! results=$(hack/meson-results "$1"); then
		tail -n 40 "$log_dir/$tier-unit.log"
		count 0 1 0
		return
	fi
	sed '$d' <<<"$results" # the output of the programs that failed, and what was skipped
	# shellcheck disable=SC2046 # three numbers
	count $(tail -n 1 <<<"$results")
	((status == 0 || failed[$tier] > 0)) || count 0 1 0
}

tier_unit() { build build gcc && unit_tests build; }
tier_asan() { build build-asan gcc -Db_sanitize=address,undefined -Db_lundef=false && unit_tests build-asan; }
tier_clang() { build build-clang clang && unit_tests build-clang; }

own_files() { # PATTERN...: files of the project by name, whether committed yet or not
	local file
	git ls-files --cached --others --exclude-standard -- "$@" | while read -r file; do
		if [[ -f $file ]]; then printf '%s\n' "$file"; fi
	done
}
starting_with() { # REGEX: the files whose first line matches
	local file
	own_files | while read -r file; do
		if head -n 1 "$file" | grep -qaE "$1"; then printf '%s\n' "$file"; fi
	done
}

clang_format() { own_files '*.c' '*.h' | xargs clang-format --dry-run -Werror; }
clang_tidy() { own_files 'common/*.c' 'api/*.c' 'controllers/*.c' 'sim/*.c' | xargs -P "$(nproc)" -n 1 clang-tidy -p build-clang --quiet; }
cpp_check() { # two checks see errors where there are none; -Wmaybe-uninitialized, -Wdangling-pointer and valgrind do it better
	local bsd # where the header of libbsd is differs between distributions
	bsd=$(echo '#include <bsd/sys/queue.h>' | cc -M -x c - | grep -o '/[^ ]*/bsd/sys' | sort -u)
	cppcheck --enable=warning,performance,portability --std=c11 --language=c --quiet --inline-suppr --error-exitcode=1 \
		-j "$(nproc)" -I . -D_GNU_SOURCE -D__linux__ \
		--include="$bsd/queue.h" --include="$bsd/tree.h" --suppress='*:/usr/include/*' \
		--suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches --suppress=uninitvar --suppress=ctuuninitvar --suppress=autoVariables common api controllers sim test/sim
}
shell_check() { starting_with '^#!.*bash|^# shellcheck shell' | xargs shellcheck; }
python_syntax() {
	{ own_files '*.py' && starting_with '^#!.*python3'; } | xargs python3 -c 'import ast, sys; [ast.parse(open(f).read(), f) for f in sys.argv[1:]]'
}

tier_lint() {
	check 'clang-format' clang_format
	check 'shellcheck' shell_check
	check 'python syntax' python_syntax
	check 'check-docs' hack/check-docs
	check 'cppcheck' cpp_check
	build build gcc && check 'check-house' hack/check-house build
	configure build-clang clang && ninja -C build-clang build.ninja >/dev/null && check 'clang-tidy' clang_tidy
}

# go vet would first analyse all of Kubernetes, for two minutes
go_format() { [[ -z $("$(go env GOROOT)/bin/gofmt" -l test/cluster/*.go | tee /dev/stderr) ]]; }

# The first build of Kubernetes fills about 6 GB of caches.
room_for_kubernetes() {
	local free
	compgen -G "$KAR_CACHE/bin/kube-*" >/dev/null && return
	free=$(df --output=avail -BG "$KAR_CACHE" | tail -n 1 | tr -dc 0-9)
	((free >= 8)) || {
		skip "building Kubernetes needs 8 GB of disk, $KAR_CACHE has $free GB"
		return 1
	}
}

tier_cluster() {
	room_for_kubernetes || return
	check 'gofmt' go_format
	check 'build the local Kubernetes (minutes the first time)' test/cluster/cluster build || return
	check 'start and stop a cluster' start_and_stop_cluster
}

start_and_stop_cluster() {
	local name=check-$$ status=0
	test/cluster/cluster up --name "$name" && test/cluster/cluster reset --name "$name" && test/cluster/cluster status --name "$name" || status=1
	test/cluster/cluster down --name "$name"
	[[ ! -e $KAR_CACHE/clusters/$name ]] && return "$status"
}

counted() { # COMMAND...: its last line has the counts
	local counts
	"$@" | tee "$log_dir/$tier.log"
	counts=$(tail -n 1 "$log_dir/$tier.log" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p')
	# shellcheck disable=SC2086 # three numbers
	count ${counts:-0 1 0}
}

tier_fuzz() { counted hack/fuzz --seconds 8 --seed 1; } # with the build under 3 minutes
tier_sim() { build build gcc && counted hack/sim ci; }
tier_sim-bugs() { counted hack/sim-bugs; }

stories() { counted test/e2e/run --build build "$@"; } # [OPTION...]

tier_e2e() {
	room_for_kubernetes || return
	build build gcc || return
	attempt 'build the local Kubernetes (minutes the first time)' cluster test/cluster/cluster build || return
	stories
}

tier_sim-e2e() {
	build build gcc || return
	check 'pictures of docs/scenarios' hack/scenarios build
	stories --sim
}

# One test per operation; a difference that is listed in test/differential/tolerated.py has passed.
tier_differential() {
	local log=$log_dir/differential.log
	check 'the comparison sees what differs' test/differential/test_compare.py
	room_for_kubernetes || return
	build build gcc || return
	attempt 'build the local Kubernetes (minutes the first time)' cluster test/cluster/cluster build || return
	test/differential/run --build build --tap --random 400 --seed 1 >"$log"
	grep -v '^ok ' "$log"
	if ! grep -q '^1\.\.' "$log"; then
		count 0 1 0
		return
	fi
	count "$(grep -c '^ok ' "$log")" "$(grep -c '^not ok ' "$log")" 0
}

needs() { # the sets of hack/deps.sh for a tier
	case $1 in
	unit | asan | sim) echo unit ;;
	clang | lint | fuzz | sim-bugs) echo test ;;
	cluster) echo cluster ;;
	e2e) echo build cluster client ;;
	differential) echo build cluster ;;
	sim-e2e) echo unit kubectl client ;;
	esac
}

run_tier() {
	local begin
	tier=$1
	begin=$(date +%s%N)
	passed[$tier]=0 failed[$tier]=0 skipped[$tier]=0
	printf '%s\n' "$tier"
	# shellcheck disable=SC2046 # words
	if kar_deps $(needs "$tier"); then
		"tier_$tier"
	else
		count 0 1 0
	fi
	seconds[$tier]=$(kar_seconds_since "$begin")
}

summary() {
	local p=0 f=0 s=0 name
	printf '\n%-12s %8s %8s %8s %9s\n' tier passed failed skipped seconds
	for name in "$@"; do
		printf '%-12s %8d %8d %8d %9s\n' "$name" "${passed[$name]}" "${failed[$name]}" "${skipped[$name]}" "${seconds[$name]}"
		p=$((p + passed[$name])) f=$((f + failed[$name])) s=$((s + skipped[$name]))
	done
	printf '%d passed, %d failed, %d skipped\n' "$p" "$f" "$s"
	((f == 0 && p > 0))
}

all=(unit asan clang lint sim sim-bugs fuzz sim-e2e cluster e2e differential)
(($#)) || set -- "${all[@]}"
for name in "$@"; do
	[[ " ${all[*]} " == *" $name "* ]] || {
		kar_say "$usage" >&2
		exit 2
	}
done
for name in "$@"; do
	run_tier "$name"
done
summary "$@"
