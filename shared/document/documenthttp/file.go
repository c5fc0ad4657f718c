package documenthttp

import (
	"context"
	"net/http"

	"sluice/shared/document"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
)

// Replacement is the body of PUT /updateFile.
type Replacement struct {
	ID       string `json:"id"`
	FileName string `json:"fileName"`
}

// Check notes what is wrong with the body.
func (in *Replacement) Check(f *platform.Faults) {
	f.UUID("id", in.ID)
	f.Required("fileName", in.FileName, platform.MaxName)
}

// Replaced is the answer: PUT the new file to the URL with the headers.
type Replaced struct {
	ID                string            `json:"id"`
	Status            document.Status   `json:"status"`
	SignedURLToUpload string            `json:"signedUrlToUpload"`
	RequiredHeaders   map[string]string `json:"requiredHeaders"`
}

// updateFile gives a document of any type a new file. Clones keep the one they share.
func (s *Documents) updateFile(ctx context.Context, c httpapi.Caller, r *http.Request, in Replacement) (platform.Remarked[Replaced], error) {
	var d document.Document
	err := again(func() (err error) {
		d, err = s.replace(ctx, c, r, in)
		return err
	})
	if err != nil {
		return platform.Remarked[Replaced]{}, err
	}
	signed, err := s.Files.SignPut(ctx, fileKey(c.Tenant, d.FileID), s.UploadLifetime)
	return platform.Remarked[Replaced]{
		Result: Replaced{d.ID, d.State.Status, signed.URL, signed.Headers}, Messages: remarks(d),
	}, err
}

func (s *Documents) replace(ctx context.Context, c httpapi.Caller, r *http.Request, in Replacement) (document.Document, error) {
	want, err := asked(r)
	if err != nil {
		return document.Document{}, err
	}
	d, err := s.reach(ctx, c, in.ID, want)
	if err != nil {
		return d, err
	}
	if d.Virtual {
		var f platform.Faults
		f.Add("id", "A virtual document has no file.", "FileValidator")
		return d, f.Err()
	}
	last, err := s.release(ctx, d)
	if err != nil {
		return d, err
	}
	had := d.FileID
	d.ExpectFile(s.NewID(), in.FileName)
	d.UpdatedBy, d.UpdatedAt = c.Client, s.Now()
	d, err = s.Store.ReplaceFile(ctx, d, had, last)
	return d, outcome(err)
}
