package browsertest

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/chromedp"

	"sluice/shared/kit/errtest"
)

// chromium is the running browser. Each test has a browser context of its own in it: cookies, storage and cache are
// not shared.
type chromium struct {
	ctx    context.Context
	cancel func()
}

// unusedFeatures are features of Chromium that no test uses: two that chromedp turns off by itself, two pages of the
// browser's own for its address bar, which each new window would load, and processes that wait for pages to come. The
// pages of the address bar take as much of the processors as the first page of the console does.
const unusedFeatures = "Translate,BlinkGenPropertyTrees,WebUIOmniboxPopup,WebUIOmniboxAimPopup," +
	"PreloadTopChromeWebUI,SpareRendererForSitePerProcess"

// startBrowser starts Chromium without a window.
func startBrowser(program, profile string) (*chromium, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program),
		chromedp.UserDataDir(profile), chromedp.WindowSize(width, height),
		chromedp.Flag("disable-dev-shm-usage", false),
		chromedp.Flag("disable-features", unusedFeatures),
		// Dates and numbers are the same whatever the language of this machine is.
		chromedp.Flag("lang", "en-US"), chromedp.Flag("accept-lang", "en-US"), chromedp.Env("LC_ALL=C.UTF-8"),
		// Glyphs are the same whatever the screen of this machine is.
		chromedp.Flag("font-render-hinting", "none"), chromedp.Flag("disable-lcd-text", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium's sandbox does not run as root
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	b := &chromium{ctx: ctx, cancel: func() { cancel(); stop() }}
	if err := chromedp.Do(ctx); err != nil {
		b.cancel()
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	return b, nil
}

func (b *chromium) stop() {
	_ = chromedp.Cancel(b.ctx) // an error says that it did not end well, which no test depends on
	b.cancel()
}

// newTab opens an empty tab in a new browser context. It is closed, and what it complained about reported, at the end
// of the test.
func (b *chromium) newTab(t testing.TB, origin string) *tab {
	t.Helper()
	p := &tab{TB: t, origin: origin, downloads: t.TempDir()}
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(p.observe))
	p.ctx = ctx
	t.Cleanup(func() {
		p.reportComplaints()
		if t.Failed() {
			p.keepPicture()
		}
		errtest.Is(t, "Cancel", chromedp.Cancel(ctx), nil)
		cancel()
	})
	errtest.Fatal(t, chromedp.Do(ctx, prepare(p)))
	return p
}

// prepare sets what every test relies on: language, zone, size and colours.
func prepare(p *tab) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, log.Enable, cdp.Empty{}); err != nil {
			return err
		}
		if _, err := cdp.Call(ctx, target, audits.Enable, cdp.Empty{}); err != nil {
			return err
		}
		if _, err := cdp.Call(ctx, target, emulation.SetLocaleOverride,
			emulation.SetLocaleOverrideParams{Locale: "en-GB"}); err != nil {
			return err
		}
		if _, err := cdp.Call(ctx, target, emulation.SetTimezoneOverride,
			emulation.SetTimezoneOverrideParams{TimezoneID: "Europe/Amsterdam"}); err != nil {
			return err
		}
		if _, err := cdp.Call(ctx, target, emulation.SetFocusEmulationEnabled,
			emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
			return err
		}
		yes := true
		_, err := cdp.Call(ctx, target, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
			Behavior: "allowAndName", DownloadPath: p.downloads, EventsEnabled: &yes,
			BrowserContextID: chromedp.FromContext(ctx).BrowserContextID})
		return err
	})
}
