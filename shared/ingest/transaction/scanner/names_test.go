package scanner_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/sampledata"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// collected is a transaction.Name as text.
type collected struct {
	Role       transaction.Role
	ExternalID string
	FullName   string
	// At is the name as the line has it at the offset.
	At string
}

func collectNames(t *testing.T, s *scanner.Scanner, line string) []collected {
	t.Helper()
	var out []collected
	for _, n := range s.Line([]byte(line)).Names {
		d := json.NewDecoder(bytes.NewReader([]byte(line)[n.Offset:]))
		var at string
		if err := d.Decode(&at); err != nil {
			t.Fatalf("no string at the offset %d of %s: %v", n.Offset, line, err)
		}
		out = append(out, collected{n.Role, string(n.ExternalID), string(n.FullName), at})
	}
	return out
}

func TestNamesAreCollected(t *testing.T) {
	one := func(role transaction.Role, id, name string) collected { return collected{role, id, name, name} }
	for _, test := range []struct {
		name, line string
		want       []collected
	}{
		{"of an unknown entity", `{"sender":{"external_entity_type":"unknown","unknown":{"external_id":"u1",` +
			`"full_name":"Ann Lee"}}}`,
			[]collected{one(transaction.Sender, "u1", "Ann Lee")}},
		{"in the order of the line", `{"receiving_partner":{"unknown":{"full_name":"B"}},"receiver":{"unknown":{` +
			`"full_name":"A"}}}`,
			[]collected{one(transaction.ReceivingPartner, "", "B"), one(transaction.Receiver, "", "A")}},
		{"without escapes", `{"sender":{"unknown":{"full_name":"Jos\u00e9 \"P\"","external_id":"\u0061"}}}`,
			[]collected{one(transaction.Sender, "a", `José "P"`)}},
		{"in other scripts", `{"sender":{"unknown":{"full_name":"Ольга"}}}`,
			[]collected{one(transaction.Sender, "", "Ольга")}},
		{"of an entity that is ambiguous", `{"sender":{"by_external_id":"x","unknown":{"full_name":"A"}}}`,
			[]collected{one(transaction.Sender, "", "A")}},
		{"not of what is no string", `{"sender":{"unknown":{"full_name":7}},"receiver":{"unknown":{"full_name":null}}}`,
			nil},
		{"not of other objects", `{"unknown":{"full_name":"A"},"modification":{"unknown":{"full_name":"A"}}}`, nil},
		{"not of broken JSON", `{"sender":{"unknown":{"full_name":"A"}},`, nil},
		{"not of a key given twice", `{"sender":{"unknown":{"full_name":"A","full_name":"B"}}}`, nil},
		{"of each role alone", `{"sender":{"unknown":{"full_name":"A","external_id":"1"}},"receiver":{"unknown":{` +
			`"external_id":"2"}}}`,
			[]collected{one(transaction.Sender, "1", "A")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := scanner.New(transaction.Rules{CollectNames: true})
			difftest.Equal(t, "names", test.want, collectNames(t, s, test.line))
			difftest.Len(t, "without being asked", 0, scanner.New(transaction.Rules{}).Line([]byte(test.line)).Names)
		})
	}
}

// Of generated lines, the names are those that another reader of JSON finds, and asking for them changes nothing else.
func TestNamesOfGeneratedLines(t *testing.T) {
	asked, plain := scanner.New(transaction.Rules{CollectNames: true}), scanner.New(transaction.Rules{})
	names := 0
	for i, line := range sampledata.Lines(2000, 5, 0.1) {
		want, got := plain.Line(line), asked.Line(line)
		if diff := cmp.Diff(want.Findings, got.Findings); diff != "" || want.MainEntity != got.MainEntity {
			t.Fatalf("line %d: the findings differ if names are collected:\n%s", i, diff)
		}
		if len(want.Findings) > 0 {
			continue
		}
		var decoded map[string]json.RawMessage
		errtest.Fatal(t, json.Unmarshal(line, &decoded))
		var texts []string
		for role := transaction.Sender; role <= transaction.ReceivingPartner; role++ {
			var party struct {
				Unknown struct {
					ID   string  `json:"external_id"`
					Name *string `json:"full_name"`
				} `json:"unknown"`
			}
			if decoded[role.Name()] == nil || json.Unmarshal(decoded[role.Name()], &party) != nil ||
				party.Unknown.Name == nil {
				continue
			}
			texts = append(texts, fmt.Sprint(role, party.Unknown.ID, *party.Unknown.Name))
		}
		var found []string
		for _, n := range got.Names {
			found = append(found, fmt.Sprint(n.Role, string(n.ExternalID), string(n.FullName)))
		}
		slices.Sort(found)
		slices.Sort(texts)
		if !slices.Equal(found, texts) {
			t.Fatalf("line %d: got the names %q, want %q", i, found, texts)
		}
		names += len(found)
	}
	if names == 0 {
		t.Error("no line has a name")
	}
}
