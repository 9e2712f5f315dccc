package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

func TestMain(m *testing.M) {
	code := m.Run()
	stopChromium()
	os.RemoveAll(buildDir)
	os.Exit(code)
}

// stopChromium ends the browser; startChromium sets it.
var stopChromium = func() {}

// chromium is the one browser of the package, started by the first test that needs it.
var chromium = sync.OnceValues(startChromium)

func startChromium() (context.Context, error) {
	path, err := findChromium()
	if err != nil {
		return nil, err
	}
	// No --disable-ipc-flooding-protection: learners' browsers ration the history too.
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path),
		chromedp.Headless,
		chromedp.Flag("disable-gpu", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true),
		chromedp.NoFirstRun,
		// Pages of two sites, host.test and app.test, and one process for both, so that a test can look into a
		// frame of the other site. What the sites may do to each other does not depend on it.
		chromedp.Flag("host-resolver-rules", "MAP *.test 127.0.0.1"),
		chromedp.Flag("disable-site-isolation-trials", true),
		chromedp.Flag("disable-features", "IsolateOrigins,site-per-process,IsolateSandboxedIframes"),
		chromedp.WindowSize(1280, 900),
	}
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // the sandbox refuses to work for root
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ := chromedp.NewContext(allocator)
	if err := chromedp.Do(ctx); err != nil {
		stop()
		return nil, fmt.Errorf("%s does not start: %w", path, err)
	}
	stopChromium = func() {
		graceful, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if err := chromedp.Cancel(graceful); err != nil {
			fmt.Fprintln(os.Stderr, "the browser did not end by itself:", err)
		}
		stop()
	}
	return ctx, nil
}

func findChromium() (string, error) {
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("the browser tests need Chromium: apt-get install chromium, or set CHROMIUM to its path")
}
