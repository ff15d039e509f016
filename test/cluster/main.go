// A Kubernetes control plane for tests in one binary: the first argument names the program to be.
package main

import (
	"fmt"
	"net/url"
	"os"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

const usage = `usage: kube etcd DATA_DIR CLIENT_URL
       kube kube-apiserver|kube-controller-manager|kube-scheduler [flags]`

func main() {
	if len(os.Args) < 2 {
		fail(usage)
	}
	name := os.Args[1]
	os.Args = append([]string{name}, os.Args[2:]...)
	switch name {
	case "etcd":
		runEtcd(os.Args[1:])
	case "kube-apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "kube-controller-manager":
		os.Exit(cli.Run(controllermanager.NewControllerManagerCommand()))
	case "kube-scheduler":
		os.Exit(cli.Run(scheduler.NewSchedulerCommand()))
	default:
		fail(usage)
	}
}

// runEtcd serves one member that trades durability for speed: the data of a test cluster need not survive a crash of the machine.
func runEtcd(args []string) {
	if len(args) != 2 {
		fail(usage)
	}
	client, err := url.Parse(args[1])
	if err != nil {
		fail(err)
	}
	cfg := embed.NewConfig()
	cfg.Dir = args[0]
	cfg.ListenClientUrls = []url.URL{*client}
	cfg.AdvertiseClientUrls = cfg.ListenClientUrls
	cfg.ListenPeerUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	cfg.UnsafeNoFsync = true
	cfg.LogLevel = "warn"
	etcd, err := embed.StartEtcd(cfg)
	if err != nil {
		fail(err)
	}
	fail(<-etcd.Err())
}

func fail(reason any) {
	fmt.Fprintln(os.Stderr, reason)
	os.Exit(1)
}
