package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// targets are what is promised.
var targets = []target{
	{serverTime, pipelined, renew, hit, "Goblin", "C twin", atMost, 1.05},
	{serverTime, every10ms, renew, hit, "Goblin", "C twin", atMost, 1.10},
	{serverTime, pipelined, renew, hit, "EVALSHA", "Goblin", atLeast, 3.0},
	{serverTime, pipelined, renew, miss, "EVALSHA", "Goblin", atLeast, 6},
	{serverTime, every10ms, renew, hit, "EVALSHA", "Goblin", atLeast, 1.9},
	{rate, pipelined, renew, hit, "Goblin", "EVALSHA", atLeast, 2.4},
	{rate, pipelined, renew, hit, "EVALSHA, accelerated", "EVALSHA", atLeast, 1.7},
	{serverTime, every10ms, renew, hit, "EVALSHA, accelerated", "EVALSHA", atMost, 0.75},
	{rate, pipelined, renew, hit, "Goblin", "SET … IFEQ … PX", atLeast, 1.0},
	{rate, pipelined, release, miss, "Goblin", "DELIFEQ", atLeast, 0.85},
	{rate, pipelined, release, miss, "Goblin", "DELEX … IFEQ", atLeast, 0.85},
	{p999, pipelined, renew, hit, "Goblin", "C twin", atMost, 1.1},
	{p999, closedLoop, renew, hit, "Goblin", "C twin", atMost, 1.1},
}

// A target limits the ratio of two commands' figures.
type target struct {
	figure    figure
	way       way
	op        operation
	outcome   outcome
	over, by  string
	direction direction
	limit     float64
}

type direction string

const (
	atMost  direction = "≤"
	atLeast direction = "≥"
)

func (t target) String() string {
	return fmt.Sprintf("%s, %s, %s, %s: %s / %s", t.op, t.outcome, t.way.name, t.figure, t.over, t.by)
}

// verdict tells whether the ratio, as it is printed, is within the limit.
func (t target) verdict(ratio float64) string {
	switch printed := math.Round(ratio*100) / 100; {
	case math.IsNaN(ratio):
		return ""
	case t.direction == atMost && printed <= t.limit, t.direction == atLeast && printed >= t.limit:
		return "met"
	}
	return "**missed**"
}

// report writes everything as Markdown.
func (r *run) report(out io.Writer) {
	count := 0
	for _, t := range r.trials {
		count = len(r.results[measured{t, pipelined.name}])
	}
	fmt.Fprintf(out, "%s. Figures are medians of %d rounds. A ratio is that of medians in a round; what follows it is the quartiles over all rounds.\n", r.machine(), count)

	fmt.Fprintf(out, "\n### Targets\n\n| | target |")
	for _, size := range r.sizes {
		fmt.Fprintf(out, " %d bytes | |", size)
	}
	fmt.Fprintf(out, "\n| --- | --- |%s\n", strings.Repeat(" --- | --- |", len(r.sizes)))
	for _, t := range targets {
		fmt.Fprintf(out, "| %s | %s %.2f |", t, t.direction, t.limit)
		for _, size := range r.sizes {
			ratio := r.of(t.op, t.over, t.outcome, size, t.way).over(r.of(t.op, t.by, t.outcome, size, t.way), t.figure)
			fmt.Fprintf(out, " %s | %s |", ratio, t.verdict(ratio.median))
		}
		fmt.Fprintln(out)
	}

	r.table(out, "Server time a call in µs (× Goblin's)", ways, r.comparer(serverTime))
	r.table(out, "Calls a second (× Goblin's)", ways[:2], r.comparer(rate))
	r.table(out, "Latency at the client in µs: p50 / p99 / p99.9", ways, func(t trial, w way) string {
		rounds := r.results[measured{t, w.name}]
		return fmt.Sprintf("%s / %s / %s", number(rounds.of(p50).median), number(rounds.of(p99).median), number(rounds.of(p999).median))
	})
	r.reportScale(out)
}

// table writes a row for each trial and a column for each way.
func (r *run) table(out io.Writer, title string, ways []way, cell func(trial, way) string) {
	fmt.Fprintf(out, "\n### %s\n\n|", title)
	for _, w := range ways {
		fmt.Fprintf(out, " | %s", w.name)
	}
	fmt.Fprintf(out, " |\n| ---%s |\n", strings.Repeat(" | ---", len(ways)))
	group := ""
	for _, t := range r.trials {
		if _, ok := r.results[measured{t, ways[0].name}]; !ok {
			continue
		}
		if t.group() != group {
			group = t.group()
			fmt.Fprintf(out, "| **%s**%s |\n", group, strings.Repeat(" |", len(ways)))
		}
		fmt.Fprintf(out, "| %s", t.name)
		for _, w := range ways {
			fmt.Fprintf(out, " | %s", cell(t, w))
		}
		fmt.Fprintln(out, " |")
	}
}

// comparer makes cells of a figure and its ratio to Goblin's.
func (r *run) comparer(f figure) func(trial, way) string {
	return func(t trial, w way) string {
		own := r.results[measured{t, w.name}]
		cell := number(own.of(f).median)
		if goblin := r.of(t.op, "Goblin", t.outcome, t.size, w); t.name != "Goblin" && goblin != nil {
			cell += " (" + own.over(goblin, f).String() + ")"
		}
		return cell
	}
}

func (s summary) String() string {
	if math.IsNaN(s.median) {
		return "–"
	}
	return fmt.Sprintf("%.2f×, %.2f–%.2f", s.median, s.low, s.high)
}

// number prints three digits that count.
func number(x float64) string {
	switch {
	case math.IsNaN(x):
		return "–"
	case x >= 10_000:
		return fmt.Sprintf("%.0f k", x/1000)
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// machine names all that the figures depend on.
func (r *run) machine() string {
	banner, _ := exec.Command(r.program, "--version").Output()
	server := regexp.MustCompile(`^(\w+) .*\bv=(\S+).*`).ReplaceAllString(strings.TrimSpace(string(banner)), "$1 $2")
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("%s, %s, %d × %s, Linux %s, %s", server, runtime.Version(), runtime.NumCPU(), cpu(),
		strings.TrimSpace(string(kernel)), time.Now().Format(time.DateOnly))
}

func cpu() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	match := regexp.MustCompile(`(?m)^(?:model name|Model|CPU part)\s*:\s*(.*)$`).FindSubmatch(info)
	if match == nil {
		return runtime.GOARCH
	}
	return string(match[1])
}
