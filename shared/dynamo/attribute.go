// Package dynamo is the tool kit of the stores: attributes and items, reads and writes of many items, retries, paging keys. It
// knows no area; each store lies beside its domain (entity/entitydb, and so on).
package dynamo

import (
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type Item = map[string]types.AttributeValue

func String(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func Number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func StringList(names []string) types.AttributeValue {
	values := make([]types.AttributeValue, len(names))
	for i, n := range names {
		values[i] = String(n)
	}
	return &types.AttributeValueMemberL{Value: values}
}

// StringAttribute is "" for an attribute that is absent or of another type.
func StringAttribute(row Item, name string) string {
	s, _ := row[name].(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

// FormatTime writes a time as RFC 3339 in UTC with nanoseconds; "" for none.
func FormatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func ParseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339Nano, s)
}
