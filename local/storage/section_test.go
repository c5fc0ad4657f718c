package storage

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// Ranges are read as S3 describes them, with or without the checksums of the object, whose body the gateway sends
// itself.
func TestRanges(t *testing.T) {
	const size = 1 << 20
	content := make([]byte, size)
	for i := range content {
		content[i] = byte(i ^ i>>8 ^ i>>16)
	}
	c, key := client("function", "function-secret"), uniqueKey("ranges")
	stored := errtest.Must(c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: &key,
		Body: bytes.NewReader(content)}))(t)
	empty := uniqueKey("empty")
	errtest.Must(c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: &empty}))(t)
	part := func(from, to int) string { return fmt.Sprintf("bytes %d-%d/%d", from, to-1, size) }
	for _, tt := range []struct {
		key, byteRange string
		from, to       int
		contentRange   string
		status         int
	}{
		{key, "", 0, size, "", 200},
		{key, "bytes=0-0", 0, 1, part(0, 1), 206},
		{key, "bytes=5-9", 5, 10, part(5, 10), 206},
		{key, "bytes=1000-5000", 1000, 5001, part(1000, 5001), 206}, // more than the server's buffer
		{key, "bytes=65535-393216", 65535, 393217, part(65535, 393217), 206},
		{key, "bytes=0-1048575", 0, size, part(0, size), 206},
		{key, "bytes=0-1048576", 0, size, part(0, size), 206},
		{key, "bytes=1048575-", size - 1, size, part(size-1, size), 206},
		{key, "bytes=1048576-", 0, 0, "", 416},
		{key, "bytes=-3", size - 3, size, part(size-3, size), 206},
		{key, "bytes=-0", 0, 0, "", 416},
		{key, "bytes=3-1", 0, size, "", 200},
		{key, "lines=1-2", 0, size, "", 200},
		{empty, "bytes=0-0", 0, 0, "", 416},
		{empty, "bytes=-1", 0, 0, "", 200},
	} {
		for _, mode := range []types.ChecksumMode{"", types.ChecksumModeEnabled} {
			t.Run(fmt.Sprintf("%s of %s %s", tt.byteRange, tt.key, mode), func(t *testing.T) {
				in := &s3.GetObjectInput{Bucket: aws.String(bucket), Key: &tt.key, ChecksumMode: mode}
				if tt.byteRange != "" {
					in.Range = &tt.byteRange
				}
				out, err := c.GetObject(t.Context(), in)
				if refused, ok := errors.AsType[*awshttp.ResponseError](err); ok {
					difftest.Equal(t, "status", tt.status, refused.HTTPStatusCode())
					difftest.Equal(t, "code", "InvalidRange", errorCode(err))
					return
				}
				errtest.Fatal(t, err)
				defer out.Body.Close()
				got := errtest.Must(io.ReadAll(out.Body))(t)
				difftest.Equal(t, "a part", tt.status == 206, aws.ToString(out.ContentRange) != "")
				difftest.Equal(t, "content range", tt.contentRange, aws.ToString(out.ContentRange))
				difftest.Equal(t, "content length", int64(tt.to-tt.from), aws.ToInt64(out.ContentLength))
				if !bytes.Equal(got, content[tt.from:tt.to]) {
					t.Errorf("%d bytes are not those of the range", len(got))
				}
			})
		}
	}
	in := &s3.GetObjectInput{Bucket: aws.String(bucket), Key: &key, Range: aws.String("bytes=0-9"),
		IfMatch: stored.ETag}
	errtest.Must(c.GetObject(t.Context(), in))(t).Body.Close()
	in.IfMatch = aws.String(`"another"`)
	_, err := c.GetObject(t.Context(), in)
	difftest.Equal(t, "code for another ETag", "PreconditionFailed", errorCode(err))
	in.Key, in.IfMatch = aws.String(uniqueKey("missing")), nil
	_, err = c.GetObject(t.Context(), in)
	difftest.Equal(t, "code without an object", "AccessDenied", errorCode(err))
}

// A long section is handed to the connection as a file, which the kernel sends; a short one follows what is buffered.
func TestSectionsAreSentAsFiles(t *testing.T) {
	file := errtest.Must(os.CreateTemp(t.TempDir(), ""))(t)
	defer file.Close()
	errtest.Must(file.WriteString("0123456789"))(t)
	for size, wantFile := range map[int64]bool{5: false, 6: true, 7: true} {
		errtest.Must(file.Seek(1, io.SeekStart))(t)
		conn := &fileReceiver{}
		w := bufio.NewWriterSize(conn, 16)
		errtest.Must(w.WriteString("0123456789"))(t)
		n := errtest.Must((&section{io.LimitedReader{R: file, N: size}, file}).WriteTo(w))(t)
		errtest.Fatal(t, w.Flush())
		difftest.Equal(t, "sent", size, n)
		difftest.Equal(t, "received", "0123456789"+"1234567"[:size], conn.String())
		difftest.Equal(t, fmt.Sprintf("%d bytes are a file", size), wantFile, conn.fromFile)
	}
}

type fileReceiver struct {
	bytes.Buffer
	fromFile bool
}

func (r *fileReceiver) ReadFrom(src io.Reader) (int64, error) {
	limited, ok := src.(*io.LimitedReader)
	if ok {
		_, r.fromFile = limited.R.(*os.File)
	}
	return r.Buffer.ReadFrom(src)
}
