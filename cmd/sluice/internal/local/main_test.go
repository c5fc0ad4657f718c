package local

import (
	"testing"

	"sluice/cmd/sluice/internal/commandtest"
)

func TestMain(m *testing.M) { commandtest.Main(m) }
