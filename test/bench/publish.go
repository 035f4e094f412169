package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/example-inc/memcached-operator/test/bench/report"
	"github.com/example-inc/memcached-operator/test/bench/rows"
)

// figuresFile is, in the folder beside the page, what the page is made of. Rows that are not measured stay as they are.
const figuresFile = "figures.json"

// publish writes what was measured, and what was measured before of other rows, into the page. A folder of the
// same name beside it has the figures as JSON.
func publish(measured report.Report, page string) error {
	folder := strings.TrimSuffix(page, filepath.Ext(page))
	file := filepath.Join(folder, figuresFile)
	before, err := readFigures(file)
	if err != nil {
		return err
	}
	all := before.Merge(measured, rows.Names())
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := writeFigures(file, all); err != nil {
		return err
	}
	return all.WritePage(page)
}

func readFigures(path string) (figures report.Report, err error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(content, &figures); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return figures, nil
}

func writeFigures(path string, figures report.Report) error {
	var content bytes.Buffer
	if err := writeJSON(&content, figures); err != nil {
		return err
	}
	return os.WriteFile(path, content.Bytes(), 0o644)
}

func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
