package parquetfile

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/parquet-go/parquet-go"

	"sluice/shared/ingest/export"
	"sluice/shared/ingest/transaction/schema"
)

// rows collects the values of lines by column. Every column gets a value of each row, which may be null; a list or a
// map may give its columns several.
type rows struct {
	table   *table
	columns [][]parquet.Value
	count   int
	// arena holds the texts to which the values refer.
	arena []byte
	// line is the text of the line that is being divided, in the arena, and json reads it.
	line   []byte
	reader bytes.Reader
	json   *jsontext.Decoder
	// seen has a bit for each field of the objects that are being read, by their depth.
	seen [maxObjects]uint64
	// open is the number of these objects.
	open int
}

// maxObjects is how many objects of the table are nested in each other at most; more is a fault of this package.
const maxObjects = 8

func newRows(t *table) *rows {
	r := &rows{table: t, columns: make([][]parquet.Value, t.columns)}
	r.json = jsontext.NewDecoder(&r.reader, jsontext.AllowDuplicateNames(true))
	return r
}

// reset forgets the rows. Their memory is kept for the next ones.
func (r *rows) reset() {
	for i := range r.columns {
		clear(r.columns[i]) // they refer to the arena
		r.columns[i] = r.columns[i][:0]
	}
	r.arena, r.count = r.arena[:0], 0
}

// errNotALine means that a line is not what accepted lines are.
var errNotALine = errors.New("the line does not follow the schema")

// add adds the row of a line. After an error the rows are of no use.
func (r *rows) add(l export.Line, batch []byte, receivedAt time.Time) error {
	t := r.table
	from := len(r.arena)
	r.arena = append(r.arena, l.Text...)
	r.line = r.arena[from:len(r.arena):len(r.arena)]
	r.put(t.batch, parquet.ByteArrayValue(batch), 0, 0)
	r.put(t.line, parquet.Int64Value(l.Number), 0, 0)
	r.put(t.receivedAt, parquet.Int64Value(receivedAt.UnixMicro()), 0, 0)
	r.put(t.mainEntity, parquet.ByteArrayValue([]byte(l.MainEntity.Name())), 0, 0)
	r.put(t.rawLine, parquet.ByteArrayValue(r.line), 0, 0)
	r.reader.Reset(r.line)
	r.json.Reset(&r.reader, jsontext.AllowDuplicateNames(true))
	if err := r.readObject(t.root, 0, 0); err != nil {
		return fmt.Errorf("line %d: %w", l.Number, err)
	}
	r.count++
	return nil
}

// put adds a value to a column.
func (r *rows) put(column int, v parquet.Value, repetition, definition int) {
	r.columns[column] = append(r.columns[column], v.Level(repetition, definition, column))
}

// putNulls adds a null to each of the columns [first, last). The definition level is the number of levels that are
// present.
func (r *rows) putNulls(first, last, repetition, definition int) {
	for c := first; c < last; c++ {
		r.put(c, parquet.Value{}, repetition, definition)
	}
}

// readObject adds the values of an object's fields. definition is the level of the object itself.
func (r *rows) readObject(o *object, repetition, definition int) error {
	if err := r.expect(jsontext.KindBeginObject); err != nil {
		return err
	}
	depth := r.open
	r.open++
	r.seen[depth] = 0
	for r.json.PeekKind() != jsontext.KindEndObject {
		name, err := r.readText()
		if err != nil {
			return err
		}
		f := o.fields[string(name)]
		if f == nil || r.json.PeekKind() == jsontext.KindNull {
			if err := r.json.SkipValue(); err != nil {
				return err
			}
			continue
		}
		r.seen[depth] |= 1 << f.index
		if err := r.readField(f, repetition); err != nil {
			return err
		}
	}
	for i, f := range o.order {
		if r.seen[depth]&(1<<i) == 0 {
			r.putNulls(f.first, f.last, repetition, definition)
		}
	}
	r.open--
	_, err := r.json.ReadToken()
	return err
}

// readField adds the values of a field that is present.
func (r *rows) readField(f *field, repetition int) error {
	switch f.kind {
	case schema.KindObject, schema.KindEntity:
		return r.readObject(f.object, repetition, f.definition)
	case schema.KindObjects, schema.KindStrings:
		return r.readList(f, repetition)
	case schema.KindStringMap:
		return r.readMap(f, repetition)
	case schema.KindNumber:
		text, err := r.readText()
		if err != nil {
			return err
		}
		r.put(f.first, parquet.ByteArrayValue(text), repetition, f.definition)
		if value, ok := appendDecimal(r.arena, text); ok {
			r.put(f.first+1, parquet.FixedLenByteArrayValue(value[len(r.arena):]), repetition, f.definition)
			r.arena = value
		} else {
			r.putNulls(f.first+1, f.last, repetition, f.definition-1)
		}
		return nil
	}
	text, err := r.readText()
	if err != nil {
		return err
	}
	value, err := leafValue(f.kind, text)
	r.put(f.first, value, repetition, f.definition)
	return err
}

// readList adds the items of a list. An empty list has the level of the field; each item has two more: the level of the
// repeated group, and its own.
func (r *rows) readList(f *field, repetition int) error {
	if err := r.expect(jsontext.KindBeginArray); err != nil {
		return err
	}
	if r.json.PeekKind() == jsontext.KindEndArray {
		r.putNulls(f.first, f.last, repetition, f.definition)
	}
	for r.json.PeekKind() != jsontext.KindEndArray {
		if f.object != nil {
			if err := r.readObject(f.object, repetition, f.definition+2); err != nil {
				return err
			}
		} else {
			text, err := r.readText()
			if err != nil {
				return err
			}
			r.put(f.first, parquet.ByteArrayValue(text), repetition, f.definition+2)
		}
		repetition = f.repetition
	}
	_, err := r.json.ReadToken()
	return err
}

// readMap adds the members of a map in their order. An empty map has the level of the field, a key has one more and a
// value two.
func (r *rows) readMap(f *field, repetition int) error {
	if err := r.expect(jsontext.KindBeginObject); err != nil {
		return err
	}
	if r.json.PeekKind() == jsontext.KindEndObject {
		r.putNulls(f.first, f.last, repetition, f.definition)
	}
	for r.json.PeekKind() != jsontext.KindEndObject {
		key, err := r.readText()
		if err != nil {
			return err
		}
		r.put(f.first, parquet.ByteArrayValue(key), repetition, f.definition+1)
		if r.json.PeekKind() == jsontext.KindNull {
			err = r.json.SkipValue()
			r.putNulls(f.first+1, f.last, repetition, f.definition+1)
		} else {
			var value []byte
			value, err = r.readText()
			r.put(f.first+1, parquet.ByteArrayValue(value), repetition, f.definition+2)
		}
		if err != nil {
			return err
		}
		repetition = f.repetition
	}
	_, err := r.json.ReadToken()
	return err
}

// expect reads a bracket.
func (r *rows) expect(kind jsontext.Kind) error {
	token, err := r.json.ReadToken()
	if err == nil && token.Kind() != kind {
		err = errNotALine
	}
	return err
}

// readText reads a string, without its escapes, or a number as it is written. The text is in the arena.
func (r *rows) readText() ([]byte, error) {
	value, err := r.json.ReadValue()
	if err != nil {
		return nil, err
	}
	switch kind := value.Kind(); {
	case kind == jsontext.KindNumber:
		end := r.json.InputOffset()
		return r.line[end-int64(len(value)) : end : end], nil
	case kind != jsontext.KindString:
		return nil, errNotALine
	case bytes.IndexByte(value, '\\') < 0:
		end := r.json.InputOffset() - 1
		return r.line[end-int64(len(value)-2) : end : end], nil
	}
	from := len(r.arena)
	r.arena, err = jsontext.AppendUnquote(r.arena, value)
	return r.arena[from:len(r.arena):len(r.arena)], err
}
