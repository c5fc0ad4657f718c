package objects

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Download says how storage sends an object that is downloaded by a signed URL. It is always an attachment, which a
// browser stores and does not show, and it is not cached.
type Download struct {
	// FileName is the name under which the file is stored, made safe by SafeFileName.
	FileName string
	// MediaType is the Content-Type; "" means application/octet-stream.
	MediaType string
}

// disposition returns the value of Content-Disposition (RFC 6266), with the name as RFC 8187 encodes it.
func (d Download) disposition() string {
	var b strings.Builder
	b.WriteString("attachment; filename*=UTF-8''")
	for _, c := range []byte(SafeFileName(d.FileName)) {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' ||
			strings.IndexByte("!#$&+-.^_`|~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// SafeFileName returns a name with which a file can be stored without a surprise: path separators, control characters
// and the invisible characters by which a name shows another end than it has (such as U+202E, right-to-left override)
// become "_". So does a dot at the beginning, which hides a file, and a dot or a space at the end, which some systems
// drop.
func SafeFileName(name string) string {
	safe := []rune(strings.Map(func(r rune) rune {
		if !IsSafeInFileName(r) {
			return '_'
		}
		return r
	}, name))
	if len(safe) == 0 {
		return "file"
	}
	if safe[0] == '.' {
		safe[0] = '_'
	}
	if last := len(safe) - 1; safe[last] == '.' || safe[last] == ' ' {
		safe[last] = '_'
	}
	return string(safe)
}

// FileNameProblem returns why a name must not be that of a file, for the client; "" if it may: it hides what kind of
// file it is of, or where it is stored.
func FileNameProblem(name string) string {
	switch {
	case strings.ContainsFunc(name, func(r rune) bool { return !IsSafeInFileName(r) }):
		return "The value must not contain slashes, backslashes, control characters or characters that change the " +
			"direction of writing."
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return "The value must not end with a dot or a space."
	}
	return ""
}

// IsSafeInFileName reports whether a character may be in a file name. Characters that join others, as some scripts
// need, may.
func IsSafeInFileName(r rune) bool {
	return r != '/' && r != '\\' && r != utf8.RuneError && r != '\uFEFF' &&
		!unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// addNonce adds a random parameter to the URLs of a client. S3 ignores parameters whose names begin with x- (they are
// for its access logs), but the signature covers them.
func addNonce(o *s3.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Build.Add(middleware.BuildMiddlewareFunc("sluice:nonce", func(
			ctx context.Context, in middleware.BuildInput, next middleware.BuildHandler,
		) (middleware.BuildOutput, middleware.Metadata, error) {
			if r, ok := in.Request.(*smithyhttp.Request); ok {
				query := r.URL.Query()
				query.Set("x-nonce", rand.Text())
				r.URL.RawQuery = query.Encode()
			}
			return next.HandleBuild(ctx, in)
		}), middleware.After)
	})
}
