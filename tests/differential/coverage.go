package differential

import (
	"maps"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
)

// coverage counts what programs have brought about, by the words for it.
type coverage map[string]int

func (c coverage) count(what string) {
	if c != nil {
		c[what]++
	}
}

// step counts what a step has shown.
func (c coverage) step(program Program, i int, facts []fact) {
	c.count("steps")
	for _, f := range facts {
		switch value := f.value.(type) {
		case reply:
			if f.what == "reply" {
				c.reply(program.Steps[f.of], value)
				if f.of != i && holdsLocks(program.Steps[f.of].Words) {
					c.count("locks in MULTI")
				}
			}
		case pushes:
			for _, message := range value {
				kind := "event"
				if strings.HasPrefix(message, "invalidate") {
					kind = "invalidate"
				}
				c.count(f.what + ": " + kind)
			}
		}
	}
	step := program.Steps[i]
	if i > 0 && program.Steps[i-1].Lapse > 0 && holdsLocks(step.Words) && slices.Contains(step.Words[1:], program.Steps[i-1].Words[1]) {
		c.count("locks that have just lapsed")
	}
}

func (c coverage) reply(step Step, r reply) {
	words := step.Words
	switch {
	case r.text == "QUEUED":
	case words[0] == "EXEC" && (r.kind == '_' || r.text == "-1"):
		c.count("EXEC fails")
	case words[0] == "EXEC" && r.kind == '*':
		c.count("EXEC succeeds")
	case words[0] == script || words[0] == function:
		c.count(words[0] + " " + words[1])
	case holdsLocks(words):
		c.count(words[0])
		c.count(row(words, r))
	}
}

// row is the one of the commands' tables in the README, counted through, that a
// reply belongs to.
func row(words []string, r reply) string {
	switch text := r.String(); {
	case strings.Contains(text, "WRONGTYPE"):
		return "row 2"
	case strings.Contains(text, "value is not an integer"):
		return "row 3"
	case strings.Contains(text, "invalid expire time"):
		return "row 4"
	case text == "0":
		return "row 5"
	case text == "1" && words[0] == cad:
		return "row 6"
	case text == "1" && !strings.HasPrefix(words[3], "-") && words[3] != "0":
		return "row 7"
	case text == "1":
		return "row 8"
	}
	return "no row"
}

// wanted is how often programs are to bring things about, in 1,000 steps: less
// than half of how often they do.
var wanted = map[string]float64{
	"row 2": 2, "row 3": 5, "row 4": 1, "row 5": 50, "row 6": 20, "row 7": 30, "row 8": 5,
	cad: 50, caexpire: 90, "locks in MULTI": 30, "locks that have just lapsed": 7,
	"EXEC fails": 3, "EXEC succeeds": 20,
	"pushed to the client: invalidate": 4, "pushed to the observer: invalidate": 150, "pushed to the observer: event": 600,
}

// check fails the test if the programs have become too tame to show much.
func (m *match) check() {
	for _, what := range slices.Sorted(maps.Keys(m.seen)) {
		m.t.Logf("%7d %s", m.seen[what], what)
	}
	thousands := float64(m.seen["steps"]) / 1000
	if thousands < 10 {
		return
	}
	for what, often := range wanted {
		if what == "row 4" && !m.left.server.Speaks(6, 2) {
			continue // nothing overflows there, to a script
		}
		assert.Greater(m.t, float64(m.seen[what]), often*thousands, what)
	}
	hits := m.seen["row 6"] + m.seen["row 7"] + m.seen["row 8"]
	assert.Greater(m.t, 3*hits, m.seen[cad]+m.seen[caexpire], "one in three calls is to find the token that it expects")
	for _, body := range bodies {
		assert.Positive(m.t, m.seen[script+" "+body.name], body.name)
		if m.left.server.Speaks(7, 0) {
			assert.Positive(m.t, m.seen[function+" "+body.name], body.name)
		}
	}
	for _, documented := range m.documented {
		assert.Positive(m.t, m.seen[documented.Name], "no such difference: %s", documented.Name)
	}
}
