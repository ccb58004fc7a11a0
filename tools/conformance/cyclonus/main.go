// The cases that cyclonus generates, played on the cluster of KUBECONFIG by cyclonus' own interpreter, and a report in the format of
// ginkgo's. Unlike `cyclonus generate` it probes primary addresses, and many pairs of pods by one exec (cyclonus' worker).
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/mattfenwick/cyclonus/pkg/connectivity"
	"github.com/mattfenwick/cyclonus/pkg/connectivity/probe"
	"github.com/mattfenwick/cyclonus/pkg/generator"
	"github.com/mattfenwick/cyclonus/pkg/kube"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
)

var (
	focus  = flag.String("focus", "", "regular expression over names of cases")
	family = flag.Int("family", 4, "of the addresses that pods are asked by")
	settle = flag.Int("settle", 2, "seconds that probes wait after each change")
	limit  = flag.Duration("limit", time.Hour, "for all cases: those that are left then are not started")
	output = flag.String("report", "report.json", "path of the report")
)

var namespaces = []string{"x", "y", "z"}

func main() {
	flag.Parse()
	start := time.Now()
	found, err := connect()
	must(err)
	cluster := &cluster{Kubernetes: found, isIPv6: *family == 6}
	pods := []string{"a", "b", "c"}
	resources, err := probe.NewDefaultResources(cluster, namespaces, pods, []int{80, 81}, protocols(), nil, podSeconds, true, "")
	must(err)
	interpreter := connectivity.NewInterpreter(cluster, resources, &connectivity.InterpreterConfig{
		ResetClusterBeforeTestCase: true, VerifyClusterStateBeforeTestCase: true, KubeProbeRetries: 1,
		PerturbationWaitSeconds: *settle, BatchJobs: true, IgnoreLoopback: true, JobTimeoutSeconds: 1,
	})
	last, err := resources.GetPod("z", "c")
	must(err)
	cases := generator.NewTestCaseGenerator(true, last.IP, namespaces, nil, nil).GenerateTestCases()
	written := newReport(cases)
	for _, one := range cases {
		for _, step := range one.Steps {
			step.Probe.Mode = generator.ProbeModePodIP
		}
	}
	chosen := regexp.MustCompile(*focus)
	for index, one := range cases {
		if !chosen.MatchString(written.SpecReports[index].name()) || time.Since(start) > *limit {
			continue
		}
		written.SpecReports[index].play(interpreter, one)
		written.RunTime = time.Since(start)
		written.write(*output)
	}
	written.write(*output)
}

const podSeconds = 300

// Without the limit of five requests a second, by which the labels and policies between two cases took seven seconds.
func connect() (*kube.Kubernetes, error) {
	found, err := kube.NewKubernetesForContext("")
	if err != nil {
		return nil, err
	}
	found.RestConfig.QPS = -1
	found.ClientSet, err = kubernetes.NewForConfig(found.RestConfig)
	return found, err
}

// The kernel of the nodes is the one that this runs on.
func protocols() []v1.Protocol {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, syscall.IPPROTO_SCTP)
	if err != nil {
		return []v1.Protocol{v1.ProtocolTCP, v1.ProtocolUDP}
	}
	syscall.Close(socket)
	return []v1.Protocol{v1.ProtocolTCP, v1.ProtocolUDP, v1.ProtocolSCTP}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// What of ginkgo's report is read: ../ginkgo-report.ts.
type report struct {
	RunTime     time.Duration
	SpecReports []*spec
}

type spec struct {
	ContainerHierarchyTexts []string
	LeafNodeType            string
	LeafNodeText            string
	State                   string
	RunTime                 time.Duration
	NumAttempts             int
	Failure                 *failure `json:",omitempty"`
}

type failure struct{ Message string }

func newReport(cases []*generator.TestCase) *report {
	all := &report{}
	for index, one := range cases {
		all.SpecReports = append(all.SpecReports, &spec{
			ContainerHierarchyTexts: []string{fmt.Sprintf("cyclonus %03d", index+1)},
			LeafNodeType:            "It", LeafNodeText: one.Description, State: "skipped",
		})
	}
	return all
}

func (r *report) write(path string) {
	text, err := json.Marshal([]*report{r})
	must(err)
	must(os.WriteFile(path+".draft", text, 0o644))
	must(os.Rename(path+".draft", path))
}

func (s *spec) name() string {
	return strings.Join(append(s.ContainerHierarchyTexts, s.LeafNodeText), " ")
}

func (s *spec) play(interpreter *connectivity.Interpreter, one *generator.TestCase) {
	start := time.Now()
	result := interpreter.ExecuteTestCase(one)
	s.RunTime, s.NumAttempts, s.State = time.Since(start), 1, "passed"
	for _, step := range result.Steps {
		s.NumAttempts = max(s.NumAttempts, len(step.KubeProbes))
	}
	if differences := differencesOf(result); len(differences) > 0 {
		s.State, s.Failure = "failed", &failure{strings.Join(differences, "; ")}
	}
	fmt.Printf("%s %s (%.0f s)\n", s.State, s.name(), s.RunTime.Seconds())
	if s.Failure != nil {
		fmt.Println(s.Failure.Message)
	}
}

// Of a pod to itself cyclonus has an opinion that no plugin shares (Kubernetes, issue 95879).
func differencesOf(result *connectivity.Result) []string {
	differences := []string{}
	for index, step := range result.Steps {
		found, expected := step.LastKubeProbe(), step.SimulatedProbe
		for _, pair := range found.Wrapped.Keys() {
			if pair.From == pair.To {
				continue
			}
			for port, job := range found.Get(pair.From, pair.To).JobResults {
				if simulated := expected.Get(pair.From, pair.To).JobResults[port]; simulated.Combined != job.Combined {
					where := fmt.Sprintf("step %d: %s to %s %s", index+1, pair.From, pair.To, port)
					differences = append(differences, fmt.Sprintf("%s: %s, not %s", where, job.Combined, simulated.Combined))
				}
			}
		}
	}
	sort.Strings(differences)
	if result.Err != nil {
		differences = append(differences, result.Err.Error())
	}
	return differences
}
