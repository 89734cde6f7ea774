package differential

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Program is what is played on both sides.
type Program struct {
	Seed  uint64
	Keys  []string // all that its steps name
	Steps []Step
}

// Step is a command of one of the two clients.
type Step struct {
	Client int // 0 speaks RESP3, 1 RESP2
	Words  []string

	// Lapse is the time to live that the step gives a key which is to be gone
	// before anybody looks at it.
	Lapse time.Duration
}

// databases is how many of a server's databases programs use.
const databases = 2

func (p Program) String() string {
	lines := make([]string, len(p.Steps))
	for i, step := range p.Steps {
		lines[i] = fmt.Sprintf("%3d  %s\n", i, step)
	}
	return strings.Join(lines, "")
}

func (s Step) String() string {
	words := []string{"AB"[s.Client:][:1] + ">"}
	for i, word := range s.Words {
		if i == 0 || plain(word) {
			words = append(words, word)
		} else {
			words = append(words, strconv.Quote(word))
		}
	}
	if s.Lapse > 0 {
		words = append(words, "  # lapses")
	}
	return strings.Join(words, " ")
}

// plain tells whether a word needs no quotes.
func plain(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' })
}

// without returns the program less the steps from i to j.
func (p Program) without(i, j int) Program {
	p.Steps = append(p.Steps[:i:i], p.Steps[j:]...)
	return p
}

// milliseconds is the TTL that a step asks for, as it was spelled, if it is one
// that renews by itself or from a body.
func (s Step) milliseconds() string {
	switch s.Words[0] {
	case caexpire:
		return s.Words[3]
	case script, function:
		return s.Words[5]
	}
	return ""
}

// tellsTime tells whether the reply to a step depends on the clock.
func (s Step) tellsTime() bool {
	switch s.Words[0] {
	case "TTL", "PTTL":
		return true
	case "EXPIRETIME", "PEXPIRETIME":
		return true
	case script, function:
		return s.Words[1] == "renew_and_look"
	}
	return false
}
