package module

import (
	"bytes"
	"math"
	"math/big"
	"testing"
)

// ownexpireRows are the replies to the owner, to another, and where nobody owns
// the key yet.
func ownexpireRows() []row {
	var rows []row
	for _, times := range []struct {
		name                  string
		ttl, ms, valid        int64
		owner, other, nobody  Verdict
		wrongType, oneKeyOnly Verdict
	}{
		{"extends", 1000, 2000, 1, Own, Own, Own, WrongType, OneKeyTwice},
		{"sets it once more", 1000, 1000, 1, Own, Own, Own, WrongType, OneKeyTwice},
		{"shortens by a millisecond", 1001, 1000, 1, Own, Mismatched, Mismatched, WrongType, OneKeyTwice},
		{"sets it where the time is up", 0, 1, 1, Own, Own, Own, WrongType, OneKeyTwice},
		{"deletes", 1, 0, 1, Delegate, Mismatched, Mismatched, WrongType, OneKeyTwice},
		{"deletes where the time is up", 0, 0, 1, Delegate, Delegate, Delegate, WrongType, OneKeyTwice},
		{"deletes with the past", 0, -1, 1, Delegate, Mismatched, Mismatched, WrongType, OneKeyTwice},
		{"deletes with the first integer", 1, math.MinInt64, 1, Delegate, Mismatched, Mismatched, WrongType, OneKeyTwice},
		{"no TTL", NoTTL, 1000, 1, Missing, Missing, Missing, WrongType, OneKeyTwice},
		{"no TTL, in the past", NoTTL, -2, 1, Missing, Missing, Missing, WrongType, OneKeyTwice},
		{"up to the last deadline", 1000, lastMs, 1, Own, Own, Own, WrongType, OneKeyTwice},
		{"past the last deadline", 1000, lastMs + 1, 1, InvalidExpire, InvalidExpire, InvalidExpire, InvalidExpire, InvalidExpire},
		{"past it without TTL", NoTTL, math.MaxInt64, 1, InvalidExpire, InvalidExpire, InvalidExpire, InvalidExpire, InvalidExpire},
		{"no integer", 1000, 2000, 0, NotInteger, NotInteger, NotInteger, NotInteger, NotInteger},
		{"no integer, without TTL", NoTTL, 0, 0, NotInteger, NotInteger, NotInteger, NotInteger, NotInteger},
	} {
		request := Request{Expected: "me", Ms: times.ms, MsValid: times.valid, Now: now, TTL: times.ttl}
		add := func(who string, keyType KeyType, held string, verdict Verdict) {
			request.Type, request.Held = keyType, held
			rows = append(rows, row{times.name + "/" + who, request, verdict})
		}
		add("owner", StringKey, "me", times.owner)
		add("other", StringKey, "you", times.other)
		add("nobody", EmptyKey, "", times.nobody)
		for _, other := range others {
			add("another type", other, "", times.wrongType)
		}
		request.SameKeys = 1
		add("one key", StringKey, "me", times.oneKeyOnly)
		add("one key of another type", others[0], "", times.oneKeyOnly)
	}
	return rows
}

func TestOWNEXPIRE(t *testing.T) {
	for _, row := range ownexpireRows() {
		t.Run(row.name, func(t *testing.T) { decides(t, ownexpire, row.request, row.verdict) })
	}
}

// FuzzOWNEXPIRE holds the decision against the order of checks, written down as
// such, with integers that cannot overflow.
func FuzzOWNEXPIRE(f *testing.F) {
	for _, row := range ownexpireRows() {
		r := row.request
		f.Add(int64(r.Type), []byte(r.Held), []byte(r.Expected), r.Ms, r.MsValid == 1, r.TTL, r.SameKeys == 1, r.Now)
	}
	f.Fuzz(func(t *testing.T, keyType int64, held, identifier []byte, ms int64, isInteger bool, ttl int64, same bool, now int64) {
		now &= math.MaxInt64
		if ttl < 0 {
			ttl = NoTTL
		}
		request := Request{Type: KeyType(keyType), Held: string(held), Expected: string(identifier), Ms: ms, TTL: ttl, Now: now}
		if isInteger {
			request.MsValid = 1
		}
		if same {
			request.SameKeys = 1
		}
		deadline := new(big.Int).Add(big.NewInt(ms), big.NewInt(now))
		isOwner := keyType == 1 && bytes.Equal(held, identifier)
		var verdict Verdict
		switch {
		case !isInteger:
			verdict = NotInteger
		case !deadline.IsInt64():
			verdict = InvalidExpire
		case same:
			verdict = OneKeyTwice
		case keyType != 0 && keyType != 1:
			verdict = WrongType
		case ttl == NoTTL:
			verdict = Missing
		case ttl > ms && !isOwner:
			verdict = Mismatched
		case ms <= 0:
			verdict = Delegate
		default:
			verdict = Own
		}
		decides(t, ownexpire, request, verdict)
	})
}
