package main

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func series(times ...float64) rounds {
	var r rounds
	for _, t := range times {
		r = append(r, figures{serverTime: t})
	}
	return r
}

func TestSummary(t *testing.T) {
	t.Parallel()
	assert.Equal(t, summary{3, 2, 4}, series(5, 1, 4, 2, 3).of(serverTime))
	assert.Equal(t, summary{2.5, 1.75, 3.25}, series(4, 1, 3, 2).of(serverTime))
	assert.Equal(t, summary{7, 7, 7}, series(7).of(serverTime))
	assert.True(t, math.IsNaN(series().of(serverTime).median))
	assert.Equal(t, summary{2, 1.5, 2.5}, series(3, math.NaN(), 1, 2).of(serverTime), "one round without the figure")
}

func TestRatio(t *testing.T) {
	t.Parallel()
	assert.Equal(t, summary{2, 1.5, 3}, series(20, 50, 4).over(series(10, 50, 1), serverTime), "of 2, 1 and 4")
	assert.True(t, math.IsNaN(series(1).over(nil, serverTime).median))
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	var sorted []time.Duration
	for i := range 1000 {
		sorted = append(sorted, time.Duration(i+1)*time.Microsecond)
	}
	assert.Equal(t, 500.0, percentile(sorted, 0.5))
	assert.Equal(t, 990.0, percentile(sorted, 0.99))
	assert.Equal(t, 999.0, percentile(sorted, 0.999))
	assert.True(t, math.IsNaN(percentile(sorted[:999], 0.999)), "too few samples")
	assert.True(t, math.IsNaN(percentile(nil, 0.5)))
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	most, least := target{direction: atMost, limit: 1.05}, target{direction: atLeast, limit: 2.4}
	assert.Equal(t, "met", most.verdict(1.054), "printed as 1.05")
	assert.Equal(t, "**missed**", most.verdict(1.056))
	assert.Equal(t, "met", least.verdict(2.396), "printed as 2.40")
	assert.Equal(t, "**missed**", least.verdict(2.394))
	assert.Empty(t, most.verdict(math.NaN()))
}

func TestCall(t *testing.T) {
	t.Parallel()
	request, reply := trial{find(release, "Goblin"), miss, 7}.call(nil, nil, 5)
	assert.Equal(t, "*3\r\n$10\r\nGOBLIN.CAD\r\n$12\r\nlock:0000005\r\n$7\r\nC0FFEEC\r\n", string(request))
	assert.Equal(t, ":0\r\n", string(reply))

	_, reply = trial{find(read, "GET"), hit, 7}.call(nil, nil, 5)
	assert.Equal(t, "$7\r\nc0ffeec\r\n", string(reply))
}

// A target that names no command would never be missed.
func TestTargets(t *testing.T) {
	t.Parallel()
	for _, target := range targets {
		for _, name := range []string{target.over, target.by} {
			command := find(target.op, name)
			assert.NotNil(t, command, "%s: there is no %s", target, name)
			assert.NotEmpty(t, command.reply[target.outcome], "%s: %s has no such outcome", target, name)
		}
	}
}
