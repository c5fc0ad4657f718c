package entities

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/linefile"
	"sluice/shared/kit/entityid"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/property"
)

const (
	// maxEntityLine is the length of the longest line of a file of entities, in bytes.
	maxEntityLine = 512 << 10
	// maxKeyBytes and maxValueChars bound the properties of an entity, as on the platform.
	maxKeyBytes, maxValueChars = 255, 10_000
)

// ReadFile calls use with every entity of a file of JSON Lines; "-" is standard input. An error names the line.
func ReadFile(ctx context.Context, path string, use func(entity.Import) error) error {
	opened, size, err := files.OpenSeekable(ctx, path)
	if err != nil {
		return err
	}
	defer opened.Close()
	if err := linefile.CheckFormat(opened, size); err != nil {
		return files.ExplainUnusable(err, path, "sluice admin entities import -")
	}
	file := io.NewSectionReader(opened, 0, size)
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, bufio.MaxScanTokenSize), maxEntityLine)
	number := 0
	for lines.Scan() {
		number++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		e, err := parseEntity(lines.Bytes())
		if err == nil {
			err = use(e)
		}
		if err != nil {
			return fmt.Errorf("%s, line %d: %w", files.DisplayName(path), number, err)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("%s, line %d: the line is longer than %s", files.DisplayName(path), number+1,
			terminal.FormatBytes(maxEntityLine))
	} else if err != nil {
		return fmt.Errorf("%s, line %d: %w", files.DisplayName(path), number+1, err)
	}
	return nil
}

// parseEntity reads an entity from a line of JSON and checks it. An error names the field in the words of the file.
func parseEntity(line []byte) (entity.Import, error) {
	if e, ok := parsePlainEntity(line); ok {
		return e, checkEntity(e)
	}
	e, err := unmarshalEntity(line)
	if err != nil {
		return e, err
	}
	return e, checkEntity(e)
}

// unmarshalEntity reads any JSON form of an entity, strictly.
func unmarshalEntity(line []byte) (entity.Import, error) {
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(line, &fields); err != nil {
		return entity.Import{}, explainJSON("", err)
	}
	if fields == nil {
		return entity.Import{}, errors.New("the line must be an object, not null")
	}
	var e entity.Import
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		into := map[string]any{"id": &e.ID, "status": &e.Status, "lifecycleStatus": &e.Status, "type": &e.Type,
			"targetEntity": &e.Role, "properties": &e.Properties}[name]
		if into == nil {
			return e, fmt.Errorf("there is no field %q; there are id, status, type, targetEntity, properties", name)
		}
		if err := json.Unmarshal(fields[name], into, json.RejectUnknownMembers(true)); err != nil {
			return e, explainJSON(name, err)
		}
	}
	if fields["status"] != nil && fields["lifecycleStatus"] != nil {
		return e, errors.New("lifecycleStatus is the former name of status: give one of them")
	}
	return e, nil
}

// checkEntity returns an error if a field of an entity has a value that it cannot have.
func checkEntity(e entity.Import) error {
	switch {
	case e.ID == "":
		return errors.New("id is missing or empty")
	case len(e.ID) > entityid.MaxBytes:
		return fmt.Errorf("id must have at most %d bytes, not %d", entityid.MaxBytes, len(e.ID))
	case e.Status == "":
		return errors.New("status is missing or empty")
	case !e.Status.IsKnown():
		return fmt.Errorf("status %q is not one of %s", e.Status, entity.StatusNames())
	case e.Type != "" && !slices.Contains(entity.Types, e.Type):
		return fmt.Errorf("type %q is not one of %s", e.Type, strings.Join(entity.Types, ", "))
	case e.Role != "" && !slices.Contains(entity.Roles, e.Role):
		return fmt.Errorf("targetEntity %q is not one of %s", e.Role, strings.Join(entity.Roles, ", "))
	}
	var err error
	property.Validate("properties", e.Properties, maxKeyBytes, maxValueChars, func(path, message string) {
		if err == nil {
			err = fmt.Errorf("%s: %s", path, message)
		}
	})
	return err
}

// explainJSON says in plain words what is wrong with the JSON of a field, or of the line if field is "".
func explainJSON(field string, err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fmt.Errorf("the key %q is given twice", syntax.JSONPointer.LastToken())
		}
		return fmt.Errorf("not JSON from byte %d on", syntax.ByteOffset+1)
	}
	var semantic *json.SemanticError
	if !errors.As(err, &semantic) {
		return err
	}
	place := "the line"
	if field != "" {
		place = field + strings.ReplaceAll(string(semantic.JSONPointer), "/", ".")
	}
	if errors.Is(err, json.ErrUnknownName) {
		return fmt.Errorf("there is no field %s", place)
	}
	found := map[jsontext.Kind]string{'n': "null", 'f': "false", 't': "true", '"': "a string", '0': "a number",
		'{': "an object", '[': "an array"}[semantic.JSONKind]
	wanted := "another value"
	if t := semantic.GoType; t != nil {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		wanted = map[reflect.Kind]string{reflect.String: "a string", reflect.Bool: "true or false",
			reflect.Int64: "a whole number", reflect.Map: "an object", reflect.Struct: "an object",
			reflect.Slice: "an array"}[t.Kind()]
	}
	return fmt.Errorf("%s must be %s, not %s", place, wanted, found)
}

// parsePlainEntity reads the usual form of a line that has an id and a status only: no white space, no escapes, ASCII
// only. It takes a tenth of the library's time. It returns false for any other form; the caller then uses the JSON
// library.
func parsePlainEntity(line []byte) (entity.Import, bool) {
	rest, hasID := bytes.CutPrefix(line, []byte(`{"id":"`))
	id, rest, hasStatus := bytes.Cut(rest, []byte(`","`))
	status, isPlain := bytes.CutPrefix(rest, []byte(`status":"`))
	if !isPlain {
		status, isPlain = bytes.CutPrefix(rest, []byte(`lifecycleStatus":"`))
	}
	status, hasEnd := bytes.CutSuffix(status, []byte(`"}`))
	if !hasID || !hasStatus || !isPlain || !hasEnd || !isPlainASCII(id) || !isPlainASCII(status) {
		return entity.Import{}, false
	}
	return entity.Import{ID: string(id), Status: entity.LifecycleStatus(status)}, true
}

// isPlainASCII reports whether a JSON string with this content means the content itself: printable ASCII without
// escapes.
func isPlainASCII(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
