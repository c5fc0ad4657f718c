package entity_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/property"
)

func single(value string) property.Property {
	return property.Property{Type: property.Single, Value: &value}
}

// changes returns changes of single properties, given by key and value in turn; the value "-" removes the property.
func changes(pairs ...string) property.Changes {
	out := property.Changes{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = nil
		if pairs[i+1] != "-" {
			p := single(pairs[i+1])
			out[pairs[i]] = &p
		}
	}
	return out
}

// life follows an entity through steps: d begins a draft, v verifies and r rejects the oldest open one, and i imports
// Compliant.
func life(t *testing.T, steps string, status entity.LifecycleStatus) []entity.LifecycleStatus {
	t.Helper()
	r := entity.Profile{ID: "e", BaseStatus: status}
	var open []entity.Draft
	var seen []entity.LifecycleStatus
	for _, step := range steps {
		var c entity.Update
		var err error
		switch step {
		case 'd':
			c = entity.BeginDraft(r, status, entity.Draft{})
			open = append(open, c.Draft)
		case 'i':
			status = entity.Compliant
			seen = append(seen, status)
			continue
		case 'v':
			c, err = entity.VerifyDraft(r, status, open[0], nil)
			open = open[1:]
		case 'r':
			c, err = entity.RejectDraft(r, status, open[0])
			open = open[1:]
		}
		if err != nil || c.PreviousStatus != status || c.Profile.Revision != r.Revision+1 {
			t.Fatalf("%c: %+v %v", step, c, err)
		}
		r, status = c.Profile, c.Status
		seen = append(seen, status)
	}
	return seen
}

func TestWhatCountsAsOnboarded(t *testing.T) {
	for status, want := range map[entity.LifecycleStatus]bool{
		entity.Unknown: false, entity.OnboardingInProgress: false, entity.ClientOffboarded: false,
		entity.Compliant: true, entity.MaintenanceInProgress: true, entity.ReviewInProgress: true,
		entity.PendingOffboarding: true,
	} {
		if !status.IsKnown() || status.IsOnboarded() != want {
			t.Errorf("%s: known %t, onboarded %t", status, status.IsKnown(), status.IsOnboarded())
		}
	}
	for _, status := range []entity.LifecycleStatus{"", "compliant", "Compliant "} {
		if status.IsKnown() || status.IsOnboarded() {
			t.Errorf("%q is a status", status)
		}
	}
}

func TestLifeCycle(t *testing.T) {
	const (
		u, o, m, c = entity.Unknown, entity.OnboardingInProgress, entity.MaintenanceInProgress, entity.Compliant
		off        = entity.ClientOffboarded
	)
	for _, tt := range []struct {
		steps string
		from  entity.LifecycleStatus
		want  []entity.LifecycleStatus
	}{
		{"dv", u, []entity.LifecycleStatus{o, c}},
		{"dr", u, []entity.LifecycleStatus{o, u}},
		{"dvdr", u, []entity.LifecycleStatus{o, c, m, c}},
		{"dvdv", u, []entity.LifecycleStatus{o, c, m, c}},
		{"ddrr", u, []entity.LifecycleStatus{o, o, o, u}},
		{"ddvr", u, []entity.LifecycleStatus{o, o, m, c}},
		{"dr", off, []entity.LifecycleStatus{o, off}},
		{"dr", entity.ReviewInProgress, []entity.LifecycleStatus{m, entity.ReviewInProgress}},
		{"dir", u, []entity.LifecycleStatus{o, c, c}},
		{"didrr", u, []entity.LifecycleStatus{o, c, m, m, c}},
	} {
		difftest.Equal(t, fmt.Sprintf("%s from %s", tt.steps, tt.from), tt.want, life(t, tt.steps, tt.from))
	}
}

func TestADraftChangesItsEntityWhenVerified(t *testing.T) {
	r := entity.Profile{ID: "e", Version: 1, BaseStatus: entity.Unknown,
		Properties: map[string]property.Property{"a": single("1"), "b": single("1")}}
	d := entity.BeginDraft(r, entity.Unknown, entity.Draft{ID: "d"}).Draft
	d, err := d.WithProperties(changes("b", "2", "c", "2"))
	if err != nil || d.Version != 2 {
		t.Fatal(d, err)
	}
	r.Properties = map[string]property.Property{"a": single("3"), "b": single("3")} // another draft came first
	c := errtest.Must(entity.VerifyDraft(r, entity.Unknown, d, changes("c", "4")))(t)
	want := map[string]property.Property{"a": single("3"), "b": single("2"), "c": single("4")}
	difftest.Equal(t, "Properties", want, c.Profile.Properties)
	if c.Profile.Version != 2 || c.Draft.Status != entity.Verified || c.Draft.Version != 3 {
		t.Errorf("%+v", c)
	}
	for _, status := range []entity.DraftStatus{entity.Verified, entity.Rejected} {
		d.Status = status
		_, err1 := d.WithProperties(nil)
		_, err2 := entity.VerifyDraft(r, entity.Unknown, d, nil)
		_, err3 := entity.RejectDraft(r, entity.Unknown, d)
		for _, err := range []error{err1, err2, err3} {
			errtest.Is(t, fmt.Sprint(status), err, entity.ErrDraftEnded)
		}
	}
}

// Two drafts of one version: the second to be verified must not silently overwrite the changes of the first.
func TestConflicts(t *testing.T) {
	values := changes
	r := entity.Profile{ID: "e", Version: 1, BaseStatus: entity.Unknown,
		Properties: values("a", "1", "b", "1").Apply(nil)}
	begin := func(changes property.Changes) entity.Draft {
		return entity.BeginDraft(r, r.BaseStatus, entity.Draft{Changes: changes}).Draft
	}
	first := begin(values("a", "2", "c", "2", "x", "2"))
	untouched, same, other, more := begin(values("b", "3")), begin(values("a", "2")), begin(values("a", "3", "b", "3")),
		begin(values("c", "3", "a", "3"))
	c := errtest.Must(entity.VerifyDraft(r, r.BaseStatus, first, values("x", "5")))(t)
	if diff := cmp.Diff(map[string]int64{"a": 2, "c": 2, "x": 2}, c.Profile.LastChangedIn); diff != "" ||
		r.LastChangedIn != nil || c.Draft.ConflictsResolvedIn != 1 {
		t.Errorf("%s %v", diff, c.Draft)
	}
	later := entity.BeginDraft(c.Profile, c.Status, entity.Draft{Changes: values("a", "9")}).Draft
	for name, tt := range map[string]struct {
		d        entity.Draft
		resolved property.Changes
		want     []string
	}{
		"another property": {untouched, nil, nil}, "the same value": {same, nil, nil},
		"another value": {other, nil, []string{"a"}},
		"two":           {more, nil, []string{"a", "c"}}, "one of two resolved": {more, values("c", "7"),
			[]string{"a"}},
		"resolved": {other, values("a", "7"), nil}, "begun afterwards": {later, nil, nil},
		"removed": {begin(values("a", "-")), nil, []string{"a"}}, "removed, and never there": {begin(values("d", "-")),
			nil, nil},
	} {
		difftest.Equal(t, name, tt.want, entity.FindConflicts(c.Profile, tt.d, tt.resolved))
	}
}

// A property that a draft removes is gone from the draft at once, and from the entity when the draft is verified.
func TestADraftRemovesProperties(t *testing.T) {
	p := entity.Profile{ID: "e", Version: 1, BaseStatus: entity.Unknown,
		Properties: changes("a", "1", "b", "1").Apply(nil)}
	d := entity.BeginDraft(p, entity.Unknown, entity.Draft{ID: "d", Changes: changes("c", "1")}).Draft
	d = errtest.Must(d.WithProperties(changes("a", "-", "c", "-", "none", "-")))(t)
	want := changes("b", "1").Apply(nil)
	difftest.Equal(t, "the draft has other properties", want, d.Properties)
	u := errtest.Must(entity.VerifyDraft(p, entity.Unknown, d, nil))(t)
	difftest.Equal(t, "the entity has other properties", want, u.Profile.Properties)
	difftest.Equal(t, "the property was changed last in version", int64(2), u.Profile.LastChangedIn["a"])
}
