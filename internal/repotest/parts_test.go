package repotest

import (
	"strings"
	"testing"
)

// partArrows are the imports between the parts of the service, which are the folders of shared, each with its reason.
// None leads back to a part that leads to it.
var partArrows = map[[2]string]string{
	{"access", "kit"}:         "Tokens, limits and the audit trail are kept in DynamoDB and signed by KMS.",
	{"ingest", "access"}:      "A batch is a tenant's: its requests are authorized, limited and audited.",
	{"ingest", "kit"}:         "Batches are files in S3, rows in DynamoDB and executions of a state machine.",
	{"platform", "access"}:    "Entities and documents have owners and access layers.",
	{"platform", "kit"}:       "Entities and documents are kept in DynamoDB and S3.",
	{"platform", "ingest"}:    "The files of documents are scanned as the uploads of batches are.",
	{"connect", "access"}:     "Webhooks and configurations of authentication are a tenant's.",
	{"connect", "kit"}:        "Deliveries are executions of a state machine, and their secrets are sealed.",
	{"connect", "ingest"}:     "The end of a batch is announced on the event bus and to webhooks.",
	{"screening", "access"}:   "Screenings are a tenant's, and their matches have access layers.",
	{"screening", "kit"}:      "Lists and screenings are kept in DynamoDB and S3.",
	{"screening", "platform"}: "What is screened are entities, and documents are evidence.",
	{"screening", "connect"}:  "Adapters are called over the way out, and matches are announced as events.",
	{"policy", "access"}:      "Policies are a tenant's, and who may change one is a matter of permissions.",
	{"policy", "kit"}:         "Policies are kept in DynamoDB and S3.",
	{"policy", "platform"}:    "Rules read the properties of entities and documents.",
	{"policy", "screening"}:   "Rules read the matches of screenings.",
}

// partOf returns the part of the service that a package belongs to, "" for what is outside shared.
func partOf(folder string) string {
	rest, isShared := strings.CutPrefix(folder, "shared/")
	if !isShared {
		return ""
	}
	part, _, _ := strings.Cut(rest, "/")
	return part
}

// The parts import each other only as partArrows says, and each of its arrows is in use.
func TestParts(t *testing.T) {
	unused := map[[2]string]bool{}
	for arrow := range partArrows {
		unused[arrow] = true
	}
	for _, p := range modulePackages(t) {
		folder := folderOf(p)
		if layerOf(folder) == testLayer {
			continue
		}
		for imported := range p.Imports {
			other := strings.TrimPrefix(imported, modulePath+"/")
			arrow := [2]string{partOf(folder), partOf(other)}
			switch {
			case arrow[0] == "" || arrow[1] == "" || arrow[0] == arrow[1]:
			case partArrows[arrow] != "":
				delete(unused, arrow)
			default:
				t.Errorf("%s imports %s: the part %s does not import %s", folder, other, arrow[0], arrow[1])
			}
		}
	}
	for arrow := range unused {
		t.Errorf("no import needs the entry for %s and %s", arrow[0], arrow[1])
	}
}

// A part that leads to another one is not led to by it, over any number of arrows.
func TestPartsHaveNoCircle(t *testing.T) {
	var reaches func(from, to string, steps int) bool
	reaches = func(from, to string, steps int) bool {
		for arrow := range partArrows {
			if arrow[0] == from && (arrow[1] == to || steps > 0 && reaches(arrow[1], to, steps-1)) {
				return true
			}
		}
		return false
	}
	const parts = 7
	for arrow := range partArrows {
		if reaches(arrow[0], arrow[0], parts) {
			t.Errorf("the part %s leads back to itself", arrow[0])
		}
	}
}
