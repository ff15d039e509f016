#!/usr/bin/env bash
# Everything that CI runs. Passing tests are quiet, failing ones show their output; the last line counts single tests.
usage='usage: hack/test.sh [TIER...]   without arguments: all of them
  unit      gcc, optimised: build and unit tests
  sanitize  clang with AddressSanitizer and UndefinedBehaviorSanitizer: build and unit tests
  lint      clang-format, clang-tidy, cppcheck, shellcheck, Python syntax, hack/check-house, hack/check-docs
  sim       the deterministic simulation: the regression list and 300 seeds of this tree
  sim-bugs  does the simulation find bugs? The product with a third of test/sim/bugs.py, another one for each tree; KAR_ALL=1: with all
  fuzz      libFuzzer, with the same build: the corpus of every target, and 8 s of search each
  field     what users of comparable systems have reported, played by kar-sim: test/field
  cluster   gofmt and build of the local Kubernetes, start and stop
  e2e       the stories of test/e2e against a real Kubernetes
  soak      hack/soak for 3 minutes: jobs without a pause while leaders, the API server and nodes are killed
  image     the image: built twice, taken apart, run
  chart     the Helm chart: it renders to the objects of manifests/; what a release consists of
  node      the image and the manifests on a real node of this machine: kubelet, containerd and runc
  sim-e2e   those that it can tell, against the simulated one, and in a run with e2e only those that e2e does not tell; the pictures of
            docs/scenarios
  differential  one script of requests to the real and to the simulated API server: the answers must agree; gangs that the placement
            engine has placed, or refused, to the real kube-scheduler: it must agree
  operators operators of others, unchanged, built from the Go modules that test/operators names: their workloads in queues, on a real
            Kubernetes. The first time it builds for half an hour, so it runs only when it is named
The fuzz targets of the simulator, the tiers cluster and operators, and both parts of the differential tier are skipped, loudly, while their inputs are those
that passed on this machine before; KAR_ALL=1 runs them.'
set -uo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$KAR_ROOT" || exit

declare -A passed failed skipped seconds
tier=''  # the one that runs
noted=() # what failed, or passed only when it ran again: the summary names it, since the end of a log is what people see first
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
		noted+=("FAILED $tier: $1")
		count 0 1 0
		return 1
	fi
}

# attempt TEXT LOG COMMAND...: kar_step whose failure counts as one failed test, and whose success is none
attempt() {
	kar_step "$1" "$log_dir/$tier-$2.log" "${@:3}" || {
		noted+=("FAILED $tier: $1")
		count 0 1 0
		return 1
	}
}

configure() { # DIR FUNCTION [ARGUMENT...]: that sets it up
	if [[ ! -f $1/build.ninja ]]; then
		attempt "configure $1" configure "$2" "$1" "${@:3}"
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
	note '^--- [^:]*: [A-Z]' <<<"$results"
	# shellcheck disable=SC2046 # three numbers
	count $(tail -n 1 <<<"$results")
	((status == 0 || failed[$tier] > 0)) || count 0 1 0
}

build_gcc() { build build kar_setup gcc; }
build_clang() { build build-clang kar_setup_clang; }
tier_unit() { build_gcc && unit_tests build; }
tier_sanitize() { build_clang && unit_tests build-clang; }

starting_with() { # REGEX: the files whose first line matches
	local file
	kar_files | while read -r file; do
		if head -n 1 "$file" | grep -qaE "$1"; then printf '%s\n' "$file"; fi
	done
}

clang_format() { kar_files '*.c' '*.h' | xargs clang-format --dry-run -Werror; }
clang_tidy() { kar_files 'common/*.c' 'api/*.c' 'controllers/*.c' 'kubectl-qj/*.c' 'sim/*.c' ':!sim/test' | xargs hack/tidy build-clang; }
cpp_check() { # two checks see errors where there are none; -Wmaybe-uninitialized, -Wdangling-pointer and valgrind do it better
	local bsd # where the header of libbsd is differs between distributions
	bsd=$(echo '#include <bsd/sys/queue.h>' | cc -M -x c - | grep -o '/[^ ]*/bsd/sys' | sort -u)
	mkdir -p "$KAR_CACHE/cppcheck"
	cppcheck --cppcheck-build-dir="$KAR_CACHE/cppcheck" --enable=warning,performance,portability --std=c11 --language=c --quiet --inline-suppr --error-exitcode=1 \
		-j "$(nproc)" -I . -D_GNU_SOURCE -D__linux__ \
		--include="$bsd/queue.h" --include="$bsd/tree.h" --suppress='*:/usr/include/*' \
		--suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches --suppress=uninitvar --suppress=ctuuninitvar --suppress=autoVariables \
		-i sim/test common api controllers kubectl-qj sim test/sim
}
shell_check() { starting_with '^#!.*bash|^# shellcheck shell' | xargs shellcheck; }
python_syntax() {
	{ kar_files '*.py' && starting_with '^#!.*python3'; } | xargs python3 -c 'import ast, sys; [ast.parse(open(f).read(), f) for f in sys.argv[1:]]'
}

# Whether all links lead somewhere, and each page has its place. Its packages come from PyPI.
site() {
	local log=$log_dir/$tier-site-packages.log
	if hack/deps.sh site >"$log" 2>&1; then
		check 'the site of the documents' hack/site build build
	elif grep -qE 'Retrying \(|NewConnectionError|ConnectTimeoutError' "$log" "$KAR_CACHE/log/site.log"; then
		skip 'PyPI cannot be reached, so the site of the documents is not built (hack/site build)'
	else
		check 'install what hack/site needs' hack/deps.sh site
	fi
}

tier_lint() {
	check 'clang-format' clang_format
	check 'shellcheck' shell_check
	check 'python syntax' python_syntax
	check 'check-docs' hack/check-docs
	check 'check-monitoring' hack/check-monitoring
	check 'the soak test sees what is wrong' test/soak/test_judge.py
	check 'the packer packs' test/trace/test_packer.py
	check 'cppcheck' cpp_check
	build_gcc && { check 'check-house' hack/check-house build; site; }
	configure build-clang kar_setup_clang && ninja -C build-clang build.ninja >/dev/null && check 'clang-tidy' clang_tidy
}

# go vet would first analyse all of Kubernetes, for two minutes
go_format() { [[ -z $("$(go env GOROOT)/bin/gofmt" -l test/cluster/*.go test/node/kubelet/*.go | tee /dev/stderr) ]]; }

# The first build of Kubernetes fills about 6 GB of caches.
can_build_kubernetes() {
	compgen -G "$KAR_CACHE/bin/kube-*" >/dev/null || (($(free_disk) >= 8))
}

free_disk() { df --output=avail -BG "$KAR_CACHE" | tail -n 1 | tr -dc 0-9; } # GB

room_for_kubernetes() {
	can_build_kubernetes || {
		skip "building Kubernetes needs 8 GB of disk, $KAR_CACHE has $(free_disk) GB"
		return 1
	}
}

# A tool of the other tiers: skipped while it is as it was when it passed.
tier_cluster() {
	local inputs passed_at
	room_for_kubernetes || return
	inputs=$(kar_inputs test/cluster test/node/kubelet hack/lib.sh)
	check 'build the local Kubernetes (minutes the first time)' test/cluster/cluster build || return
	if passed_at=$(kar_passed cluster "$inputs"); then
		skip "the local Kubernetes is as it was when it passed here, $passed_at (KAR_ALL=1 starts and stops it)"
		return
	fi
	check 'gofmt' go_format
	check 'start and stop a cluster' start_and_stop_cluster
	((failed[$tier] > 0)) || kar_has_passed cluster "$inputs"
}

start_and_stop_cluster() {
	local name=check-$$ status=0
	test/cluster/cluster up --name "$name" && test/cluster/cluster reset --name "$name" && test/cluster/cluster status --name "$name" || status=1
	test/cluster/cluster down --name "$name"
	[[ ! -e $KAR_CACHE/clusters/$name ]] && return "$status"
}

note() { # REGEX: the lines of the input that match it, at most ten
	local line
	while read -r line; do noted+=("$tier: $line"); done < <(grep -aE -m 10 "$1" | cut -c 1-200)
}

counted() { # COMMAND...: its last line has the counts
	local counts
	"$@" | tee "$log_dir/$tier.log"
	note '^(FAIL|UNSTABLE) |^FAILED|^not held|NOT FOUND' <"$log_dir/$tier.log"
	counts=$(tail -n 1 "$log_dir/$tier.log" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p')
	# shellcheck disable=SC2086 # three numbers
	count ${counts:-0 1 0}
}

# The simulator's own targets are skipped while nothing that they are made of has changed since they passed.
tier_fuzz() {
	local inputs passed_at of_product of_simulator
	inputs=$(kar_inputs common api/names.h api/copy.h sim ':!sim/test/unit' ':!sim/test/fixture' ':!sim/test/differential' test/fuzz test/unit/data/protobuf manifests/crds meson.build meson_options.txt hack/fuzz hack/lib.sh)
	mapfile -t of_product < <(hack/fuzz --names product)
	mapfile -t of_simulator < <(hack/fuzz --names simulation)
	if passed_at=$(kar_passed fuzz "$inputs"); then
		kar_warn "SKIPPED ${#of_simulator[@]} fuzz targets of the simulator: what they are made of is as it was when they passed here, $passed_at (KAR_ALL=1 runs them)"
		count 0 0 "${#of_simulator[@]}"
		of_simulator=()
	fi
	counted hack/fuzz --seconds 8 --seed 1 "${of_product[@]}" "${of_simulator[@]}"
	((failed[$tier] > 0 || ${#of_simulator[@]} == 0)) || kar_has_passed fuzz "$inputs"
}
tier_sim() { build_gcc && counted hack/sim ci; }

# Whether the simulation finds bugs changes slowly, so that a third of them is enough for one tree.
tier_sim-bugs() {
	local parts=3
	[[ ${KAR_ALL:-} != 1 ]] || parts=1
	build_gcc && counted hack/sim-bugs --parts $parts
}


stories() { counted test/e2e/run --build build "$@"; } # [OPTION...]

ready_for_cluster() {
	room_for_kubernetes && build_gcc && attempt 'build the local Kubernetes (minutes the first time)' cluster test/cluster/cluster build
}

tier_e2e() { ready_for_cluster && stories --clusters 2 && stories --native && stories --foreign-crd; }

# The seed belongs to the code, as that of the simulation; what the machine makes of it differs from run to run.
tier_soak() {
	local inputs
	inputs=$(kar_inputs common api controllers test/soak hack/soak)
	ready_for_cluster && counted hack/soak --build build --minutes 3 --seed "$((16#${inputs:0:8}))"
}

tier_field() { build_gcc && counted test/field/run; }

tier_image() { counted test/image/run; }

tier_chart() { counted test/chart/run; }

tier_node() { ready_for_cluster && counted test/node/run; }

# The versions that it prints are those of test/operators/*/go.mod.
tier_operators() {
	local inputs passed_at
	inputs=$(kar_inputs common api controllers manifests test/operators test/cluster test/e2e/harness.py test/e2e/reader.py test/gotool.py meson.build meson_options.txt hack/lib.sh)
	if passed_at=$(kar_passed operators "$inputs"); then
		skip "the operators, and the product, are as they were when it passed here, $passed_at (KAR_ALL=1 runs it)"
		return
	fi
	ready_for_cluster && counted test/operators/run --build build || return
	((failed[$tier] > 0)) || kar_has_passed operators "$inputs"
}

tier_sim-e2e() {
	build_gcc || return
	check 'pictures of docs/scenarios' hack/scenarios build
	if [[ " $run " == *" e2e "* ]] && can_build_kubernetes; then
		stories --sim --rest
	else
		stories --sim
	fi
}

tier_differential() {
	differential_api
	differential_sched
}

# One test per operation; a difference that is listed in sim/test/differential/tolerated.py has passed.
differential_api() {
	local log=$log_dir/differential.log inputs passed_at
	inputs=$(kar_inputs common api/names.h api/copy.h sim ':!sim/test/unit' ':!sim/test/fixture' ':!sim/test/fuzz' ':!sim/test/scenes' test/cluster manifests/crds meson.build meson_options.txt hack/lib.sh)
	if passed_at=$(kar_passed differential "$inputs"); then
		skip "the simulator, its tests, and Kubernetes are as they were when it passed here, $passed_at (KAR_ALL=1 runs it)"
		return
	fi
	check 'the comparison sees what differs' sim/test/differential/test_compare.py
	ready_for_cluster || return
	sim/test/differential/run --build build --tap --random 400 --seed 1 >"$log"
	grep -v '^ok ' "$log"
	if ! grep -q '^1\.\.' "$log"; then
		count 0 1 0
		return
	fi
	count "$(grep -c '^ok ' "$log")" "$(grep -c '^not ok ' "$log")" 0
	((failed[$tier] > 0)) || kar_has_passed differential "$inputs"
}

# The seed belongs to what is tested: the same code meets the same scenes everywhere.
differential_sched() {
	local inputs passed_at failed_before=${failed[$tier]}
	inputs=$(kar_inputs common ':!common/kube' api/core 'controllers/cluster/*.?' api/pod 'api/copy.?' test/sched test/cluster test/e2e/harness.py test/e2e/reader.py meson.build meson_options.txt hack/lib.sh)
	if passed_at=$(kar_passed sched "$inputs"); then
		skip "placement, its test, and Kubernetes are as they were when kube-scheduler agreed here, $passed_at (KAR_ALL=1 asks again)"
		return
	fi
	ready_for_cluster || return
	counted test/sched/run --build build --seed "$((16#0${inputs:0:12}))"
	((failed[$tier] > failed_before)) || kar_has_passed sched "$inputs"
}

needs() { # the sets of hack/deps.sh for a tier
	case $1 in
	unit | sim | sim-bugs) echo unit ;;
	sanitize | lint | fuzz) echo test ;;
	image) echo image ;;
	chart) echo image chart ;;
	node) echo build cluster image chart node ;;
	cluster) echo cluster ;;
	e2e) echo build cluster client ;;
	soak) echo build cluster ;;
	differential) echo build cluster ;;
	operators) echo build cluster chart ;;
	sim-e2e | field) echo unit kubectl client ;;
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
	local p=0 f=0 s=0 name total
	total=$(kar_seconds_since "$started")
	printf '\n%-12s %8s %8s %8s %9s %6s\n' tier passed failed skipped seconds share
	for name in "$@"; do
		printf '%-12s %8d %8d %8d %9s %5d%%\n' "$name" "${passed[$name]}" "${failed[$name]}" "${skipped[$name]}" "${seconds[$name]}" \
			"$(awk "BEGIN { print 100 * ${seconds[$name]} / ($total + 0.1) }" | cut -d . -f 1)"
		p=$((p + passed[$name])) f=$((f + failed[$name])) s=$((s + skipped[$name]))
	done
	((${#noted[@]} == 0)) || printf '%s\n' "${noted[@]}"
	printf 'all of it took %d:%02d minutes; the budget is 30 with warm caches and 50 with empty ones (docs/TESTING.md)\n' "$((${total%.*} / 60))" "$((${total%.*} % 60))"
	printf '%d passed, %d failed, %d skipped\n' "$p" "$f" "$s"
	((f == 0 && p > 0))
}

all=(unit sanitize lint sim sim-bugs field fuzz image chart sim-e2e cluster node e2e soak differential)
named=(operators) # runs only when it is named
(($#)) || set -- "${all[@]}"
for name in "$@"; do
	[[ " ${all[*]} ${named[*]} " == *" $name "* ]] || {
		kar_say "$usage" >&2
		exit 2
	}
done
run="$*"
started=$(date +%s%N)
# What all of them need at once; a tier whose own part fails says so.
# shellcheck disable=SC2046 # words
kar_deps $(for name in "$@"; do needs "$name"; done) || kar_warn 'not everything could be installed'
for name in "$@"; do
	run_tier "$name"
done
summary "$@"
