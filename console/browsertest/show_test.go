package browsertest

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"

	"sluice/shared/kit/errtest"
)

// show is the folder into which TestShow writes.
var show = flag.String("show", "", "take the pictures of the documentation and write them to this folder")

// maxPictureBytes is how large a picture of the documentation may be.
const maxPictureBytes = 100_000

// showPicture writes what the window shows, in light and dark, to NAME.png and NAME-dark.png of the folder of -show.
func (p *tab) showPicture(name string) {
	p.Helper()
	for _, scheme := range []string{"dark", "light"} {
		p.setColours(scheme)
		shot := mustCall(p, page.CaptureScreenshot, page.CaptureScreenshotParams{})
		decoded := errtest.Must(png.Decode(bytes.NewReader(shot.Data)))(p)
		path := filepath.Join(*show, name+".png")
		if scheme == "dark" {
			path = filepath.Join(*show, name+"-dark.png")
		}
		errtest.Fatal(p, writePNG(path, withFewColours(decoded)))
		info := errtest.Must(os.Stat(path))(p)
		if info.Size() > maxPictureBytes {
			p.Errorf("%s has %d bytes, want at most %d", path, info.Size(), maxPictureBytes)
		}
	}
}

// withFewColours returns a picture with its 256 most frequent colours, which makes its file several times smaller.
// Colours that differ in their last three bits count as one.
func withFewColours(from image.Image) *image.Paletted {
	counts := map[color.RGBA]int{}
	exact := map[color.RGBA]map[color.RGBA]int{}
	bounds := from.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := color.RGBAModel.Convert(from.At(x, y)).(color.RGBA)
			group := color.RGBA{R: c.R &^ 7, G: c.G &^ 7, B: c.B &^ 7, A: 255}
			counts[group]++
			if exact[group] == nil {
				exact[group] = map[color.RGBA]int{}
			}
			exact[group][c]++
		}
	}
	groups := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	var palette color.Palette
	for _, group := range groups[:min(len(groups), 256)] {
		palette = append(palette, slices.MaxFunc(slices.Collect(maps.Keys(exact[group])), func(a, b color.RGBA) int {
			return cmp.Or(cmp.Compare(exact[group][a], exact[group][b]), cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
		}))
	}
	few := image.NewPaletted(bounds, palette)
	nearest := map[color.RGBA]uint8{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := color.RGBAModel.Convert(from.At(x, y)).(color.RGBA)
			index, known := nearest[c]
			if !known {
				index = uint8(palette.Index(c))
				nearest[c] = index
			}
			few.SetColorIndex(x, y, index)
		}
	}
	return few
}

// TestShow takes the pictures of the documentation and measures how fast pages come: make console-pictures.
func TestShow(t *testing.T) {
	if *show == "" {
		t.Skip("-show is not given")
	}
	tenant := newTenant(t)
	for i, name := range []string{"October", "November, part 1", "November, part 2", "Refunds of November"} {
		tenant.upload(tenant.generate(400*(i+1), 0), "--name", name)
	}
	tenant.upload(tenant.generate(400, 0.2), "--name", "Chargebacks")
	batch := tenant.upload(tenant.generate(3_000, 0.02), "--name", "November, part 3", "--max-rejected", "5%",
		"--metadata", "region=north")
	tenant.importSampleList()
	tenant.importList("own", listed{id: "1", name: "Anatoli Velkanow", born: "1958",
		aliases: []string{"A. B. Velkanov"}})
	screening := tenant.screen("j", screened{"e", "Anatolij Welkanow", "14/03/1958"})

	p := tenant.open("/")
	p.resize(width, 1000)
	p.waitForHeading("Overview")
	p.waitForText("Chargebacks")
	p.showPicture("overview")
	p.goTo("/batches/" + batch)
	p.waitForHeading("November, part 3")
	p.waitForText("1 to 25 of")
	p.resize(width, 1500)
	p.showPicture("batch")
	p.resize(width, 1000)
	p.goTo("/upload")
	p.dropFiles("region", "Files to upload", tenant.generate(2_000, 0.02))
	p.waitForText("Checked on this machine")
	p.showPicture("upload")
	p.goTo("/screening/" + screening)
	p.waitForText("Word by word")
	p.showPicture("workbench")

	for _, path := range []string{"/", "/batches", "/batches/" + batch, "/upload", "/screening/" + screening} {
		p.measure(path)
	}
}

// measure logs how fast a page comes, with an empty cache: its first paint, when its content is there, the end of the
// last task that kept the browser busy for more than 50 ms, and what was transferred.
func (p *tab) measure(path string) {
	p.Helper()
	mustCall(p, network.ClearBrowserCache, cdp.Empty{})
	p.goTo(path)
	type figures struct{ FirstPaint, Ready, LastLongTask, Bytes, Requests float64 }
	f := evaluate[figures](p, `new Promise(done => {
		const long = [];
		new PerformanceObserver(list => long.push(...list.getEntries())).observe({type: "longtask", buffered: true});
		const look = () => {
			if (!document.querySelector("h1") || document.querySelector(".skeleton")) return setTimeout(look, 5);
			const Ready = performance.now(), all = performance.getEntriesByType("resource");
			setTimeout(() => done({
				FirstPaint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0, Ready,
				LastLongTask: Math.max(0, ...long.map(e => e.startTime + e.duration)),
				Bytes: all.reduce((sum, e) => sum + e.transferSize, 0), Requests: all.length,
			}), 300);
		};
		look();
	})`)
	p.Logf("%.60s: first paint after %.0f ms, content after %.0f ms, last long task until %.0f ms; %.0f "+
		"requests, %.0f kB",
		path, f.FirstPaint, f.Ready, f.LastLongTask, f.Requests, f.Bytes/1000)
}
