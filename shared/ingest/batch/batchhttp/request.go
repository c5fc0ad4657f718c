package batchhttp

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/access/httpapi"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/fault"
	"sluice/shared/kit/objects"
)

// UploadRequest is the body of generate-upload-url. Null is the same as an absent key.
type UploadRequest struct {
	// RejectOnInvalid is true if it and MaxRejected are absent.
	RejectOnInvalid *bool `json:"reject_on_invalid"`
	// MaxRejected is a number of lines, or a string with a share of the transactions. It excludes a RejectOnInvalid
	// that is true.
	MaxRejected jsontext.Value `json:"max_rejected"`
	// ValidateOnly is false if it is absent.
	ValidateOnly *bool `json:"validate_only"`
	// OnDuplicate is accept if it is absent.
	OnDuplicate *batch.OnDuplicate `json:"on_duplicate"`
	Name        *string            `json:"name"`
	// Metadata has values that are not nil, which would be null.
	Metadata map[string]*string `json:"metadata"`
	// ContentEncoding is how the file will be packed; if it is absent, its first bytes tell.
	ContentEncoding *batch.Encoding `json:"content_encoding"`
	// ScreenUnknown asks for the names of unknown entities to be screened; they are not if it is absent or null.
	ScreenUnknown *ScreenUnknown `json:"screen_unknown"`
	// DeclaredUpload announces the upload.
	DeclaredUpload
	// Others are the keys that are not known, which are ignored and named in the reply.
	Others map[string]jsontext.Value `json:",embed"`
}

// The limits of names and metadata; lengths are in code points.
const (
	maxNameLength      = 128
	maxMetadataKeys    = 16
	maxMetadataValue   = 512
	maxIgnoredNamed    = 100
	maxIgnoredNameText = 128
)

var metadataKeyPattern = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// Check returns the errors of the values of the request, each by itself.
func (in *UploadRequest) Check() []fault.Detail {
	details := in.DeclaredUpload.check()
	if _, wrong := parseMaxRejected(in.MaxRejected); wrong != nil {
		details = append(details, *wrong)
	}
	if d := in.OnDuplicate; d != nil && *d != batch.AcceptDuplicate && !d.Rejects() {
		details = append(details, bodyDetail("The value must be accept, reject or reject_open.", "enum",
			httpapi.AttemptedText(string(*d)), "on_duplicate"))
	}
	if in.Name != nil {
		details = append(details, checkText(*in.Name, 1, maxNameLength, "name")...)
	}
	if e := in.ContentEncoding; e != nil && !slices.Contains([]batch.Encoding{batch.Identity, batch.Gzip, batch.Zstd},
		*e) {
		details = append(details, bodyDetail("The value must be identity, gzip or zstd.", "enum",
			httpapi.AttemptedText(string(*e)), "content_encoding"))
	}
	if n := len(in.Metadata); n > maxMetadataKeys {
		return append(details, bodyDetail(fmt.Sprintf("There may be %d keys, and there are %d.", maxMetadataKeys, n),
			"too_many_keys", nil, "metadata"))
	}
	for _, key := range slices.Sorted(maps.Keys(in.Metadata)) {
		details = append(details, checkMetadata(key, in.Metadata[key])...)
	}
	return details
}

// checkMetadata returns the error of a key or its value, which is nil for null.
func checkMetadata(key string, value *string) []fault.Detail {
	switch {
	case !metadataKeyPattern.MatchString(key):
		return []fault.Detail{bodyDetail("A key has 1 to 64 characters: letters a to z and A to Z, digits, "+
			"underscores, dots and hyphens.", "metadata_key", nil, "metadata", cut(key))}
	case value == nil:
		return []fault.Detail{bodyDetail("The value must be of type string.", "string_type", nil, "metadata", key)}
	}
	return checkText(*value, 0, maxMetadataValue, "metadata", key)
}

// apply writes the values of the request to a batch, or returns their errors. It leaves out values that need more than
// the request itself.
func (in *UploadRequest) apply(b *batch.Batch) error {
	details := in.Check()
	b.MaxRejected, _ = parseMaxRejected(in.MaxRejected)
	rejects := in.RejectOnInvalid != nil && *in.RejectOnInvalid
	if b.MaxRejected != nil && rejects {
		details = append(details, bodyDetail("max_rejected excludes reject_on_invalid true; give one of them.",
			"mutually_exclusive", nil, "max_rejected"))
	}
	if len(details) > 0 {
		return fault.NewInvalid(details...)
	}
	b.RejectOnInvalid = rejects || in.RejectOnInvalid == nil && b.MaxRejected == nil
	b.ValidateOnly = in.ValidateOnly != nil && *in.ValidateOnly
	if in.OnDuplicate != nil {
		b.OnDuplicate = *in.OnDuplicate
	}
	if in.Name != nil {
		b.Name = *in.Name
	}
	if in.ContentEncoding != nil {
		b.Declared.Encoding = *in.ContentEncoding
	}
	if len(in.Metadata) > 0 {
		b.Metadata = make(map[string]string, len(in.Metadata))
		for key, value := range in.Metadata {
			b.Metadata[key] = *value
		}
	}
	return nil
}

var wholeNumber = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)

// parseMaxRejected returns the limit that a value gives, nil for none.
func parseMaxRejected(v jsontext.Value) (*batch.RejectLimit, *fault.Detail) {
	refuse := func(message, code string, attempted any) (*batch.RejectLimit, *fault.Detail) {
		d := bodyDetail(message, code, attempted, "max_rejected")
		return nil, &d
	}
	switch v.Kind() {
	case 0, 'n':
		return nil, nil
	case '0':
		n, err := strconv.ParseInt(string(v), 10, 64)
		if err != nil || !wholeNumber.Match(v) {
			return refuse("The number of lines is written in digits alone, from 0 to 9223372036854775807.",
				"number_range", cut(string(v)))
		}
		return &batch.RejectLimit{Lines: n}, nil
	case '"':
		var text string
		if err := json.Unmarshal(v, &text); err != nil {
			return refuse("The value must be a number of lines or a share of them.", "type", nil)
		}
		share, err := batch.ParseShare(text)
		if err != nil {
			return refuse(`A share is a percentage from "0%" to "100%" with at most 15 decimals, such as "0.5%".`,
				"share", httpapi.AttemptedText(text))
		}
		return &batch.RejectLimit{Share: share}, nil
	}
	return refuse("The value must be an integer, the number of lines, or a string, their share.", "type", nil)
}

// ignored returns the names of the keys that the request has and nobody knows, sorted. Of very many it returns the
// first ones, and of very long ones the beginning.
func (in *UploadRequest) ignored() []string {
	names := slices.Collect(maps.Keys(in.Others))
	if in.ScreenUnknown != nil {
		for key := range in.ScreenUnknown.Others {
			names = append(names, "screen_unknown."+key)
		}
	}
	slices.Sort(names)
	names = names[:min(len(names), maxIgnoredNamed)]
	for i, name := range names {
		names[i] = cut(name)
	}
	return names
}

// checkText returns the errors of a text that people will read: of its length in code points, and of characters.
func checkText(text string, least, most int, path ...any) []fault.Detail {
	details := checkLength(text, least, most, path...)
	if problem := objects.TextProblem(text); problem != "" {
		details = append(details, bodyDetail(problem, "control_character", nil, path...))
	}
	return details
}

// checkLength returns the error of the length of a text in code points.
func checkLength(text string, least, most int, path ...any) []fault.Detail {
	switch n := utf8.RuneCountInString(text); {
	case n < least:
		return []fault.Detail{bodyDetail(fmt.Sprintf("The value must have %d to %d characters.", least, most),
			"string_too_short", nil, path...)}
	case n > most:
		return []fault.Detail{bodyDetail(fmt.Sprintf("The value must have at most %d characters, and it has %d.", most,
			n), "string_too_long", httpapi.AttemptedText(text), path...)}
	}
	return nil
}

// cut returns the beginning of a name that a client has made up.
func cut(name string) string {
	if utf8.RuneCountInString(name) <= maxIgnoredNameText {
		return name
	}
	return string([]rune(name)[:maxIgnoredNameText])
}

func bodyDetail(message, code string, attempted any, path ...any) fault.Detail {
	return fault.Detail{Source: fault.InBody, Path: path, Message: message, Code: code, AttemptedValue: attempted}
}
