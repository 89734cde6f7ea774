package main

import (
	"crypto/sha1"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSHA1 compares digests of texts of every length up to some blocks with
// those of the standard library. A test cannot use cgo, so a C program prints
// them.
func TestSHA1(t *testing.T) {
	const lengths = 4*64 + 1
	program := filepath.Join(t.TempDir(), "digests")
	source := program + ".c"
	require.NoError(t, os.WriteFile(source, fmt.Appendf(nil, `
#include <stdio.h>
#include "accelerate.h"

int main(void) {
    char text[%d];
    unsigned char digest[SHA1_BYTES];
    int n, i;

    for (n = 0; n < (int)sizeof text; n++) {
        sha1(text, (size_t)n, digest);
        for (i = 0; i < SHA1_BYTES; i++) printf("%%02x", digest[i]);
        printf("\n");
        text[n] = (char)(n * 7);
    }
    return 0;
}
`, lengths), 0o644))
	output, err := exec.Command("gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I.", "-o", program, source, "sha1.c").CombinedOutput()
	require.NoError(t, err, string(output))
	printed, err := exec.Command(program).Output()
	require.NoError(t, err)

	var text []byte
	digests := strings.Fields(string(printed))
	require.Len(t, digests, lengths)
	for n, digest := range digests {
		assert.Equal(t, fmt.Sprintf("%x", sha1.Sum(text)), digest, "%d bytes", n)
		text = append(text, byte(n*7))
	}
}
