// Package account has the settings of the service for accounts of AWS, as parameters of the template.
package account

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// NoAdmission are slots for everyone, as if there were no admission, and the widest Map of chunks that are stored.
var NoAdmission = []string{
	"ValidationSlots=500", "ValidationSlotsPerTenant=500", "IngestionSlots=500", "IngestionSlotsPerTenant=500",
	"SmallBatchBytes=0", "IngestConcurrency=40",
}

// Project returns the folder of the project in which the working directory is.
func Project() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "template.yaml")); err == nil {
			return dir, nil
		}
	}
	return "", errors.Join(errors.New("the working directory is not in the project"), err)
}

// Slots returns what docs/first-day.md sets in an account with a number of concurrent executions, each as NAME=VALUE.
func Slots(executions int) ([]string, error) {
	dir, err := Project()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "docs/first-day.md"))
	row := regexp.MustCompile(fmt.Sprintf("(?m)^\\| %d \\| `([^`]+)` \\|", executions)).FindSubmatch(text)
	if row == nil {
		return nil, errors.Join(fmt.Errorf("docs/first-day.md has no slots for %d executions", executions), err)
	}
	return strings.Fields(string(row[1])), nil
}
