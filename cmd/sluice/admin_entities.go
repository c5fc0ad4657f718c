package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/go-json-experiment/json"

	"sluice/shared/entity"
)

const importWindow = 5000 // entities written at a time

// importEntities reads JSON Lines and stores them window by window. A wrong line ends it with its number; what was stored
// before stays, and importing the file again is harmless.
func importEntities(ctx context.Context, a *admin) (any, error) {
	path, err := a.one("file")
	if err != nil {
		return nil, err
	}
	if a.tenant == "" {
		return nil, fmt.Errorf("--tenant is needed; %w", errUsage)
	}
	if _, err := a.registry.Tenant(ctx, a.tenant); err != nil {
		return nil, missing(err, "tenant", a.tenant)
	}
	var window []entity.Entity
	imported := 0
	flush := func() error {
		if err := a.entities.Import(ctx, a.tenant, window); err != nil {
			return err
		}
		imported += len(window)
		window = window[:0]
		return nil
	}
	err = readEntities(path, func(e entity.Entity) error {
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

// readEntities calls f with every entity of a file of JSON Lines. An error names the line.
func readEntities(path string, f func(entity.Entity) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	number := 0
	for lines.Scan() {
		number++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		e, err := parseEntity(lines.Bytes())
		if err == nil {
			err = f(e)
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

func parseEntity(line []byte) (entity.Entity, error) {
	var e entity.Entity
	if err := json.Unmarshal(line, &e, json.RejectUnknownMembers(true)); err != nil {
		return e, fmt.Errorf(`not {"id": "...", "lifecycleStatus": "..."}: %w`, err)
	}
	if e.ID == "" || len(e.ID) > entity.MaxIDBytes {
		return e, fmt.Errorf("the id must have 1 to %d bytes", entity.MaxIDBytes)
	}
	if !e.LifecycleStatus.Known() {
		return e, fmt.Errorf("%q is no lifecycleStatus", e.LifecycleStatus)
	}
	return e, nil
}
