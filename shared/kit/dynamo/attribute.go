// Package dynamo is the tool kit of the stores: attributes of items, reads and writes of many items, conditions,
// retries and paging keys. It knows no area. The store of an area lies beside its domain: batch/batchdb,
// entity/entitydb and so on.
package dynamo

import (
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item is an item of a table: its attributes by name.
type Item = map[string]types.AttributeValue

// String returns a string attribute.
func String(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// Number returns a number attribute.
func Number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// Binary returns a binary attribute. It keeps b.
func Binary(b []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} }

// Bool returns a boolean attribute.
func Bool(b bool) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: b} }

// StringList returns a list attribute of strings.
func StringList(values []string) types.AttributeValue {
	list := make([]types.AttributeValue, len(values))
	for i, v := range values {
		list[i] = String(v)
	}
	return &types.AttributeValueMemberL{Value: list}
}

// StringAttribute returns the string attribute of that name, "" if the item does not have it.
func StringAttribute(item Item, name string) string {
	if s, ok := item[name].(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// NumberAttribute returns the number attribute of that name, 0 if it is missing or no 64-bit integer.
func NumberAttribute(item Item, name string) int64 {
	if n, ok := item[name].(*types.AttributeValueMemberN); ok {
		if parsed, err := strconv.ParseInt(n.Value, 10, 64); err == nil {
			return parsed
		}
	}
	return 0
}

// BinaryAttribute returns the binary attribute of that name, nil if the item does not have it.
func BinaryAttribute(item Item, name string) []byte {
	if b, ok := item[name].(*types.AttributeValueMemberB); ok {
		return b.Value
	}
	return nil
}

// FormatTime returns t as tables store it: RFC 3339 in UTC with up to nine digits of a second, "" for the zero time.
func FormatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// ParseTime is the inverse of FormatTime.
func ParseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339Nano, s)
}
