package document

import (
	"path"
	"slices"
	"strings"
)

// fileKinds are the supported kinds of files, by the extension of their name.
var fileKinds = []struct{ extension, mime string }{
	{".bmp", "image/bmp"},
	{".csv", "text/csv"},
	{".doc", "application/msword"},
	{".docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
	{".eml", "message/rfc822"},
	{".gif", "image/gif"},
	{".heic", "image/heic"},
	{".jpeg", "image/jpeg"},
	{".jpg", "image/jpeg"},
	{".json", "application/json"},
	{".msg", "application/vnd.ms-outlook"},
	{".odp", "application/vnd.oasis.opendocument.presentation"},
	{".ods", "application/vnd.oasis.opendocument.spreadsheet"},
	{".odt", "application/vnd.oasis.opendocument.text"},
	{".pdf", "application/pdf"},
	{".png", "image/png"},
	{".ppt", "application/vnd.ms-powerpoint"},
	{".pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
	{".rtf", "application/rtf"},
	{".tif", "image/tiff"},
	{".tiff", "image/tiff"},
	{".txt", "text/plain"},
	{".webp", "image/webp"},
	{".xls", "application/vnd.ms-excel"},
	{".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
	{".xml", "application/xml"},
	{".zip", "application/zip"},
}

// Extension returns the end of a file's name from its last dot on, in lower case; "" if it has no dot. Slashes and
// backslashes at the end of the name are ignored.
func Extension(name string) string { return strings.ToLower(path.Ext(strings.TrimRight(name, `/\`))) }

// IsSupported reports whether files of this name are supported. A name without an extension is: its kind is not known.
func IsSupported(name string) bool {
	extension := Extension(name)
	return extension == "" || slices.Contains(Extensions(), extension)
}

// MIMETypeOf returns the media type of files of this name; "" if the extension is not supported or missing.
func MIMETypeOf(name string) string {
	extension := Extension(name)
	for _, k := range fileKinds {
		if k.extension == extension {
			return k.mime
		}
	}
	return ""
}

// Extensions lists the supported extensions, in order.
func Extensions() []string {
	out := make([]string, len(fileKinds))
	for i, k := range fileKinds {
		out[i] = k.extension
	}
	return out
}

// MIMETypes lists the media types of the supported extensions, each once, in the order of the extensions.
func MIMETypes() []string {
	var out []string
	for _, k := range fileKinds {
		if !slices.Contains(out, k.mime) {
			out = append(out, k.mime)
		}
	}
	return out
}
