package module

import (
	"bytes"
	"math"
	"math/big"
	"testing"
)

// now is a day in 2023, and lastMs the longest time to live on that day.
const (
	now    = 1_700_000_000_000
	lastMs = math.MaxInt64 - now
)

// caexpireRows are the replies to one who holds the lock, one who has lost it
// to another, one who has lost it to time, and one who mistook the key.
func caexpireRows() []row {
	var rows []row
	for _, times := range []struct {
		name                  string
		ms, now               int64
		valid                 int64
		holder, other, nobody Verdict
	}{
		{"a millisecond", 1, now, 1, Renew, Mismatched, Missing},
		{"half a minute", 30_000, now, 1, Renew, Mismatched, Missing},
		{"the longest set directly", 1 << 62, now, 1, Renew, Mismatched, Missing},
		{"the shortest not set directly", 1<<62 + 1, now, 1, Delegate, Mismatched, Missing},
		{"up to the last deadline", lastMs, now, 1, Delegate, Mismatched, Missing},
		{"past the last deadline", lastMs + 1, now, 1, InvalidExpire, InvalidExpire, InvalidExpire},
		{"the last integer", math.MaxInt64, now, 1, InvalidExpire, InvalidExpire, InvalidExpire},
		{"the last integer, in 1970", math.MaxInt64, 0, 1, Delegate, Mismatched, Missing},
		{"the last integer, a millisecond later", math.MaxInt64, 1, 1, InvalidExpire, InvalidExpire, InvalidExpire},
		{"directly up to the last deadline", 1 << 62, math.MaxInt64 - 1<<62, 1, Renew, Mismatched, Missing},
		{"directly past the last deadline", 1 << 62, math.MaxInt64 - 1<<62 + 1, 1, InvalidExpire, InvalidExpire, InvalidExpire},
		{"past the end of time", 1, math.MaxInt64, 1, InvalidExpire, InvalidExpire, InvalidExpire},
		{"at once", 0, now, 1, Delegate, Mismatched, Missing},
		{"at once, at the end of time", 0, math.MaxInt64, 1, Delegate, Mismatched, Missing},
		{"no TTL, if SetExpire were given it", -1, now, 1, Delegate, Mismatched, Missing},
		{"in 1970", -now, now, 1, Delegate, Mismatched, Missing},
		{"before 1970", -now - 1, now, 1, Delegate, Mismatched, Missing},
		{"the first integer", math.MinInt64, now, 1, Delegate, Mismatched, Missing},
		{"the first integer, in 1970", math.MinInt64, 0, 1, Delegate, Mismatched, Missing},
		{"no integer", 0, now, 0, NotInteger, NotInteger, NotInteger},
		{"no integer, though a time is left over", 30_000, now, 0, NotInteger, NotInteger, NotInteger},
		{"no integer, though too late", math.MaxInt64, now, 0, NotInteger, NotInteger, NotInteger},
	} {
		request := Request{Expected: "token", Ms: times.ms, MsValid: times.valid, Now: times.now}
		add := func(who string, keyType KeyType, held string, verdict Verdict) {
			request.Type, request.Held = keyType, held
			rows = append(rows, row{times.name + "/" + who, request, verdict})
		}
		add("holder", StringKey, "token", times.holder)
		add("other", StringKey, "other", times.other)
		add("nobody", EmptyKey, "", times.nobody)
		for _, other := range others {
			add("another type", other, "", WrongType)
		}
	}
	return rows
}

func TestCAEXPIRE(t *testing.T) {
	for _, row := range caexpireRows() {
		t.Run(row.name, func(t *testing.T) { decides(t, caexpire, row.request, row.verdict) })
	}
}

// FuzzCAEXPIRE holds the decision against the order of checks, written down as
// such, with integers that cannot overflow.
func FuzzCAEXPIRE(f *testing.F) {
	for _, row := range caexpireRows() {
		r := row.request
		f.Add(int64(r.Type), []byte(r.Held), []byte(r.Expected), r.Held == r.Expected, r.Ms, r.MsValid == 1, r.Now)
	}
	f.Fuzz(func(t *testing.T, keyType int64, held, expected []byte, same bool, ms int64, isInteger bool, now int64) {
		if same {
			expected = bytes.Clone(held)
		}
		request := Request{Type: KeyType(keyType), Held: string(held), Expected: string(expected), Ms: ms}
		if isInteger {
			request.MsValid = 1
		}
		request.Now = now & math.MaxInt64 // no server's clock stands before 1970

		deadline := new(big.Int).Add(big.NewInt(ms), big.NewInt(request.Now))
		last := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 63), big.NewInt(1))
		verdict := Renew
		switch {
		case keyType != 0 && keyType != 1:
			verdict = WrongType
		case !isInteger:
			verdict = NotInteger
		case deadline.Cmp(last) > 0:
			verdict = InvalidExpire
		case keyType == 0:
			verdict = Missing
		case !bytes.Equal(held, expected):
			verdict = Mismatched
		case ms <= 0:
			verdict = Delegate
		case ms > 1<<62:
			verdict = Delegate
		}
		decides(t, caexpire, request, verdict)
	})
}
