// Package iam knows the access keys of the local cloud and decides what each may do: a function what its policies in the
// template allow, the operator everything. It keeps a record of which statement allowed what.
package iam

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"sluice/local/policy"
)

// Operator is the access key of the one who runs the local cloud.
func (s *Service) Operator() Key { return s.operator.key }

// Key is an access key.
type Key struct{ ID, Secret string }

// Role is somebody who acts: a function or a state machine.
type Role struct {
	Name     string
	Key      Key // empty for one that makes no requests of its own
	Policies []any
}

// Resource is something with a policy of its own: a bucket or a key.
type Resource struct {
	ARN    string
	Policy any // nil for none
}

// Permission lets a service of AWS invoke a function, on behalf of one resource.
type Permission struct{ Function, Service, Source string }

// Config is what a Service needs.
type Config struct {
	Account   string
	Operator  Key // the command line, tests: it may do everything
	Roles     []Role
	Resources []Resource
	Permitted []Permission
	Denied    func(Denied) // told of every denial
}

// Service decides. It is safe for concurrent use.
type Service struct {
	account   string
	operator  *Principal
	keys      map[string]*Principal // by id of their access key
	roles     map[string]*Principal // by name
	resources map[string][]*policy.Statement
	permitted []Permission
	denied    func(Denied)

	mu       sync.Mutex
	refusals map[Denied]int
}

// New reads all policies. An error is a sentence that begins with a role or a resource.
func New(c Config) (*Service, error) {
	s := &Service{account: c.Account, keys: map[string]*Principal{}, roles: map[string]*Principal{},
		resources: map[string][]*policy.Statement{}, permitted: c.Permitted, denied: c.Denied, refusals: map[Denied]int{}}
	s.operator = &Principal{service: s, key: c.Operator}
	s.keys[c.Operator.ID] = s.operator
	for _, r := range c.Roles {
		p := &Principal{service: s, Name: r.Name, key: r.Key, used: map[use]int{}}
		for _, document := range r.Policies {
			statements, err := policy.Parse(document)
			if err != nil {
				return nil, fmt.Errorf("%s %w", r.Name, err)
			}
			p.statements = append(p.statements, statements...)
		}
		s.roles[r.Name] = p
		if r.Key.ID != "" {
			s.keys[r.Key.ID] = p
		}
	}
	for _, r := range c.Resources {
		s.resources[r.ARN] = nil
		if r.Policy == nil {
			continue
		}
		statements, err := policy.Parse(r.Policy)
		if err != nil {
			return nil, fmt.Errorf("%s %w", r.ARN, err)
		}
		s.resources[r.ARN] = statements
	}
	return s, nil
}

// ByKey returns whose access key it is.
func (s *Service) ByKey(id string) (*Principal, bool) {
	p, ok := s.keys[id]
	return p, ok
}

// ByName returns a role.
func (s *Service) ByName(name string) (*Principal, bool) {
	p, ok := s.roles[name]
	return p, ok
}

// Principal is a role, or the operator.
type Principal struct {
	Name string // empty for the operator

	service    *Service
	key        Key
	statements []*policy.Statement

	mu   sync.Mutex
	used map[use]int
}

type use struct {
	statement *policy.Statement
	action    string
}

// Key is the access key of the principal.
func (p *Principal) Key() Key { return p.key }

// Denied is the error of a request that is not allowed.
type Denied struct {
	Principal string `json:"principal"` // empty for the operator
	Action    string `json:"action"`
	Resource  string `json:"resource"`
	Statement string `json:"statement,omitempty"` // Sid of the statement that denies; empty where none allows
	arn       string
}

func (d Denied) Error() string {
	why := fmt.Sprintf("because no identity-based policy allows the %s action", d.Action)
	if d.Statement != "" {
		why = "with an explicit deny in the statement " + d.Statement
	}
	return fmt.Sprintf("User: %s is not authorized to perform: %s on resource: %s %s", d.arn, d.Action, d.Resource, why)
}

// Allow returns nil if the principal may do what it asks for, and Denied if not. A denial by the policy of the resource holds
// for the operator, too.
func (p *Principal) Allow(r policy.Request) error {
	own, statement := policy.Evaluate(p.statements, r)
	theirs, denying := p.service.ofResource(p, r)
	switch {
	case theirs == policy.Deny:
		return p.refuse(r, denying)
	case p.Name == "":
		return nil
	case own != policy.Allow:
		return p.refuse(r, statement)
	case theirs == policy.None && strings.HasPrefix(r.Action, "kms:"):
		// Unlike all others, a key belongs to those whom its own policy names: without the account there, no identity's policy counts.
		return p.refuse(r, nil)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used[use{statement, r.Action}]++
	return nil
}

// Forbidden returns Denied if the policy of the resource denies a request, whatever the principal's own policies say. It serves
// conditions that only the resource itself can answer, once it has been found.
func (p *Principal) Forbidden(r policy.Request) error {
	if effect, denying := p.service.ofResource(p, r); effect == policy.Deny {
		return p.refuse(r, denying)
	}
	return nil
}

// May tells what the principal's own policies say, and keeps no record of it.
func (p *Principal) May(r policy.Request) bool {
	own, _ := policy.Evaluate(p.statements, r)
	return p.Name == "" || own == policy.Allow
}

// Invocable tells whether a service of AWS may invoke a function (ARN) on behalf of one of its resources (ARN).
func (s *Service) Invocable(service, source, function string) error {
	if slices.Contains(s.permitted, Permission{function, service, source}) {
		return nil
	}
	return s.refuse(Denied{Principal: service, Action: "lambda:InvokeFunction", Resource: function, arn: service + " for " + source})
}

func (p *Principal) refuse(r policy.Request, by *policy.Statement) error {
	d := Denied{Principal: p.Name, Action: r.Action, Resource: r.Resource, arn: p.ARN()}
	if by != nil {
		d.Statement = by.Sid
	}
	return p.service.refuse(d)
}

func (s *Service) refuse(d Denied) error {
	s.mu.Lock()
	s.refusals[d]++
	s.mu.Unlock()
	if s.denied != nil {
		s.denied(d)
	}
	return d
}

// ARN is how messages name the principal.
func (p *Principal) ARN() string {
	if p.Name == "" {
		return "arn:aws:iam::" + p.service.account + ":root"
	}
	return "arn:aws:sts::" + p.service.account + ":assumed-role/" + p.Name + "/" + p.Name
}

// ofResource evaluates the policy of the bucket or key that a request is about.
func (s *Service) ofResource(p *Principal, r policy.Request) (policy.Effect, *policy.Statement) {
	arn := r.Resource
	if strings.HasPrefix(arn, "arn:aws:s3:::") {
		arn, _, _ = strings.Cut(arn, "/")
	}
	statements, known := s.resources[arn]
	if !known && strings.HasPrefix(r.Action, "kms:") {
		return policy.Allow, nil // a key made without a policy gets one that names the account
	}
	return policy.Evaluate(policy.For(statements, p.ARN(), "arn:aws:iam::"+s.account+":root"), r)
}
