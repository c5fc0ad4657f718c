package iam

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"

	"sluice/local/policy"
)

// ReportPath is where the endpoint serves the report.
const ReportPath = "/_sluice/policies"

// Report is what the policies were used for since the start.
type Report struct {
	Statements []Grant   `json:"statements"` // each action of each statement of every role, in a fixed order
	Denied     []Refusal `json:"denied"`
}

// Grant is an action that a statement allows, as written there.
type Grant struct {
	Principal string `json:"principal"`
	Statement int    `json:"statement"` // counted from 1 over all policies of the principal
	Sid       string `json:"sid"`
	Action    string `json:"action"`
	Count     int    `json:"count"` // how often it allowed something
}

// Refusal is something that was denied.
type Refusal struct {
	Denied
	Count int `json:"count"`
}

// Report tells what has been allowed and denied so far.
func (s *Service) Report() Report {
	out := Report{Statements: []Grant{}, Denied: []Refusal{}}
	for _, p := range s.roles {
		p.mu.Lock()
		for i, statement := range p.statements {
			for _, action := range statement.Actions {
				out.Statements = append(out.Statements, Grant{p.Name, i + 1, statement.Sid, action, p.count(statement, action)})
			}
		}
		p.mu.Unlock()
	}
	slices.SortStableFunc(out.Statements, func(a, b Grant) int {
		return cmp.Or(cmp.Compare(a.Principal, b.Principal), cmp.Compare(a.Statement, b.Statement))
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	for d, n := range s.refusals {
		out.Denied = append(out.Denied, Refusal{d, n})
	}
	slices.SortFunc(out.Denied, func(a, b Refusal) int {
		return cmp.Or(cmp.Compare(a.Principal, b.Principal), cmp.Compare(a.Action, b.Action), cmp.Compare(a.Resource, b.Resource))
	})
	return out
}

func (p *Principal) count(statement *policy.Statement, action string) (n int) {
	for used, times := range p.used {
		if used.statement == statement && policy.Matches(action, used.action) {
			n += times
		}
	}
	return n
}

// ServeHTTP gives the report as JSON. It names nothing secret and asks for no key.
func (s *Service) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s.Report())
}
