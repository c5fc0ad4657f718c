package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sluice/client"
)

// defaultData is the data folder of a local cloud that was started without naming one.
const defaultData = ".sluice"

// readLocal finds the local cloud of a data folder. Without a folder it is the default one's, or nil if there is none.
func readLocal(data string) (*client.LocalCloud, error) {
	named := data != ""
	if !named {
		data = defaultData
	}
	text, err := os.ReadFile(filepath.Join(data, "local.json"))
	if errors.Is(err, fs.ErrNotExist) {
		if named {
			return nil, fmt.Errorf("no local cloud runs on %s: start one with 'sluice local --data %s'", data, data)
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var l client.LocalCloud
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(data, "local.json"), err)
	}
	return &l, nil
}
