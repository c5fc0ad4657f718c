// Package policysetup makes the parts of functions that edit or evaluate policies. It is separate from setup, so that
// only those functions are linked with it.
package policysetup

import (
	"github.com/google/uuid"

	"sluice/functions/setup"
	"sluice/shared/policy/evaluate"
	"sluice/shared/policy/policydb"
)

// NewPolicies returns the store of policies. It reads TABLE_POLICIES and BUCKET_WORK.
func NewPolicies(env setup.Env) *policydb.Store {
	return policydb.New(env.DynamoDB(), env.PoliciesTable, env.Work(), uuid.NewString)
}

// NewSensitiveKeys returns what finds the data keys that policies hide. It reads TABLE_POLICIES and BUCKET_WORK.
func NewSensitiveKeys(env setup.Env) *policydb.SensitiveKeys {
	return policydb.NewSensitiveKeys(NewPolicies(env))
}

// NewPrograms returns what compiles versions of policies and keeps their programs. It reads TABLE_POLICIES and
// BUCKET_WORK.
func NewPrograms(env setup.Env) *policydb.Programs[*evaluate.Program] {
	return policydb.NewPrograms(NewPolicies(env), evaluate.Compile, 0)
}
