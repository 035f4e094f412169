// Command plot draws the plots of a bench, which it reads as JSON, as SVG files.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Plot is a picture, as test/bench/report has it.
type Plot struct {
	File, Title, X, Y string
	Curves            []struct {
		Name   string
		Points plotter.XYs
	}
}

// The size of a picture: it fits into a page, and into a window beside it.
const (
	width  = 16 * vg.Centimeter
	height = 9 * vg.Centimeter
)

// colors can be told apart by everybody, and stand on light and dark alike (Okabe and Ito).
var colors = []color.Color{
	color.RGBA{R: 0x00, G: 0x72, B: 0xb2, A: 0xff},
	color.RGBA{R: 0xd5, G: 0x5e, B: 0x00, A: 0xff},
	color.RGBA{R: 0x00, G: 0x9e, B: 0x73, A: 0xff},
	color.RGBA{R: 0xcc, G: 0x79, B: 0xa7, A: 0xff},
}

func main() {
	dir := flag.String("dir", ".", "folder for the files")
	flag.Usage = func() {
		fmt.Fprint(os.Stderr, "Draw the plots of a bench, which it reads as JSON.\n\n"+
			"Example:\n  jq '[.[].plots[]?]' figures.json | go run . --dir ..\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := run(os.Stdin, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, dir string) error {
	var plots []Plot
	if err := json.NewDecoder(in).Decode(&plots); err != nil {
		return fmt.Errorf("read the plots: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, p := range plots {
		if err := draw(p, filepath.Join(dir, p.File)); err != nil {
			return fmt.Errorf("draw %s: %w", p.File, err)
		}
	}
	return nil
}

func draw(p Plot, path string) error {
	picture := plot.New()
	picture.BackgroundColor = color.White
	picture.Title.Text, picture.X.Label.Text, picture.Y.Label.Text = p.Title, p.X, p.Y
	picture.Legend.Top, picture.Legend.Left = true, true
	picture.Add(plotter.NewGrid())
	top := 0.0
	for i, curve := range p.Curves {
		line, points, err := plotter.NewLinePoints(curve.Points)
		if err != nil {
			return err
		}
		line.Color, line.Width = colors[i%len(colors)], vg.Points(1.5)
		points.Color = line.Color
		picture.Add(line, points)
		picture.Legend.Add(curve.Name, line, points)
		_, _, _, highest := plotter.XYRange(curve.Points)
		top = math.Max(top, highest)
	}
	picture.X.Min, picture.Y.Min, picture.Y.Max = 0, 0, top*1.1 // What grows begins at nothing.
	return picture.Save(width, height, path)
}
