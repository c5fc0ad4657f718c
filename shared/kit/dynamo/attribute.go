// Package dynamo is the tool kit of the stores: attributes of items, reads and writes of many items, conditions,
// retries and paging keys. It knows no area. The store of an area lies beside its domain: batch/batchdb,
// entity/entitydb and so on.
package dynamo

import (
	"strconv"
	"strings"
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

// ItemSize returns the size of an item as DynamoDB counts it for capacity and storage, for the kinds of attributes that
// stores use: the bytes of names and values, about one byte for two digits of a number, and 3 bytes and one for each
// member of a map or list ("DynamoDB item sizes and formats" in its developer guide).
func ItemSize(item Item) int {
	size := 0
	for name, value := range item {
		size += len(name) + valueSize(value)
	}
	return size
}

func valueSize(value types.AttributeValue) int {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return numberSize(v.Value)
	case *types.AttributeValueMemberSS:
		return len(strings.Join(v.Value, ""))
	case *types.AttributeValueMemberL:
		size := 3
		for _, member := range v.Value {
			size += 1 + valueSize(member)
		}
		return size
	case *types.AttributeValueMemberM:
		size := 3 + len(v.Value)
		for name, member := range v.Value {
			size += len(name) + valueSize(member)
		}
		return size
	}
	return 1 // null or a boolean
}

// numberSize returns the size of a number: one byte, one for each pair of significant digits, and one for a sign.
func numberSize(number string) int {
	digits := strings.Trim(strings.ReplaceAll(strings.TrimPrefix(number, "-"), ".", ""), "0")
	size := 1 + (len(digits)+1)/2
	if strings.HasPrefix(number, "-") {
		size++
	}
	return size
}

// UnitBytes is the size of the part of an item that one write unit pays for.
const UnitBytes = 1 << 10

// WriteUnits returns the write units that a write of an item takes; a transaction takes twice as many.
func WriteUnits(itemSize int) int { return max(1, (itemSize+UnitBytes-1)/UnitBytes) }
