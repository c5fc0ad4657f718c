package evaluate

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxValueDepth is how deep a data source can be nested. Deeper values are ignored.
const maxValueDepth = 16

// sourceValue is a parsed part of a data source.
type sourceValue struct {
	kind sourceValueKind
	// text is a scalar as text: numbers without an exponent where possible, booleans as true and false.
	text    string
	members map[string]*sourceValue
	list    []*sourceValue
}

type sourceValueKind byte

const (
	nullValue sourceValueKind = iota
	scalarValue
	objectValue
	listValue
)

// parseValue parses a data source. It returns nil if there is none, or if it is not JSON.
func parseValue(source jsontext.Value) *sourceValue {
	if len(source) == 0 {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(source))
	v, err := decodeValue(d, 0)
	if err != nil {
		return nil
	}
	return v
}

// decodeValue decodes the next value. It returns nil for one that is nested too deep.
func decodeValue(d *jsontext.Decoder, depth int) (*sourceValue, error) {
	if depth > maxValueDepth {
		return nil, d.SkipValue()
	}
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '{':
		v := &sourceValue{kind: objectValue, members: map[string]*sourceValue{}}
		for d.PeekKind() != '}' {
			name, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			key := name.String()
			member, err := decodeValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			if member != nil {
				v.members[key] = member
			}
		}
		_, err = d.ReadToken()
		return v, err
	case '[':
		v := &sourceValue{kind: listValue}
		for d.PeekKind() != ']' {
			element, err := decodeValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			if element != nil {
				v.list = append(v.list, element)
			}
		}
		_, err = d.ReadToken()
		return v, err
	case 'n':
		return &sourceValue{}, nil
	case '0':
		return &sourceValue{kind: scalarValue, text: withoutExponent(token.String())}, nil
	default:
		return &sourceValue{kind: scalarValue, text: token.String()}, nil
	}
}

// maxExponent bounds the exponent of a number in a data source, positive or negative. A number beyond it is kept as it
// is written and compared as a text. The bound also limits the memory that a number takes.
const maxExponent = 40

// withoutExponent returns a JSON number written without an exponent, or as it is if the exponent is beyond maxExponent.
func withoutExponent(s string) string {
	i := strings.IndexAny(s, "eE")
	if i < 0 {
		return s
	}
	exponent, err := strconv.Atoi(s[i+1:])
	if err != nil || exponent < -maxExponent || exponent > maxExponent {
		return s
	}
	return shift(s[:i], exponent)
}

// shift returns a decimal number times 10 to the power of by, by moving its point.
func shift(s string, by int) string {
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	zeros := strings.Repeat("0", max(by, -by))
	if by >= 0 {
		moved := fraction + zeros
		whole, fraction = whole+moved[:by], moved[by:max(by, len(fraction))]
	} else {
		moved := zeros + whole
		whole, fraction = moved[:len(moved)+by], moved[len(moved)+by:]+fraction
	}
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return sign + whole + fraction
}

// member returns the member of an object, nil if there is none.
func (v *sourceValue) member(name string) *sourceValue {
	if v == nil || v.kind != objectValue {
		return nil
	}
	return v.members[name]
}

// scalar returns the text of a scalar, "" for everything else.
func (v *sourceValue) scalar() string {
	if v == nil || v.kind != scalarValue {
		return ""
	}
	return v.text
}

// lookup returns the node of a name: in the properties of an object, if it has them, otherwise among its members.
func (v *sourceValue) lookup(name string) node {
	if v.kind != objectValue {
		return node{}
	}
	if properties := v.member("properties"); properties != nil {
		if found := properties.lookupKey(name); found != nil {
			return node{value: found.withID(v.member("propertiesInfo").member(name).member("valueId"))}
		}
	}
	if found := v.lookupKey(name); found != nil {
		return node{value: found}
	}
	return node{}
}

// lookupKey returns the property of an object, which can be in split form.
func (v *sourceValue) lookupKey(name string) *sourceValue {
	for _, kind := range [...]string{"singleProperties", "collectionProperties", "customProperties"} {
		if found := v.member(kind).member(name); found != nil {
			return found
		}
	}
	return v.member(name)
}

// withID returns a scalar with the ID of its list entry.
func (v *sourceValue) withID(id *sourceValue) *sourceValue {
	if v.kind == objectValue || v.kind == listValue || id == nil {
		return v
	}
	return &sourceValue{kind: objectValue, members: map[string]*sourceValue{"value": v, "valueId": id}}
}

// elements returns the elements of a list, or the items of a collection in one of its forms.
func (v *sourceValue) elements() ([]node, bool) {
	switch v.kind {
	case listValue:
		out := make([]node, len(v.list))
		for i, element := range v.list {
			out[i] = node{value: element}
		}
		return out, true
	case objectValue:
		items := v.member("collections") // the form of a single property
		if items == nil && v.member("collectionId") != nil {
			items = v.member("items") // the split form
		}
		if items == nil || items.kind != objectValue {
			return nil, false
		}
		out := make([]node, 0, len(items.members))
		for _, item := range items.members {
			out = append(out, node{value: item})
		}
		return out, true
	}
	return nil, false
}

// asText returns the value of a scalar, of null, or of an object that has a value or the ID of one.
func (v *sourceValue) asText() (text, bool) {
	switch v.kind {
	case nullValue:
		return text{}, true
	case scalarValue:
		return text{value: v.text, hasValue: true}, true
	case objectValue:
		single, id := v.members["value"], v.members["valueId"]
		isSingle := v.members["type"].scalar() == "Single" || v.members["type"] == nil && (single != nil || id != nil)
		if !isSingle {
			return text{}, false
		}
		var t text
		if single != nil && single.kind == scalarValue {
			t.value, t.hasValue = single.text, true
		}
		if id != nil && id.kind == scalarValue {
			t.id, t.hasID = id.text, true
		}
		return t, true
	}
	return text{}, false
}

// hasValue reports whether there is a value, an item or a member with a value. Hidden parts were removed before.
func (v *sourceValue) hasValue() bool {
	if t, ok := v.asText(); ok {
		return !t.isEmptyList()
	}
	if elements, ok := v.elements(); ok {
		return len(elements) > 0
	}
	if properties := v.member("properties"); properties != nil {
		v = properties
	}
	for _, member := range v.members {
		if member.hasValue() {
			return true
		}
	}
	return false
}
