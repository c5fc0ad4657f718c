package admin

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sluice/internal/localcloud"
	"sluice/shared/access/audit"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogdb"
)

// fakeStorage is an S3 server with one bucket.
type fakeStorage struct {
	mu      sync.Mutex
	bucket  string
	objects map[string][]byte
}

func (s *fakeStorage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, isObject := strings.CutPrefix(r.URL.Path, "/"+s.bucket+"/")
	content, found := s.objects[key]
	switch {
	case r.URL.Path == "/":
		fmt.Fprintf(w, `<ListAllMyBucketsResult><Buckets><Bucket><Name>%s</Name></Bucket><Bucket><Name>`+
			`test-work-1-eu-west-1</Name></Bucket></Buckets></ListAllMyBucketsResult>`, s.bucket)
	case r.Method == http.MethodPut && isObject:
		s.objects[key], _ = io.ReadAll(r.Body)
	case r.Method == http.MethodGet && found:
		w.Write(content) // a part of an object is asked for only to see whether it is there
	default:
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `<Error><Code>NoSuchKey</Code></Error>`)
	}
}

// newInstallationWithStorage returns a fake installation with an S3 server.
func newInstallationWithStorage(t *testing.T) (*fakeInstallation, *fakeStorage) {
	t.Helper()
	f := newFakeInstallation(t)
	s := &fakeStorage{bucket: "test-work-000000000000-us-east-1", objects: map[string][]byte{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	d := errtest.Must(localcloud.Read(f.data))(t)
	d.S3URL = server.URL
	text, err := json.Marshal(d)
	if err == nil {
		err = os.WriteFile(filepath.Join(f.data, localcloud.FileName), text, 0o600)
	}
	errtest.Fatal(t, err)
	return f, s
}

// writeList writes a file of persons in the format targets-simple-csv, with rows that cannot be read.
func writeList(t *testing.T, from, to int, broken ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,schema,name\n")
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "p%d,Person,Anatoly Velkanov%c\n", i, 'a'+i)
	}
	path := filepath.Join(t.TempDir(), "list.csv")
	errtest.Fatal(t, os.WriteFile(path, []byte(b.String()+strings.Join(broken, "\n")), 0o600))
	return path
}

func TestAdminWatchlists(t *testing.T) {
	f, storage := newInstallationWithStorage(t)
	difftest.Len(t, "lists", 0, runAdmin[[]listOutput](t, f, "watchlist", "list"))
	importArgs := func(path string, flags ...string) []string {
		return append([]string{"watchlist", "import", "--list", "own", "--format", "targets-simple-csv", path},
			flags...)
	}
	dry := runAdmin[importedList](t, f, importArgs(writeList(t, 0, 20), "--dry-run")...)
	if dry.Outcome != "dry_run" || dry.Counts.Added != 20 || dry.Version.Entries != 20 || len(storage.objects) != 0 {
		t.Errorf("dry run %+v with %d objects", dry, len(storage.objects))
	}
	first := runAdmin[importedList](t, f, importArgs(writeList(t, 0, 20))...)
	if first.Outcome != "imported" || first.Version.Version != dry.Version.Version || first.Previous != "" ||
		len(storage.objects) != 2 ||
		first.TenantID != "" || !strings.HasPrefix(first.Version.ImportedBy, "operator (") {
		t.Errorf("imported %+v with %d objects", first, len(storage.objects))
	}
	again := runAdmin[importedList](t, f, importArgs(writeList(t, 0, 20))...)
	if again.Outcome != "unchanged" || again.Version.Version != first.Version.Version || again.Counts.Added != 0 {
		t.Errorf("the same again: %+v", again)
	}
	f.wantError(t, "of the 20 entries of the current version, 3 would be lost", importArgs(writeList(t, 3, 21))...)
	second := runAdmin[importedList](t, f, importArgs(writeList(t, 3, 21), "--force")...)
	if second.Outcome != "imported" || second.Previous != first.Version.Version || second.Counts.Removed != 3 ||
		second.Counts.Added != 1 ||
		second.Differences["removed"][2] != (differenceOutput{ID: "p2", Name: "Anatoly Velkanovc"}) {
		t.Errorf("forced: %+v", second)
	}
	lists := runAdmin[[]listOutput](t, f, "watchlist", "list", "--list", "own")
	if len(lists) != 1 || lists[0].Current != second.Version.Version || len(lists[0].Versions) != 2 {
		t.Errorf("lists %+v", lists)
	}
	for _, step := range []struct {
		args          []string
		outcome, want string
	}{
		{nil, "rolled_back", first.Version.Version},
		{[]string{"--to", first.Version.Version[:8]}, "unchanged", first.Version.Version},
		{[]string{"--to", strings.ToUpper(second.Version.Version)}, "rolled_back", second.Version.Version},
	} {
		got := runAdmin[rolledBackList](t, f, append([]string{"watchlist", "rollback", "--list", "own"},
			step.args...)...)
		if got.Outcome != step.outcome || got.Version.Version != step.want {
			t.Errorf("rollback %v: %+v, want version %s", step.args, got, step.want)
		}
	}
	last := f.records[len(f.records)-1]
	if last.Route != "admin watchlist rollback" || last.Outcome != audit.OK || last.Objects["list"] != "own" ||
		last.Tenant != "" {
		t.Errorf("record %+v", last)
	}
}

// A tenant has lists of its own; their rows say so, and no other tenant's listing has them.
func TestAdminWatchlistsOfATenant(t *testing.T) {
	f, _ := newInstallationWithStorage(t)
	tenant := runAdmin[tenantOutput](t, f, "tenant", "create").TenantID
	other := runAdmin[tenantOutput](t, f, "tenant", "create").TenantID
	path := writeList(t, 0, 2)
	own := runAdmin[importedList](t, f, "watchlist", "import", "--list", "own", "--format", "targets-simple-csv", path,
		"--tenant", tenant)
	runAdmin[importedList](t, f, "watchlist", "import", "--list", "all", "--format", "targets-simple-csv", path)
	for id, want := range map[string]int{tenant: 2, other: 1} {
		lists := runAdmin[[]listOutput](t, f, "watchlist", "list", "--tenant", id)
		if len(lists) != want || own.TenantID != tenant {
			t.Errorf("tenant %s sees %+v, want %d lists", id, lists, want)
		}
	}
	if p, err := catalogdb.New(f.db, "test-watchlists").Pointer(t.Context(), tenant, "own"); err != nil ||
		p.Current.Owner != tenant {
		t.Errorf("pointer %+v, %v", p, err)
	}
}

func TestAdminWatchlistRefusals(t *testing.T) {
	f, storage := newInstallationWithStorage(t)
	path := writeList(t, 0, 2)
	f.wantError(t, "--list is needed", "watchlist", "import", "--format", "un-xml", path)
	f.wantError(t, "--format is one of un-xml, ", "watchlist", "import", "--list", "a", path)
	f.wantError(t, "--list: the name of a list has ", "watchlist", "import", "--list", "a/b", "--format", "un-xml",
		path)
	f.wantError(t, "reading a list as un-xml", "watchlist", "import", "--list", "a", "--format", "un-xml", path)
	f.wantError(t, "no such file", "watchlist", "import", "--list", "a", "--format", "un-xml", path+"x")
	f.wantError(t, `no tenant "x"`, "watchlist", "list", "--tenant", "x")
	f.wantError(t, `no list "a" that all tenants share`, "watchlist", "list", "--list", "a")
	f.wantError(t, "--list is needed", "watchlist", "rollback")
	f.wantError(t, `no list "a" that all tenants share`, "watchlist", "rollback", "--list", "a")
	f.wantError(t, `has no version "b"`, "watchlist", "rollback", "--list", "a", "--to", "b")
	runAdmin[importedList](t, f, "watchlist", "import", "--list", "a", "--format", "targets-simple-csv", path)
	f.wantError(t, "has had no other version", "watchlist", "rollback", "--list", "a")
	storage.bucket = "other"
	f.wantError(t, "there are 0 buckets test-work-ACCOUNT-us-east-1", "watchlist", "list")
}

// Of two imports at the same time, the one that has lost is told so.
func TestExplainImport(t *testing.T) {
	p := &catalog.Plan{Before: catalog.Pointer{Current: catalog.Version{Entries: 1}},
		Counts: catalog.Changes{Removed: 1}}
	for want, err := range map[string]error{
		"someone else has made another version current":          catalog.ErrChanged,
		"of the 1 entry of the current version, 1 would be lost": catalog.ErrTooManyLost,
	} {
		if got := explainImport(err, p, &admin{}); !strings.Contains(got.Error(), want) {
			t.Errorf("%v is explained by %q, want %q", err, got, want)
		}
	}
}

// Rows that cannot be read are named with their line, and the others are imported.
func TestAdminWatchlistProblems(t *testing.T) {
	f, _ := newInstallationWithStorage(t)
	out := runAdmin[importedList](t, f, "watchlist", "import", "--list", "a", "--format", "targets-simple-csv",
		writeList(t, 0, 2, "x,Person,", ",Person,No ID", "p9,Person,\"A B\"c"))
	if out.Version.Entries != 2 || out.Version.Problems != 3 || len(out.ProblemRows) != 3 {
		t.Fatalf("imported %+v, want 2 entries and 3 problems", out)
	}
	for i, row := range out.ProblemRows {
		if want := fmt.Sprintf("line %d: ", 4+i); !strings.HasPrefix(row, want) || len(row) < len(want)+5 {
			t.Errorf("problem %d is %q, want one of %sand the reason", i, row, want)
		}
	}
}
