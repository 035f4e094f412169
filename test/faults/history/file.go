package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// Save writes a history to a file, as JSON with a line for each entry.
func (h *History) Save(path string) error {
	head := *h
	head.Entries = []Entry{}
	content, err := json.Marshal(head)
	if err != nil {
		return err
	}
	start, end, found := bytes.Cut(content, []byte("[]"))
	if !found {
		return fmt.Errorf("a history without entries is %s", content)
	}
	file := bytes.NewBuffer(append(bytes.Clone(start), '['))
	for i, entry := range h.Entries {
		line, err := json.Marshal(entry)
		if err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
		if i > 0 {
			file.WriteByte(',')
		}
		file.WriteByte('\n')
		file.Write(line)
	}
	file.WriteString("\n]")
	file.Write(end)
	return os.WriteFile(path, append(file.Bytes(), '\n'), 0o600)
}

// Load reads what Save wrote.
func Load(path string) (*History, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	h := &History{}
	if err := json.Unmarshal(content, h); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return h, nil
}
