//go:build e2e

package site

import (
	"context"
	"iter"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// browser is a tab of Chromium without a window.
type browser struct {
	context.Context

	nextMessage func() (chromedp.ConsoleMessage, error, bool)
}

func open(t *testing.T) browser {
	t.Helper()
	program := ""
	for _, name := range []string{"google-chrome", "chromium-browser", "chromium"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
		}
	}
	if program == "" {
		t.Fatal("these tests need Chromium to open the pages: apt-get install chromium, or install Chrome")
	}
	// Chromium has no sandbox for root, the user in a container.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	next, stop := iter.Pull2(chromedp.Console(ctx))
	t.Cleanup(stop)
	return browser{ctx, next}
}

func (b browser) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// complaints returns the errors and warnings in the console since the last call, including exceptions and failed
// requests.
func (b browser) complaints(t *testing.T) (texts []string) {
	t.Helper()
	const end = "end of the page"
	b.do(t, chromedp.Evaluate[chromedp.Void]("console.log('"+end+"')"))
	for {
		message, err, more := b.nextMessage()
		switch {
		case err != nil || !more:
			t.Fatalf("the console ended: %v", err)
		case message.Text == end:
			return texts
		case message.IsException(), message.Type == "error", message.Type == "warning":
			texts = append(texts, message.Text+" "+message.URL)
		}
	}
}

// result returns the value of a JavaScript expression in the page.
func result[T any](t *testing.T, b browser, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(b, time.Minute)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// prefer sets the color scheme of the reader's system.
func prefer(scheme string) chromedp.Action[chromedp.Void] {
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		return err
	})
}

// requests returns a function that lists the browser's requests since the call of requests, including those that the
// browser refuses to send.
func (b browser) requests(t *testing.T) func() []string {
	t.Helper()
	var mutex sync.Mutex
	var addresses []string
	err := chromedp.Listen(b, func(event any) {
		if request, ok := event.(*network.EventRequestWillBeSent); ok {
			mutex.Lock()
			defer mutex.Unlock()
			addresses = append(addresses, request.Request.URL)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b.do(t, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, network.Enable, network.EnableParams{})
		return err
	}))
	return func() []string {
		mutex.Lock()
		defer mutex.Unlock()
		return slices.Clone(addresses)
	}
}
