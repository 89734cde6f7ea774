package main

import (
	"slices"
	"strings"

	"github.com/go-analyze/charts"
)

// Colors that can be told from a white page as well as from a dark one.
var (
	ink         = charts.ColorFromHex("#7d8590")
	goblinColor = charts.ColorFromHex("#2da44e")
	otherColor  = charts.ColorFromHex("#8c959f")
)

// chart draws, as SVG, what a renewal costs the server when it is busy and when
// it is quiet.
func (r *run) chart() ([]byte, error) {
	const width, height = 430, 330
	p := charts.NewPainter(charts.PainterOptions{OutputFormat: charts.ChartOutputSVG, Width: 2 * width, Height: height})
	left := p.Child(charts.PainterBoxOption(charts.NewBox(0, 0, width, height)))
	if err := r.drawRenewals(left, "Busy server: calls pipelined", pipelined); err != nil {
		return nil, err
	}
	right := p.Child(charts.PainterBoxOption(charts.NewBox(width, 0, 2*width, height)))
	if err := r.drawRenewals(right, "Quiet server: a call every 10 ms", every10ms); err != nil {
		return nil, err
	}
	return p.Bytes()
}

// drawRenewals draws a bar for each command, from the top down.
func (r *run) drawRenewals(p *charts.Painter, title string, w way) error {
	goblin := r.of(renew, "Goblin", hit, small, w)
	var names, labels []string
	var times []float64 // in ns: for a bar of less than 1, an axis begins below 0
	for _, t := range slices.Backward(r.trials) {
		if t.op == renew && t.outcome == hit && t.size == small {
			own := r.results[measured{t, w.name}]
			label := number(own.of(serverTime).median) + " µs"
			if t.name != "Goblin" && goblin != nil {
				label += ", " + number(own.over(goblin, serverTime).median) + "×"
			}
			names = append(names, strings.ReplaceAll(t.name, "…", "...")) // which is as wide in every font
			labels = append(labels, label)
			times = append(times, 1000*own.of(serverTime).median)
		}
	}
	if len(names) == 0 {
		return nil
	}

	// Colors are those of series, so each bar is a series, alone in its row.
	bars := make([][]float64, len(times))
	colors := make([]charts.Color, len(times))
	for i, name := range names {
		bars[i] = slices.Repeat([]float64{charts.GetNullValue()}, len(times))
		bars[i][i] = times[i]
		colors[i] = otherColor
		if name == "Goblin" {
			colors[i] = goblinColor
		}
	}
	option := charts.NewBarChartOptionWithData(bars)
	option.Horizontal = true
	option.StackSeries = charts.Ptr(true)
	option.Theme = charts.GetDefaultTheme().WithBackgroundColor(charts.ColorTransparent).
		WithTextColor(ink).WithXAxisColor(ink).WithYAxisColor(ink).WithSeriesColors(colors)
	option.Title.Text = title
	option.CategoryAxis.Labels = names
	option.CategoryAxis.LabelFontStyle.FontSize = 11
	option.CategoryAxis.LabelOffset.Left = -8
	option.ValueAxis[0].Show = charts.Ptr(false)
	option.ValueAxis[0].Min = charts.Ptr(0.0)
	option.ValueAxis[0].Max = charts.Ptr(1.8 * slices.Max(times)) // with room for the labels
	for i := range option.SeriesList {
		label := &option.SeriesList[i].Label
		label.Show = charts.Ptr(true)
		label.FontStyle.FontColor = ink
		label.FontStyle.FontSize = 11
		label.ValueFormatter = func(float64) string { return labels[i] }
	}
	return p.BarChart(option)
}
