package module

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// row is a request, and what a command is to decide of it.
type row struct {
	name    string
	request Request
	verdict Verdict
}

// decides checks a decision, and that it has only read the request.
func decides(t *testing.T, command Command, request Request, verdict Verdict) {
	t.Helper()
	before := request
	assert.Equal(t, verdict, command.Decide(&request), "%s, %#v", command.Name, before)
	assert.Equal(t, before, request)
}

// others are the types of keys that hold no lock: those that servers number,
// and some that they do not yet.
var others = []KeyType{2, 3, 4, 5, 6, 7, 8, 9, 1 << 32, 1<<63 - 1, -1}

// tokens are all different, if only just.
var tokens = []string{
	"", " ", "\x00", "\x00\x00", "\n", "\r\n",
	"token", "toke", "oken", "tokens", "token\x00", "\x00token", "token ", " token", "Token", "tokem",
	"5", "05", "+5", "-5", "5.0", "5e0", "0", "-0", "9223372036854775807", "9223372036854775808",
	"é", "e\u0301", "\xe9", "\x7f", "\x80", "\xff\xfe\xfd",
	strings.Repeat("x", 44), strings.Repeat("x", 45), // as servers store them: embedded, and not
	strings.Repeat("x", 4096), strings.Repeat("x", 4095) + "y", "y" + strings.Repeat("x", 4095),
}

// TestTokens holds every token against every other. Each matches itself, in
// other memory, and nothing else.
func TestTokens(t *testing.T) {
	for _, command := range Commands() {
		match := command.Decide(&Request{Type: StringKey, Ms: 1, MsValid: 1, TTL: 2})
		for i, held := range tokens {
			for j, expected := range tokens {
				verdict := Mismatched
				if i == j {
					verdict = match
				}
				request := Request{Type: StringKey, Held: strings.Clone(held), Expected: expected, Ms: 1, MsValid: 1, TTL: 2}
				decides(t, command, request, verdict)
			}
		}
	}
}
