#!/usr/bin/env bash
# From a fresh machine to a QueueJob that has run: tools, build, a cluster, the manager, the smallest example.
# Running it again is safe and takes seconds.
usage='usage: hack/quickstart.sh [--speed N]            a simulated cluster (kar-sim serve), N times faster than life
       hack/quickstart.sh --real                 a real Kubernetes on this machine; minutes and 8 GB the first time
       hack/quickstart.sh --kubeconfig FILE      use this cluster
       hack/quickstart.sh down                   stop and remove everything that one of these started'
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$KAR_ROOT"

cluster_name=quickstart
state=$KAR_CACHE/quickstart # pids, logs and kubeconfigs; which cluster the manager works on
example=manifests/examples/simple.yaml
job=simple
limit=180 # seconds until the example must be over

build_programs() {
	[[ -f build/build.ninja ]] || meson setup build -Dwerror=false # a compiler that is newer may warn of more
	meson compile -C build kar-controllers kar-sim
}

is_running() { # PROGRAM: its path below build/
	local pid
	pid=$(cat "$state/${1##*/}.pid" 2>/dev/null) && [[ $(readlink "/proc/$pid/exe") == "$KAR_ROOT/build/$1"* ]]
}

start() { # PROGRAM ARGUMENT...
	local name=${1##*/}
	setsid "build/$1" "${@:2}" >"$state/$name.log" 2>&1 </dev/null &
	echo $! >"$state/$name.pid"
	until is_running "$1" || ! kill -0 $! 2>/dev/null; do # a moment ago it was still this shell
		sleep 0.01
	done
}

stop() { # PROGRAM
	local pid deadline=$((SECONDS + 10))
	is_running "$1" || return 0
	pid=$(<"$state/${1##*/}.pid")
	kill -s TERM "$pid"
	while is_running "$1"; do
		((SECONDS < deadline)) || kill -s KILL "$pid" 2>/dev/null || true
		sleep 0.05
	done
}

# One that runs stays, with what is in it, unless it is to run at another speed.
start_simulation() {
	local deadline=$((SECONDS + 20))
	if is_running sim/kar-sim && [[ $(cat "$state/speed" 2>/dev/null) == "$speed" ]]; then
		return
	fi
	stop sim/kar-sim
	rm -f "$simulated"
	start sim/kar-sim serve --kubeconfig-out "$simulated" --speed "$speed"
	echo "$speed" >"$state/speed"
	until [[ -s $simulated ]] && kubectl --kubeconfig "$simulated" get nodes; do
		is_running sim/kar-sim && ((SECONDS < deadline)) || return
		sleep 0.1
	done
}

# Starts or finds the cluster; sets KUBECONFIG (administrator) and manager_config (what the manager uses).
prepare_cluster() {
	case $kind in
	given)
		export KUBECONFIG=$given
		kar_step 'install the CRDs' "$state/install.log" install -f manifests/crds
		;;
	simulated)
		export KUBECONFIG=$simulated
		kar_step 'start the simulated cluster' "$state/cluster.log" start_simulation
		kar_step 'install CRDs, namespace and RBAC' "$state/install.log" install_all
		;;
	real)
		test/cluster/cluster build
		kar_step 'start a local Kubernetes' "$state/cluster.log" test/cluster/cluster up --name "$cluster_name" --crds manifests/crds
		eval "$(test/cluster/cluster env --name "$cluster_name")"
		kar_step 'install CRDs, namespace and RBAC' "$state/install.log" install_all
		manager_config=$state/manager.kubeconfig
		(umask 077 && test/cluster/cluster token-kubeconfig --name "$cluster_name" kar-system kar-controllers >"$manager_config")
		return
		;;
	esac
	manager_config=$KUBECONFIG
}

install_all() { install -f manifests/crds -f manifests/namespace.yaml -f manifests/rbac.yaml -f manifests/roles.yaml; }

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
		is_running "$manager" || trouble 'the manager has stopped'
		(($(date +%s) - begin / 1000000000 < limit)) || trouble "the job is not over after $limit s"
		sleep 0.2
	done
	[[ ! -t 1 ]] || printf '\n'
}

trouble() {
	printf '\n'
	kubectl describe queuejob "$job" || true
	kar_say "The last lines of $state/kar-controllers.log:"
	tail -n 20 "$state/kar-controllers.log"
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
  tail -f $state/kar-controllers.log
END
	[[ $kind != simulated ]] || kar_say "  build/sim/kar-sim serve --help    # more nodes, other speeds; the pods here only pretend to run (docs/SIMULATION.md)"
	cat <<END
Stop with:
  hack/quickstart.sh down
END
}

up() {
	local begin
	begin=$(date +%s%N)
	mkdir -p "$state"
	if [[ $kind == real ]]; then kar_deps build cluster; else kar_deps build kubectl; fi
	kar_step 'build kar-controllers and kar-sim' "$state/build.log" build_programs
	prepare_cluster
	printf '%s\n' "$KUBECONFIG" >"$state/cluster"
	stop "$manager"
	start "$manager" --kubeconfig "$manager_config" -v=2
	kar_step "submit $example" "$state/submit.log" submit
	follow
	show
	kar_say "done in $(kar_seconds_since "$begin") s"
	say_how_to_go_on
}

down() {
	local used
	used=$(cat "$state/cluster" 2>/dev/null || true)
	if [[ -n $used && $used != "$simulated" && $used != "$KAR_CACHE/clusters/$cluster_name/kubeconfig" ]] && is_running "$manager"; then
		kubectl --kubeconfig "$used" delete --ignore-not-found --timeout=60s -f "$example" || true
		kar_say "The CRDs stay in the cluster; remove them, and all jobs, with: kubectl delete -f manifests/crds"
	fi
	stop "$manager"
	stop sim/kar-sim
	test/cluster/cluster down --name "$cluster_name"
	rm -rf "$state"
	kar_say 'The manager is stopped.'
}

manager=controllers/kar-controllers
simulated=$state/kubeconfig
kind=simulated given='' speed=1 manager_config='' command=up
while (($#)); do
	case $1 in
	--kubeconfig | --speed)
		[[ $# -ge 2 ]] || kar_die "$usage"
		set -- "$1=$2" "${@:3}"
		continue
		;;
	--kubeconfig=*) kind=given given=$(realpath -e "${1#*=}") ;;
	--speed=*) speed=${1#*=} ;;
	--real) kind=real ;;
	down) command=down ;;
	-h | --help)
		kar_say "$usage"
		exit
		;;
	*) kar_die "$usage" ;;
	esac
	shift
done
[[ $speed =~ ^[1-9][0-9]{0,3}$ ]] || kar_die '--speed: a number from 1 to 1000'
"$command"
