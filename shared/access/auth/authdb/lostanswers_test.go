package authdb_test

import (
	"testing"

	"sluice/shared/access/auth"
	"sluice/shared/access/auth/authdb"
	"sluice/shared/access/auth/authtest"
	"sluice/shared/kit/dynamo/dynamotest"
)

// A client or tenant whose creation was answered too late is created, and not there before: its secret is shown once.
func TestLostAnswers(t *testing.T) {
	authtest.Conform(t, func(t *testing.T) auth.Registry {
		return authdb.New(dynamotest.Forgetful(dynamotest.Start(t)), "test-clients")
	})
}
