package policyhttp

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/policy/evaluate"
)

// encodePlain returns a result as the data of a reply, or errPlainTooLarge as soon as it has more than fits into a
// budget. The text of a field that items share is made once.
func encodePlain(r evaluate.Result, budget httpapi.ReplyBudget) (platform.EncodedData, error) {
	e := encoder{left: budget, tooLarge: errPlainTooLarge, fields: map[*evaluate.GroupField][]byte{}}
	e.text(`{"evaluatedFields":`)
	e.value(r.EvaluatedFields)
	e.text(`,"evaluatedCollectionDataGroups":[`)
	for i, g := range r.EvaluatedCollectionDataGroups {
		e.separate(i)
		e.collection(g)
	}
	e.text(`],"evaluatedCustomDataGroups":`)
	e.value(r.EvaluatedCustomDataGroups)
	e.text(`,"evaluatedJurisdictions":`)
	e.value(r.EvaluatedJurisdictions)
	e.text(`}`)
	return e.data()
}

// encoder writes JSON as long as it fits into a reply. After the first error it writes nothing.
type encoder struct {
	out  bytes.Buffer
	left httpapi.ReplyBudget
	// tooLarge is the error of a reply that does not fit.
	tooLarge error
	err      error
	// fields are the texts of the fields of items.
	fields map[*evaluate.GroupField][]byte
}

// data returns the written JSON.
func (e *encoder) data() (platform.EncodedData, error) {
	if e.err != nil {
		return nil, e.err
	}
	return e.out.Bytes(), nil
}

// collection writes a collection: the members of its header, and then its items in the order of their IDs.
func (e *encoder) collection(g evaluate.CollectionDataGroup) {
	header := e.encode(g.CollectionHeader)
	e.raw(bytes.TrimSuffix(header, []byte("}")))
	e.text(`,"evaluatedItems":{`)
	for i, id := range slices.Sorted(maps.Keys(g.EvaluatedItems)) {
		if e.err != nil {
			return
		}
		e.separate(i)
		e.value(id)
		e.text(`:{"evaluatedFields":[`)
		for j, f := range g.EvaluatedItems[id].EvaluatedFields {
			e.separate(j)
			e.field(f)
		}
		e.text(`]}`)
	}
	e.text(`}}`)
}

func (e *encoder) field(f *evaluate.GroupField) {
	text, ok := e.fields[f]
	if !ok {
		text = e.encode(f)
		e.fields[f] = text
	}
	e.raw(text)
}

// separate writes a comma before every element of a list but the first.
func (e *encoder) separate(i int) {
	if i > 0 {
		e.text(",")
	}
}

func (e *encoder) value(v any) { e.raw(e.encode(v)) }

func (e *encoder) text(s string) { e.raw([]byte(s)) }

func (e *encoder) raw(text []byte) {
	if e.err != nil {
		return
	}
	if !e.left.ReserveText(text) {
		e.err = e.tooLarge
		return
	}
	e.out.Write(text)
}

// encode returns a value as JSON, as the kit encodes replies.
func (e *encoder) encode(v any) []byte {
	if e.err != nil {
		return nil
	}
	var text bytes.Buffer
	j := json.NewEncoder(&text)
	j.SetEscapeHTML(false)
	if err := j.Encode(v); err != nil {
		e.err = err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}
