package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/redis/go-redis/v9/logging"
	"github.com/stretchr/testify/require"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

// Program is the server program under test.
type Program struct {
	Fork         string // "redis", "valkey" or "redict"
	Major, Minor int    // its release line

	path  string // of the program, in the image if there is one
	image string
}

// Speaks tells whether the server does all that a Redis of this release line
// does. Valkey and Redict started from Redis 7.2.
func (p Program) Speaks(major, minor int) bool {
	has := [2]int{p.Major, p.Minor}
	if p.Fork != "redis" {
		has = [2]int{7, 2}
	}
	return has[0] > major || has[0] == major && has[1] >= minor
}

// Is tells whether the server is of this fork, and of this release line or a
// later one.
func (p Program) Is(fork string, major, minor int) bool {
	return p.Fork == fork && (p.Major > major || p.Major == major && p.Minor >= minor)
}

func (p Program) String() string { return fmt.Sprintf("%s-%d.%d", p.Fork, p.Major, p.Minor) }

// program finds the server program: once, since that may make an image.
func program(t testing.TB) Program {
	t.Helper()
	p, err := find(root(t))
	require.NoError(t, err)
	return p
}

// The client would otherwise report on stderr every server that is not yet, or
// no longer, there.
func init() { logging.Disable() }

var (
	findOnce sync.Once
	found    Program
	errFound error
)

func find(root string) (Program, error) {
	findOnce.Do(func() {
		path, name := os.Getenv("REDIS_SERVER"), os.Getenv("GOBLIN_SERVER")
		switch {
		case path != "":
			found, errFound = local(path)
		case name != "" || os.Getenv("CI") != "":
			found, errFound = contained(root, name)
		default:
			errFound = exec.Command("docker", "version").Run()
			if errFound == nil {
				found, errFound = contained(root, name)
			}
			if errFound != nil {
				fmt.Fprintf(os.Stderr, "The tests run on this machine's redis-server, not in containers, for which Docker is missing or an image (%v).\n", errFound)
				found, errFound = local("redis-server")
			}
		}
	})
	return found, errFound
}

var version = regexp.MustCompile(`(?i)(redis|valkey|redict).* v=(\d+)\.(\d+)`)

func local(path string) (Program, error) {
	path, err := exec.LookPath(path)
	if err != nil {
		return Program{}, fmt.Errorf("%w: install redis-server or set REDIS_SERVER", err)
	}
	banner, err := exec.Command(path, "--version").Output()
	if err != nil {
		return Program{}, err
	}
	match := version.FindStringSubmatch(string(banner))
	if match == nil {
		return Program{}, fmt.Errorf("%s is no server that is known here: %s", path, banner)
	}
	p := Program{Fork: strings.ToLower(match[1]), path: path}
	p.Major, _ = strconv.Atoi(match[2])
	p.Minor, _ = strconv.Atoi(match[3])
	return p, nil
}

// contained takes the server of this name, or the first, from build/servers.
func contained(root, name string) (Program, error) {
	file, err := os.Open(filepath.Join(root, "build", "servers"))
	if err != nil {
		return Program{}, err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		row, _, _ := strings.Cut(lines.Text(), "#")
		columns := strings.Fields(row)
		if len(columns) == 0 || name != "" && columns[0] != name {
			continue
		}
		p := Program{path: columns[2]}
		fork, line, _ := strings.Cut(columns[0], "-")
		p.Fork = fork
		if _, err := fmt.Sscanf(line, "%d.%d", &p.Major, &p.Minor); err != nil {
			return Program{}, fmt.Errorf("build/servers: %s: %w", columns[0], err)
		}
		image := exec.Command(filepath.Join(root, "build", "image"), columns[0])
		image.Stderr = os.Stderr
		tag, err := image.Output()
		if err != nil {
			return Program{}, fmt.Errorf("build/image %s: %w", columns[0], err)
		}
		p.image = strings.TrimSpace(string(tag))
		// An image that was made here means that none can be pulled, and so
		// not that of the reaper either, which clears up after a test that
		// did not end by itself.
		if strings.HasPrefix(p.image, "goblin-test/") {
			os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true")
		}
		return p, nil
	}
	return Program{}, fmt.Errorf("build/servers has no server %s", name)
}

// process is a server that was started.
type process interface {
	pid() int
	exited() bool
	status() int // once it has exited
	output() string
	remove()
}

func (p Program) launch(t testing.TB, dir string, command []string) process {
	t.Helper()
	if p.image == "" {
		return launchLocal(t, dir, command)
	}
	return p.launchContained(t, dir, command)
}

type localProcess struct {
	cmd  *exec.Cmd
	done chan struct{}
}

func launchLocal(t testing.TB, dir string, command []string) process {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	output, err := os.OpenFile(filepath.Join(dir, "output"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	defer output.Close()
	cmd.Stdout, cmd.Stderr = output, output
	// The server must not survive a test binary that is killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	p := &localProcess{cmd, make(chan struct{})}
	go func() { cmd.Wait(); close(p.done) }()
	return p
}

func (p *localProcess) pid() int { return p.cmd.Process.Pid }

func (p *localProcess) exited() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *localProcess) status() int {
	if status := p.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *localProcess) output() string {
	output, err := os.ReadFile(filepath.Join(p.cmd.Dir, "output"))
	if err != nil {
		return err.Error()
	}
	return string(output)
}

func (p *localProcess) remove() {}

type containedProcess struct {
	t         testing.TB
	container testcontainers.Container
}

func (p Program) launchContained(t testing.TB, dir string, command []string) process {
	t.Helper()
	c, err := testcontainers.GenericContainer(context.Background(), testcontainers.GenericContainerRequest{
		ContainerRequest: testcontainers.ContainerRequest{
			Image:      p.image,
			Entrypoint: command[:1],
			Cmd:        command[1:],
			User:       fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()),
			ConfigModifier: func(config *container.Config) {
				config.WorkingDir = dir
			},
			HostConfigModifier: func(host *container.HostConfig) {
				host.NetworkMode = "host"
				host.PidMode = "host"
				module := filepath.Dir(Module(t))
				host.Binds = []string{dir + ":" + dir, module + ":" + module + ":ro"}
			},
		},
		Started: true,
		Logger:  log.TestLogger(t),
	})
	require.NoError(t, err)
	return &containedProcess{t, c}
}

func (p *containedProcess) state() *container.State {
	state, err := p.container.State(context.Background())
	require.NoError(p.t, err)
	return state
}

func (p *containedProcess) pid() int {
	pid := p.state().Pid
	require.NotZero(p.t, pid, "the server has ended") // 0 would be the test's own process group
	return pid
}

func (p *containedProcess) exited() bool { return !p.state().Running }
func (p *containedProcess) status() int  { return p.state().ExitCode }

func (p *containedProcess) output() string {
	logs, err := p.container.Logs(context.Background())
	require.NoError(p.t, err)
	defer logs.Close()
	output, err := io.ReadAll(logs)
	require.NoError(p.t, err)
	return string(output)
}

func (p *containedProcess) remove() {
	p.t.Helper()
	require.NoError(p.t, p.container.Terminate(context.Background(), testcontainers.StopTimeout(0)))
}
