package intake_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/shared/ingest/admission/admissiontest"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/intake"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/malware"
	"sluice/shared/kit/objects"
)

func TestPackedUploads(t *testing.T) {
	db := dynamotest.Start(t)
	g, z := packGzip(t, lines), packZstd(t, lines)
	parts := &batch.Multipart{UploadID: "u", PartSize: 1000, PartCount: 1}
	digest := sha256.Sum256([]byte(g))
	for name, tt := range map[string]struct {
		content   string
		declared  batch.Declared
		multipart *batch.Multipart
		encoding  batch.Encoding
		unpacked  string
	}{
		"gzip": {content: g, encoding: batch.Gzip, unpacked: lines},
		"zstd": {content: z, encoding: batch.Zstd, unpacked: lines},
		"announced gzip": {content: g, declared: batch.Declared{Encoding: batch.Gzip}, encoding: batch.Gzip,
			unpacked: lines},
		"announced zstd": {content: z, declared: batch.Declared{Encoding: batch.Zstd}, encoding: batch.Zstd,
			unpacked: lines},
		"two members":     {content: g + g, encoding: batch.Gzip, unpacked: lines + lines},
		"gzip of nothing": {content: packGzip(t, ""), encoding: batch.Gzip},
		"as large as allowed": {content: packGzip(t, strings.Repeat(" ", 1000)), encoding: batch.Gzip,
			unpacked: strings.Repeat(" ", 1000)},
		"the announced digest": {content: g, declared: batch.Declared{SHA256: digest[:]}, multipart: parts,
			encoding: batch.Gzip, unpacked: lines},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixtureOn(t, db, tt.content)
			f.declare(t, tt.declared, tt.multipart)
			for range 2 { // events come at least once
				must(t, name, f.arrive(t))
			}
			f.expectStarted(t, "1", tt.unpacked, tt.encoding)
		})
	}
}

func TestRefusedPackedUploads(t *testing.T) {
	db := dynamotest.Start(t)
	g, z := packGzip(t, lines), packZstd(t, lines)
	tar := strings.Repeat("a", 257) + "ustar" + strings.Repeat("b", 100)
	dense := packGzip(t, strings.Repeat(" ", 10000))
	inside := func(content string) string { return packGzip(t, content) }
	for name, tt := range map[string]struct {
		content   string
		declared  batch.Declared
		multipart *batch.Multipart
		encoding  batch.Encoding
		message   string
	}{
		"cut":      {content: g[:20], encoding: batch.Gzip, message: "The gzip stream is damaged at byte 20."},
		"cut zstd": {content: z[:20], encoding: batch.Zstd, message: "The zstd stream is damaged at byte 20."},
		"garbage after it": {content: g + strings.Repeat("\n", 20), encoding: batch.Gzip,
			message: fmt.Sprintf("The gzip stream ends at byte %d, and 20 bytes follow its last member. Remove what "+
				"follows.", len(g))},
		"not gzip": {content: lines, declared: batch.Declared{Encoding: batch.Gzip}, encoding: batch.Identity,
			message: "The file was announced as packed with gzip, but it does not begin as such a file does."},
		"nothing": {declared: batch.Declared{Encoding: batch.Zstd}, encoding: batch.Identity,
			message: "The file was announced as packed with zstd, but it does not begin as such a file does."},
		"zstd for gzip": {content: z, declared: batch.Declared{Encoding: batch.Gzip}, encoding: batch.Zstd,
			message: "The file was announced as packed with gzip, but it is packed with zstd."},
		"gzip for identity": {content: g, declared: batch.Declared{Encoding: batch.Identity}, encoding: batch.Gzip,
			message: "The file was announced as not packed, but it is packed with gzip."},
		"a byte too large": {content: packGzip(t, strings.Repeat(" ", 1001)), encoding: batch.Gzip,
			message: "The file unpacks to more than the 1000 bytes that are allowed. Split it into several batches."},
		"too dense": {content: dense, encoding: batch.Gzip, message: fmt.Sprintf(
			"The file unpacks to more than 10 times its size of %d bytes, which is as much as is allowed. Upload it "+
				"unpacked.", len(dense))},
		"a tar inside": {content: inside(tar), encoding: batch.Gzip,
			message: "The file unpacks to an archive (tar archive); pack the JSON Lines themselves, and once."},
		"a zip inside": {content: inside("PK\x03\x04...."), encoding: batch.Gzip,
			message: "The file unpacks to an archive (zip archive); pack the JSON Lines themselves, and once."},
		"gzip inside": {content: inside(g), encoding: batch.Gzip,
			message: "The file unpacks to an archive (gzip archive); pack the JSON Lines themselves, and once."},
		"an executable inside": {content: inside("\x7fELF...."), encoding: batch.Gzip,
			message: "The file unpacks to an executable (ELF executable), not to JSON Lines."},
		"an archive": {content: "PK\x03\x04....", message: "The file is an archive (zip archive); upload the JSON " +
			"Lines themselves, which may be packed with gzip or zstd."},
		"malware inside": {content: inside(lines + eicar), encoding: batch.Gzip,
			message: "The malware scan refused the file (Eicar-Test-Signature)."},
		"another digest": {content: g, declared: batch.Declared{SHA256: make([]byte, 32)},
			multipart: &batch.Multipart{}, encoding: batch.Gzip,
			message: "The file is not the one that was announced."},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixtureOn(t, db, tt.content)
			if name == "too dense" {
				f.MaxRatio, f.MaxBytes = 10, 100000
			}
			f.declare(t, tt.declared, tt.multipart)
			must(t, name, f.arrive(t))
			f.expectRefused(t, tt.message, tt.encoding)
			must(t, "repeated", f.arrive(t))
			f.expectRefused(t, tt.message, tt.encoding)
		})
	}
}

// losingStore is a store that loses the answer to the next CommitContent, or its effect, too.
type losingStore struct {
	*batchdb.Store
	before, after error
}

func (s *losingStore) CommitContent(ctx context.Context, id batch.ID, e batch.Encoding, o batch.Object) (batch.Batch,
	error) {
	if err := s.before; err != nil {
		s.before = nil
		return batch.Batch{}, err
	}
	b, err := s.Store.CommitContent(ctx, id, e, o)
	if lost := s.after; lost != nil {
		s.after = nil
		return batch.Batch{}, lost
	}
	return b, err
}

// Wherever a run ends, the next one continues: it never unpacks again once a copy is committed.
func TestInterruptedUnpacking(t *testing.T) {
	db := dynamotest.Start(t)
	lost := errors.New("lost")
	for name, tt := range map[string]struct {
		interrupt func(f *fixture, s *losingStore)
		// attempt is the one whose copy counts.
		attempt string
	}{
		"reading the file":         {func(f *fixture, _ *losingStore) { f.bucket.losing = 2 }, "1"},
		"storing the copy":         {func(f *fixture, _ *losingStore) { f.bucket.failStore = lost }, "2"},
		"committing the copy":      {func(_ *fixture, s *losingStore) { s.before = lost }, "2"},
		"the answer to the commit": {func(_ *fixture, s *losingStore) { s.after = lost }, "1"},
		"tagging":                  {func(f *fixture, _ *losingStore) { f.bucket.fail = lost }, "1"},
		"starting":                 {func(f *fixture, _ *losingStore) { f.machine.fail = lost }, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixtureOn(t, db, packGzip(t, lines))
			store := &losingStore{Store: f.store}
			f.Batches, f.Retry = store, intake.RetryPolicy{}
			tt.interrupt(&f, store)
			if err := f.arrive(t); err == nil || len(f.machine.started) != 0 {
				t.Errorf("the first run: got error %v, started %v, want an error and no start", err, f.machine.started)
			}
			must(t, "the second run", f.arrive(t))
			f.expectStarted(t, tt.attempt, lines, batch.Gzip)
		})
	}
	t.Run("a file that cannot be read is read again", func(t *testing.T) {
		f := newFixtureOn(t, db, packGzip(t, lines))
		f.bucket.losing = 2
		must(t, "the only run", f.arrive(t))
		f.expectStarted(t, "1", lines, batch.Gzip)
	})
}

// A copy that cannot be scanned is refused like an upload.
func TestUnscannableCopy(t *testing.T) {
	f := newFixture(t, packGzip(t, lines))
	f.scanner.errs = []error{nil, malware.ErrUnscannable} // of the upload, and of the copy
	must(t, "the scan", f.arrive(t))
	f.expectRefused(t, batch.Unscannable, batch.Gzip)
	difftest.Equal(t, "the verdict of the copy", "refused", f.bucket.verdictOf(f.copyKey("1")))
}

// Of two runs at the same time, both go on with the copy that was committed first.
func TestConcurrentUnpacking(t *testing.T) {
	f := newFixture(t, packGzip(t, lines))
	f.bucket.duringStore = func() { must(t, "the second run", f.arrive(t)) }
	must(t, "the first run", f.arrive(t))
	f.expectStarted(t, "2", lines, batch.Gzip)
	if verdict := f.bucket.verdictOf(f.copyKey("1")); verdict != "" || len(f.machine.started) != 2 {
		t.Errorf("the verdict of the other copy is %q, started %v, want none, and a start by each run", verdict,
			f.machine.started)
	}
}

// A batch that ends while its file is unpacked stays as it is, and nothing of it is readable.
func TestBatchEndsDuringUnpacking(t *testing.T) {
	f := newFixture(t, packGzip(t, lines))
	const message = "Cancelled by the client."
	f.bucket.duringStore = func() {
		end := batch.Transition{To: batch.Failed, At: received, ErrorMessage: message}
		errtest.Fatal(t, errtest.Of(f.store.Apply(t.Context(), f.batch.ID, end)))
	}
	must(t, "the run", f.arrive(t))
	b := f.currentBatch(t)
	if b.Status != batch.Failed || b.ErrorMessage != message || b.Content != (batch.Object{}) ||
		len(f.bucket.tags) != 0 || len(f.machine.started) != 0 {
		t.Errorf("got %+v, tags %v, started %v, want ERROR with %q, no copy, no tag, no start", b, f.bucket.tags,
			f.machine.started, message)
	}
}

// Where GuardDuty scans, the copy is scanned like an upload, and every order of its events has the same outcome. The
// letters stand for the results of a copy; C is S3's event of the upload and the result of its scan.
func TestGuardDutyScansCopies(t *testing.T) {
	db := dynamotest.Start(t)
	for _, tt := range []struct {
		events, message string
		clean           bool
	}{
		{events: "CCn", clean: true},
		{events: "C1n", clean: true},
		{events: "Cxn", clean: true},
		{events: "Ct", message: "The malware scan refused the file (EICAR-Test-File (not a virus))."},
		{events: "Cu", message: "could not be scanned"},
	} {
		t.Run(tt.events, func(t *testing.T) {
			forEachOrder(tt.events, func(order string) {
				g := newGuardDutyFixture(t, db)
				g.bucket.content = packGzip(t, lines)
				g.mustHandle(t, newScanEvent(t, g.key(), "upload", "abc", intake.NoThreatsFound))
				for _, letter := range order {
					if letter == 'C' {
						must(t, order, g.arrive(t))
						continue
					}
					r := scanResults[letter]
					etag := map[string]string{"abc": "1"}[r.etag]
					if etag == "" {
						etag = r.etag
					}
					g.mustHandle(t, newScanEvent(t, g.copyKey("1"), r.id, etag, r.status))
				}
				if tt.clean {
					g.expectStarted(t, "1", lines, batch.Gzip)
				} else if b := g.currentBatch(t); !strings.Contains(b.ErrorMessage, tt.message) {
					t.Errorf("%s: status %s, message %q, want %q", order, b.Status, b.ErrorMessage, tt.message)
				} else {
					g.expectRefused(t, b.ErrorMessage, batch.Gzip)
				}
				*g.clock = g.clock.Add(2 * time.Minute)
				g.checkNothingWaits(t, order)
			})
		})
	}
}

// The sweep resumes batches that wait for the scan of a copy: the run was killed after it had committed the copy, or
// the result never comes.
func TestSweepContinuesWithCopies(t *testing.T) {
	newSwept := func(t *testing.T) guardDutyFixture {
		g := newGuardDutyFixture(t, dynamotest.Start(t))
		g.bucket.content = packGzip(t, lines)
		g.Intake.Sweep = &intake.Sweep{
			Batches: g.store, Machine: &executions{}, Announcements: &announcements{},
			Uploads: &storage{err: objects.ErrNotFound}, Slots: admissiontest.NewSlots(), Age: 20 * time.Minute,
			Patience: 24 * time.Hour,
		}
		g.mustHandle(t, newScanEvent(t, g.key(), "upload", "abc", intake.NoThreatsFound))
		return g
	}
	sweepAt := func(t *testing.T, g guardDutyFixture, after time.Duration) {
		t.Helper()
		*g.clock = received.Add(after)
		g.mustHandle(t, json.RawMessage(scheduleEvent))
	}
	t.Run("killed after the commit", func(t *testing.T) {
		g := newSwept(t)
		lost := errors.New("killed")
		g.Batches = &losingStore{Store: g.store, after: lost}
		errtest.Is(t, "the run", g.arrive(t), lost)
		g.mustHandle(t, newScanEvent(t, g.copyKey("1"), "copy", "1", intake.NoThreatsFound))
		difftest.Len(t, "a result before the arrival is known: started", 0, g.machine.started)
		sweepAt(t, g, 22*time.Minute)
		g.expectStarted(t, "1", lines, batch.Gzip)
	})
	t.Run("the result is lost", func(t *testing.T) {
		g := newSwept(t)
		must(t, "the run", g.arrive(t))
		sweepAt(t, g, 22*time.Minute)
		if len(g.rescanner.keys) != 1 || g.rescanner.keys[0] != g.copyKey("1") {
			t.Errorf("requested scans of %v, want one of %s", g.rescanner.keys, g.copyKey("1"))
		}
		sweepAt(t, g, 2*time.Hour)
		g.expectRefused(t, batch.Unscannable, batch.Gzip)
	})
	t.Run("a copy that does not count", func(t *testing.T) {
		g := newSwept(t)
		must(t, "the run", g.arrive(t))
		for _, key := range []string{g.copyKey("other"), "unpacked/t/no-uuid/1", "unpacked/t"} {
			g.mustHandle(t, newScanEvent(t, key, "threat", "1", intake.ThreatsFound))
		}
		g.mustHandle(t, newScanEvent(t, g.copyKey("1"), "copy", "1", intake.NoThreatsFound))
		g.expectStarted(t, "1", lines, batch.Gzip)
	})
}
