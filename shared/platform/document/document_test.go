package document_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"sluice/shared/access"
	"sluice/shared/kit/difftest"
	"sluice/shared/platform/document"
)

var at = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

func paper() document.Document {
	return document.Document{ID: "1", Tenant: "t", FileName: "a.pdf", FileID: "f",
		State: document.State{Status: document.Processing}, Version: 7}
}

func file(s document.Status) document.File {
	return document.File{ID: "f", State: document.State{Status: s}}
}

func TestEntityTypes(t *testing.T) {
	for text, want := range map[string]document.EntityType{
		"Entity": document.Entity, "product": document.Product, "DEAL": document.Deal, "sCREENING": document.Screening,
	} {
		if got, ok := document.ParseEntityType(text); !ok || got != want {
			t.Errorf("%s: %s %v", text, got, ok)
		}
	}
	for _, text := range []string{"", " Entity", "Entities", "0"} {
		if got, ok := document.ParseEntityType(text); ok {
			t.Errorf("%q is %s", text, got)
		}
	}
	for i, kind := range document.EntityTypes {
		difftest.Equal(t, fmt.Sprintf("%s has number", kind), i, kind.Index())
	}
}

// The state that a reader sees follows from the commands on the document and the scan of its file.
func TestLife(t *testing.T) {
	fail := func(d *document.Document) { d.MarkFailed(document.ClientSideError, "m") }
	archive := func(d *document.Document) { d.Archive("old") }
	unarchive := func(d *document.Document) { d.Unarchive() }
	replace := func(d *document.Document) { d.ExpectFile("g", "b.pdf", 0) }
	rename := func(d *document.Document) { d.FileName = "a.exe" }
	virtual := func(d *document.Document) { d.FileID, d.Virtual, d.State.Status = "", true, document.Completed }
	type steps []func(*document.Document)
	for name, tt := range map[string]struct {
		steps    steps
		file     document.Status
		status   document.Status
		code     string
		readable bool
	}{
		"waiting":       {nil, document.Processing, document.Processing, "", false},
		"clean":         {nil, document.Completed, document.Completed, "", true},
		"infected":      {nil, document.Infected, document.Infected, "", false},
		"not scannable": {nil, document.Failed, document.Failed, "", false},
		"called wrong":  {steps{fail}, document.Completed, document.Failed, document.ClientSideError, false},
		"called wrong early": {steps{fail}, document.Processing, document.Failed, document.ClientSideError,
			false},
		"archived":           {steps{archive}, document.Completed, document.Archived, "", true},
		"archived early":     {steps{archive}, document.Processing, document.Archived, "", false},
		"archived, infected": {steps{archive}, document.Infected, document.Archived, "", false},
		"back again":         {steps{archive, unarchive}, document.Completed, document.Completed, "", true},
		"wrong, archived": {steps{fail, archive}, document.Completed, document.Archived,
			document.ClientSideError, false},
		"wrong, archived, back": {steps{fail, archive, unarchive}, document.Completed, document.Failed,
			document.ClientSideError, false},
		"archived, wrong": {steps{archive, fail}, document.Completed, document.Failed,
			document.ClientSideError, false},
		"wrong, with another file": {steps{fail, replace}, document.Processing, document.Processing, "", false},
		"archived, another file":   {steps{archive, replace}, document.Completed, document.Completed, "", true},
		"kind not taken": {steps{rename}, document.Completed, document.Failed, document.InvalidMIMEType,
			false},
		"kind not taken, waiting": {steps{rename}, document.Processing, document.Failed, document.InvalidMIMEType,
			false},
		"kind not taken, infected": {steps{rename}, document.Infected, document.Infected, "", false},
		"kind not taken, archived": {steps{rename, archive}, document.Completed, document.Archived, "", false},
		"kind mended":              {steps{rename, replace}, document.Completed, document.Completed, "", true},
		"virtual":                  {steps{virtual}, "", document.Completed, "", false},
		"virtual, archived":        {steps{virtual, archive}, "", document.Archived, "", false},
		"virtual, back":            {steps{virtual, archive, unarchive}, "", document.Completed, "", false},
	} {
		d := paper()
		for _, step := range tt.steps {
			step(&d)
		}
		got := d.EffectiveState(file(tt.file))
		if got.Status != tt.status || got.ErrorCode != tt.code || d.IsReadable(file(tt.file)) != tt.readable {
			t.Errorf("%s: %+v, readable %v", name, got, d.IsReadable(file(tt.file)))
		}
		if archived := d.State.Status == document.Archived; archived != (d.BeforeArchival != "") ||
			archived != (d.ArchivalReason != "") {
			t.Errorf("%s: archival %q %q", name, d.BeforeArchival, d.ArchivalReason)
		}
	}
}

func TestArchiveTwice(t *testing.T) {
	d := paper()
	if d.Unarchive() || !d.Archive("first") || d.Archive("second") || d.ArchivalReason != "first" ||
		d.BeforeArchival != document.Processing {
		t.Errorf("%+v", d)
	}
	if !d.Unarchive() || d.Unarchive() {
		t.Errorf("%+v", d)
	}
}

// A copy has the values of its source, but its own name, makers and life.
func TestClone(t *testing.T) {
	source := paper()
	source.RequirementIDs, source.Layers = []string{"r"}, access.Layers{Geographic: []string{"EU"}}
	source.Archive("old")
	got := source.Clone("2", "c", at)
	want := source
	want.ID, want.ClonedFrom, want.Version = "2", "1", 1
	want.UploadedBy, want.UploadedByName, want.UpdatedBy, want.CreatedAt, want.UpdatedAt = "c", "c", "c", at, at
	want.State.Status, want.BeforeArchival, want.ArchivalReason = document.Processing, "", ""
	difftest.Equal(t, "result", want, got)
	difftest.Equal(t, "the source has changed", document.Archived, source.State.Status)
	if again := got.Clone("3", "c", at); again.ClonedFrom != "2" || again.FileID != "f" {
		t.Errorf("%+v", again)
	}
}

func TestLayersStay(t *testing.T) {
	d := document.Document{PolicyLayers: access.Layers{Geographic: []string{"EU"}}}
	for _, tt := range []struct{ give, want access.Layers }{
		{access.Layers{}, access.Layers{Geographic: []string{"EU"}, BusinessRelated: []string{"Enterprise"}}},
		{access.Layers{Geographic: []string{"US", "EU", "US"}}, access.Layers{Geographic: []string{"EU", "US"},
			BusinessRelated: []string{"Enterprise"}}},
		{access.Layers{BusinessRelated: []string{"Retail"}}, access.Layers{Geographic: []string{"EU"},
			BusinessRelated: []string{"Retail"}}},
	} {
		d.SetLayers(tt.give)
		difftest.Equal(t, fmt.Sprintf("%+v", tt.give), tt.want, d.Layers)
	}
	if len(d.PolicyLayers.Geographic) != 1 {
		t.Errorf("the policy's layers have changed: %+v", d.PolicyLayers)
	}
}

func TestDistinct(t *testing.T) {
	kept, first := "", document.FirstOfEachFile()
	for i, file := range []string{"f", "", "g", "f", "", "g", "h"} {
		if first(document.Document{FileID: file}) {
			kept += fmt.Sprint(i)
		}
	}
	difftest.Equal(t, "kept", "01246", kept)
}

func TestKindsOfFiles(t *testing.T) {
	for name, want := range map[string]bool{
		"a.pdf": true, "a.PDF": true, "a.exe.pdf": true, "passport": true, ".pdf": true, "ü.docx": true,
		"a.exe": false, "a.pdf.exe": false, "a.": false, "a.pdf ": false, "a/b": true, "a.b/c": true, "1.2": false,
		"a.exe/": false, `a.exe\`: false, "a.pdf//": true,
	} {
		if document.IsSupported(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
	extensions, types := document.Extensions(), document.MIMETypes()
	if !slices.IsSorted(extensions) || len(slices.Compact(slices.Clone(extensions))) != len(extensions) {
		t.Errorf("not in order, or twice: %v", extensions)
	}
	slices.Sort(types)
	if len(slices.Compact(slices.Clone(types))) != len(types) || len(types) >= len(extensions) {
		t.Errorf("twice: %v", types)
	}
	for _, e := range extensions {
		if !document.IsSupported("x" + e) {
			t.Errorf("%s is listed and not taken", e)
		}
	}
}
