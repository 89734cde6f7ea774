// Package server gives a test its servers: real ones, with the real module,
// each in a directory of its own and gone with the test.
//
// Two variables of the environment choose which. GOBLIN_SERVER names a line of
// build/servers, to be run in a container; REDIS_SERVER is the path of a server
// program on this machine, to be run as it is. Without either it is the first
// line of build/servers. GOBLIN_MODULE is the library, where it is not
// build/goblin.so. With GOBLIN_LEAKS=1 each server that is alive at the end of its
// test is stopped, not killed, so that a leak checker in it has its say.
//
// A container is nothing but a way to get at the program: it shares the
// network, the process numbers and the directory with this machine. So a test
// connects, sends signals, and reads logs and append-only files in one way.
package server

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// patience is how long a server may take for anything that a test waits for.
const patience = 30 * time.Second

// Server is a running server.
type Server struct {
	Client *redis.Client // connected to it, RESP3 where the server has it
	Port   int
	Dir    string // its working directory
	Config string // its configuration file, which must exist, or ""
	Via    string // a program that is given the server's command line to run, or ""
	Program

	t        testing.TB
	args     []string
	process  process
	expected []*regexp.Regexp
}

// New starts a server that loads the module. The arguments are options as on
// its command line.
func New(t testing.TB, args ...string) *Server {
	t.Helper()
	return Plain(t, append([]string{"--loadmodule", Module(t)}, args...)...)
}

// Plain starts a server without the module.
func Plain(t testing.TB, args ...string) *Server {
	t.Helper()
	s := Unstarted(t, args...)
	s.Start()
	return s
}

// Unstarted prepares a server that a test wants to start itself.
func Unstarted(t testing.TB, args ...string) *Server {
	t.Helper()
	s := &Server{t: t, Dir: t.TempDir(), Port: freePort(t), Program: program(t), args: args}
	s.Client = s.Connect(nil)
	t.Cleanup(s.end)
	return s
}

// Start starts the server, or starts it again in its directory, on its port and
// with its options, to which more can be added. It returns once the server
// answers and has loaded its data.
func (s *Server) Start(args ...string) {
	s.t.Helper()
	s.Launch(args...)
	s.Until("the server answers", func() bool {
		require.False(s.t, s.process.exited(), "the server ended while it started:\n%s", s.Log())
		return s.Do("CONFIG", "GET", "dir") != nil && s.Do("PING") == "PONG" && s.Info("server")["tcp_port"] == strconv.Itoa(s.Port)
	})
}

// Launch starts the server and does not wait for it.
func (s *Server) Launch(args ...string) {
	s.t.Helper()
	if s.process != nil {
		s.process.remove()
	}
	s.args = append(s.args, args...)
	command := append([]string{s.path}, append(s.options(), s.args...)...)
	if s.Config != "" {
		command = slices.Insert(command, 1, s.Config)
	}
	if s.Via != "" {
		command = slices.Insert(command, 0, s.Via)
	}
	s.process = s.launch(s.t, s.Dir, command)
}

// options are those that every server is started with. Later ones win.
func (s *Server) options() []string {
	options := []string{
		"--port", strconv.Itoa(s.Port), "--bind", "127.0.0.1", "--dir", s.Dir, "--logfile", filepath.Join(s.Dir, "log"),
		"--save", "", "--repl-diskless-sync-delay", "0",
	}
	if s.Speaks(6, 2) {
		options = append(options, "--crash-memcheck-enabled", "no")
	}
	if s.Speaks(7, 0) {
		options = append(options, "--enable-module-command", "yes", "--enable-debug-command", "yes")
	}
	return options
}

// Stop ends the server as an operator would, and waits until it has. One that
// has found memory to be lost ends with an error.
func (s *Server) Stop() {
	s.t.Helper()
	s.Signal(syscall.SIGTERM)
	assert.Zero(s.t, s.Status(), "%s", s.Output())
}

// Unload unloads the module, as soon as no client refers to it.
func (s *Server) Unload() {
	s.t.Helper()
	if s.Do("MODULE", "UNLOAD", "goblin") == "OK" {
		return
	}
	s.Expect("<goblin> not unloaded: the server would go on using|OnUnload failed|Error unloading module")
	s.Until("the module is unloaded", func() bool { return s.Do("MODULE", "UNLOAD", "goblin") == "OK" })
}

// Kill ends the server as a crash of the machine would.
func (s *Server) Kill() { s.Signal(syscall.SIGKILL); s.Gone() }

// Signal sends the server a signal.
func (s *Server) Signal(signal syscall.Signal) {
	s.t.Helper()
	require.NoError(s.t, syscall.Kill(s.process.pid(), signal))
}

// Pid is the process number of the running server.
func (s *Server) Pid() int { return s.process.pid() }

// Gone waits until the server has ended.
func (s *Server) Gone() {
	s.t.Helper()
	s.Until("the server ends", s.process.exited)
}

// Status is what the server ended with, as a shell tells it: 128 and more are
// signals.
func (s *Server) Status() int {
	s.t.Helper()
	s.Gone()
	return s.process.status()
}

// Output is all that the process wrote to its standard output and error, which
// are not its log.
func (s *Server) Output() string { return s.process.output() }

// Do runs a command and returns its reply. An error, be it the server's or the
// connection's, is returned as an Error.
func (s *Server) Do(args ...any) any { return Do(s.Client, args...) }

// Info returns the fields of a section of INFO.
func (s *Server) Info(section string) map[string]string {
	text, _ := s.Client.Info(context.Background(), section).Result()
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}

// Count returns a field of INFO that is a number.
func (s *Server) Count(section, field string) int {
	s.t.Helper()
	n, err := strconv.Atoi(s.Info(section)[field])
	require.NoError(s.t, err, "INFO %s has no number %s", section, field)
	return n
}

// Deadline is when a key expires, in Unix milliseconds: -1 if it never does, -2
// if there is no such key. Before 7.0, which has no PEXPIRETIME, it is off by a
// millisecond or two.
func (s *Server) Deadline(key string) int64 {
	s.t.Helper()
	if s.Speaks(7, 0) {
		return s.Do("PEXPIRETIME", key).(int64)
	}
	for {
		pipe := s.Client.TxPipeline()
		before := pipe.Time(context.Background())
		left := pipe.Do(context.Background(), "PTTL", key)
		after := pipe.Time(context.Background())
		_, err := pipe.Exec(context.Background())
		require.NoError(s.t, err)
		if ms := left.Val().(int64); ms < 0 {
			return ms
		}
		if after.Val().Sub(before.Val()) < time.Millisecond { // or else the server was kept from running
			return before.Val().UnixMilli() + left.Val().(int64)
		}
	}
}

// Slack is by how many milliseconds Deadline may differ for a deadline that has
// not changed.
func (s *Server) Slack() float64 {
	if s.Speaks(7, 0) {
		return 0
	}
	return 5
}

// Addr is where the server listens.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)) }

// Connect returns one more client of the server, with its default options
// changed by configure. It is closed when the test ends.
func (s *Server) Connect(configure func(*redis.Options)) *redis.Client {
	options := &redis.Options{Addr: s.Addr(), MaxRetries: -1, DisableIdentity: true, ReadTimeout: patience}
	if configure != nil {
		configure(options)
	}
	client := redis.NewClient(options)
	s.t.Cleanup(func() { client.Close() })
	return client
}

// Session returns a client with a single connection, for what belongs to one:
// MULTI, WATCH, SELECT, CLIENT TRACKING.
func (s *Server) Session() *redis.Conn {
	conn := s.Client.Conn()
	s.t.Cleanup(func() { conn.Close() })
	return conn
}

// Log is all that the server has logged.
func (s *Server) Log() string {
	log, err := os.ReadFile(filepath.Join(s.Dir, "log"))
	if err != nil {
		return err.Error()
	}
	return string(log)
}

// Expect has the test pass although the server logs a warning that matches
// pattern.
func (s *Server) Expect(pattern string) {
	s.expected = append(s.expected, regexp.MustCompile(pattern))
}

// ReplicaOf makes the server a replica and waits until it is in step.
func (s *Server) ReplicaOf(master *Server) {
	s.t.Helper()
	require.Equal(s.t, "OK", s.Do("REPLICAOF", "127.0.0.1", master.Port))
	s.InStepWith(master)
}

// InStepWith waits until the server, a replica, has all that its master sent.
func (s *Server) InStepWith(master *Server) {
	s.t.Helper()
	s.Until("the replica is in step", func() bool {
		info := s.Info("replication")
		return info["master_link_status"] == "up" && info["slave_repl_offset"] == master.Info("replication")["master_repl_offset"]
	})
}

// Until polls until a condition holds.
func (s *Server) Until(what string, holds func() bool) {
	s.t.Helper()
	Until(s.t, what, holds)
}

// end checks that the test has left a healthy server, and ends it.
func (s *Server) end() {
	if s.process == nil {
		return
	}
	defer s.process.remove()
	if !s.process.exited() {
		if !s.t.Failed() && s.Do("PING") != "PONG" {
			s.t.Errorf("the server does not answer: %v", s.Do("PING"))
		}
		if os.Getenv("GOBLIN_LEAKS") != "" && !s.t.Failed() {
			s.Stop()
		} else {
			s.Kill()
		}
	}
	// The race detector cannot be told to end a server that renames itself: it
	// would read that from /proc/self/environ, where the name is then.
	if setting(s.t, "-race") == "true" && strings.Contains(s.Output(), "DATA RACE") {
		s.t.Errorf("the server wrote:\n%s", s.Output())
	}
	if s.t.Failed() {
		s.t.Logf("the log of the server on port %d:\n%s", s.Port, s.Log())
		return
	}
	for line := range strings.Lines(s.Log()) {
		if alarming(line) && !matches(s.expected, line) {
			s.t.Errorf("the server logged: %s", line)
		}
	}
}

// Error is an error as the server worded it.
type Error string

func (e Error) Error() string { return string(e) }

// Doer is a client, a connection or a transaction.
type Doer interface {
	Do(ctx context.Context, args ...any) *redis.Cmd
}

// Do runs a command on a client of any kind, as Server.Do.
func Do(client Doer, args ...any) any {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return Reply(client.Do(ctx, args...).Result())
}

// Reply makes an Error of an error, and nil of the server's null.
func Reply(reply any, err error) any {
	switch err {
	case nil:
		return reply
	case redis.Nil:
		return nil
	}
	return Error(err.Error())
}

// Flat lists all that a nested reply holds, keys of maps included, so that a
// test need not care whether a server answers with a map or an array.
func Flat(reply any) []any {
	var all []any
	switch reply := reply.(type) {
	case []any:
		for _, item := range reply {
			all = append(all, Flat(item)...)
		}
	case map[any]any:
		for key, item := range reply {
			all = append(append(all, Flat(key)...), Flat(item)...)
		}
	default:
		all = append(all, reply)
	}
	return all
}

// Until polls until a condition holds.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(2 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "waited in vain until %s", what)
	}
}

// Module is the path of the library under test.
func Module(t testing.TB) string {
	path := os.Getenv("GOBLIN_MODULE")
	if path == "" {
		path = filepath.Join(root(t), "build", "goblin.so")
	}
	require.FileExists(t, path, "make build")
	return path
}

// SkipIfRace skips a test that loads a second Go library into a server: the
// memory of the race detector has a fixed place, so there is one to a process.
func SkipIfRace(t testing.TB) {
	t.Helper()
	if setting(t, "-race") == "true" {
		t.Skip("the module was built with the race detector, of which a process can hold only one")
	}
}

// Compile makes a module of one C file, for servers that the library is for. As
// it is not linked with a C library it loads where that is older, too.
func Compile(t testing.TB, path, source string) {
	t.Helper()
	gcc := "gcc"
	if arch := setting(t, "GOARCH"); arch == "arm64" && arch != runtime.GOARCH {
		gcc = "aarch64-linux-gnu-gcc"
	}
	compile := exec.Command(gcc, "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-nostdlib", "-I", root(t), "-o", path, source)
	output, err := compile.CombinedOutput()
	require.NoError(t, err, "%s", output)
}

// setting returns what the library was built with.
func setting(t testing.TB, key string) string {
	t.Helper()
	info, err := buildinfo.ReadFile(Module(t))
	require.NoError(t, err)
	for _, setting := range info.Settings {
		if setting.Key == key {
			return setting.Value
		}
	}
	return ""
}

// root is the directory of the repository.
func root(t testing.TB) string {
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		require.NotEqual(t, "/", dir, "no go.mod above the test")
		dir = filepath.Dir(dir)
	}
}

// freePort finds a port that is free together with the one that a node of a
// cluster also listens on. It is the test's until its end, even while its server
// is down: no other test is given it, whichever process that runs in.
func freePort(t testing.TB) int {
	for range 100 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer listener.Close()
		port := listener.Addr().(*net.TCPAddr).Port
		if port+clusterBus > 65535 {
			continue
		}
		bus, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+clusterBus))
		if err != nil {
			continue
		}
		bus.Close()
		if claim(t, port) && claim(t, port+clusterBus) {
			return port
		}
	}
	t.Fatal("no free port")
	return 0
}

// claim tells whether nobody else has claimed the port. An abstract socket,
// which is a name and no file, is there for as long as its process at most.
func claim(t testing.TB, port int) bool {
	claimed, err := net.Listen("unix", fmt.Sprintf("@goblin-test-port-%d", port))
	if err != nil {
		return false
	}
	t.Cleanup(func() { claimed.Close() })
	return true
}

// clusterBus is what a node adds to its port for the other nodes of a cluster
// (cluster.h, CLUSTER_PORT_INCR).
const clusterBus = 10000

func matches(patterns []*regexp.Regexp, line string) bool {
	for _, pattern := range patterns {
		if pattern.MatchString(line) {
			return true
		}
	}
	return false
}

// harmless are warnings that servers log in the ordinary course of things.
var harmless = regexp.MustCompile(strings.Join([]string{
	`oO0OoO0OoO0Oo`, `version=.*just started`, `Configuration loaded`, `Server initialized`, // as a warning in 6.0
	`WARNING`,          // about the machine: memory overcommit, the backlog of sockets
	`Done loading RDB`, // as a warning in 6.2
	`Missing implement of connection type tls`, // of a server that was built without
	`User requested shutdown`, `Received SIGTERM`, `is now ready to exit`,
	`Failed to test the kernel`, `Failed to write PID`,
	`(?i)\b(master|primary|replicas?|sync)\b`, `Failed to read response from the server`, // of replicas that come and go
}, "|"))

// alarming tells whether a line of the log is a warning that is not harmless,
// or part of a crash report. The module's own warnings never are harmless.
func alarming(line string) bool {
	_, message, warning := strings.Cut(line, " # ")
	ours := strings.HasPrefix(message, "<goblin>")
	return warning && (ours || !harmless.MatchString(message)) || strings.Contains(line, "BUG REPORT")
}
