package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/snapshot"
	"github.com/example-inc/memcached-operator/operator/internal/agent/snapshot/format"
)

// result is the result of a command. The command prints it when it ends.
type result struct {
	Name    string    `json:"name"`
	Result  string    `json:"result"` // saved, restored or whole
	Cache   string    `json:"cache"`
	Time    time.Time `json:"time"`
	Servers int       `json:"servers"`
	Items   int64     `json:"items"`
	Bytes   int64     `json:"bytes"`  // of keys and values
	Stored  int64     `json:"stored"` // bytes of the objects
	Seconds float64   `json:"seconds"`

	LeftOut  *format.LeftOut `json:"leftOut,omitempty"`  // only of save
	Restored *restored       `json:"restored,omitempty"` // only of restore
}

// restored counts the items of a snapshot, by what a restore did with them.
type restored struct {
	Added   int64 `json:"added"`
	Kept    int64 `json:"kept"`    // the server had the key already
	Expired int64 `json:"expired"` // the item has expired since the snapshot
	Refused int64 `json:"refused"` // the item is too large for the server, or the server had no memory
}

func (o *options) result(m format.Manifest) result {
	total := m.Total()
	r := result{
		Name: o.name, Cache: m.Cache, Time: m.Time, Servers: len(m.Slots), Items: total.Items, Bytes: total.Bytes,
	}
	for _, slot := range m.Slots {
		r.Stored += slot.Size
	}
	return r
}

func (r result) of(kind string) result {
	r.Result = kind
	return r
}

func (r result) leftOut(m format.Manifest) result {
	r.LeftOut = &format.LeftOut{}
	for _, slot := range m.Slots {
		r.LeftOut.Numbers += slot.LeftOut.Numbers
		r.LeftOut.Stale += slot.LeftOut.Stale
		r.LeftOut.Expiring += slot.LeftOut.Expiring
		r.LeftOut.Unnamed += slot.LeftOut.Unnamed
		r.LeftOut.Failed += slot.LeftOut.Failed
	}
	return r
}

func (r result) added(a handoff.Added) result {
	r.Restored = &restored{
		Added: max(0, r.Items-a.Kept-a.Expired-a.Refused), Kept: a.Kept, Expired: a.Expired, Refused: a.Refused,
	}
	return r
}

// printer prints text for people, or JSON for programs.
type printer struct {
	out, progress io.Writer
	json          bool
}

func (p *printer) print(r result) error {
	if p.json {
		content, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.out, "%s\n", content)
		return err
	}
	text := fmt.Sprintf("%s is %s: %d items of %s in %d servers, stored in %s, in %s\n",
		r.Name, r.Result, r.Items, size(r.Bytes), r.Servers, size(r.Stored), seconds(r.Seconds))
	if left := r.LeftOut; left != nil {
		text += fmt.Sprintf("left out: %d items whose value is a number, %d stale items, %d items about to expire, "+
			"%d items with a key that only the binary protocol can send, %d items that memcached did not return\n",
			left.Numbers, left.Stale, left.Expiring, left.Unnamed, left.Failed)
	}
	if r := r.Restored; r != nil {
		text += fmt.Sprintf("%d items added; %d not added, because the cache has their keys; %d expired; %d refused, "+
			"because they are too large or memcached has no memory for them\n", r.Added, r.Kept, r.Expired, r.Refused)
	}
	_, err := io.WriteString(p.out, text)
	return err
}

// writeTo writes the result to a file, as one line of JSON. If the name of the file is empty, writeTo does nothing.
func (r result) writeTo(file string) error {
	if file == "" {
		return nil
	}
	content, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, append(content, '\n'), 0o600); err != nil {
		return fmt.Errorf("--result-file: %w", err)
	}
	return nil
}

// follow prints the progress until the returned function is called.
func (p *printer) follow(ctx context.Context, progress *snapshot.Progress) (stop func()) {
	const interval = 2 * time.Second
	ctx, cancel := context.WithCancel(ctx)
	var printing sync.WaitGroup
	printing.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				fmt.Fprintf(p.progress, "%d of about %d items, %s\n",
					progress.Items.Load(), progress.Total.Load(), size(progress.Bytes.Load()))
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		printing.Wait()
	}
}

func size(bytes int64) string {
	const mebi = 1 << 20
	if bytes < mebi {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/mebi)
}

func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond).String()
}
