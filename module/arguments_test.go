package module

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAccelerated(t *testing.T) {
	a, b, known := strings.Repeat("a", 40), strings.Repeat("b", 40), Scripts()[0]
	for _, test := range []struct {
		args string
		want []Script
	}{
		{"", nil},
		{"accelerate " + b + "=cad accelerate " + a + "=caexpire", []Script{{SHA1: a, Command: "goblin.caexpire"}, {SHA1: b, Command: "goblin.cad"}}},
		{"accelerate " + strings.ToUpper(a) + "=cad", []Script{{SHA1: a, Command: "goblin.cad"}}},
		{"accelerate " + a + "=cad accelerate " + a + "=cad", []Script{{SHA1: a, Command: "goblin.cad"}}},
	} {
		scripts, err := Accelerated(strings.Fields(test.args))
		require.NoError(t, err, test.args)
		assert.Equal(t, test.want, scripts, test.args)
	}
	for _, args := range []string{"accelerate known", "accelerate known accelerate known", "accelerate known accelerate " + known.SHA1 + "=cad", "accelerate " + known.SHA1 + "=cad accelerate known"} {
		scripts, err := Accelerated(strings.Fields(args))
		require.NoError(t, err, args)
		assert.Len(t, scripts, len(Scripts()), args)
		assert.Contains(t, scripts, known, "with all that is known of it")
	}
}

func TestBadArguments(t *testing.T) {
	a := strings.Repeat("a", 40)
	for args, complaint := range map[string]string{
		"bogus":                             `unknown load argument "bogus"`,
		"bogus 1":                           `unknown load argument "bogus"`,
		"Accelerate known":                  `unknown load argument "Accelerate"`,
		"accelerate known bogus":            `unknown load argument "bogus"`,
		"accelerate":                        "needs a value",
		"accelerate known accelerate":       "needs a value",
		"accelerate all":                    `"all" is no SHA-1 digest`,
		"accelerate =cad":                   `"" is no SHA-1 digest`,
		"accelerate " + a[1:] + "=cad":      "is no SHA-1 digest",
		"accelerate " + a + "a=cad":         "is no SHA-1 digest",
		"accelerate " + a[1:] + "g=cad":     "is no SHA-1 digest",
		"accelerate " + a:                   "as cad or as caexpire",
		"accelerate " + a + "=":             "as cad or as caexpire",
		"accelerate " + a + "=CAD":          "as cad or as caexpire",
		"accelerate " + a + "=goblin.cad":   "as cad or as caexpire",
		"accelerate " + a + "=ownexpire":    "as cad or as caexpire",
		"accelerate " + a + "=cad=caexpire": "as cad or as caexpire",
		"accelerate " + a + "=cad accelerate " + a + "=caexpire":         "cannot be both",
		"accelerate known accelerate " + Scripts()[0].SHA1 + "=caexpire": "cannot be both goblin.cad and goblin.caexpire",
	} {
		_, err := Accelerated(strings.Fields(args))
		assert.ErrorContains(t, err, complaint, args)
	}
}
