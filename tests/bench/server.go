package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// patience is how long anything may take that a server is asked for.
const patience = time.Minute

// A server is a running server with a directory of its own.
type server struct {
	*redis.Client
	addr string
	dir  string
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// start starts a server with these modules, each a file and the arguments that
// it is loaded with. It writes nothing to disk, but builds the stream for its
// replicas as any server that has some.
func start(program string, modules ...[]string) (*server, error) {
	dir, err := os.MkdirTemp("", "goblin-bench-")
	if err != nil {
		return nil, err
	}
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	host, port, _ := net.SplitHostPort(addr)
	log := filepath.Join(dir, "log")
	args := []string{
		"--bind", host, "--port", port, "--dir", dir, "--logfile", log, "--save", "", "--appendonly", "no",
		"--maxclients", strconv.Itoa(maxClients),
	}
	for _, module := range modules {
		args = append(append(args, "--loadmodule"), module...)
	}
	s := &server{
		Client: redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, ReadTimeout: patience, DisableIdentity: true}),
		addr:   addr,
		dir:    dir,
		cmd:    exec.Command(program, args...),
		done:   make(chan struct{}),
	}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { s.cmd.Wait(); close(s.done) }()
	if err := s.ready(); err != nil {
		text, _ := os.ReadFile(log)
		s.stop()
		return nil, fmt.Errorf("%s: %w\n%s", program, err, text)
	}
	return s, nil
}

// maxClients is the most connections that a way has, and some to spare.
const maxClients = 10_000 + 100

func (s *server) ready() error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		select {
		case <-s.done:
			return fmt.Errorf("the server ended")
		default:
		}
		if s.Ping(context.Background()).Err() == nil {
			return s.feedBacklog()
		}
	}
	return fmt.Errorf("the server does not answer")
}

// feedBacklog has the server keep a backlog for a replica that comes and goes.
// Without it, and without an append-only file, a server drops what a command
// replicates before it has built it, and no server that matters is run so.
func (s *server) feedBacklog() error {
	replica, err := net.DialTimeout("tcp", s.addr, patience)
	if err != nil {
		return err
	}
	defer replica.Close()
	if _, err := replica.Write([]byte("PSYNC ? -1\r\n")); err != nil {
		return err
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if info, err := s.info("replication"); err != nil || info["repl_backlog_active"] == "1" {
			return err
		}
	}
	return fmt.Errorf("the server has no backlog for a replica")
}

// stop ends the server and removes its directory.
func (s *server) stop() {
	s.Close()
	s.cmd.Process.Kill()
	<-s.done
	os.RemoveAll(s.dir)
}

// info returns the fields of a section of INFO.
func (s *server) info(section string) (map[string]string, error) {
	text, err := s.Info(context.Background(), section).Result()
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields, err
}

// commandStats are the server's own account of a command.
type commandStats struct{ calls, usec float64 }

func (s *server) commandStats(command string) (stats commandStats, err error) {
	info, err := s.info("commandstats")
	if err != nil {
		return stats, err
	}
	if line, ok := info["cmdstat_"+command]; ok {
		_, err = fmt.Sscanf(line, "calls=%f,usec=%f", &stats.calls, &stats.usec)
	}
	return stats, err
}

// rss is the memory that the server has in use, in KiB.
func (s *server) rss() (kib int, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	match := regexp.MustCompile(`VmRSS:\s*(\d+) kB`).FindSubmatch(status)
	if match == nil {
		return 0, fmt.Errorf("no VmRSS in /proc")
	}
	return strconv.Atoi(string(match[1]))
}

// refusal tries a trial and returns the error that the server replies, or "".
func (s *server) refusal(t trial) (string, error) {
	conn, err := net.DialTimeout("tcp", s.addr, patience)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	request, _ := t.call(nil, nil, 0)
	if _, err := conn.Write(request); err != nil {
		return "", err
	}
	reply := make([]byte, 512)
	n, err := conn.Read(reply)
	if err != nil || reply[0] != '-' || string(reply[:2]) == "-1" {
		return "", err
	}
	return strings.TrimSpace(string(reply[1:n])), nil
}

func freeAddr() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
