package openapi_test

import (
	"bytes"
	"os"
	"testing"

	"sluice/openapi"
	"sluice/openapi/wire"
	"sluice/shared/kit/errtest"
)

// Package wire has the types and the list of operations of the current description.
func TestTheTypesAreCurrent(t *testing.T) {
	schemas := errtest.Must(load(t).Types())(t)
	file := "wire/" + openapi.TypesFile
	types := errtest.Must(os.ReadFile(file))(t)
	if !bytes.Equal(types, openapi.SignTypes(types, schemas)) {
		t.Errorf("openapi/%s is not what openapi/*.yaml say: make description rewrites it", file)
	}
	if operations := load(t).OperationList(); string(operations) != wire.Operations {
		t.Error("openapi/wire/operations.txt is not what openapi/*.yaml say: make description rewrites it")
	}
}
