package e2e

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// importCounts are the numbers that an import prints.
type importCounts struct {
	Created        int `json:"created"`
	StatusChanged  int `json:"status_changed"`
	ProfileChanged int `json:"profile_changed"`
	Unchanged      int `json:"unchanged"`
	Refused        int `json:"refused"`
}

// importFile imports lines for the environment's own tenant and returns what the command printed.
func importFile(t *testing.T, flags []string, lines ...string) importCounts {
	t.Helper()
	path := writeFile(t, "entities.jsonl", strings.Join(lines, "\n"))
	var out struct {
		importCounts
		TenantID string `json:"tenant_id"`
		Imported int    `json:"imported"`
	}
	must(t, environment.admin(&out, append([]string{"entities", "import", path}, flags...)...))
	return out.importCounts
}

type listedEntity struct {
	ID              string
	Type            string
	Name            string
	LifecycleStatus string
	Version         int
}

// listEntities reads all pages of the list of entities whose name begins with a text.
func (s *session) listEntities(name, pageSize string) []listedEntity {
	s.t.Helper()
	var all []listedEntity
	for token := ""; ; {
		parameters := url.Values{"name": {name}, "pageSize": {pageSize}}
		if token != "" {
			parameters.Set("paginationToken", token)
		}
		var page struct {
			Items           []listedEntity
			PaginationToken *string
		}
		s.mustCall("GET", entityQuery+"/entity?"+parameters.Encode(), "", &page)
		if all = append(all, page.Items...); page.PaginationToken == nil {
			return all
		}
		token = *page.PaginationToken
	}
}

// Imported entities are whole: they have type, role, name, time of creation and version, can be listed and searched,
// and the import says what it changes.
func TestImportedEntitiesAreWhole(t *testing.T) {
	api := begin(t)
	name := "Import " + uuid.NewString()
	line := func(i int, status string) string {
		return fmt.Sprintf(`{"id":"%s %d","status":%q,"type":"Company","targetEntity":"Related Party",`+
			`"properties":{"name":{"type":"Single","value":"%s %d"}}}`, name, i, status, name, i)
	}
	lines := []string{line(1, "Compliant"), line(2, "Compliant"), line(3, "ClientOffboarded")}
	if got := importFile(t, nil, lines...); got != (importCounts{Created: 3}) {
		t.Errorf("the first import: %+v, want 3 created", got)
	}
	want := importCounts{Unchanged: 1, StatusChanged: 1, ProfileChanged: 1}
	if got := importFile(t, nil, lines[0], line(2, "PendingOffboarding"),
		strings.Replace(lines[2], "Company", "Individual", 1)); got != want {
		t.Errorf("the second import: %+v, want %+v", got, want)
	}
	var entity struct {
		Type, Role, LifecycleStatus string
		Created                     *string
		Version                     int
	}
	api.mustCall("GET", entityQuery+"/entity/"+url.PathEscape(name+" 2"), "", &entity)
	assert(t, entity.Type == "Company" && entity.Role == "Related Party" &&
		entity.LifecycleStatus == "PendingOffboarding" && entity.Created != nil && entity.Version == 1,
		"got %+v, want the whole entity", entity)
	for _, pageSize := range []string{"1", "500"} {
		got := api.listEntities(strings.ToUpper(name), pageSize)
		assert(t, len(got) == 3 && got[1] == (listedEntity{name + " 2", "Company", name + " 2", "PendingOffboarding",
			1}) && got[2].Type == "Individual", "listed in pages of %s: %+v, want the 3 entities", pageSize, got)
	}
}

// An import leaves an entity that was made on the platform alone, unless it is told to overwrite.
func TestImportLeavesPlatformMadeEntitiesAlone(t *testing.T) {
	api := begin(t)
	id := api.newEntity("")
	line := fmt.Sprintf(`{"id":%q,"status":"ClientOffboarded"}`, id)
	var entity struct{ LifecycleStatus string }
	for _, c := range []struct {
		flags  []string
		want   importCounts
		status string
	}{
		{nil, importCounts{Refused: 1}, "Unknown"},
		{[]string{"--overwrite"}, importCounts{StatusChanged: 1}, "ClientOffboarded"},
	} {
		got := importFile(t, c.flags, line)
		if api.mustCall("GET", entityQuery+"/entity/"+id, "", &entity); got != c.want ||
			entity.LifecycleStatus != c.status {
			t.Errorf("import with %v: %+v, the entity is %s, want %+v, %s", c.flags, got, entity.LifecycleStatus,
				c.want, c.status)
		}
	}
}
