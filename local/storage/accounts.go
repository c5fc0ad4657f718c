package storage

import (
	"errors"
	"strings"

	"github.com/versity/versitygw/auth"

	"sluice/local/iam"
	"sluice/local/policy"
)

// accounts tells the gateway which access keys there are, and what the policies of their owners say. The gateway works out what
// a request asks for: the actions, a copy's source, each object of a deletion, the signer of a signed URL.
type accounts struct{ iam *iam.Service }

var _ auth.PolicyEvaluator = accounts{}

var errFixed = auth.ErrNoSuchUser

func (a accounts) GetUserAccount(id string) (auth.Account, error) {
	who, ok := a.iam.ByKey(id)
	if !ok {
		return auth.Account{}, auth.ErrNoSuchUser
	}
	role := auth.RoleUser
	if who.Name == "" {
		role = auth.RoleAdmin
	}
	return auth.Account{Access: who.Key().ID, Secret: who.Key().Secret, Role: role}, nil
}

// EvaluatePolicy decides about every action on every resource.
func (a accounts) EvaluatePolicy(access, _ string, actions []auth.Action, resources []string, condition map[string][]string) (auth.PolicyEvaluation, error) {
	who, ok := a.iam.ByKey(access)
	if !ok {
		return auth.PolicyEvaluation{}, auth.ErrNoSuchUser
	}
	out := auth.PolicyEvaluation{PrincipalArn: who.ARN()}
	for _, resource := range resources {
		for i, action := range actions {
			err := who.Allow(policy.Request{Action: string(action), Resource: resource, Value: values(condition)})
			decide(&out.Decisions, i == 0, err)
		}
	}
	return out, nil
}

// The gateway's decisions, whose type it does not export.
const (
	noMatch = iota
	allow
	deny
)

func decide[Decision ~int](matrix *[][]Decision, next bool, err error) {
	if next {
		*matrix = append(*matrix, nil)
	}
	decision := Decision(allow)
	var denied iam.Denied
	if errors.As(err, &denied) {
		if decision = noMatch; denied.Statement != "" {
			decision = deny
		}
	}
	row := &(*matrix)[len(*matrix)-1]
	*row = append(*row, decision)
}

// values answers for condition keys. There is no TLS within a machine: what asks for it is content here.
func values(condition map[string][]string) func(key string) []string {
	return func(key string) []string {
		if key == "aws:securetransport" {
			return []string{"true"}
		}
		for name, values := range condition {
			if strings.EqualFold(name, key) {
				return values
			}
		}
		return nil
	}
}

func (a accounts) ResolveAccounts(ids []string) ([]string, error) {
	var unknown []string
	for _, id := range ids {
		if _, err := a.GetUserAccount(id); err != nil {
			unknown = append(unknown, id)
		}
	}
	return unknown, nil
}

func (a accounts) ListUserAccounts() ([]auth.Account, error) { return nil, nil }

// The accounts are those of the template; nobody can change them.

func (accounts) CreateAccount(auth.Account) error                  { return errFixed }
func (accounts) UpdateUserAccount(string, auth.MutableProps) error { return errFixed }
func (accounts) DeleteUserAccount(string) error                    { return errFixed }
func (accounts) Shutdown() error                                   { return nil }
