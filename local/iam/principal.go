package iam

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Principal is a role, or the operator.
type Principal struct {
	// Name is the name of the role, and empty for the operator.
	Name string

	service    *Service
	key        Key
	statements []*Statement
	// actsAs is the name of the role that RoleARN returns for the operator; empty for none.
	actsAs string

	mu   sync.Mutex
	uses map[use]int
}

// use identifies an action that a statement has allowed.
type use struct {
	statement *Statement
	action    string
}

// DeniedError is the error of a request that is not allowed.
type DeniedError struct {
	// Principal is the name of the role or service, and empty for the operator.
	Principal string `json:"principal"`
	Action    string `json:"action"`
	Resource  string `json:"resource"`
	// Statement is the Sid of the statement that denies, and empty if no statement allows.
	Statement string `json:"statement,omitempty"`

	principalARN string
}

// Error returns the message in the words of AWS.
func (d DeniedError) Error() string {
	reason := fmt.Sprintf("because no identity-based policy allows the %s action", d.Action)
	if d.Statement != "" {
		reason = "with an explicit deny in the statement " + d.Statement
	}
	return fmt.Sprintf("User: %s is not authorized to perform: %s on resource: %s %s", d.principalARN, d.Action,
		d.Resource, reason)
}

// IsOperator reports whether the principal is the operator, who needs no permission.
func (p *Principal) IsOperator() bool { return p.Name == "" }

// Key returns the access key of the principal.
func (p *Principal) Key() Key { return p.key }

// ARN returns the name of the principal in messages and in the policies of resources.
func (p *Principal) ARN() string {
	if p.IsOperator() {
		return "arn:aws:iam::" + p.service.account + ":root"
	}
	return "arn:aws:sts::" + p.service.account + ":assumed-role/" + p.Name + "/" + p.Name
}

// RoleARN returns the name of the principal's role, which is the value of the condition key aws:PrincipalArn.
func (p *Principal) RoleARN() string {
	name := p.Name
	if p.IsOperator() {
		name = p.actsAs
	}
	if name == "" {
		return p.ARN()
	}
	return "arn:aws:iam::" + p.service.account + ":role/" + name
}

// Authorize returns nil if the principal may perform a request, and a DeniedError otherwise. A denial by the policy of
// the resource binds the operator as well. The decision is recorded for Report.
func (p *Principal) Authorize(r Request) error {
	identityEffect, identityStatement := evaluate(p.statements, r)
	resourceEffect, resourceStatement := p.service.evaluateResourcePolicy(p, r)
	switch {
	case resourceEffect == Deny:
		return p.deny(r, resourceStatement)
	case p.IsOperator():
		return nil
	case identityEffect != Allow:
		return p.deny(r, identityStatement)
	case resourceEffect == NoDecision && strings.HasPrefix(r.Action, "kms:"):
		// Access to a KMS key begins with the key's own policy: unless that names the account, no policy of an identity
		// counts.
		return p.deny(r, nil)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.uses[use{identityStatement, r.Action}]++
	return nil
}

// AuthorizeByResource returns a DeniedError if the policy of the resource denies a request, and nil otherwise; the
// policies of the principal are not considered. It serves conditions, such as those on tags, that can be checked only
// when the resource has been found.
func (p *Principal) AuthorizeByResource(r Request) error {
	if effect, statement := p.service.evaluateResourcePolicy(p, r); effect == Deny {
		return p.deny(r, statement)
	}
	return nil
}

// IsAllowed reports whether the principal's own policies allow a request. The answer is not recorded.
func (p *Principal) IsAllowed(r Request) bool {
	effect, _ := evaluate(p.statements, r)
	return p.IsOperator() || effect == Allow
}

// deny records the denial of a request, by a statement unless that is nil, and returns it as the error.
func (p *Principal) deny(r Request, by *Statement) error {
	d := DeniedError{Principal: p.Name, Action: r.Action, Resource: r.Resource, principalARN: p.ARN()}
	if by != nil {
		d.Statement = by.Sid
	}
	return p.service.deny(d)
}

// ReportPath is the path at which the AWS endpoint serves the report.
const ReportPath = "/_sluice/policies"

// Report shows how often each permission has been used since the start, and what was denied.
type Report struct {
	// Statements has an entry for each action of each statement of every role, in a fixed order.
	Statements []Grant  `json:"statements"`
	Denied     []Denial `json:"denied"`
}

// Grant is an action that a statement allows, as written in the policy.
type Grant struct {
	Principal string `json:"principal"`
	// Statement is the number of the statement among all policies of the principal, counted from 1.
	Statement int    `json:"statement"`
	Sid       string `json:"sid"`
	Action    string `json:"action"`
	// Count is the number of requests that the statement has allowed by this action.
	Count int `json:"count"`
}

// Denial is a request that was denied.
type Denial struct {
	DeniedError
	// Count is the number of times it was denied.
	Count int `json:"count"`
}

// Report returns all decisions since the start.
func (s *Service) Report() Report {
	out := Report{Statements: []Grant{}, Denied: []Denial{}}
	for _, p := range s.rolesByName {
		out.Statements = append(out.Statements, p.grants()...)
	}
	slices.SortStableFunc(out.Statements, func(a, b Grant) int {
		return cmp.Or(cmp.Compare(a.Principal, b.Principal), cmp.Compare(a.Statement, b.Statement))
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	for d, n := range s.denials {
		out.Denied = append(out.Denied, Denial{d, n})
	}
	slices.SortFunc(out.Denied, func(a, b Denial) int {
		return cmp.Or(cmp.Compare(a.Principal, b.Principal), cmp.Compare(a.Action, b.Action),
			cmp.Compare(a.Resource, b.Resource))
	})
	return out
}

// grants returns the entries of the principal in the report.
func (p *Principal) grants() []Grant {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Grant
	for i, statement := range p.statements {
		for _, action := range statement.Actions {
			out = append(out, Grant{p.Name, i + 1, statement.Sid, action, p.countUses(statement, action)})
		}
	}
	return out
}

// countUses returns how often a statement has allowed something by one of its actions.
func (p *Principal) countUses(statement *Statement, action string) (n int) {
	for used, times := range p.uses {
		if used.statement == statement && MatchWildcard(action, used.action) {
			n += times
		}
	}
	return n
}

// ServeHTTP sends the report as JSON.
func (s *Service) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s.Report())
}
