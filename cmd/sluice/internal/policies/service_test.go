package policies

import (
	"fmt"
	"testing"

	"sluice/client"
	"sluice/openapi/wire"
	"sluice/shared/kit/difftest"
)

// The message about a type that has several policies names a few of them, however many there are.
func TestAmbiguousPolicy(t *testing.T) {
	var found []client.Policy
	for i := range 200 {
		found = append(found, client.Policy{Policy: wire.Policy{EntityPolicyID: fmt.Sprintf("id%d", i)}})
	}
	for n, want := range map[int]string{
		2: "there are 2 policies for the type Company: name one by its ID, id0, id1",
		5: "there are 5 policies for the type Company: name one by its ID, id0, id1, id2, id3, id4",
		200: "there are 200 policies for the type Company: name one by its ID, id0, id1, id2, id3, id4 and others; " +
			"'sluice policy list' has all",
	} {
		difftest.Equal(t, fmt.Sprintf("%d policies", n), want, ambiguousPolicy("Company", found[:n]).Error())
	}
}
