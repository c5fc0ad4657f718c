package console

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
)

//go:embed all:assets
var embedded embed.FS

// builtAssets returns the files of the page that the program was built with.
func builtAssets() fs.FS {
	built, err := fs.Sub(embedded, "assets")
	if err != nil {
		panic(err) // the path is a constant
	}
	return built
}

// IsBuilt reports whether the program was built with the page.
func IsBuilt() bool { return hasPage(builtAssets()) }

// NotBuilt says what to do if IsBuilt is false.
const NotBuilt = "this program was built without the console's page; run 'make build' in a clone of Sluice, " +
	"which builds the page with npm before the program"

// indexFile is the page; everything else is loaded by it.
const indexFile = "index.html"

func hasPage(assets fs.FS) bool {
	_, err := fs.Stat(assets, indexFile)
	return err == nil
}

// assetTypes are the content types of the files that the page has. Others are not served. The types that a system knows
// differ from one machine to another.
var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".ico": "image/x-icon",
	".js": "text/javascript; charset=utf-8", ".json": "application/json", ".map": "application/json",
	".png": "image/png", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8", ".woff2": "font/woff2",
}

// hashedName is a name that changes with the content of its file.
var hashedName = regexp.MustCompile(`[-.][A-Z0-9a-f]{8,}\.[a-z0-9.]+$`)

// servePage answers everything that is neither the service's nor the console's: files of the page and, at each other
// address of a page, the page itself, which shows what its address says.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		s.refuse(w, r, &problem{Status: http.StatusMethodNotAllowed, Detail: "Pages can only be read."})
		return
	}
	if name, isAsset := strings.CutPrefix(r.URL.Path, "/assets/"); isAsset {
		s.serveAsset(w, r, name)
		return
	}
	if !isForPerson(r) && r.URL.Path != "/" {
		writeProblem(w, problem{Status: http.StatusNotFound, Detail: "The console has no such file."})
		return
	}
	if !hasPage(s.config.Assets) {
		writeNotice(w, http.StatusNotFound, "The page is missing", NotBuilt+".")
		return
	}
	s.writeFile(w, r, indexFile)
}

// serveAsset answers with a file of the page. The browser keeps a file whose name changes with its content.
func (s *Server) serveAsset(w http.ResponseWriter, r *http.Request, name string) {
	info, err := fs.Stat(s.config.Assets, name)
	if err != nil || info.IsDir() || assetTypes[path.Ext(name)] == "" {
		writeProblem(w, problem{Status: http.StatusNotFound, Detail: "The console has no such file."})
		return
	}
	if hashedName.MatchString(name) {
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	s.writeFile(w, r, name)
}

func (s *Server) writeFile(w http.ResponseWriter, r *http.Request, name string) {
	content, err := fs.ReadFile(s.config.Assets, name)
	if err != nil {
		writeProblem(w, problem{Status: http.StatusInternalServerError,
			Detail: "A file of the console cannot be read."})
		return
	}
	w.Header().Set("Content-Type", assetTypes[path.Ext(name)])
	if r.Method != http.MethodHead {
		_, _ = w.Write(content)
	}
}
