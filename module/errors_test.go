package module

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestErrors(t *testing.T) {
	for _, command := range Commands() {
		t.Run(command.Name, func(t *testing.T) {
			refusals := map[Verdict]string{
				WrongType:     "WRONGTYPE Operation against a key holding the wrong kind of value",
				NotInteger:    "ERR value is not an integer or out of range",
				InvalidExpire: "ERR invalid expire time in 'NAME' command",
				OneKeyTwice:   "ERR the two keys of 'NAME' must differ",
				Unavailable:   "ERR 'NAME' is unavailable: this server does not run a command that it needs",
				Panicked:      "ERR internal error in 'NAME' command, the server's log has the details",
			}
			for verdict := range Verdicts {
				assert.Equal(t, strings.ReplaceAll(refusals[verdict], "NAME", command.Name), command.Error(verdict), "verdict %d", verdict)
			}
		})
	}
}
