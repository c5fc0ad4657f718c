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

	"github.com/chromedp/cdproto/page"
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
		decoded, err := png.Decode(bytes.NewReader(shot.Data))
		if err != nil {
			p.Fatal(err)
		}
		path := filepath.Join(*show, name+".png")
		if scheme == "dark" {
			path = filepath.Join(*show, name+"-dark.png")
		}
		if err := writePNG(path, withFewColours(decoded)); err != nil {
			p.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			p.Fatal(err)
		}
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

// TestShow takes the pictures of the documentation: go test -run TestShow -show ../../docs/images/console.
func TestShow(t *testing.T) {
	if *show == "" {
		t.Skip("-show is not given")
	}
	p := newTenant(t).open("/")
	p.waitForHeading("Overview")
	p.showPicture("overview")

	tenant := newTenant(t)
	p = uploadPage(tenant, tenant.generate(100_000, 0.002))
	p.waitForText("Checked on this machine")
	p.showPicture("upload")
}
