// Serves a cluster of generated pods over TLS and HTTP/2, as an API server would list and watch them.
//
// Every pod is about 5.7 KB of JSON with the fields a training pod has in a real cluster, managedFields included. Only
// what an informer asks for is there: LIST with limit and continue, WATCH with bookmarks, in protobuf for who accepts that
// first. All other resources are empty. After -settle the watch of pods sends -events MODIFIED events, then only bookmarks.
package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"flag"
	"fmt"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	pods     = flag.Int("pods", 20000, "how many pods there are")
	events   = flag.Int("events", 0, "MODIFIED events to send on the watch of pods")
	settle   = flag.Duration("settle", 5*time.Second, "how long a watch of pods waits before its events")
	out      = flag.String("kubeconfig", "", "file to write a kubeconfig to")
	template string
)

const listRV = 1000000

func managedFields(manager, sub string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"manager":%q,"operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{`, manager)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"f:%s%d":{".":{},"f:name":{},"f:value":{},"k:{\"type\":\"T%d\"}":{".":{},"f:status":{}}}`, sub, i, i)
	}
	b.WriteString("}}")
	return b.String()
}

// makeTemplate writes the pod with %d for its number (5 times) and %d for its resourceVersion.
func makeTemplate() string {
	cond := func(t string) string {
		return fmt.Sprintf(`{"type":%q,"status":"True","lastProbeTime":null,"lastTransitionTime":"2026-01-02T03:04:05Z","observedGeneration":1}`, t)
	}
	env := make([]string, 4)
	for i := range env {
		env[i] = fmt.Sprintf(`{"name":"TRAIN_OPTION_%d","value":"some-value-of-a-usual-length-%d"}`, i, i)
	}
	return `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"training-job-worker-%[1]d","namespace":"team-a","uid":"` +
		`7b1c9a2e-0000-4000-8000-%012[1]d","resourceVersion":"%[2]d","generation":1,"creationTimestamp":"2026-01-02T03:04:05Z",` +
		`"labels":{"app":"training","team":"a","controller-uid":"2f1f7c7e-1111-4222-8333-444455556666","job-name":"training-job","version":"v1.2.3"},` +
		`"annotations":{"cni.projectcalico.org/podIP":"10.1.2.3/32","kubernetes.io/config.source":"api","prometheus.io/scrape":"true"},` +
		`"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"training-job-%[3]d","uid":"2f1f7c7e-1111-4222-8333-%012[3]d","controller":true,"blockOwnerDeletion":true}],` +
		`"managedFields":[` + managedFields("kube-controller-manager", "spec", 10) + "," + managedFields("kubelet", "status", 9) + `]},` +
		`"spec":{"volumes":[{"name":"kube-api-access-x2b4c","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},` +
		`{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},{"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}],"defaultMode":420}}],` +
		`"containers":[{"name":"main","image":"registry.example.com/team-a/training:2026.01.02-abcdef012345","command":["python","-m","train"],"args":["--epochs=10","--batch-size=256"],` +
		`"env":[` + strings.Join(env, ",") + `],"resources":{"limits":{"cpu":"8","memory":"64Gi","nvidia.com/gpu":"1"},"requests":{"cpu":"8","memory":"64Gi","nvidia.com/gpu":"1"}},` +
		`"volumeMounts":[{"name":"kube-api-access-x2b4c","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],` +
		`"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],` +
		`"restartPolicy":"Never","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"default","serviceAccount":"default","nodeName":"node-%[4]d",` +
		`"securityContext":{},"schedulerName":"default-scheduler","tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},` +
		`{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],"priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"},` +
		`"status":{"phase":"Running","observedGeneration":1,"conditions":[` + strings.Join([]string{cond("PodReadyToStartContainers"), cond("Initialized"), cond("Ready"), cond("ContainersReady"), cond("PodScheduled")}, ",") + `],` +
		`"hostIP":"10.0.0.1","hostIPs":[{"ip":"10.0.0.1"}],"podIP":"10.1.2.3","podIPs":[{"ip":"10.1.2.3"}],"startTime":"2026-01-02T03:04:05Z",` +
		`"containerStatuses":[{"name":"main","state":{"running":{"startedAt":"2026-01-02T03:04:05Z"}},"lastState":{},"ready":true,"restartCount":0,` +
		`"image":"registry.example.com/team-a/training:2026.01.02-abcdef012345","imageID":"registry.example.com/team-a/training@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",` +
		`"containerID":"containerd://0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","started":true}],"qosClass":"Guaranteed"}}`
}

// pod appends pod number i at version rv. 20 pods share a job, 40 a node.
func pod(b *bytes.Buffer, i, rv int) { fmt.Fprintf(b, template, i, rv, i/20, i/40) }

func list(w http.ResponseWriter, r *http.Request, n int) {
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	to := n
	next := ""
	if limit > 0 && from+limit < n {
		to = from + limit
		next = fmt.Sprintf(`,"continue":"%d","remainingItemCount":%d`, to, n-to)
	}
	if acceptsProtobuf(r) {
		listProtobuf(w, from, to, n)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"%d"%s},"items":[`, listRV, next)
	for i := from; i < to; i++ {
		if i > from {
			b.WriteByte(',')
		}
		pod(&b, i, i+1)
		if b.Len() > 1<<16 {
			_, _ = b.WriteTo(w)
		}
	}
	b.WriteString("]}\n")
	_, _ = b.WriteTo(w)
}

func bookmark(w http.ResponseWriter, r *http.Request, kind string, rv int) {
	if acceptsProtobuf(r) {
		eventProtobuf(w, "BOOKMARK", kind, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: fmt.Sprint(rv)}})
		w.(http.Flusher).Flush()
		return
	}
	fmt.Fprintf(w, `{"type":"BOOKMARK","object":{"kind":%q,"apiVersion":"v1","metadata":{"resourceVersion":"%d"}}}`+"\n", kind, rv)
	w.(http.Flusher).Flush()
}

// sendEvents sends the MODIFIED events, all pods in turn.
func sendEvents(w http.ResponseWriter, r *http.Request) int {
	var b bytes.Buffer
	rv := listRV
	maker := newPodMaker()
	for k := range *events {
		if r.Context().Err() != nil {
			break
		}
		rv++
		if acceptsProtobuf(r) {
			eventProtobuf(&b, "MODIFIED", "Pod", maker.at(k%*pods, rv))
		} else {
			b.WriteString(`{"type":"MODIFIED","object":`)
			pod(&b, k%*pods, rv)
			b.WriteString("}\n")
		}
		if b.Len() > 1<<16 {
			_, _ = b.WriteTo(w)
		}
	}
	_, _ = b.WriteTo(w)
	return rv
}

func watch(w http.ResponseWriter, r *http.Request, isPods bool) {
	if r.URL.Query().Get("sendInitialEvents") != "" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnprocessableEntity) // as a server without WatchList: the client falls back to LIST
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","message":"sendInitialEvents is forbidden for watch","code":422}`)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if acceptsProtobuf(r) {
		w.Header().Set("Content-Type", protobufType+";stream=watch")
	}
	w.(http.Flusher).Flush()
	rv := listRV
	if isPods && *events > 0 {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(*settle):
		}
		rv = sendEvents(w, r)
	}
	for {
		bookmark(w, r, "Pod", rv)
		select {
		case <-r.Context().Done():
			return
		case <-time.After(time.Minute):
		}
	}
}

func handle(w http.ResponseWriter, r *http.Request) {
	isPods := r.URL.Path == "/api/v1/pods"
	switch {
	case r.Method != http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case r.URL.Query().Get("watch") != "":
		watch(w, r, isPods)
	case isPods:
		list(w, r, *pods)
	default:
		list(w, r, 0)
	}
}

func certificate() (tls.Certificate, []byte) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	t := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "podserver"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	check(err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	flag.Parse()
	template = makeTemplate()
	cert, ca := certificate()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	caFile := *out + ".ca"
	check(os.WriteFile(caFile, ca, 0o600))
	check(os.WriteFile(*out, fmt.Appendf(nil, "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: \"https://%s\", certificate-authority: %s}}]\n"+
		"users: [{name: u, user: {token: none}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n", l.Addr(), caFile), 0o600))
	var b bytes.Buffer
	pod(&b, 12345, 1)
	fmt.Printf("podserver: %d pods of %d bytes at https://%s\n", *pods, b.Len(), l.Addr())
	s := &http.Server{Handler: http.HandlerFunc(handle), TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}},
		// kube-apiserver's own windows: 256 KiB per stream, 100 streams.
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 100, MaxReceiveBufferPerStream: 256 << 10, MaxReceiveBufferPerConnection: 25 << 20}}
	check(s.ServeTLS(l, "", ""))
}
