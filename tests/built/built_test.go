// Package built looks at the library as it was built.
package built

import (
	"debug/buildinfo"
	"debug/elf"
	"fmt"
	"os"
	"strings"
	"testing"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// glibcFloor is the C library of Debian 11 and Ubuntu 20.04, the oldest that
// the module must load on.
const glibcFloor = "2.31"

func library(t *testing.T) *elf.File {
	t.Helper()
	file, err := elf.Open(server.Module(t))
	require.NoError(t, err)
	t.Cleanup(func() { file.Close() })
	return file
}

func TestExecutable(t *testing.T) {
	t.Parallel()
	stat, err := os.Stat(server.Module(t))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o755), stat.Mode().Perm())
}

func TestExports(t *testing.T) {
	t.Parallel()
	symbols, err := library(t).DynamicSymbols()
	require.NoError(t, err)
	var exported []string
	for _, symbol := range symbols {
		if symbol.Section != elf.SHN_UNDEF && elf.ST_BIND(symbol.Info) != elf.STB_LOCAL { // a local one is a section's
			exported = append(exported, symbol.Name)
		}
	}
	assert.ElementsMatch(t, []string{"RedisModule_OnLoad", "RedisModule_OnUnload"}, exported)
}

func TestImports(t *testing.T) {
	t.Parallel()
	file := library(t)
	libraries, err := file.ImportedLibraries()
	require.NoError(t, err)
	assert.Subset(t, []string{"libc.so.6", "libpthread.so.0"}, libraries)
	symbols, err := file.ImportedSymbols()
	require.NoError(t, err)
	for _, symbol := range symbols {
		var major, minor, floorMajor, floorMinor int
		if version, ok := strings.CutPrefix(symbol.Version, "GLIBC_"); ok {
			fmt.Sscanf(version, "%d.%d", &major, &minor)
			fmt.Sscanf(glibcFloor, "%d.%d", &floorMajor, &floorMinor)
			assert.True(t, major == floorMajor && minor <= floorMinor, "%s wants %s", symbol.Name, symbol.Version)
		}
	}
}

func TestHardened(t *testing.T) {
	t.Parallel()
	file := library(t)
	var relro, stack *elf.Prog
	for _, prog := range file.Progs {
		switch prog.Type {
		case elf.PT_GNU_RELRO:
			relro = prog
		case elf.PT_GNU_STACK:
			stack = prog
		}
		assert.NotEqual(t, elf.PF_W|elf.PF_X, prog.Flags&(elf.PF_W|elf.PF_X), "a segment is both writable and executable")
	}
	assert.NotNil(t, relro, "RELRO")
	require.NotNil(t, stack, "a stack of its own")
	assert.Zero(t, stack.Flags&elf.PF_X, "an executable stack")
	flags, err := file.DynValue(elf.DT_FLAGS)
	require.NoError(t, err)
	assert.NotZero(t, elf.DynFlag(flags[0])&elf.DF_BIND_NOW, "BIND_NOW")
	flags1, err := file.DynValue(elf.DT_FLAGS_1)
	require.NoError(t, err)
	assert.NotZero(t, elf.DynFlag1(flags1[0])&elf.DF_1_NODELETE, "the library must stay mapped when it is unloaded")
	textrel, err := file.DynValue(elf.DT_TEXTREL)
	require.NoError(t, err)
	assert.Empty(t, textrel)
}

func TestDependencies(t *testing.T) {
	t.Parallel()
	info, err := buildinfo.ReadFile(server.Module(t))
	require.NoError(t, err)
	assert.Equal(t, "goblin/cgo", info.Path)
	assert.Empty(t, info.Deps, "there is more in it than the standard library")
	for _, setting := range info.Settings {
		assert.NotContains(t, setting.Value, "/", "%s tells where it was built", setting.Key)
	}
}
