package main

import (
	"math"
	"slices"
	"time"
)

// A figure is one of the numbers that are measured.
type figure int

const (
	serverTime figure = iota // microseconds a call
	rate                     // calls a second
	p50                      // microseconds between a call and its reply
	p99
	p999
	figureCount
)

func (f figure) String() string {
	return [...]string{"server time", "calls a second", "p50", "p99", "p99.9"}[f]
}

// figures are the numbers of a round. One that could not be had is NaN.
type figures [figureCount]float64

// round returns the figures of all stretches in a round: percentiles of all
// latencies, and of the rest the median.
func round(samples []sample) figures {
	var times, rates []float64
	var latencies []time.Duration
	for _, s := range samples {
		times = append(times, s.usec/s.calls)
		rates = append(rates, s.calls/s.elapsed.Seconds())
		latencies = append(latencies, s.latencies...)
	}
	slices.Sort(times)
	slices.Sort(rates)
	slices.Sort(latencies)
	return figures{
		serverTime: quantile(times, 0.5),
		rate:       quantile(rates, 0.5),
		p50:        percentile(latencies, 0.5),
		p99:        percentile(latencies, 0.99),
		p999:       percentile(latencies, 0.999),
	}
}

// rounds are the figures of the same thing in each round.
type rounds []figures

// A summary is a median, and between which two values half of the rounds were.
type summary struct{ median, low, high float64 }

// of summarises a figure over the rounds that have it.
func (r rounds) of(f figure) summary {
	var values []float64
	for _, round := range r {
		if !math.IsNaN(round[f]) {
			values = append(values, round[f])
		}
	}
	slices.Sort(values)
	return summary{quantile(values, 0.5), quantile(values, 0.25), quantile(values, 0.75)}
}

// over summarises the ratios in each round, in which the two took turns. From
// one round to the next a machine that others use may well be half as fast.
func (r rounds) over(other rounds, f figure) summary {
	ratios := make(rounds, min(len(r), len(other)))
	for i := range ratios {
		ratios[i][f] = r[i][f] / other[i][f]
	}
	return ratios.of(f)
}

// quantile is the value below which a share q of the sorted values lies, with
// what is between two of them interpolated. It is NaN if there are none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	below, part := math.Modf(q * float64(len(sorted)-1))
	i := int(below)
	return sorted[i] + part*(sorted[min(i+1, len(sorted)-1)]-sorted[i])
}

// percentile is the latency, in microseconds, that a share q of the sorted
// samples does not exceed. It is NaN where there are too few samples to tell.
func percentile(sorted []time.Duration, q float64) float64 {
	if float64(len(sorted))*(1-q) < 1-1e-9 {
		return math.NaN()
	}
	i := int(math.Ceil(q*float64(len(sorted))-1e-9)) - 1
	return float64(sorted[i].Nanoseconds()) / 1e3
}
