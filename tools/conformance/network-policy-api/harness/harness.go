// Package harness runs the conformance tests of network-policy-api as a program, on kernels without SCTP, too. Modules of both versions
// use it.
package harness

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
)

// Cluster is the one of KUBECONFIG.
type Cluster struct {
	Client    client.Client
	ClientSet kubernetes.Interface
	Config    *rest.Config
	HasSCTP   bool
	chosen    *regexp.Regexp
}

// Namespaces of the base manifests, and the StatefulSet of each.
var (
	Namespaces = []string{
		"network-policy-conformance-gryffindor", "network-policy-conformance-slytherin", "network-policy-conformance-hufflepuff",
		"network-policy-conformance-ravenclaw", "network-policy-conformance-forbidden-forrest",
	}
	StatefulSets = []string{"harry-potter", "draco-malfoy", "cedric-diggory", "luna-lovegood", "centaur"}
)

// Main reads the flags, and runs `test` as the test TestConformance.
func Main(install func(*runtime.Scheme) error, test func(*testing.T, Cluster)) {
	testing.Init()
	focus := flag.String("focus", "", "regular expression over names of tests, without those of their subtests")
	settle := flag.Duration("settle", 2*time.Second, "what tests wait after each change")
	flag.Parse()
	chosen := regexp.MustCompile(*focus)
	run := func(t *testing.T) {
		cfg, err := config.GetConfig()
		Check(t, err)
		clientSet, err := kubernetes.NewForConfig(cfg)
		Check(t, err)
		direct, err := client.New(cfg, client.Options{})
		Check(t, err)
		Check(t, install(direct.Scheme()))
		test(t, Cluster{settling{direct, *settle}, clientSet, cfg, kernelHasSCTP(), chosen})
	}
	all := func(string, string) (bool, error) { return true, nil }
	testing.Main(all, []testing.InternalTest{{Name: "TestConformance", F: run}}, nil, nil)
}

// Announce says which tests there are: those that there is no time for are then known.
func (c Cluster) Announce(names []string) {
	for _, name := range names {
		if c.chosen.MatchString(name) {
			fmt.Printf("--- PLANNED: TestConformance/%s\n", name)
		}
	}
}

// Run runs a test of that name, if it is chosen and the kernel does for it.
func (c Cluster) Run(t *testing.T, name string, test func(*testing.T)) {
	if !c.chosen.MatchString(name) {
		return
	}
	t.Run(name, func(t *testing.T) {
		if !c.HasSCTP && strings.Contains(name, "SCTP") {
			t.Skip("the kernel has no SCTP")
		}
		test(t)
	})
}

// CreateBase creates the namespaces and pods that all tests use, without the containers that a kernel without SCTP can't run.
func (c Cluster) CreateBase(t *testing.T, manifests []byte) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return
		}
		Check(t, err)
		if !c.HasSCTP && object.GetKind() == "StatefulSet" {
			removeSCTP(t, object)
		}
		Check(t, client.IgnoreAlreadyExists(c.Client.Create(context.Background(), object)))
	}
}

// Check fails the test because of an error.
func Check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var podContainers = []string{"spec", "template", "spec", "containers"}

func removeSCTP(t *testing.T, object *unstructured.Unstructured) {
	containers, _, err := unstructured.NestedSlice(object.Object, podContainers...)
	Check(t, err)
	kept := []any{}
	for _, container := range containers {
		if fields, ok := container.(map[string]any); ok && !servesSCTP(fields["env"]) {
			kept = append(kept, container)
		}
	}
	Check(t, unstructured.SetNestedSlice(object.Object, kept, podContainers...))
}

func servesSCTP(environment any) bool {
	variables, _ := environment.([]any)
	for _, variable := range variables {
		if fields, ok := variable.(map[string]any); ok {
			if name, _ := fields["name"].(string); strings.HasPrefix(name, "SERVE_SCTP_") {
				return true
			}
		}
	}
	return false
}

func kernelHasSCTP() bool {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, syscall.IPPROTO_SCTP)
	if err == nil {
		syscall.Close(socket)
	}
	return err == nil
}

// Tests of v1alpha1 ask pods right after a change, which no network takes notice of in no time.
type settling struct {
	client.Client
	pause time.Duration
}

func (s settling) settle(object client.Object, err error) error {
	kind, unknown := apiutil.GVKForObject(object, s.Scheme())
	if unknown == nil && strings.HasSuffix(kind.Kind, "Policy") {
		time.Sleep(s.pause)
	}
	return err
}

func (s settling) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	return s.settle(object, s.Client.Create(ctx, object, options...))
}

func (s settling) Update(ctx context.Context, object client.Object, options ...client.UpdateOption) error {
	return s.settle(object, s.Client.Update(ctx, object, options...))
}

func (s settling) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	return s.settle(object, s.Client.Patch(ctx, object, patch, options...))
}

func (s settling) Delete(ctx context.Context, object client.Object, options ...client.DeleteOption) error {
	return s.settle(object, s.Client.Delete(ctx, object, options...))
}
