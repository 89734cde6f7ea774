package differential

import (
	"fmt"
	"strconv"
	"strings"

	"goblin/tests/server"
)

// fact is something that was looked at after a step.
type fact struct {
	what string
	of   int // the step that it is about, where that is known
	// value is a reply, pushes, a deadline, an int64 or a string.
	value any
}

// pushes are what a client was pushed.
type pushes []string

// deadline is when a key expires, in Unix milliseconds, or negative if never.
type deadline int64

// question is what the observer asks about keys.
type question struct {
	words []string
	what  string // that the reply says
}

// allEvents are the keyspace events that a server can tell of.
func allEvents(of server.Program) string {
	switch {
	case of.Is("redis", 8, 2):
		return "KEAmnoc"
	case of.Speaks(7, 0):
		return "KEAmn"
	}
	return "KEAm"
}

// ask prepares the questions about a program's keys.
func (p *player) ask(keys []string) {
	p.questions = nil
	for db := range databases {
		p.questions = append(p.questions, question{words: []string{"SELECT", strconv.Itoa(db)}})
		for _, key := range keys {
			where := fmt.Sprintf(" of %q in db%d", key, db)
			p.questions = append(p.questions,
				question{[]string{"TYPE", key}, "type" + where},
				question{[]string{"DUMP", key}, "value" + where},
				question{[]string{"OBJECT", "FREQ", key}, "frequency" + where})
			if p.server.Speaks(7, 0) {
				p.questions = append(p.questions, question{[]string{"PEXPIRETIME", key}, "deadline" + where})
			} else {
				p.questions = append(p.questions, question{words: []string{"TIME"}}, question{[]string{"PTTL", key}, "deadline" + where})
			}
		}
	}
	p.encoded = nil
	for _, q := range p.questions {
		p.encoded = append(p.encoded, encode(q.words)...)
	}
}

// observe looks at everything after a step: but not at keys that are to lapse
// unseen.
func (p *player) observe() (facts []fact, err error) {
	// The statistics first, since to look at keys has its part in them.
	facts, err = p.statistics()
	if err != nil || p.lapse > 0 {
		return facts, err
	}
	keys, err := p.keys()
	return append(facts, keys...), err
}

// changes is what the server calls its dirty counter.
const changes = "rdb_changes_since_last_save"

func (p *player) statistics() (facts []fact, err error) {
	infos, err := p.observer.do([]string{"INFO", "stats"}, []string{"INFO", "persistence"}, []string{"INFO", "keyspace"})
	if err != nil {
		return nil, err
	}
	facts = append(facts, fact{what: "pushed to the observer", value: pushes(p.observer.pushed)})
	p.observer.forget()
	text := infos[0].text + infos[1].text
	for _, field := range []string{"keyspace_hits", "keyspace_misses", "expired_keys", changes} {
		n, err := strconv.ParseInt(between(text, "\n"+field+":", "\r"), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("INFO has no number %s: %w", field, err)
		}
		if field == changes {
			n -= p.dirty
		}
		facts = append(facts, fact{what: field, value: n})
	}
	for db := range databases { // those that have lapsed are counted too
		counts := between(infos[2].text, fmt.Sprintf("\ndb%d:", db), ",avg_ttl")
		facts = append(facts, fact{what: fmt.Sprintf("numbers of keys in db%d", db), value: counts})
	}
	return facts, nil
}

// between is the first of a text between two others, or "".
func between(text, from, to string) string {
	_, text, _ = strings.Cut(text, from)
	text, _, _ = strings.Cut(text, to)
	return text
}

func (p *player) keys() (facts []fact, err error) {
	replies, err := p.observer.send(p.encoded, len(p.questions))
	if err != nil {
		return nil, err
	}
	p.observer.forget() // its own misses
	now := int64(0)     // before 7.0, where deadlines are told as what is left
	for i, r := range replies {
		switch q := p.questions[i]; q.words[0] {
		case "SELECT":
		case "TIME":
			seconds, _ := strconv.ParseInt(r.items[0].text, 10, 64)
			micros, _ := strconv.ParseInt(r.items[1].text, 10, 64)
			now = seconds*1000 + micros/1000
		case "PEXPIRETIME", "PTTL":
			n, ok := r.integer()
			if !ok {
				return nil, fmt.Errorf("no %s: %v", q.what, r)
			}
			if n >= 0 {
				n += now
			}
			facts = append(facts, fact{what: q.what, value: deadline(n)})
		default:
			facts = append(facts, fact{what: q.what, value: r})
		}
	}
	return facts, nil
}
