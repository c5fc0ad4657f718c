package openapi

import (
	"bytes"
	"io"
	"text/template"
)

// page is complete in itself: a browser fetches nothing for it.
var page = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; worker-src blob:">
<link rel="icon" href="data:,">
<title>{{.Title}}</title>
<style>body { margin: 0 }</style>
</head>
<body>
<div id="reference"></div>
<script>{{.Script}}</script>
<script>
Redoc.init({{.Description}}, {{.Options}}, document.getElementById("reference"))
</script>
</body>
</html>
`))

// options are those of Redoc.
const options = `{sortRequiredPropsFirst: true, hideDownloadButton: true, expandResponses: "200,202", ` +
	`jsonSamplesExpandLevel: 4}`

// logo is the only address from which Redoc fetches something.
var logo = []byte("https://cdn.redoc.ly/redoc/logo-mini.svg")

// WriteHTML writes the description as a page that Redoc renders; script is Redoc's standalone bundle. No text of the
// description can end the page's script, because encoding/json has escaped each <.
func (d *Document) WriteHTML(w io.Writer, script []byte) error {
	script = bytes.ReplaceAll(script, logo, []byte("data:,"))
	script = bytes.ReplaceAll(script, []byte("</script"), []byte(`<\/script`))
	return page.Execute(w, map[string]string{
		"Title": d.Root["info"].(map[string]any)["title"].(string), "Script": string(script),
		"Description": string(d.JSON), "Options": options,
	})
}
