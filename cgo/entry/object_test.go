//go:build amd64 || arm64

package entry

import (
	"cmp"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// buildLibrary builds the module as it is released, but with its symbols. Where
// the C compiler for that is missing, this very test stands in, which is made
// of the same packages.
func buildLibrary(t *testing.T, m machine) string {
	library := []string{"build", "-buildmode=c-shared", "-ldflags=-w", "goblin/cgo"}
	if m.goarch == runtime.GOARCH {
		return build(t, m, []string{"CGO_ENABLED=1"}, library...)
	}
	if _, err := exec.LookPath(m.cc); err != nil {
		t.Logf("a program without C stands in for the library: %v", err)
		return build(t, m, []string{"CGO_ENABLED=0"}, "test", "-c", "-buildmode=pie", "goblin/cgo/entry")
	}
	return build(t, m, []string{"CGO_ENABLED=1", "CC=" + m.cc}, library...)
}

// build runs a go command that builds something, and returns the path of that.
func build(t *testing.T, m machine, env []string, command ...string) string {
	path := filepath.Join(t.TempDir(), "object")
	cmd := exec.Command("go", slices.Insert(command, 1, "-trimpath", "-buildvcs=false", "-o", path)...)
	cmd.Env = append(append(os.Environ(), "GOARCH="+m.goarch), env...)
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", cmd, output)
	return path
}

// object is compiled code.
type object struct {
	machine
	functions map[string]uint64 // where each function begins
	symbols   []elf.Symbol      // the same, in order
	code      []byte
	start     uint64 // the address of code
}

func open(t *testing.T, m machine, path string) object {
	file, err := elf.Open(path)
	require.NoError(t, err)
	defer file.Close()
	text := file.Section(".text")
	code, err := text.Data()
	require.NoError(t, err)
	symbols, err := file.Symbols()
	require.NoError(t, err)

	o := object{machine: m, functions: map[string]uint64{}, code: code, start: text.Addr}
	for _, symbol := range symbols {
		if elf.ST_TYPE(symbol.Info) == elf.STT_FUNC && symbol.Size > 0 {
			o.functions[symbol.Name] = symbol.Value
			o.symbols = append(o.symbols, symbol)
		}
	}
	slices.SortFunc(o.symbols, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
	return o
}

// functionAt names the function that the instruction at pc belongs to.
func (o object) functionAt(pc uint64) string {
	i, _ := slices.BinarySearchFunc(o.symbols, pc, func(s elf.Symbol, pc uint64) int {
		return cmp.Compare(s.Value+s.Size-1, pc)
	})
	if i < len(o.symbols) && o.symbols[i].Value <= pc {
		return o.symbols[i].Name
	}
	return fmt.Sprintf("%#x", pc)
}

// instructionAt decodes the instruction at pc, which is in code.
func (o object) instructionAt(pc uint64) (instruction, error) {
	return o.decode(o.code[pc-o.start:], pc)
}
