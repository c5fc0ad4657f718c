package browsertest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/cdproto/page"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"

	"sluice/shared/kit/errtest"
)

const (
	// shrink is how many pixels of the window, across and down, are one of a screenshot: differences in how machines
	// draw the same letters average out.
	shrink = 4
	// tolerance is the difference of a colour, of 255, up to which pixels count as equal.
	tolerance = 40
	// differing is the share of pixels that may be different.
	differing = 0.01
)

// volatile are the elements whose content is different each time: times, identifiers and drawn charts.
var volatile = []string{"time", "canvas", "[data-volatile]"}

// checkScreenshot compares what the window shows, in light and dark, with testdata/screenshots/NAME.png and
// NAME-dark.png. Times, identifiers and what else is given as CSS selectors are painted over before. With -update it
// writes the files.
func (p *tab) checkScreenshot(name string, masked ...string) {
	p.Helper()
	p.useTestFonts()
	defer evaluate[any](p, `for (const name of ["--font", "--mono"])
		document.documentElement.style.removeProperty(name)`)
	for _, scheme := range []string{"dark", "light"} {
		p.setColours(scheme)
		file := name + ".png"
		if scheme == "dark" {
			file = name + "-dark.png"
		}
		p.compareScreenshot(filepath.Join("testdata", "screenshots", file), masked)
	}
}

// useTestFonts has the page use fonts that the tests bring, since those of machines differ, and lines of text would
// break elsewhere.
func (p *tab) useTestFonts() {
	p.Helper()
	for _, font := range []struct {
		family, weight string
		text           []byte
	}{{"Go", "400", goregular.TTF}, {"Go", "600", gobold.TTF}, {"Go Mono", "400", gomono.TTF}} {
		evaluate[any](p, fmt.Sprintf(`new FontFace(%q, Uint8Array.from(atob(%q), c => c.charCodeAt(0)), {weight: %q})
			.load().then(font => { document.fonts.add(font); return true; })`,
			font.family, base64.StdEncoding.EncodeToString(font.text), font.weight))
	}
	evaluate[any](p, `document.documentElement.style.setProperty("--font", "Go");
		document.documentElement.style.setProperty("--mono", "Go Mono")`)
}

// compareScreenshot compares the window with one file, or writes it.
func (p *tab) compareScreenshot(path string, masked []string) {
	p.Helper()
	var got *image.RGBA
	if *update {
		got = p.settledPicture(masked)
		errtest.Fatal(p, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), writePNG(path, got)))
		return
	}
	want, err := readPNG(path)
	if errors.Is(err, fs.ErrNotExist) {
		p.Fatalf("there is no %s: write it with go test -run '%s' -update, and look at it", path, p.Name())
	} else if err != nil {
		p.Fatal(err)
	}
	got = p.settledPicture(masked)
	if share := differentShare(got, want); share > differing {
		kept := filepath.Join(suite.repository, "bin", "console-failures", filepath.Base(path))
		err := errors.Join(os.MkdirAll(filepath.Dir(kept), 0o700), writePNG(kept, got))
		p.Errorf("the page differs from %s in %.1f %% of its pixels, more than %.0f %%: compare with %s (%v); "+
			"if it is as it should be, -update writes it", path, 100*share, 100*differing, kept, err)
	}
}

// settledPicture returns the window, made small, once two pictures of it after another are the same.
func (p *tab) settledPicture(masked []string) (picture *image.RGBA) {
	p.Helper()
	p.eventually("a picture that stays the same", func() (bool, string) {
		last := picture
		picture = p.picture(masked)
		return last != nil && bytes.Equal(last.Pix, picture.Pix), "it changes: are all volatile parts masked?"
	})
	return picture
}

// picture returns the window with the volatile parts painted over, made small.
func (p *tab) picture(masked []string) *image.RGBA {
	p.Helper()
	selector, err := json.Marshal(strings.Join(append(volatile[:len(volatile):len(volatile)], masked...), ","))
	errtest.Fatal(p, err)
	boxes := evaluate[[]struct{ X, Y, W, H int }](p,
		fmt.Sprintf(`[...document.querySelectorAll(%s)].filter(e => e.checkVisibility()).map(e => {
		const b = e.getBoundingClientRect();
		return {X: Math.floor(b.left), Y: Math.floor(b.top), W: Math.ceil(b.width) + 1, H: Math.ceil(b.height) + 1};
	})`, selector))
	shot := mustCall(p, page.CaptureScreenshot, page.CaptureScreenshotParams{})
	decoded := errtest.Must(png.Decode(bytes.NewReader(shot.Data)))(p)
	window := image.NewRGBA(decoded.Bounds())
	draw.Draw(window, window.Bounds(), decoded, image.Point{}, draw.Src)
	for _, b := range boxes {
		draw.Draw(window, image.Rect(b.X, b.Y, b.X+b.W, b.Y+b.H), image.NewUniform(color.Gray{Y: 128}),
			image.Point{}, draw.Src)
	}
	return shrunk(window)
}

// shrunk returns a picture in which each pixel is the average of shrink by shrink pixels.
func shrunk(from *image.RGBA) *image.RGBA {
	size := from.Bounds().Size().Div(shrink)
	small := image.NewRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			var sum [3]int
			for dy := range shrink {
				for dx := range shrink {
					at := from.PixOffset(x*shrink+dx, y*shrink+dy)
					for c := range sum {
						sum[c] += int(from.Pix[at+c])
					}
				}
			}
			at := small.PixOffset(x, y)
			for c := range sum {
				small.Pix[at+c] = uint8(sum[c] / (shrink * shrink))
			}
			small.Pix[at+3] = 255
		}
	}
	return small
}

// differentShare returns the share of pixels that differ by more than the tolerance; all, if the sizes differ.
func differentShare(a, b *image.RGBA) float64 {
	if a.Bounds() != b.Bounds() {
		return 1
	}
	different := 0
	for at := 0; at < len(a.Pix); at += 4 {
		for c := range 3 {
			if d := int(a.Pix[at+c]) - int(b.Pix[at+c]); d > tolerance || -d > tolerance {
				different++
				break
			}
		}
	}
	return float64(different) / float64(len(a.Pix)/4)
}

func writePNG(path string, picture image.Image) error {
	var text bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&text, picture); err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o644)
}

func readPNG(path string) (*image.RGBA, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	decoded, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	picture := image.NewRGBA(decoded.Bounds())
	draw.Draw(picture, picture.Bounds(), decoded, decoded.Bounds().Min, draw.Src)
	return picture, nil
}
