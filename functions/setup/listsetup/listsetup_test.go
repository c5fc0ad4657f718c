package listsetup_test

import (
	"testing"

	"sluice/shared/ingest/validation"
	"sluice/shared/screening/names"
)

// Batches keep so much of each name that the matcher sees whether it was too long.
func TestNamesAreKeptToTheLengthThatIsRead(t *testing.T) {
	if validation.MaxScreenedBytes != names.MaxBytes {
		t.Errorf("batches keep names for a screener of %d bytes, and the matcher reads %d", validation.MaxScreenedBytes,
			names.MaxBytes)
	}
}
