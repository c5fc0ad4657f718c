package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"

	"sluice/shared/entity"
)

// importWindow is how many entities are written at a time.
const importWindow = 5000

// importEntities stores the entities of a file of JSON Lines. It stops at an invalid line; the entities before it may
// be stored then, and importing the file again is harmless.
func importEntities(ctx context.Context, a *admin, args []string) (any, error) {
	if err := a.requireTenant(); err != nil {
		return nil, err
	}
	if _, err := a.registry.Tenant(ctx, a.tenant); err != nil {
		return nil, explainNotFound(err, "tenant", a.tenant)
	}
	var window []entity.StatusEntry
	imported := 0
	flush := func() error {
		if err := a.entities.Import(ctx, a.tenant, window); err != nil {
			return err
		}
		imported += len(window)
		window = window[:0]
		return nil
	}
	err := readEntities(ctx, args[0], func(e entity.StatusEntry) error {
		if window = append(window, e); len(window) < importWindow {
			return nil
		}
		return flush()
	})
	if err != nil {
		return nil, err
	}
	if err := flush(); err != nil {
		return nil, err
	}
	return map[string]any{"tenant_id": a.tenant, "imported": imported}, nil
}

// readEntities calls use with every entity of a file of JSON Lines; "-" is standard input. An error names the line.
func readEntities(ctx context.Context, path string, use func(entity.StatusEntry) error) error {
	opened, size, err := openSeekable(ctx, path)
	if err != nil {
		return err
	}
	defer opened.Close()
	if err := checkFormat(opened, size, path, "sluice admin entities import -"); err != nil {
		return err
	}
	file := io.NewSectionReader(opened, 0, size)
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, bufio.MaxScanTokenSize), bufio.MaxScanTokenSize)
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
			return fmt.Errorf("%s, line %d: %w", path, number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s, line %d: %w", path, number+1, err)
	}
	return nil
}

// parseEntity reads an entity from a line of JSON and checks it.
func parseEntity(line []byte) (entity.StatusEntry, error) {
	e, ok := parsePlainEntity(line)
	if !ok {
		var err error
		if e, err = unmarshalEntity(line); err != nil {
			return e, fmt.Errorf(`not {"id": "...", "lifecycleStatus": "..."}: %w`, err)
		}
	}
	if e.ID == "" || len(e.ID) > entity.MaxIDBytes {
		return e, fmt.Errorf("the id must have 1 to %d bytes, not %d", entity.MaxIDBytes, len(e.ID))
	}
	if !e.LifecycleStatus.IsKnown() {
		return e, fmt.Errorf("%q is not a lifecycleStatus", e.LifecycleStatus)
	}
	return e, nil
}

// unmarshalEntity reads any JSON form of an entity, strictly.
func unmarshalEntity(line []byte) (entity.StatusEntry, error) {
	var e entity.StatusEntry
	err := json.Unmarshal(line, &e, json.RejectUnknownMembers(true))
	return e, err
}

// parsePlainEntity reads the usual form of a line: no white space, no escapes, ASCII only. It takes a tenth of the
// library's time. It returns false for any other form; the caller then uses the JSON library.
func parsePlainEntity(line []byte) (entity.StatusEntry, bool) {
	rest, hasID := bytes.CutPrefix(line, []byte(`{"id":"`))
	id, rest, hasStatus := bytes.Cut(rest, []byte(`","lifecycleStatus":"`))
	status, hasEnd := bytes.CutSuffix(rest, []byte(`"}`))
	if !hasID || !hasStatus || !hasEnd || !isPlainASCII(id) || !isPlainASCII(status) {
		return entity.StatusEntry{}, false
	}
	return entity.StatusEntry{ID: string(id), LifecycleStatus: entity.LifecycleStatus(status)}, true
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
