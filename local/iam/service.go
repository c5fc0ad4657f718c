// Package iam holds the access keys of the local cloud and decides what their owners may do: a function or a state
// machine what its policies in the template allow, the operator everything that no resource's policy denies.
//
// Policies are evaluated as the IAM User Guide describes under "Policy evaluation logic". Only the elements, operators
// and principals that the template uses are supported. A policy with any other one is an error when it is read:
// skipping an element would allow or deny something that AWS does not.
package iam

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Key is an access key.
type Key struct{ ID, Secret string }

// Role is a function or a state machine that acts in its own name.
type Role struct {
	// Name is unique among the roles.
	Name string
	// Key is empty for a role that sends no signed requests.
	Key Key
	// Policies are the policy documents of the template, with intrinsic functions resolved.
	Policies []any
}

// Resource is a bucket or a KMS key, which may have a policy of its own.
type Resource struct {
	ARN string
	// Policy is a policy document, and nil for a resource without one.
	Policy any
}

// Permission lets an AWS service invoke a function on behalf of one resource, as an AWS::Lambda::Permission does.
type Permission struct {
	// Function is the ARN of the function.
	Function string
	// Service is the principal, such as events.amazonaws.com.
	Service string
	// Source is the ARN of the resource.
	Source string
}

// Config holds the policies and keys of a Service.
type Config struct {
	// Account is the account ID in the ARNs of principals.
	Account string
	// Operator is the key of the person who runs the local cloud, used by the command line and by tests.
	Operator Key
	// OperatorRole names the role whose ARN is the value of aws:PrincipalArn for the operator; empty for none. It is
	// for functions that run elsewhere with the operator's key.
	OperatorRole string
	Roles        []Role
	// Resources lists the resources whose own policies count.
	Resources   []Resource
	Permissions []Permission
	// OnDenied, if not nil, is called for every denial.
	OnDenied func(DeniedError)
}

// Service decides about requests and records the decisions. It is safe for concurrent use.
type Service struct {
	account           string
	operator          *Principal
	principalsByKeyID map[string]*Principal
	rolesByName       map[string]*Principal
	resourcePolicies  map[string][]*Statement
	permissions       []Permission
	onDenied          func(DeniedError)

	mu      sync.Mutex
	denials map[DeniedError]int
}

// New reads all policies. Its errors are sentences that begin with the role or the resource whose policy cannot be
// read.
func New(c Config) (*Service, error) {
	s := &Service{
		account: c.Account, principalsByKeyID: map[string]*Principal{}, rolesByName: map[string]*Principal{},
		resourcePolicies: map[string][]*Statement{}, permissions: c.Permissions, onDenied: c.OnDenied,
		denials: map[DeniedError]int{},
	}
	s.operator = &Principal{service: s, key: c.Operator, actsAs: c.OperatorRole}
	s.principalsByKeyID[c.Operator.ID] = s.operator
	for _, r := range c.Roles {
		if err := s.addRole(r); err != nil {
			return nil, fmt.Errorf("%s %w", r.Name, err)
		}
	}
	for _, r := range c.Resources {
		s.resourcePolicies[r.ARN] = nil
		if r.Policy == nil {
			continue
		}
		statements, err := parsePolicy(r.Policy)
		if err == nil {
			err = checkResourcePolicy(statements)
		}
		if err != nil {
			return nil, fmt.Errorf("%s %w", r.ARN, err)
		}
		s.resourcePolicies[r.ARN] = statements
	}
	return s, nil
}

// addRole reads the policies of a role.
func (s *Service) addRole(r Role) error {
	p := &Principal{service: s, Name: r.Name, key: r.Key, uses: map[use]int{}}
	for _, document := range r.Policies {
		statements, err := parsePolicy(document)
		if err == nil {
			err = checkIdentityPolicy(statements)
		}
		if err != nil {
			return err
		}
		p.statements = append(p.statements, statements...)
	}
	s.rolesByName[r.Name] = p
	if r.Key.ID != "" {
		s.principalsByKeyID[r.Key.ID] = p
	}
	return nil
}

// OperatorKey returns the access key of the operator.
func (s *Service) OperatorKey() Key { return s.operator.key }

// PrincipalByKey returns the owner of an access key.
func (s *Service) PrincipalByKey(keyID string) (*Principal, bool) {
	p, ok := s.principalsByKeyID[keyID]
	return p, ok
}

// RoleByName returns the principal of a role.
func (s *Service) RoleByName(name string) (*Principal, bool) {
	p, ok := s.rolesByName[name]
	return p, ok
}

// AuthorizeInvocation returns nil if an AWS service, such as events.amazonaws.com, may invoke a function on behalf of
// the resource source, and a DeniedError otherwise. Function and source are ARNs.
func (s *Service) AuthorizeInvocation(service, source, function string) error {
	if slices.Contains(s.permissions, Permission{Function: function, Service: service, Source: source}) {
		return nil
	}
	return s.deny(DeniedError{
		Principal: service, Action: "lambda:InvokeFunction", Resource: function,
		principalARN: service + " for " + source,
	})
}

// deny records a denial and returns it as the error.
func (s *Service) deny(d DeniedError) error {
	s.mu.Lock()
	s.denials[d]++
	s.mu.Unlock()
	if s.onDenied != nil {
		s.onDenied(d)
	}
	return d
}

// evaluateResourcePolicy evaluates the policy of the bucket or key on which a request acts.
func (s *Service) evaluateResourcePolicy(p *Principal, r Request) (Effect, *Statement) {
	arn := r.Resource
	if strings.HasPrefix(arn, "arn:aws:s3:::") {
		arn, _, _ = strings.Cut(arn, "/")
	}
	statements, known := s.resourcePolicies[arn]
	if !known && strings.HasPrefix(r.Action, "kms:") {
		return Allow, nil // KMS gives a key that is created without a policy one that names the account
	}
	named := []string{p.ARN(), p.RoleARN(), "arn:aws:iam::" + s.account + ":root", s.account}
	return evaluate(statementsFor(statements, named...), r)
}
