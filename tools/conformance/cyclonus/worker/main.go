// What cyclonus' pods probe with: its worker's command line and answer, by sockets of its own. That one starts a program for each probe, of
// which nine pods have 324, and plays a denied one for two seconds before the next: a case took over a minute of two processors.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Of cyclonus' pkg/worker; without the packages of Kubernetes, which are the most of a program's start.
type batch struct{ Requests []*request }

type request struct {
	Key      string
	Protocol string
	Host     string
	Port     int
}

type result struct {
	Request *request
	Output  string
	Error   string
}

const (
	timeout = time.Second
	tries   = 2
	// All of one pod's with two ports and two protocols.
	atOnce = 36
)

func main() {
	jobs := flag.String("jobs", "", "JSON of a batch")
	flag.Parse()
	var asked batch
	must(json.Unmarshal([]byte(*jobs), &asked))
	text, err := json.Marshal(playAll(asked.Requests))
	must(err)
	fmt.Println(string(text))
}

func playAll(requests []*request) []*result {
	results := make([]*result, len(requests))
	places := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for index, one := range requests {
		all.Add(1)
		places <- struct{}{}
		go func() {
			defer all.Done()
			results[index] = play(one)
			<-places
		}()
	}
	all.Wait()
	return results
}

func play(one *request) *result {
	var err error
	for range tries {
		if err = ask(one); err == nil {
			return &result{Request: one}
		}
	}
	return &result{Request: one, Error: err.Error()}
}

// A connection, or an answer to a datagram, as `agnhost connect` has it.
func ask(one *request) error {
	address := net.JoinHostPort(one.Host, strconv.Itoa(one.Port))
	protocol := strings.ToLower(one.Protocol)
	if protocol == "sctp" {
		return exec.Command("/agnhost", "connect", address, "--timeout=1s", "--protocol=sctp").Run()
	}
	socket, err := net.DialTimeout(protocol, address, timeout)
	if err != nil {
		return err
	}
	defer socket.Close()
	if protocol == "tcp" {
		return nil
	}
	if err := socket.SetDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	if _, err := socket.Write([]byte("hostname\n")); err != nil {
		return err
	}
	_, err = socket.Read(make([]byte, 1024))
	return err
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
