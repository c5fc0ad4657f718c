package console

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"sluice/client"
	"sluice/openapi/wire"
	"sluice/shared/ingest/batch"
)

// errNoFile means that a batch has no such file.
var errNoFile = errors.New("the batch has no such file")

// download is a file of a batch that the page offers.
type download struct {
	// suffix follows the ID of the batch in the name of the file.
	suffix, contentType string
	// open returns the content, or errNoFile.
	open func(ctx context.Context, c *client.Client, batchID string) (io.ReadCloser, error)
}

// downloads are the files of a batch by their names in the addresses of the console.
var downloads = map[string]download{
	"report": {".errors.jsonl", "application/x-ndjson", fromResults(func(r client.ValidationResult) string {
		return r.ErrorsFileURL
	})},
	"csv": {".errors.csv", "text/csv; charset=utf-8", fromResults(func(r client.ValidationResult) string {
		return wire.OrZero(r.ErrorsCSVURL)
	})},
	"rejected": {".rejected.jsonl", "application/x-ndjson", fromResults(func(r client.ValidationResult) string {
		return wire.OrZero(r.RejectedFileURL)
	})},
	"parquet": {".parquet", "application/vnd.apache.parquet", fromResults(func(r client.ValidationResult) string {
		return wire.OrZero(r.ParquetURL)
	})},
	"alerts": {".alerts.jsonl", "application/x-ndjson",
		func(ctx context.Context, c *client.Client, batchID string) (io.ReadCloser, error) {
			r, err := c.ScreeningResult(ctx, batchID)
			if err != nil {
				return nil, err
			}
			return openSigned(ctx, c, r.AlertsFileURL)
		}},
	"receipt": {".receipt.jose", "application/jose",
		func(ctx context.Context, c *client.Client, batchID string) (io.ReadCloser, error) {
			text, err := c.Receipt(ctx, batchID)
			return io.NopCloser(strings.NewReader(text)), err
		}},
}

// fromResults returns how a file is opened whose address is in the results of validation.
func fromResults(address func(client.ValidationResult) string) func(context.Context, *client.Client, string) (
	io.ReadCloser, error) {
	return func(ctx context.Context, c *client.Client, batchID string) (io.ReadCloser, error) {
		r, err := c.ValidationResult(ctx, batchID)
		if err != nil {
			return nil, err
		}
		return openSigned(ctx, c, address(r))
	}
}

// openSigned opens what a signed address has, "" for none.
func openSigned(ctx context.Context, c *client.Client, address string) (io.ReadCloser, error) {
	if address == "" {
		return nil, errNoFile
	}
	return c.OpenReport(ctx, address)
}

// download answers with a file of a batch, to be stored by the browser. The signed address of the file stays here.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	id, err := batch.ParseID(r.PathValue("id"))
	d, isKnown := downloads[r.PathValue("kind")]
	if err != nil || !isKnown {
		s.refuse(w, r, &problem{Status: http.StatusNotFound, Detail: "There is no such batch or no such file of it."})
		return
	}
	body, err := d.open(r.Context(), s.config.Client, string(id))
	switch {
	case errors.Is(err, errNoFile):
		s.refuse(w, r, &problem{Status: http.StatusNotFound, Title: "The batch has no such file",
			Detail: "It is not written yet, there is nothing to write, or it was deleted."})
		return
	case err != nil:
		s.fail(w, r, err)
		return
	}
	defer body.Close()
	w.Header().Set("Content-Type", d.contentType)
	w.Header().Set("Content-Disposition", attachment(string(id)+d.suffix))
	if _, err := io.Copy(w, body); err != nil {
		panic(http.ErrAbortHandler) // so that the browser does not take a part for the whole
	}
}

// attachment returns the value of Content-Disposition for a file that is to be stored under a name.
func attachment(name string) string {
	return mime.FormatMediaType("attachment", map[string]string{"filename": name})
}
