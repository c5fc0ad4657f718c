package steps

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/functions/setup/listsetup"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/machine"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogtest"
)

// nameLine returns a valid line whose receiver is unknown and has a name.
func nameLine(modification, name string) string {
	quoted, err := json.Marshal(name)
	if err != nil {
		panic(err)
	}
	return strings.Replace(line(modification), `"receiver":{"by_external_id":"known"}`,
		fmt.Sprintf(`"receiver":{"external_entity_type":"unknown","unknown":{"external_id":"u-%s","full_name":%s}}`,
			modification, quoted), 1)
}

// alert is what the tests compare of an alert.
type alert struct {
	Line        int64
	Transaction string `json:"transaction_external_id"`
	Role        string
	ExternalID  string `json:"external_id"`
	FullName    string `json:"full_name"`
	EntryID     string `json:"entry_id"`
	ListVersion string `json:"list_version"`
}

func (w *testBatch) alerts(b batch.Batch) []alert {
	w.t.Helper()
	if b.Verdict.Screening.AlertsKey == "" {
		return nil
	}
	var alerts []alert
	d := json.NewDecoder(bytes.NewReader(read(w.t, bucket(workBucket), b.Verdict.Screening.AlertsKey, 0, -1)))
	for d.More() {
		var a alert
		errtest.Fatal(w.t, d.Decode(&a))
		alerts = append(alerts, a)
	}
	return alerts
}

func screeningOf(lists ...string) *batch.Screening {
	return &batch.Screening{Lists: lists, Threshold: batch.DefaultThreshold}
}

func TestNamesAreScreened(t *testing.T) {
	t.Parallel()
	const wanted = "Anatoly Velkanov"
	for _, test := range []struct {
		name             string
		reject, rejectIt bool
		status           batch.Status
		accepted         int64
	}{
		{"reported", true, false, batch.Processed, 13},
		{"rejected, and the lines dropped", false, true, batch.Processed, 9},
		{"rejected, and the batch with them", true, true, batch.ValidationFailed, 9},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var content strings.Builder
			for i := range 9 {
				content.WriteString(nameLine(fmt.Sprint("m", i), fmt.Sprint("Quiet Person ", string(rune('A'+i)))))
			}
			for i, name := range []string{wanted, " " + wanted, wanted + "\t", "Velkanov Anatoly"} {
				content.WriteString(nameLine(fmt.Sprint("w", i), name))
			}
			screening := screeningOf("own")
			screening.Reject = test.rejectIt
			w := newScreenedBatch(t, content.String(), test.reject, screening)
			version := w.lists.Import(t, w.tenant, "own", catalogtest.Person("e1", wanted))
			b := w.run()
			if b.Status != test.status || b.Verdict.Accepted != test.accepted {
				t.Fatalf("batch %s (%q) with %d accepted lines, want %s with %d", b.Status, b.ErrorMessage,
					b.Verdict.Accepted, test.status, test.accepted)
			}
			want := batch.ScreeningVerdict{Names: 11, Hits: 4, AlertsKey: b.Verdict.Screening.AlertsKey}
			difftest.Equal(t, "the screening came to", want, *b.Verdict.Screening)
			var alerts []alert
			for i, name := range []string{wanted, wanted, wanted, "Velkanov Anatoly"} {
				id := fmt.Sprint("w", i)
				alerts = append(alerts, alert{Line: int64(10 + i), Transaction: "t-" + id, Role: "receiver",
					ExternalID: "u-" + id, FullName: name, EntryID: "e1", ListVersion: version.Version})
			}
			difftest.Equal(t, "alerts", alerts, w.alerts(b))
			if n := strings.Count(w.report(b), `"type":"screening_hit",`+
				`"pointer":"/receiver/unknown/full_name"`); (n == 4) != test.rejectIt {
				t.Errorf("%d lines of the report have the code screening_hit", n)
			}
		})
	}
}

// A batch is screened with the version that was current when it was planned.
func TestListVersionsArePinned(t *testing.T) {
	t.Parallel()
	w := newScreenedBatch(t, nameLine("a", "Anatoly Velkanov")+nameLine("b", "Boris Testov"), true, screeningOf("own"))
	first := w.lists.Import(t, w.tenant, "own", catalogtest.Person("e1", "Anatoly Velkanov"))
	plan := runThrice(w, "plan", w.plan.Run, pipeline.BatchInput{ID: w.id})
	w.lists.Import(t, w.tenant, "own", catalogtest.Person("e2", "Boris Testov"))
	w.openLists()
	if again := mustRun(t, w.plan.Run, pipeline.BatchInput{ID: w.id}); cmp.Diff(plan, again) != "" {
		t.Errorf("the plan is %+v, then %+v", plan, again)
	}
	b := w.run()
	if len(b.Screening.Versions) != 1 || b.Screening.Versions[0].Version != first.Version ||
		!b.Screening.Versions[0].SourceDate.Equal(first.SourceDate) {
		t.Errorf("pinned %+v, want version %s", b.Screening.Versions, first.Version)
	}
	if v, err := w.lists.Version(t.Context(), first.VersionRef); err != nil || !v.IsPinned {
		t.Errorf("the version is %+v, %v; want it to be pinned", v, err)
	}
	if alerts := w.alerts(b); len(alerts) != 1 || alerts[0].EntryID != "e1" || alerts[0].ListVersion != first.Version {
		t.Errorf("alerts %+v, want that of the first version", alerts)
	}
}

// A name of many lines is screened once, and each of them has an alert.
func TestOneNameOfManyLines(t *testing.T) {
	t.Parallel()
	const lines = 600
	content := strings.Repeat(nameLine("a", "Anatoly Velkanov"), lines)
	w := newScreenedBatch(t, content, false, screeningOf("own"))
	w.plan.ChunkBytes = int64(len(content)) / 3
	w.lists.Import(t, w.tenant, "own", catalogtest.Person("e1", "Anatoly Velkanov"))
	b := w.run() // all lines are duplicates of each other
	if v := b.Verdict.Screening; v.Names != 1 || v.Hits != lines {
		t.Errorf("the screening came to %+v, want 1 name and %d hits", v, lines)
	}
	alerts := w.alerts(b)
	difftest.Equal(t, "alerts", lines, len(alerts))
	for i, a := range alerts {
		difftest.Equal(t, fmt.Sprintf("alert %d is of line", i), int64(i+1), a.Line)
	}
}

// Nothing is written or read for names that are not screened.
func TestNamesAreNotScreened(t *testing.T) {
	t.Parallel()
	w := newTestBatch(t, nameLine("a", "Anatoly Velkanov"), true)
	w.plan.Lists, w.screen.Lists = nil, nil
	b := w.run()
	if b.Status != batch.Processed || b.Screening != nil || b.Verdict.Screening != nil {
		t.Errorf("batch %s with the screening %+v, %+v", b.Status, b.Screening, b.Verdict.Screening)
	}
	chunks, err := w.batches.Chunks(t.Context(), w.id)
	if err != nil || len(chunks) != 1 || chunks[0].Validated.NamesKey != "" || chunks[0].Settled.AlertsKey != "" {
		t.Errorf("chunks %+v, %v", chunks, err)
	}
	if results, err := w.batches.Screened(t.Context(), w.id); err != nil ||
		results != [batch.Partitions]*batch.ScreenResult{} {
		t.Errorf("screened partitions %v, %v", results, err)
	}
}

// Files without names, and with too many transactions, end as they do without screening.
func TestScreeningOfNothing(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "\n", line("a"), nameLine("a", " "), "nonsense\n"} {
		w := newScreenedBatch(t, content, false, screeningOf("own"))
		w.lists.Import(t, w.tenant, "own", catalogtest.Person("e1", "Anatoly Velkanov"))
		if v := w.run().Verdict.Screening; v == nil || *v != (batch.ScreeningVerdict{}) {
			t.Errorf("%q: the screening came to %+v, want nothing", content, v)
		}
	}
	w := newScreenedBatch(t, nameLine("a", "Anatoly Velkanov")+nameLine("b", "Anatoly Velkanov"), false,
		screeningOf("own"))
	w.lists.Import(t, w.tenant, "own", catalogtest.Person("e1", "Anatoly Velkanov"))
	w.plan.MaxTransactions = 1
	if b := w.run(); b.Status != batch.ValidationFailed || b.Verdict.Outcome != batch.TooManyTransactions ||
		b.Verdict.Screening != nil {
		t.Errorf("too many transactions: %s with %+v", b.Status, b.Verdict)
	}
}

// A list that cannot be loaded is tried again, and then ends the batch with the reason.
func TestListsThatCannotBeLoaded(t *testing.T) {
	t.Parallel()
	w := newScreenedBatch(t, nameLine("a", "Anatoly Velkanov"), true, screeningOf("own"))
	var unavailable *pipeline.WatchlistsUnavailable
	if _, err := w.plan.Run(t.Context(), pipeline.BatchInput{ID: w.id}); !errors.As(err, &unavailable) {
		t.Errorf("planning without the list: %v, want WatchlistsUnavailable", err)
	}
	w.lists.Import(t, w.tenant, "own", catalogtest.Person("e1", "Anatoly Velkanov"))
	mustRun(t, w.plan.Run, pipeline.BatchInput{ID: w.id})
	mustRun(t, w.validate.Run, pipeline.ChunkInput{ID: w.id})
	w.screen.Lists = &listsetup.Lists{Loader: catalogtest.NewMemory().Loader()}
	in := pipeline.PartitionInput{ID: w.id, Partitions: pipeline.PartitionRange{End: batch.Partitions}}
	if _, err := w.screen.Run(t.Context(), in); !errors.As(err, &unavailable) {
		t.Errorf("screening without the version: %v, want WatchlistsUnavailable", err)
	}
	for name, message := range map[string]string{
		"WatchlistsUnavailable": "The watchlists to screen with could not be loaded", "TooManyHits": "too many hits",
	} {
		w := newScreenedBatch(t, nameLine("a", "Anatoly Velkanov"), true, screeningOf("own"))
		mustRun(t, w.close.Run, pipeline.CloseInput{ID: w.id, Failure: &machine.Failure{Error: name}})
		if b := w.current(); b.Status != batch.Failed || !strings.Contains(b.ErrorMessage, message) {
			t.Errorf("%s: batch %s, %q", name, b.Status, b.ErrorMessage)
		}
	}
}

// A current version that cannot be read is replaced by the one before it.
func TestTheLastGoodVersionIsPinned(t *testing.T) {
	t.Parallel()
	w := newScreenedBatch(t, nameLine("a", "Anatoly Velkanov"), true, screeningOf("own"))
	first := w.lists.Import(t, w.tenant, "own", catalogtest.Person("e1", "Anatoly Velkanov"))
	second := w.lists.Import(t, w.tenant, "own", catalogtest.Person("e2", "Anatoly Velkanov"))
	for _, file := range second.Indexes {
		errtest.Fatal(t, w.lists.Remove(t.Context(), catalog.KeyPrefix+w.tenant+"/own/"+file.SHA256+".idx"))
	}
	b := w.run()
	if alerts := w.alerts(b); len(alerts) != 1 || alerts[0].ListVersion != first.Version {
		t.Errorf("alerts %+v, want that of version %s", alerts, first.Version)
	}
}
