package screeningdb_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening/adapter"
	"sluice/shared/screening/screeningdb"
)

// An upload belongs to one tenant and is used by one message, which may come again.
func TestUploads(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), screeningdb.New(dynamotest.Start(t), "test-screenings")
	u := adapter.Upload{Tenant: tenant, ID: "u", CreatedAt: now, CreatedBy: "client", Expires: now.Add(time.Hour)}
	errtest.Fatal(t, s.CreateUpload(ctx, u))
	errtest.Fails(t, "the same upload was created twice", s.CreateUpload(ctx, u))
	for _, of := range [][2]string{{"other", "u"}, {tenant, "v"}} {
		errtest.Is(t, fmt.Sprintf("get %v", of), errtest.Of(s.GetUpload(ctx, of[0], of[1])), adapter.ErrNoUpload)
		errtest.Is(t, fmt.Sprintf("use %v", of), s.UseUpload(ctx, of[0], of[1], "m"), adapter.ErrNoUpload)
	}
	var all sync.WaitGroup
	var used atomic.Int32
	for i := range 8 {
		all.Go(func() {
			err := s.UseUpload(ctx, tenant, "u", fmt.Sprint("message ", i))
			if err == nil {
				used.Add(1)
			} else if !errors.Is(err, adapter.ErrUploadUsed) {
				t.Errorf("got %v, want ErrUploadUsed", err)
			}
		})
	}
	all.Wait()
	stored, err := s.GetUpload(ctx, tenant, "u")
	if err != nil || used.Load() != 1 {
		t.Fatalf("%d messages use the upload (%+v, %v), want 1", used.Load(), stored, err)
	}
	errtest.Is(t, "the same message again", s.UseUpload(ctx, tenant, "u", stored.UsedBy), nil)
}
