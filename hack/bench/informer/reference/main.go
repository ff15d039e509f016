// The reference: the shared informer of client-go on pods, as a Go controller has it.
//
// Prints one JSON line when the cache has synced and settled, and one when -events updates have arrived: resident memory and
// CPU seconds of this process. -strip removes managedFields with a transform, as careful controllers do; -protobuf asks for
// protobuf, as typed clients do by themselves.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func rssKiB() (kib int) {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		_, _ = fmt.Sscanf(line, "VmRSS: %d kB", &kib)
	}
	return kib
}

func report(what string, n int64, since time.Time) {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	cpu := float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{
		"at": what, "objects": n, "rss_kib": rssKiB(), "peak_rss_kib": u.Maxrss, "cpu_seconds": cpu, "wall_seconds": time.Since(since).Seconds(),
	})
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the pods")
	strip := flag.Bool("strip", false, "drop managedFields before they are stored")
	protobuf := flag.Bool("protobuf", false, "read protobuf instead of JSON")
	events := flag.Int64("events", 0, "updates to wait for")
	settle := flag.Duration("settle", 3*time.Second, "how long to wait after the list before measuring")
	flag.Parse()
	start := time.Now()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	config.ContentType = runtime.ContentTypeJSON
	if *protobuf {
		config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON
	}
	var opts []informers.SharedInformerOption
	if *strip {
		opts = append(opts, informers.WithTransform(func(o any) (any, error) {
			if p, ok := o.(*corev1.Pod); ok {
				p.ManagedFields = nil
			}
			return o, nil
		}))
	}
	factory := informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(config), 0, opts...)
	informer := factory.Core().V1().Pods().Informer()
	var updates atomic.Int64
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) { updates.Add(1) }})
	factory.Start(context.Background().Done())
	cache.WaitForCacheSync(context.Background().Done(), informer.HasSynced)
	report("list", int64(len(informer.GetStore().ListKeys())), start)
	time.Sleep(*settle)
	report("settled", int64(len(informer.GetStore().ListKeys())), start)
	if *events == 0 {
		return
	}
	for updates.Load() < *events {
		time.Sleep(10 * time.Millisecond)
	}
	report("events", updates.Load(), start)
}
