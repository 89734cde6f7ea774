package module

import (
	"bytes"
	"testing"
)

func cadRows() []row {
	rows := []row{
		{"no key", Request{Type: EmptyKey, Expected: "token"}, Missing},
		{"no key, which is not an empty string", Request{Type: EmptyKey}, Missing},
		{"another token", Request{Type: StringKey, Held: "other", Expected: "token"}, Mismatched},
		{"the token", Request{Type: StringKey, Held: "token", Expected: "token"}, Remove},
		{"an empty token", Request{Type: StringKey}, Remove},
		{"the time is none of its business", Request{Type: StringKey, Ms: 1<<63 - 1, Now: 1<<63 - 1}, Remove},
	}
	for _, other := range others {
		rows = append(rows, row{"another type", Request{Type: other}, WrongType})
	}
	return rows
}

func TestCAD(t *testing.T) {
	for _, row := range cadRows() {
		t.Run(row.name, func(t *testing.T) { decides(t, cad, row.request, row.verdict) })
	}
}

// FuzzCAD holds the decision against the order of checks, written down as such.
func FuzzCAD(f *testing.F) {
	for _, row := range cadRows() {
		r := row.request
		f.Add(int64(r.Type), []byte(r.Held), []byte(r.Expected), r.Held == r.Expected)
	}
	f.Fuzz(func(t *testing.T, keyType int64, held, expected []byte, same bool) {
		if same {
			expected = bytes.Clone(held)
		}
		verdict := Remove
		switch {
		case keyType != 0 && keyType != 1:
			verdict = WrongType
		case keyType == 0:
			verdict = Missing
		case !bytes.Equal(held, expected):
			verdict = Mismatched
		}
		decides(t, cad, Request{Type: KeyType(keyType), Held: string(held), Expected: string(expected)}, verdict)
	})
}
