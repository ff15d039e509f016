#!/usr/bin/env bash
# From a fresh machine to a QueueJob that has run: tools, build, a local Kubernetes, the manager, the smallest example.
# Running it again is safe and takes seconds.
usage='usage: hack/quickstart.sh [--kubeconfig FILE]    FILE: use this cluster instead of a local one
       hack/quickstart.sh down                  stop and remove everything that the first form started'
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$KAR_ROOT"

cluster_name=quickstart
state=$KAR_CACHE/quickstart # pid, log and kubeconfig of the manager; which cluster it works on
example=manifests/examples/simple.yaml
job=simple
limit=180 # seconds until the example must be over

build_manager() {
	[[ -f build/build.ninja ]] || meson setup build
	meson compile -C build
}

manager_running() {
	local pid
	pid=$(cat "$state/pid" 2>/dev/null) && [[ $(readlink "/proc/$pid/exe") == "$KAR_ROOT/build/controllers/kar-controllers"* ]]
}

stop_manager() {
	local pid deadline=$((SECONDS + 10))
	manager_running || return 0
	pid=$(<"$state/pid")
	kill -s TERM "$pid"
	while manager_running; do
		((SECONDS < deadline)) || kill -s KILL "$pid" 2>/dev/null || true
		sleep 0.05
	done
}

start_manager() {
	stop_manager
	setsid build/controllers/kar-controllers --kubeconfig "$1" -v=2 >"$state/log" 2>&1 </dev/null &
	echo $! >"$state/pid"
}

# Starts or finds the cluster; sets KUBECONFIG (administrator) and manager_config (what the manager uses).
prepare_cluster() {
	if [[ -n $given ]]; then
		export KUBECONFIG=$given
		manager_config=$given
		kar_step 'install the CRDs' "$state/install.log" install -f manifests/crds
		return
	fi
	test/cluster/cluster build
	kar_step 'start a local Kubernetes' "$state/cluster.log" test/cluster/cluster up --name "$cluster_name" --crds manifests/crds
	eval "$(test/cluster/cluster env --name "$cluster_name")"
	kar_step 'install CRDs, namespace and RBAC' "$state/install.log" \
		install -f manifests/crds -f manifests/namespace.yaml -f manifests/rbac.yaml
	manager_config=$state/kubeconfig
	(umask 077 && test/cluster/cluster token-kubeconfig --name "$cluster_name" kar-system kar-controllers >"$manager_config")
}

install() {
	kubectl apply --server-side "$@" && kubectl wait --for=condition=Established --timeout=60s -f manifests/crds
}

submit() { # anew, if it has run before
	kubectl delete --ignore-not-found --cascade=foreground --timeout=60s -f "$example" && kubectl apply -f "$example"
}

# Shows the state of the job until it is over.
follow() {
	local line='' shown='' begin phase
	begin=$(date +%s%N)
	while :; do
		line=$(kubectl get queuejob "$job" -o \
			jsonpath='{.status.phase}: {.status.running} running, {.status.succeeded} succeeded of {.status.desired}' || true)
		phase=${line%%:*}
		[[ -n $phase ]] || line='not seen by the manager yet'
		if [[ -t 1 ]]; then
			printf '\r\e[K  %s (%s s)' "$line" "$(kar_seconds_since "$begin")"
		elif [[ $line != "$shown" ]]; then
			printf '  %s (%s s)\n' "$line" "$(kar_seconds_since "$begin")"
			shown=$line
		fi
		case $phase in
		Completed) break ;;
		Failed) trouble 'the job has failed' ;;
		esac
		manager_running || trouble 'the manager has stopped'
		(($(date +%s) - begin / 1000000000 < limit)) || trouble "the job is not over after $limit s"
		sleep 0.2
	done
	[[ ! -t 1 ]] || printf '\n'
}

trouble() {
	printf '\n'
	kubectl describe queuejob "$job" || true
	kar_say "The last lines of $state/log:"
	tail -n 20 "$state/log"
	kar_die "$1"
}

show() {
	printf '\n$ kubectl get qj\n'
	kubectl get qj
	printf '\n$ kubectl describe qj %s\n' "$job"
	kubectl describe qj "$job"
}

say_how_to_go_on() {
	cat <<END

${kar_green}It works.${kar_off} Go on with:
  export KUBECONFIG=$KUBECONFIG
END
	[[ $(command -v kubectl) != "$KAR_TOOLS"/* ]] || kar_say "  export PATH=$KAR_TOOLS/path:\$PATH"
	cat <<END
  kubectl apply -f manifests/examples/two-tasks.yaml
  kubectl get qj -w
  kubectl explain qj.spec
  tail -f $state/log
Stop with:
  hack/quickstart.sh down
END
}

up() {
	local begin
	begin=$(date +%s%N)
	mkdir -p "$state"
	if [[ -n $given ]]; then kar_deps build kubectl; else kar_deps build cluster; fi
	kar_step 'build kar-controllers' "$state/build.log" build_manager
	prepare_cluster
	printf '%s\n' "$KUBECONFIG" >"$state/cluster"
	start_manager "$manager_config"
	kar_step "submit $example" "$state/submit.log" submit
	follow
	show
	kar_say "done in $(kar_seconds_since "$begin") s"
	say_how_to_go_on
}

down() {
	local used
	used=$(cat "$state/cluster" 2>/dev/null || true)
	if [[ -n $used && $used != "$KAR_CACHE/clusters/$cluster_name/kubeconfig" ]] && manager_running; then
		kubectl --kubeconfig "$used" delete --ignore-not-found --timeout=60s -f "$example" || true
		kar_say "The CRDs stay in the cluster; remove them, and all jobs, with: kubectl delete -f manifests/crds"
	fi
	stop_manager
	test/cluster/cluster down --name "$cluster_name"
	rm -rf "$state"
	kar_say 'The manager is stopped.'
}

given='' manager_config='' command=up
while (($#)); do
	case $1 in
	--kubeconfig)
		[[ $# -ge 2 ]] || kar_die "$usage"
		given=$(realpath -e "$2")
		shift
		;;
	--kubeconfig=*) given=$(realpath -e "${1#*=}") ;;
	down) command=down ;;
	-h | --help)
		kar_say "$usage"
		exit
		;;
	*) kar_die "$usage" ;;
	esac
	shift
done
"$command"
