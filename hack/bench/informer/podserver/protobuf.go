package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

const protobufType = "application/vnd.kubernetes.protobuf"

func acceptsProtobuf(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Accept"), protobufType)
}

// podMaker makes the pods of the template without decoding JSON for each.
type podMaker struct{ pod corev1.Pod }

func newPodMaker() *podMaker {
	var b bytes.Buffer
	var m podMaker
	pod(&b, 0, 0)
	check(json.Unmarshal(b.Bytes(), &m.pod))
	return &m
}

// at returns pod number i at version rv; the next call overwrites it.
func (m *podMaker) at(i, rv int) *corev1.Pod {
	p := &m.pod
	p.Name = fmt.Sprintf("training-job-worker-%d", i)
	p.UID = types.UID(fmt.Sprintf("7b1c9a2e-0000-4000-8000-%012d", i))
	p.ResourceVersion = fmt.Sprint(rv)
	p.OwnerReferences[0].Name = fmt.Sprintf("training-job-%d", i/20)
	p.OwnerReferences[0].UID = types.UID(fmt.Sprintf("2f1f7c7e-1111-4222-8333-%012d", i/20))
	p.Spec.NodeName = fmt.Sprintf("node-%d", i/40)
	return p
}

func field(b []byte, number byte, n int) []byte {
	return binary.AppendUvarint(append(b, number<<3|2), uint64(n))
}

// envelope returns all that comes before the n bytes of an object.
func envelope(kind string, n int) []byte {
	t := runtime.TypeMeta{APIVersion: "v1", Kind: kind}
	meta, err := t.Marshal()
	check(err)
	b := append(field([]byte("k8s\x00"), 1, len(meta)), meta...)
	return field(b, 2, n)
}

type marshaler interface{ Marshal() ([]byte, error) }

func marshal(m marshaler) []byte {
	b, err := m.Marshal()
	check(err)
	return b
}

// listProtobuf sends pods from..to-1 of n. Sizes come first, so that pods are made twice instead of kept.
func listProtobuf(w http.ResponseWriter, from, to, n int) {
	meta := metav1.ListMeta{ResourceVersion: fmt.Sprint(listRV)}
	if to < n {
		rest := int64(n - to)
		meta.Continue, meta.RemainingItemCount = fmt.Sprint(to), &rest
	}
	head := marshal(&meta)
	head = append(field(nil, 1, len(head)), head...)
	maker, size := newPodMaker(), len(head)
	for i := from; i < to; i++ {
		n := maker.at(i, i+1).Size()
		size += len(field(nil, 2, n)) + n
	}
	w.Header().Set("Content-Type", protobufType)
	var b bytes.Buffer
	b.Write(envelope("PodList", size))
	b.Write(head)
	for i := from; i < to; i++ {
		item := marshal(maker.at(i, i+1))
		b.Write(field(nil, 2, len(item)))
		b.Write(item)
		if b.Len() > 1<<16 {
			_, _ = b.WriteTo(w)
		}
	}
	_, _ = b.WriteTo(w)
}

// eventProtobuf appends one frame of a watch.
func eventProtobuf(b io.Writer, event, kind string, object marshaler) {
	raw := marshal(object)
	frame := marshal(&metav1.WatchEvent{Type: event, Object: runtime.RawExtension{Raw: append(envelope(kind, len(raw)), raw...)}})
	_, _ = b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(frame))))
	_, _ = b.Write(frame)
}
