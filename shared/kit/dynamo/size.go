package dynamo

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

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
