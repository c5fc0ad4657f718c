package document

import (
	"path"
	"slices"
	"strings"
)

// kinds are the files that are taken, by the extension of their name.
var kinds = []struct{ extension, mime string }{
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

// Extension is the end of a file's name from its last dot, in lower case; "" without a dot.
func Extension(name string) string { return strings.ToLower(path.Ext(name)) }

// Supported reports whether a file of this name is taken. A name without extension tells no kind and is.
func Supported(name string) bool {
	extension := Extension(name)
	return extension == "" || slices.Contains(Extensions(), extension)
}

// Extensions lists what the names of files end with, in order.
func Extensions() []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = k.extension
	}
	return out
}

// MIMETypes lists the media types of the files, each once, in order of their extensions.
func MIMETypes() []string {
	var out []string
	for _, k := range kinds {
		if !slices.Contains(out, k.mime) {
			out = append(out, k.mime)
		}
	}
	return out
}
