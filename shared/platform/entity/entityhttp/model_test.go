package entityhttp_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/entity/entityhttp"
	"sluice/shared/platform/entity/entitytest"
)

// entityModel is a model of an entity: docs/contract/platform.md, Lifecycle status, without a store, revisions or
// transactions.
type entityModel struct {
	id         string
	shown      entity.LifecycleStatus
	base       entity.LifecycleStatus // without the open drafts
	open       int
	version    int64
	properties map[string]string
	changed    map[string]int64 // when a verified draft last changed a property
}

type draftModel struct {
	of         *entityModel
	began      int64 // version of the entity
	id         string
	status     entity.DraftStatus
	version    int64
	properties map[string]string
	changes    map[string]string
}

func (k *entityModel) setDrafts(base entity.LifecycleStatus, open int) {
	k.base, k.open, k.shown = base, open, base
	if open > 0 && base.IsOnboarded() {
		k.shown = entity.MaintenanceInProgress
	} else if open > 0 {
		k.shown = entity.OnboardingInProgress
	}
}

// simulation drives the endpoints at random and compares them with models.
type simulation struct {
	*api
	random   *rand.Rand
	entities []*entityModel
	drafts   []*draftModel

	// conflicts counts the conflicts met, by whether they were overruled.
	conflicts map[bool]int
}

// Any sequence of steps leaves the entity as the model has it (docs/contract/platform.md, Lifecycle status).
func TestRandomSteps(t *testing.T) {
	a, conflicts := newAPI(t), map[bool]int{}
	for seed := range uint64(4) {
		p := &simulation{api: a, random: rand.New(rand.NewPCG(seed, 5)), conflicts: conflicts}
		for range 1 + seed%2 {
			p.entities = append(p.entities, &entityModel{id: a.createEntity(""), shown: entity.Unknown,
				base: entity.Unknown, version: 1,
				properties: map[string]string{"legalEntityName": "ACME", "city": "Cork"}, changed: map[string]int64{}})
		}
		for i := range 50 {
			step := p.step()
			if p.compare(); t.Failed() {
				t.Fatalf("seed %d, step %d: %s", seed, i, step)
			}
		}
	}
	if conflicts[true] == 0 || conflicts[false] == 0 {
		t.Errorf("too few conflicts: %v", conflicts)
	}
}

func (p *simulation) step() string {
	k := p.entities[p.random.IntN(len(p.entities))]
	switch p.random.IntN(10) {
	case 0, 1, 2:
		id := p.createDraft(k.id)
		k.setDrafts(k.base, k.open+1)
		p.drafts = append(p.drafts, &draftModel{k, k.version, id, entity.InProgress, 1, maps.Clone(k.properties),
			map[string]string{}})
		return "draft of " + k.id
	case 3:
		status := []entity.LifecycleStatus{entity.Compliant, entity.ClientOffboarded, entity.ReviewInProgress,
			entity.PendingOffboarding}[p.random.IntN(4)]
		entitytest.StoreStatuses(p.t, p.db, p.caller.Tenant, entitytest.Statuses{k.id: status})
		k.base, k.shown = status, status
		return fmt.Sprintf("import of %s as %s", k.id, status)
	}
	if len(p.drafts) == 0 {
		return "nothing"
	}
	return p.change(p.drafts[max(0, len(p.drafts)-1-p.random.IntN(4))]) // old ones have mostly ended
}

// change updates, verifies or rejects a draft, with the right version, an old one, or none.
func (p *simulation) change(d *draftModel) string {
	version := []int64{d.version, d.version, max(1, d.version-1), -1}[p.random.IntN(4)]
	want := 202
	if d.status != entity.InProgress || version != -1 && version != d.version {
		want = 409
	}
	path := command + "/" + d.of.id + "/draft/" + d.id
	body := fmt.Sprintf(`{"data":{"version":%d}}`, version)
	key, value := string(rune('a'+p.random.IntN(2))), fmt.Sprint(p.random.IntN(5))
	how := []int{0, 0, 1, 1, 1, 2}[p.random.IntN(6)]
	if len(d.changes) == 0 { // else most drafts would end without having changed anything, and never be in conflict
		how = 0
	}
	switch how {
	case 0:
		body = fmt.Sprintf(`{"data":{"version":%d,"properties":{%q:{"type":"Single","value":%q}}}}`, version, key,
			value)
	case 1:
		path += "/verify"
		if want == 202 && d.conflicts() {
			p.conflicts[version == -1]++
			if version != -1 {
				want = 409
			}
		}
	case 2:
		path += "/reject"
		if body = ""; d.status == entity.InProgress {
			want = 202
		}
	}
	p.expectStatus(want, "PUT", path, body)
	if want == 202 {
		d.apply(how, key, value)
	}
	return fmt.Sprintf("PUT %s %s", path, body)
}

func (d *draftModel) conflicts() bool {
	for key, value := range d.changes {
		if d.of.changed[key] > d.began && d.of.properties[key] != value {
			return true
		}
	}
	return false
}

func (d *draftModel) apply(how int, key, value string) {
	d.version++
	switch k := d.of; how {
	case 0:
		d.properties[key], d.changes[key] = value, value
	case 1:
		d.status = entity.Verified
		k.version++
		maps.Copy(k.properties, d.changes)
		for key := range d.changes {
			k.changed[key] = k.version
		}
		k.setDrafts(entity.Compliant, k.open-1)
	case 2:
		d.status = entity.Rejected
		k.setDrafts(k.base, k.open-1)
	}
}

func (p *simulation) compare() {
	for _, k := range p.entities {
		var e entityhttp.Entity
		p.succeed("GET", query+"/entity/"+k.id, "", &e)
		if got := p.readStatus(k.id); got != k.shown || e.Version != k.version {
			p.t.Errorf("%s is %s at %d, want %s at %d", k.id, got, e.Version, k.shown, k.version)
		}
		p.expectProperties(k.properties, e.Properties)
	}
	for _, k := range p.drafts {
		var d entityhttp.EntityDraft
		p.succeed("GET", query+"/entity/"+k.of.id+"/draft/"+k.id, "", &d)
		difftest.Equal(p.t, fmt.Sprintf("draft %s", k.id), []any{string(k.status), k.version},
			[]any{d.Status, d.Version})
		p.expectProperties(k.properties, d.Properties)
	}
}

func (p *simulation) expectProperties(want map[string]string, properties map[string]entityhttp.Shown) {
	p.t.Helper()
	got := map[string]string{}
	for key, value := range properties {
		got[key] = *value.Value
	}
	difftest.Equal(p.t, "the result", want, got)
}
