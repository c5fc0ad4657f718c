package dynamo_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo"
)

func TestItemSize(t *testing.T) {
	for name, test := range map[string]struct {
		value types.AttributeValue
		want  int
	}{
		"string":      {dynamo.String("é"), 2},
		"binary":      {dynamo.Binary(make([]byte, 7)), 7},
		"zero":        {dynamo.Number(0), 1},
		"one digit":   {dynamo.Number(7), 2},
		"two digits":  {dynamo.Number(42), 2},
		"five digits": {dynamo.Number(12345), 4},
		"thousand":    {dynamo.Number(1000), 2},
		"negative":    {dynamo.Number(-12), 3},
		"boolean":     {&types.AttributeValueMemberBOOL{Value: true}, 1},
		"set":         {&types.AttributeValueMemberSS{Value: []string{"ab", "c"}}, 3},
		"list":        {&types.AttributeValueMemberL{Value: []types.AttributeValue{dynamo.String("ab")}}, 6},
		"map":         {&types.AttributeValueMemberM{Value: dynamo.Item{"k": dynamo.String("ab")}}, 7},
	} {
		difftest.Equal(t, name+": bytes", test.want, dynamo.ItemSize(dynamo.Item{"name": test.value})-len("name"))
	}
	for size, want := range map[int]int{0: 1, 1: 1, 1024: 1, 1025: 2, 2048: 2, 2049: 3} {
		difftest.Equal(t, fmt.Sprintf("an item of %d bytes takes: units", size), want, dynamo.WriteUnits(size))
	}
}
