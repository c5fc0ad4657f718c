package documenthttp

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"sluice/shared/document"
	"sluice/shared/fault"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
)

// attempts at a delete that meets the change of another document that shares the file.
const attempts = 3

// delete removes a document; its file goes first if no other shares it, so that a signed URL of it is dead by the answer.
func (s *Documents) delete(ctx context.Context, c httpapi.Caller, r *http.Request) (platform.None, error) {
	if err := checkDelete(r); err != nil {
		return platform.None{}, err
	}
	err := again(func() error { return s.remove(ctx, c, r) })
	if errors.Is(err, errNotFound) {
		var f platform.Faults
		f.Add("id", errNotFound.Message, errNotFound.Code)
		return platform.None{}, f.Err()
	}
	return platform.None{}, err
}

// again repeats what was stopped by a change of another.
func again(do func() error) error {
	var err error
	for range attempts {
		if err = do(); !errors.Is(err, document.ErrChanged) {
			break
		}
	}
	return err
}

func checkDelete(r *http.Request) error {
	var f platform.Faults
	query := r.URL.Query()
	f.OptionalUUID("requirementModelId", query.Get("requirementModelId"))
	if text := query.Get("skipStatusReset"); text != "" {
		if _, err := strconv.ParseBool(text); err != nil {
			f.Add("skipStatusReset", "The value must be true or false.", "bool_type")
		}
	}
	if refused := f.Err(); len(refused.Details) > 0 {
		return refused
	}
	return nil
}

func (s *Documents) remove(ctx context.Context, c httpapi.Caller, r *http.Request) error {
	d, err := s.find(ctx, c, r)
	if err != nil {
		return err
	}
	last, err := s.release(ctx, d)
	if err != nil {
		return err
	}
	return outcome(s.Store.Delete(ctx, d, last))
}

// release gives up a document's file, and removes the bytes if no other document shares them.
func (s *Documents) release(ctx context.Context, d document.Document) (last bool, err error) {
	last, err = s.Store.ReleaseFile(ctx, d)
	if err != nil || !last {
		return last, err
	}
	if err := s.Files.Delete(ctx, fileKey(d.Tenant, d.FileID)); err != nil {
		return last, fault.New(fault.Unavailable, "storage", "The file cannot be removed now. Try again.").Because(err)
	}
	return last, nil
}
