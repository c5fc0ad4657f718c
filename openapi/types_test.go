package openapi_test

import (
	"bytes"
	"os"
	"testing"

	"sluice/openapi"
)

// The types of package wire are those of the description, as the generator has made them.
func TestTheTypesAreCurrent(t *testing.T) {
	schemas, err := load(t).Types()
	if err != nil {
		t.Fatal(err)
	}
	file := "wire/" + openapi.TypesFile
	types, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(types, openapi.SignTypes(types, schemas)) {
		t.Errorf("openapi/%s is not what openapi/*.yaml say: make description rewrites it", file)
	}
}
