package capacity

import (
	"encoding/base64"
	"encoding/json"
	"math"
)

// unitsOf returns the units that writing a new item consumes: one for each KB or part of it.
func unitsOf(item json.RawMessage) float64 {
	var attributes map[string]json.RawMessage
	if json.Unmarshal(item, &attributes) != nil {
		return 1
	}
	size := 0
	for name, value := range attributes {
		size += len(name) + sizeOf(value)
	}
	return max(math.Ceil(float64(size)/1024), 1)
}

// sizeOf returns the size of a value in bytes, as "DynamoDB item sizes and formats" describes it.
func sizeOf(value json.RawMessage) int {
	var v struct {
		S, N   *string
		B      *string
		SS, NS []string
		BS     []string
		L      []json.RawMessage
		M      map[string]json.RawMessage
	}
	if json.Unmarshal(value, &v) != nil {
		return 1
	}
	size := 0
	switch {
	case v.S != nil:
		return len(*v.S)
	case v.N != nil:
		return sizeOfNumber(*v.N)
	case v.B != nil:
		return base64.StdEncoding.DecodedLen(len(*v.B))
	case v.L != nil:
		for _, element := range v.L {
			size += 1 + sizeOf(element)
		}
		return 3 + size
	case v.M != nil:
		for name, element := range v.M {
			size += 1 + len(name) + sizeOf(element)
		}
		return 3 + size
	}
	for _, s := range v.SS {
		size += len(s)
	}
	for _, n := range v.NS {
		size += sizeOfNumber(n)
	}
	for _, b := range v.BS {
		size += base64.StdEncoding.DecodedLen(len(b))
	}
	return max(size, 1) // a Boolean and null have one byte
}

// sizeOfNumber returns the size of a number: about one byte for two digits, and one more.
func sizeOfNumber(n string) int { return (len(n)+1)/2 + 1 }
