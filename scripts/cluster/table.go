package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

// printTable prints rows of a name and a value.
func printTable(out io.Writer, rows [][2]string) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintf(table, "%s\t%s\n", row[0], row[1])
	}
	return table.Flush()
}

func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
