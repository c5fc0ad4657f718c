package documenthttp

import (
	"context"
	"errors"

	"sluice/openapi/wire"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/fault"
	"sluice/shared/kit/objects"
	"sluice/shared/platform/document"
)

// signDownload returns a URL from which the file of a document can be downloaded.
func (s *Documents) signDownload(ctx context.Context, r *platform.Request, _ platform.NoBody) (string, error) {
	d, file, err := s.findByPath(ctx, r)
	switch {
	case err != nil:
		return "", err
	case !r.Layers.CanReach(d.Layers):
		return "", errOutOfReach
	case !d.IsReadable(file):
		return "", fault.New(fault.NotFound, "file_not_found", "The document has no file that can be downloaded.")
	}
	signed, err := s.Files.SignGet(ctx, d.FileKey(),
		objects.Download{FileName: d.FileName, MediaType: document.MIMETypeOf(d.FileName)}, s.DownloadLifetime)
	return signed.URL, err
}

// updateFile gives a document a new file and signs the URL for it. Clones keep the file that they share.
func (c typedCommands) updateFile(ctx context.Context, r *platform.Request,
	in UpdateFileRequest) (platform.WithWarnings[wire.FileUpload], error) {
	var d document.Document
	err := retryIfChanged(func() (err error) {
		d, err = c.replaceFile(ctx, r, in)
		return err
	})
	if err != nil {
		return platform.WithWarnings[wire.FileUpload]{}, err
	}
	signed, err := c.Files.SignPutOf(ctx, d.FileKey(), in.Size(), c.UploadLifetime)
	return platform.WithWarnings[wire.FileUpload]{
		Data: wire.FileUpload{ID: d.ID, Status: string(statusOfNew(d)), SignedURLToUpload: signed.URL,
			RequiredHeaders: signed.Headers},
		Messages: warningsAbout(d),
	}, err
}

func (c typedCommands) replaceFile(ctx context.Context, r *platform.Request,
	in UpdateFileRequest) (document.Document, error) {
	t, err := requestedType(r)
	if err != nil {
		return document.Document{}, err
	}
	d, err := c.findOfType(ctx, r, in.ID, t)
	if err != nil {
		return d, err
	}
	if d.Virtual {
		return d, r.Invalid("id", "A virtual document has no file.", platform.CodeFile)
	}
	limit, err := c.reserve(ctx, r, in.Announced)
	if err != nil {
		return d, err
	}
	last, err := c.releaseFile(ctx, d)
	if err != nil {
		return d, err
	}
	previous := d.FileID
	d.ExpectFile(c.NewID(), in.FileName, limit)
	d.UpdatedBy, d.UpdatedAt = r.Client, c.Now()
	d, err = c.Store.ReplaceFile(ctx, d, previous, last)
	return d, faultOf(err)
}

// delete deletes a document. Its file is deleted first if no other document shares it, so that its signed URLs have
// ended when the client gets the reply.
func (c typedCommands) delete(ctx context.Context, r *platform.Request, _ platform.NoBody) (platform.NoData, error) {
	err := r.Validate(func(v *platform.ValidationErrors) {
		v.CheckQueryUUID("requirementModelId")
		v.CheckQueryBool("skipStatusReset")
	})
	if err != nil {
		return platform.NoData{}, err
	}
	err = retryIfChanged(func() error {
		d, err := c.find(ctx, r)
		if err != nil {
			return err
		}
		last, err := c.releaseFile(ctx, d)
		if err != nil {
			return err
		}
		return faultOf(c.Store.Delete(ctx, d, last))
	})
	if errors.Is(err, errNotFound) {
		err = r.InvalidParameter(fault.InPath, "id", errNotFound.Message, errNotFound.Code)
	}
	return platform.NoData{}, err
}

// releaseFile releases the file of a document, and deletes its bytes if no other document shares it.
func (c typedCommands) releaseFile(ctx context.Context, d document.Document) (last bool, err error) {
	last, err = document.ReleaseFile(ctx, c.Store, c.Files, d)
	if errors.Is(err, document.ErrStorage) {
		err = errStorage.WithCause(err)
	}
	return last, err
}

// retryIfChanged repeats what met a change by someone else.
func retryIfChanged(do func() error) error {
	var err error
	for range maxAttempts {
		if err = do(); !errors.Is(err, document.ErrChanged) {
			break
		}
	}
	return err
}
