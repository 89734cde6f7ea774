package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
)

// Command is a command and its arguments.
type Command []string

func (c Command) String() string { return strings.Join(c, " ") }

// Stream is what a server sends its replicas, command by command.
type Stream struct {
	s    *Server
	conn net.Conn

	mutex    sync.Mutex
	offset   int64 // as the server counts it: of all that was received
	commands []Command
	err      error
}

// Stream becomes a replica of the server, as far as the server can tell. The
// stream begins now, with what follows the snapshot that replicas start from.
func (s *Server) Stream() *Stream {
	s.t.Helper()
	conn, err := net.DialTimeout("tcp", s.Addr(), patience)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { conn.Close() })
	stream := &Stream{s: s, conn: conn}

	// It does not say that it could take a snapshot of unknown length, and so
	// gets one that is announced as a bulk string.
	_, err = fmt.Fprint(conn, "PSYNC ? -1\r\n")
	require.NoError(s.t, err)
	from := bufio.NewReader(conn)
	line, err := from.ReadString('\n')
	require.NoError(s.t, err)
	_, err = fmt.Sscanf(line, "+FULLRESYNC %s %d", new(string), &stream.offset)
	require.NoError(s.t, err, "PSYNC: %s", line)
	for line = "\n"; line == "\n"; { // sent while the snapshot is made
		line, err = from.ReadString('\n')
		require.NoError(s.t, err)
	}
	var length int64
	_, err = fmt.Sscanf(line, "$%d", &length)
	require.NoError(s.t, err, "snapshot: %s", line)
	_, err = io.CopyN(io.Discard, from, length)
	require.NoError(s.t, err)

	go stream.receive(from)
	return stream
}

func (stream *Stream) receive(from *bufio.Reader) {
	var acknowledged time.Time
	for {
		command, n, err := ReadCommand(from)
		stream.mutex.Lock()
		stream.offset += int64(n)
		switch {
		case err != nil:
			stream.err = err
		case strings.EqualFold(command[0], "PING"), strings.EqualFold(command[0], "REPLCONF"):
			acknowledged = time.Time{} // the link's own upkeep
		default:
			stream.commands = append(stream.commands, command)
		}
		// A replica that keeps silent is dropped, and not always asked before.
		if err == nil && time.Since(acknowledged) > time.Second {
			acknowledged = time.Now()
			offset := strconv.FormatInt(stream.offset, 10)
			fmt.Fprintf(stream.conn, "*3\r\n$8\r\nREPLCONF\r\n$3\r\nACK\r\n$%d\r\n%s\r\n", len(offset), offset)
		}
		stream.mutex.Unlock()
		if err != nil {
			return
		}
	}
}

// Take returns what the server has sent since the last Take, SELECT included,
// up to the effects of all that it has replied to.
func (stream *Stream) Take() []Command {
	s := stream.s
	s.t.Helper()
	sent := int64(s.Count("replication", "master_repl_offset"))
	s.Until("the stream is in step", func() bool {
		stream.mutex.Lock()
		defer stream.mutex.Unlock()
		require.NoError(s.t, stream.err)
		return stream.offset >= sent
	})
	stream.mutex.Lock()
	defer stream.mutex.Unlock()
	commands := stream.commands
	stream.commands = nil
	return commands
}

// AOF returns the commands that the server's append-only file consists of,
// but for the part of it that is a snapshot.
func (s *Server) AOF() []Command {
	s.t.Helper()
	var commands []Command
	for _, name := range s.appendOnlyFiles() {
		tail := s.open(name)
		if magic, _ := tail.from.Peek(5); string(magic) == "REDIS" || string(magic) == "VALKE" {
			require.True(s.t, s.Speaks(7, 0), "a snapshot and commands in one file")
			continue
		}
		commands = append(commands, tail.Take()...)
	}
	return commands
}

// appendOnlyFiles are the parts that the append-only file consists of. From 7.0
// on they are named, in order, by a manifest.
func (s *Server) appendOnlyFiles() []string {
	s.t.Helper()
	if !s.Speaks(7, 0) {
		return []string{filepath.Join(s.Dir, "appendonly.aof")}
	}
	dir := filepath.Join(s.Dir, "appendonlydir")
	manifest, err := os.ReadFile(filepath.Join(dir, "appendonly.aof.manifest"))
	require.NoError(s.t, err)
	var files []string
	for line := range strings.Lines(string(manifest)) {
		if fields := strings.Fields(line); fields[5] != "h" { // history, to be deleted
			files = append(files, filepath.Join(dir, fields[1]))
		}
	}
	return files
}

// Tail is the part of an append-only file that has yet to be read.
type Tail struct {
	s    *Server
	name string
	from *bufio.Reader
}

// Tail follows what the server appends to its append-only file from now on,
// as long as it does not rewrite it.
func (s *Server) Tail() *Tail {
	s.t.Helper()
	files := s.appendOnlyFiles()
	tail := s.open(files[len(files)-1])
	tail.Take()
	return tail
}

func (s *Server) open(name string) *Tail {
	s.t.Helper()
	file, err := os.Open(name)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { file.Close() })
	return &Tail{s, name, bufio.NewReader(file)}
}

// Take returns what the server has appended since the last Take, up to the
// effects of all that it has replied to.
func (tail *Tail) Take() []Command {
	tail.s.t.Helper()
	var commands []Command
	for {
		command, _, err := ReadCommand(tail.from)
		if err == io.EOF {
			return commands
		}
		require.NoError(tail.s.t, err, tail.name)
		commands = append(commands, command)
	}
}

// ReadCommand reads a command as it stands in a replication stream and in an
// append-only file, and says how many bytes it took.
func ReadCommand(from *bufio.Reader) (command Command, n int, err error) {
	number := func(kind byte) (value int, err error) {
		line, err := from.ReadString('\n')
		n += len(line)
		if err != nil {
			return 0, err
		}
		if line[0] != kind {
			return 0, fmt.Errorf("no %c but %q", kind, line)
		}
		return strconv.Atoi(strings.TrimRight(line[1:], "\r\n"))
	}
	words, err := number('*')
	for ; err == nil && words > 0; words-- {
		var length int
		if length, err = number('$'); err != nil {
			break
		}
		word := make([]byte, length+len("\r\n"))
		var read int
		read, err = io.ReadFull(from, word)
		n += read
		command = append(command, string(word[:length]))
	}
	if err == io.EOF && n > 0 {
		err = io.ErrUnexpectedEOF
	}
	return command, n, err
}
